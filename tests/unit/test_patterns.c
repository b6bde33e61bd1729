/* test_patterns.c - the protocols of large kernels: the right ones verified up to 64 devices, the wrong ones showing exactly the faults
 * that they name, from the size that they name.
 *
 * By the proof at each size up to GREATEST; by enumeration, to the end, at the smallest sizes, with fewer rounds where listed here.
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

enum { GREATEST = 5, MANY = 64, PATTERNS = 7, STATES_MAX = 3000000 };

/* What is walked state by state: with these it ends. */
static const struct PatternWalk { const char *program, *mesh; uint32_t devices; Override override; } WALKS[] = {
    { "consumers", NULL, 3, { "items", 3 } },
    { "consumers_credit_too_soon", NULL, 2, { "items", 3 } },
    { "consumers_credits_together", NULL, 2, { "items", 3 } },
    { "consumers_one_semaphore", NULL, 2, { "items", 3 } },
    { "expert_exchange", NULL, 2, { "batches", 1 } },
    { "expert_exchange_rows_one_by_one", NULL, 2, { "batches", 1 } },
    { "hypercube", NULL, 2, { "batches", 3 } },
    { "hypercube", NULL, 4, { "batches", 1 } },
    { "hypercube_one_inbox", NULL, 2, { "batches", 2 } },
    { "hypercube_one_semaphore", NULL, 2, { "batches", 2 } },
    { "hypercube_sends_awaited_last", NULL, 2, { "batches", 2 } },
    { "mesh_all_reduce", "x=2,y=1", 2, { NULL, 0 } },
    { "mesh_all_reduce", "x=1,y=2", 2, { NULL, 0 } },
    { "metadata_ring", NULL, 2, { NULL, 0 } },
    { "metadata_ring_one_semaphore", NULL, 2, { NULL, 0 } },
    { "metadata_ring_overlap", NULL, 2, { NULL, 0 } },
    { "metadata_ring_too_soon", NULL, 2, { NULL, 0 } },
    { "one_shot", NULL, 2, { "rounds", 3 } },
    { "one_shot_one_semaphore", NULL, 2, { "rounds", 2 } },
    { "one_shot_one_slot", NULL, 2, { "rounds", 2 } },
    { "ring_attention", NULL, 2, { NULL, 0 } },
    { "ring_attention_credit_too_soon", NULL, 2, { NULL, 0 } },
    { "ring_attention_no_credit", NULL, 2, { NULL, 0 } },
    { "ring_attention_one_semaphore", NULL, 2, { NULL, 0 } },
};

static CheckSpec spec_on(const char *program, const char *mesh, uint32_t devices, Search search)
{
    CheckSpec spec = checked_spec(program, devices, 1, search);
    spec.limits.states = STATES_MAX;
    if (mesh != NULL)
        mesh_parse(&spec.mesh, mesh);
    return spec;
}

/* Decided, with exactly the faults due at this size. Returns whether the size is one of the program's. */
static bool decide(const CheckSpec *spec)
{
    CheckResult *result = check_run(spec);
    bool applies = result->verdict != VERDICT_NOT_APPLICABLE;
    if (result->verdict == VERDICT_ERROR || result->verdict == VERDICT_BOUNDED)
        fail_msg("%s, %u devices, %s: %s", spec->program, mesh_devices(&spec->mesh), search_name(spec->search),
                 result->error ? result->error : verdict_name(result->verdict));
    if (applies) {
        uint32_t devices = result->program->devices, found = checked_faults(result), due = checked_faults_due(result);
        if (found != due)
            fail_msg("%s, %u devices, %s: faults %#x, due %#x", spec->program, devices, search_name(spec->search), found, due);
        bool alone = devices == 1;              /* what is expected of one device may hold before anything runs */
        assert_true(found != 0 || (result->outcome->complete && (result->results_checked || alone)));
        assert_true(spec->search != SEARCH_PROVE || result->outcome->conflicts == 0);
    }
    check_result_free(result);
    return applies;
}

static void every_pattern_has_two_wrong_twins(void **state)
{
    GPtrArray *entries = checked_catalogue("patterns");
    g_autoptr(GHashTable) right = g_hash_table_new(g_str_hash, g_str_equal), wrong = g_hash_table_new(g_str_hash, g_str_equal);
    (void)state;
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        GHashTable *table = entry->expected_faults ? wrong : right;
        g_hash_table_insert(table, entry->source, GINT_TO_POINTER(GPOINTER_TO_INT(g_hash_table_lookup(table, entry->source)) + 1));
    }
    assert_int_equal(g_hash_table_size(right), PATTERNS);
    for (guint i = 0; i < entries->len; i++)
        assert_true(GPOINTER_TO_INT(g_hash_table_lookup(wrong, ((const CatalogueEntry *)entries->pdata[i])->source)) >= 2);
    g_ptr_array_unref(entries);
}

static void every_pattern_meets_its_promise(void **state)
{
    static const char *const MESHES[] = { "x=2,y=2", "x=3,y=2", "x=2,y=4" };
    GPtrArray *entries = checked_catalogue("patterns");
    (void)state;
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        unsigned sizes = 0;
        for (uint32_t n = 1; entry->mesh == NULL && n <= GREATEST; n++) {
            CheckSpec spec = spec_on(entry->name, NULL, n, SEARCH_PROVE);
            sizes += decide(&spec);
        }
        for (unsigned m = 0; entry->mesh != NULL && m < G_N_ELEMENTS(MESHES); m++) {
            CheckSpec spec = spec_on(entry->name, MESHES[m], 0, SEARCH_PROVE);
            sizes += decide(&spec);
        }
        assert_true(sizes >= 2);
    }
    g_ptr_array_unref(entries);
}

static void the_right_ones_are_verified_at_64_devices(void **state)
{
    GPtrArray *entries = checked_catalogue("patterns");
    (void)state;
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        CheckSpec spec = spec_on(entry->name, entry->mesh ? "x=8,y=8" : NULL, MANY, SEARCH_PROVE);
        if (entry->expected_faults == 0)
            assert_true(decide(&spec));
    }
    g_ptr_array_unref(entries);
}

static void enumeration_says_the_same(void **state)
{
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(WALKS); i++) {
        const struct PatternWalk *walk = &WALKS[i];
        for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
            CheckSpec spec = spec_on(walk->program, walk->mesh, walk->devices, search);
            spec.override = &walk->override;
            spec.overrides = walk->override.name != NULL;
            assert_true(decide(&spec));
        }
    }
}

/* With one sender, or one a round, copies that keep their order need no semaphore of their own. */
static void copies_in_order_hide_a_shared_semaphore(void **state)
{
    static const char *const HIDDEN[] = { "consumers_one_semaphore", "metadata_ring_one_semaphore", "one_shot_one_semaphore" };
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(HIDDEN); i++) {
        CheckSpec spec = spec_on(HIDDEN[i], NULL, i == 2 ? 2 : 3, SEARCH_PROVE);
        spec.knobs.dma_order = DMA_ORDER_LINK_FIFO;
        CheckResult *result = check_run(&spec);
        if (result->verdict != VERDICT_VERIFIED)
            fail_msg("%s: %s", HIDDEN[i], verdict_name(result->verdict));
        check_result_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_has_two_wrong_twins),
        cmocka_unit_test(every_pattern_meets_its_promise),
        cmocka_unit_test(the_right_ones_are_verified_at_64_devices),
        cmocka_unit_test(enumeration_says_the_same),
        cmocka_unit_test(copies_in_order_hide_a_shared_semaphore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
