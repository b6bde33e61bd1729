/* test_modes.c - every built-in program, walked plainly and in each way that is asked for by name: verdict and faults are the same.
 *
 * Programs with more states than a limit are left out: what a search that was cut short finds depends on where it was cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include "../../kernels/pallas/module.h"
#include "../support/checked.h"

enum { STATES_MAX = 20000, COMPARED_LEAST = 100, ROTATED_LEAST = 60 };

static CheckResult *walk(const CatalogueEntry *entry, uint32_t devices, unsigned modes, unsigned workers, DataMode data)
{
    static CheckSpec spec;                      /* results point to it */
    spec = (CheckSpec){.open = pl_module_open, .program = entry->name, .cores = entry->cores, .search = SEARCH_ENUMERATE, .modes = modes,
                       .workers = workers, .limits.states = STATES_MAX};
    spec.knobs.data = data;
    if (entry->mesh != NULL)
        mesh_parse(&spec.mesh, entry->mesh);
    else
        mesh_line(&spec.mesh, devices);
    return check_run(&spec);
}

static bool same(const CheckResult *plain, const CheckResult *other)
{
    const GPtrArray *one = plain->outcome->findings, *two = other->outcome->findings;
    bool equal = plain->verdict == other->verdict && one->len == two->len;
    for (guint i = 0; equal && i < one->len; i++) {
        const Finding *a = g_ptr_array_index(one, i), *b = g_ptr_array_index(two, i);
        equal = a->id == b->id && a->count == b->count && a->places == b->places && a->have == b->have;
        for (unsigned p = 0; equal && p < a->places; p++)
            equal = a->place[p].site == b->place[p].site;
    }
    return equal;
}

static bool was_decided(const CheckResult *result)
{
    return result->outcome != NULL && result->outcome->limits->len == 0 && result->verdict != VERDICT_ERROR;
}

static void compare(const CatalogueEntry *entry, uint32_t devices, unsigned *compared)
{
    static const struct { unsigned modes, workers; } WAY[] = {{ENUMERATE_SWEEP, 1}, {ENUMERATE_MERGE_LOCAL, 1},
                                                              {ENUMERATE_MERGE_LOCAL | ENUMERATE_SWEEP, 2}};
    CheckResult *plain = walk(entry, devices, 0, 1, DATA_REAL);
    for (size_t i = 0; was_decided(plain) && i < G_N_ELEMENTS(WAY); i++) {
        CheckResult *other = walk(entry, devices, WAY[i].modes, WAY[i].workers, DATA_REAL);
        bool refused = other->verdict == VERDICT_ERROR && strstr(other->error, "is not possible for this program") != NULL;
        if (!refused && other->verdict == VERDICT_ERROR)
            fail_msg("%s, %u devices, modes %u: %s", entry->name, devices, WAY[i].modes, other->error);
        if (!refused && !same(plain, other))
            fail_msg("%s, %u devices, modes %u: %s in place of %s, %u faults in place of %u", entry->name, devices, WAY[i].modes,
                     verdict_name(other->verdict), verdict_name(plain->verdict), other->outcome->findings->len,
                     plain->outcome->findings->len);
        *compared += !refused;
        check_result_free(other);
    }
    check_result_free(plain);
}

/* Rotated states do not include contents. */
static bool is_the_same_rotated(const CatalogueEntry *entry, uint32_t devices, const CheckResult *plain)
{
    CheckResult *other = walk(entry, devices, ENUMERATE_SYMMETRY, 1, DATA_OPAQUE);
    bool refused = other->verdict == VERDICT_ERROR && strstr(other->error, "--symmetry is not possible for this program") != NULL;
    if (!refused && (other->verdict == VERDICT_ERROR || !same(plain, other) || other->outcome->rotated != plain->outcome->states))
        fail_msg("%s, %u devices, with symmetry: %s in place of %s", entry->name, devices, verdict_name(other->verdict),
                 verdict_name(plain->verdict));
    check_result_free(other);
    return !refused;
}

static void compare_rotated(const CatalogueEntry *entry, uint32_t devices, unsigned *rotated)
{
    CheckResult *plain = walk(entry, devices, 0, 1, DATA_OPAQUE);
    *rotated += was_decided(plain) && is_the_same_rotated(entry, devices, plain);
    check_result_free(plain);
}

static void built_in_programs_look_the_same_in_every_way(void **state)
{
    (void)state;
    unsigned compared = 0, rotated = 0;
    g_autoptr(GPtrArray) entries = checked_catalogue(NULL);
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        if (entry->devices_min > 0)
            compare(entry, MAX(entry->devices_min, entry->expected_from), &compared);
        if (entry->devices_min > 0)
            compare_rotated(entry, MAX(MAX(entry->devices_min, entry->expected_from), 2), &rotated);
    }
    printf("%u walks compared, %u with symmetry\n", compared, rotated);
    assert_true(compared >= COMPARED_LEAST);
    assert_true(rotated >= ROTATED_LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_programs_look_the_same_in_every_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
