/* test_jax.c - the kernels of JAX's tests and documents, each at the sizes and cores that it is for: exactly the faults that it names.
 *
 * By the proof at each size up to eight devices, that of JAX's own tests (wrong ones: up to four, or the size from which they are wrong);
 * by enumeration at the smallest size. Programs whose verdict depends on a knob are listed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/check/catalogue.h"
#include "../../kernels/pallas/module.h"
#include "../support/checked.h"

enum { FOUR = 4, EIGHT = 8, STATES_MAX = 3000000 };

static CheckSpec walkable_spec(const char *program, uint32_t devices, uint32_t cores, Search search)
{
    CheckSpec spec = checked_spec(program, devices, cores, search);
    spec.limits.states = STATES_MAX;
    return spec;
}

/* Decided, with exactly these faults. */
static void assert_verdict(const CheckSpec *spec, const CheckResult *result, uint32_t due)
{
    uint32_t devices = mesh_devices(&spec->mesh);
    if (result->verdict != VERDICT_VERIFIED && result->verdict != VERDICT_FAULTY)
        fail_msg("%s, %u devices, %s: %s", spec->program, devices, search_name(spec->search),
                 result->error ? result->error : verdict_name(result->verdict));
    if (checked_faults(result) != due)
        fail_msg("%s, %u devices, %s: faults %#x, due %#x", spec->program, devices, search_name(spec->search), checked_faults(result), due);
    assert_int_equal(result->verdict == VERDICT_FAULTY, due != 0);
}

static bool decide(const CheckSpec *spec)
{
    CheckResult *result = check_run(spec);
    bool applies = result->verdict != VERDICT_NOT_APPLICABLE;
    if (applies)
        assert_verdict(spec, result, checked_faults_due(result));
    check_result_free(result);
    return applies;
}

static void assert_found(const CheckSpec *spec, uint32_t due)
{
    CheckResult *result = check_run(spec);
    assert_verdict(spec, result, due);
    check_result_free(result);
}

static void check_entry(const CatalogueEntry *entry)
{
    uint32_t told = MAX(entry->devices_min, entry->expected_from), greatest = entry->expected_faults ? MAX(told, FOUR) : EIGHT;
    assert_true(entry->devices_min > 0);
    if (entry->mesh != NULL) {
        CheckSpec spec = walkable_spec(entry->name, 1, entry->cores, SEARCH_PROVE);
        mesh_parse(&spec.mesh, entry->mesh);
        assert_true(decide(&spec));
        return;
    }
    for (uint32_t devices = entry->devices_min; devices <= greatest; devices++) {
        CheckSpec spec = walkable_spec(entry->name, devices, entry->cores, SEARCH_PROVE);
        decide(&spec);
    }
    CheckSpec walk = walkable_spec(entry->name, told, entry->cores, SEARCH_ENUMERATE);
    assert_true(decide(&walk));
}

static void every_kernel_meets_its_promise(void **state)
{
    unsigned kernels = 0;
    (void)state;
    g_autoptr(GPtrArray) entries = checked_catalogue("jax");
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        check_entry(entry);
        kernels++;
    }
    assert_true(kernels >= 40);
}

static void the_shipped_all_gather_needs_links_that_keep_order(void **state)
{
    (void)state;
    for (uint32_t devices = 2; devices <= EIGHT; devices += 2) {
        CheckSpec spec = walkable_spec("jax_shipped_all_gather", devices, 1, SEARCH_PROVE);
        spec.knobs.dma_order = DMA_ORDER_LINK_FIFO;
        assert_found(&spec, 0);
    }
}

static void padding_is_memory_where_the_knob_says_so(void **state)
{
    static const struct { const char *program; uint32_t due; } ROWS[] = {
        { "jax_copy_into_row_10", 0 }, { "jax_copy_into_rows_4_to_11", 0 }, { "jax_copy_into_smem_beyond", 1u << FAULT_OUT_OF_BOUNDS },
        { "jax_copy_beyond_hbm", 1u << FAULT_OUT_OF_BOUNDS },
    };
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(ROWS); i++)
        for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
            CheckSpec spec = walkable_spec(ROWS[i].program, 1, 1, search);
            spec.knobs.bounds = BOUNDS_PADDED;
            assert_found(&spec, ROWS[i].due);
        }
}

static void a_scope_that_is_not_open_yet_is_no_place_for_signals_if_strict(void **state)
{
    (void)state;
    for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
        CheckSpec spec = walkable_spec("jax_swap", 2, 1, search);
        spec.knobs.scopes = SCOPES_STRICT;
        assert_found(&spec, 1u << FAULT_LIFETIME);
    }
}

static void cores_and_meshes_of_other_sizes(void **state)
{
    (void)state;
    for (uint32_t cores = 1; cores <= 6; cores++) {
        CheckSpec map = walkable_spec("jax_core_map", cores <= 4 ? 8 : 2, cores, SEARCH_PROVE);
        CheckSpec blocks = walkable_spec("jax_parallel_blocks", 1, cores, SEARCH_PROVE);
        CheckSpec scope = walkable_spec("jax_hbm_of_a_scope", 2, cores, SEARCH_PROVE);
        assert_found(&map, 0);
        assert_found(&blocks, 0);
        assert_found(&scope, 0);
    }
    static const char *const MESHES[] = { "x=2,y=1", "x=2,y=4", "x=1,y=3" };
    for (unsigned i = 0; i < G_N_ELEMENTS(MESHES); i++) {
        CheckSpec spec = walkable_spec("jax_permute_on_mesh", 1, 1, SEARCH_PROVE);
        mesh_parse(&spec.mesh, MESHES[i]);
        assert_found(&spec, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_meets_its_promise),
        cmocka_unit_test(the_shipped_all_gather_needs_links_that_keep_order),
        cmocka_unit_test(padding_is_memory_where_the_knob_says_so),
        cmocka_unit_test(a_scope_that_is_not_open_yet_is_no_place_for_signals_if_strict),
        cmocka_unit_test(cores_and_meshes_of_other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
