/* test_exemptions.c - an exemption hides the fault it names on the object it names, and nothing else.
 *
 * What a racing value cannot have reached is judged as always; what it may have reached is bounded, and said. Each right kernel has a wrong
 * twin, and the searches agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../kernels/pallas/module.h"
#include "../../model/racing.h"
#include "../support/checked.h"
#include "../support/kernels/exemptions.c"

#define NONE_AT_ALL FAULT_COUNT

typedef struct ExemptionCase {
    const char *program;
    uint32_t devices;
    int twin;
    Verdict verdict;
    FaultId fault;                              /* NONE_AT_ALL: none is reported */
} ExemptionCase;

static const ExemptionCase CASES[] = {
    { "asserts_beside", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "asserts_beside", 1, WRONG, VERDICT_FAULTY, FAULT_ASSERT },
    { "looks_beside", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "looks_beside", 1, WRONG, VERDICT_FAULTY, FAULT_UNINITIALISED },
    { "results_beside", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "results_beside", 1, WRONG, VERDICT_FAULTY, FAULT_ASSERT },
    { "waits_beside", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "waits_beside", 1, WRONG, VERDICT_FAULTY, FAULT_DEADLOCK },
    { "stores_beside", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "stores_beside", 1, WRONG, VERDICT_FAULTY, FAULT_OUT_OF_BOUNDS },
    { "half_races", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "half_races", 1, WRONG, VERDICT_FAULTY, FAULT_ASSERT },
    { "written_again", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "written_again", 1, WRONG, VERDICT_FAULTY, FAULT_ASSERT },
    { "read_before", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "read_before", 1, WRONG, VERDICT_FAULTY, FAULT_ASSERT },
    { "conflicts_beside", 2, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "conflicts_beside", 2, WRONG, VERDICT_FAULTY, FAULT_ASSERT },
    { "expected_of_it", 1, RIGHT, VERDICT_BOUNDED, NONE_AT_ALL }, { "expected_of_it", 1, WRONG, VERDICT_BOUNDED, NONE_AT_ALL },
    { "carried_on", 1, -1, VERDICT_BOUNDED, NONE_AT_ALL }, { "carried_to_a_result", 1, -1, VERDICT_BOUNDED, NONE_AT_ALL },
    { "carried_to_scratch", 1, -1, VERDICT_VERIFIED, NONE_AT_ALL }, { "computed_with", 1, -1, VERDICT_BOUNDED, NONE_AT_ALL },
    { "branches", 2, RIGHT, VERDICT_BOUNDED, NONE_AT_ALL }, { "branches", 2, WRONG, VERDICT_FAULTY, FAULT_LEFTOVER },
    { "indexes", 2, RIGHT, VERDICT_BOUNDED, NONE_AT_ALL }, { "indexes", 2, WRONG, VERDICT_FAULTY, FAULT_OUT_OF_BOUNDS },
    { "counts", 2, RIGHT, VERDICT_BOUNDED, NONE_AT_ALL }, { "counts", 2, WRONG, VERDICT_FAULTY, FAULT_DEADLOCK },
    { "names_a_device", 2, RIGHT, VERDICT_BOUNDED, NONE_AT_ALL }, { "names_a_device", 2, WRONG, VERDICT_FAULTY, FAULT_DEADLOCK },
    { "asserts_of_it", 2, RIGHT, VERDICT_BOUNDED, NONE_AT_ALL }, { "asserts_of_it", 2, WRONG, VERDICT_BOUNDED, NONE_AT_ALL },
    { "polls", 2, RIGHT, VERDICT_BOUNDED, NONE_AT_ALL }, { "polls", 2, WRONG, VERDICT_FAULTY, FAULT_LEFTOVER },
    { "signals_late", 2, RIGHT, VERDICT_FAULTY, FAULT_LEFTOVER }, { "signals_late", 2, WRONG, VERDICT_FAULTY, FAULT_LIFETIME },
    { "writes_late", 2, RIGHT, VERDICT_FAULTY, FAULT_IN_FLIGHT }, { "writes_late", 2, WRONG, VERDICT_FAULTY, FAULT_LIFETIME },
    { "reads_late", 1, RIGHT, VERDICT_VERIFIED, NONE_AT_ALL }, { "reads_late", 1, WRONG, VERDICT_BOUNDED, NONE_AT_ALL },
};

static CheckResult *check_exempt(const ExemptionCase *at, Search search, const Knobs *knobs)
{
    static const Override twin[] = { { "twin", RIGHT }, { "twin", WRONG } };
    CheckSpec spec = checked_spec(at->program, at->devices, 1, search);
    spec.limits.runs = 20;
    if (at->twin >= 0)
        spec.override = &twin[at->twin], spec.overrides = 1;
    if (knobs != NULL)
        spec.knobs = *knobs;
    return checked(&spec);
}

static bool is_limited_by(const CheckResult *result, const char *limit)
{
    bool found = false;
    for (guint i = 0; i < result->outcome->limits->len; i++)
        found |= strcmp(result->outcome->limits->pdata[i], limit) == 0;
    return found;
}

