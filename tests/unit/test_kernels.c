/* test_kernels.c - the collectives and their wrong twins at 2 to 5 devices: right ones verified with their results checked, wrong ones with
 * exactly the faults they name, from the size they name.
 *
 * By the proof at each size. By enumeration at 2 devices, to the end, and at each further size as long as the size before was small; where
 * that reaches its limit of states it must at least not have found anything else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../kernels/pallas/module.h"
#include "../../model/input.h"
#include "../support/checked.h"

enum { LEAST = 2, GREATEST = 5, STATES_MAX = 200000, STATES_MAX_AT_LEAST = 1500000, STATES_SMALL = 20000 };

static CheckResult *check_with(const char *program, uint32_t devices, Search search, const Override *override)
{
    CheckSpec spec = checked_spec(program, devices, 1, search);
    spec.override = override, spec.overrides = override != NULL;
    spec.limits.states = devices == LEAST ? STATES_MAX_AT_LEAST : STATES_MAX;
    return checked(&spec);
}

static uint64_t races_counted(const CheckResult *result)
{
    uint64_t count = 0;
    for (guint i = 0; result->outcome != NULL && i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        count += finding->id == FAULT_RACE ? finding->count : 0;
    }
    return count;
}

static bool was_cut(const CheckResult *result)
{
    for (guint i = 0; result->outcome != NULL && i < result->outcome->limits->len; i++)
        if (strcmp(result->outcome->limits->pdata[i], "states") == 0)
            return true;
    return false;
}

/* With one input, programs with tables are right: the faults of the wrong ones need another (test_inputs). */
static uint32_t faults_due(const CheckResult *result)
{
    return result->program != NULL && input_has_tables(result->program) ? 0 : checked_faults_due(result);
}

/* Returns whether the search ended with few states. */
static bool meets_its_promise(const char *program, uint32_t devices, Search search)
{
    CheckResult *result = check_with(program, devices, search, NULL);
    bool cut = was_cut(result), small = result->outcome == NULL || (!cut && result->outcome->states < STATES_SMALL);
    if (result->verdict != VERDICT_NOT_APPLICABLE) {
        if (result->verdict == VERDICT_ERROR)
            fail_msg("%s, %u devices, %s: %s", program, devices, search_name(search), result->error);
        uint32_t due = faults_due(result), found = checked_faults(result);
        g_autofree char *due_text = checked_faults_text(due), *found_text = checked_faults_text(found);
        if (cut ? (found & ~due) != 0 : found != due)
            fail_msg("%s, %u devices, %s: expected%s, found%s", program, devices, search_name(search), due_text, found_text);
        if (devices == LEAST)
            assert_false(cut);
        if (due == 0 && !cut)
            assert_int_equal(result->verdict, VERDICT_VERIFIED);
        if (due == 0 && !cut && result->program->expectations.count > 0)
            assert_true(result->results_checked);
    }
    checked_free(result);
    return small;
}

static void every_program_meets_its_promise(void **state)
{
    char *error = NULL;
    (void)state;
    const ProgramModule *module = pl_module_open(NULL, &error);
    assert_non_null(module);
    for (size_t i = 0; i < module->entries; i++) {
        const char *group = module->entry[i].group;
        if (strcmp(group, "collectives") != 0 && strcmp(group, "twins") != 0)
            continue;
        bool small = true;
        for (uint32_t devices = LEAST; devices <= GREATEST; devices++) {
            meets_its_promise(module->entry[i].name, devices, SEARCH_PROVE);
            small = small && meets_its_promise(module->entry[i].name, devices, SEARCH_ENUMERATE);
        }
    }
}

/* One credit too many: N(N-k-1) pairs of a slot's arrival and its being passed on, whatever k. */
static void credits_race_as_often_as_can_be_counted(void **state)
{
    (void)state;
    for (int k = 1; k <= 3; k++)
        for (uint32_t n = 2; n <= 6; n++) {
            const Override override = { "k", k };
            CheckResult *result = check_with("credits_one_too_many", n, SEARCH_PROVE, &override);
            assert_int_equal(races_counted(result), (int)n > k + 1 ? n * (n - (uint32_t)k - 1) : 0);
            checked_free(result);
            result = check_with("credits", n, SEARCH_PROVE, &override);
            assert_int_equal(result->verdict, VERDICT_VERIFIED);
            checked_free(result);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_program_meets_its_promise),
        cmocka_unit_test(credits_race_as_often_as_can_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