static void an_exemption_hides_what_it_names_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        const ExemptionCase *at = &CASES[i];
        uint32_t seen[2] = { 0 };
        static const Search searches[] = { SEARCH_AUTO, SEARCH_ENUMERATE };
        for (size_t k = 0; k < G_N_ELEMENTS(searches); k++) {
            CheckResult *result = check_exempt(at, searches[k], NULL);
            seen[k] = checked_faults(result);
            if (result->verdict != at->verdict || (at->fault != NONE_AT_ALL && !(seen[k] & 1u << at->fault)))
                fail_msg("%s, twin %d, %s: %s, faults %#x: %s", at->program, at->twin, search_name(searches[k]),
                         verdict_name(result->verdict), seen[k], result->error ? result->error : "");
            if (at->verdict == VERDICT_BOUNDED)
                assert_true(is_limited_by(result, "exempted-race"));
            checked_free(result);
        }
        if (seen[0] != seen[1])
            fail_msg("%s, twin %d: faults %#x by auto, %#x by states", at->program, at->twin, seen[0], seen[1]);
    }
}

/* What they do not decide they leave open. */
static void no_search_verifies_what_another_does_not(void **state)
{
    (void)state;
    static const Search searches[] = { SEARCH_PROVE, SEARCH_RANDOM };
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(searches); k++) {
            CheckResult *result = check_exempt(&CASES[i], searches[k], NULL);
            if (result->verdict != CASES[i].verdict && result->verdict != VERDICT_BOUNDED)
                fail_msg("%s, twin %d, %s: %s", CASES[i].program, CASES[i].twin, search_name(searches[k]), verdict_name(result->verdict));
            checked_free(result);
        }
}

static void a_race_that_is_meant_does_not_stand_for_a_load_of_nothing(void **state)
{
    const Knobs opaque = { .data = DATA_OPAQUE };
    (void)state;
    for (int twin = RIGHT; twin <= WRONG; twin++)
        for (Search search = SEARCH_AUTO; search <= SEARCH_ENUMERATE; search++) {
            const ExemptionCase at = { "loads_early", 1, twin, VERDICT_FAULTY, NONE_AT_ALL };
            CheckResult *result = check_exempt(&at, search, &opaque);
            assert_int_equal(checked_faults(result), twin == RIGHT ? 1u << FAULT_RACE : 1u << FAULT_UNINITIALISED);
            checked_free(result);
        }
}

static void beside_a_reported_race_the_rest_is_judged_too(void **state)
{
    (void)state;
    for (int twin = RIGHT; twin <= WRONG; twin++)
        for (Search search = SEARCH_AUTO; search <= SEARCH_ENUMERATE; search++) {
            const ExemptionCase at = { "reported", 1, twin, VERDICT_FAULTY, NONE_AT_ALL };
            CheckResult *result = check_exempt(&at, search, NULL);
            assert_int_equal(checked_faults(result), 1u << FAULT_RACE | (twin == WRONG ? 1u << FAULT_ASSERT : 0));
            assert_true(result->outcome->unjudged_after_race);
            assert_false(result->outcome->incomplete_after_race);
            checked_free(result);
        }
}

static void a_race_steers_only_who_looks_at_its_value(void **state)
{
    (void)state;
    for (int twin = RIGHT; twin <= WRONG; twin++) {
        const ExemptionCase at = { "reported_look", 1, twin, VERDICT_FAULTY, NONE_AT_ALL };
        CheckResult *result = check_exempt(&at, SEARCH_AUTO, NULL);
        assert_int_equal(checked_faults(result), 1u << FAULT_RACE);
        assert_int_equal(result->outcome->incomplete_after_race, twin == WRONG);
        checked_free(result);
    }
}

static void an_exemption_that_hides_nothing_is_said(void **state)
{
    (void)state;
    static const ExemptionCase cases[] = { { "never_races", 1, -1, VERDICT_VERIFIED, NONE_AT_ALL },
                                  { "carried_to_scratch", 1, -1, VERDICT_VERIFIED, NONE_AT_ALL } };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        CheckResult *result = check_exempt(&cases[i], SEARCH_AUTO, NULL);
        bool said = false;
        for (guint k = 0; k < result->advice->len; k++)
            said |= ((const Advice *)result->advice->pdata[k])->id == ADVICE_UNUSED_EXEMPTION;
        assert_int_equal(said, i == 0);
        checked_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exemption_hides_what_it_names_and_nothing_else),
        cmocka_unit_test(no_search_verifies_what_another_does_not),
        cmocka_unit_test(a_race_that_is_meant_does_not_stand_for_a_load_of_nothing),
        cmocka_unit_test(beside_a_reported_race_the_rest_is_judged_too),
        cmocka_unit_test(a_race_steers_only_who_looks_at_its_value),
        cmocka_unit_test(an_exemption_that_hides_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
