/* test_cases.c - the public cases: faulty ones show exactly the faults that they name, from the size that they name, repaired ones are
 * verified; and the false alarms stay quiet.
 *
 * By the proof at each size up to GREATEST. By complete enumeration at the size at which a case was reported (the smallest one where its
 * faults show), and at larger sizes while the previous one was small. The proof alone does not decide a program with conflicts: these
 * programs are listed here, so that none is missed.
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

enum { GREATEST = 5, STATES_MAX = 3000000, STATES_SMALL = 3000, CASES = 39, FALSE_ALARMS = 14 };

/* Programs that look at counts or flag words. */
static const char *const CONFLICTS[] = {
    "false_alarm_14_asleep_after_you", "g03_equality_poll", "g05b_two_meanings", "g06_reset_loses_a_signal", "g07_zeroed_too_late",
    "g09_count_then_reset", "g11_epoch_wraps_around", "g20_cleans_the_next_bank", "p12_two_kernels_share_a_barrier",
};

static CheckSpec spec_of(const char *program, uint32_t devices, Search search)
{
    CheckSpec spec = checked_spec(program, devices, 1, search);
    spec.limits.states = STATES_MAX;
    return spec;
}

static bool has_conflicts(const char *program)
{
    for (size_t i = 0; i < G_N_ELEMENTS(CONFLICTS); i++)
        if (g_str_has_prefix(program, CONFLICTS[i]))
            return strcmp(program, "g06_reset_loses_a_signal_repaired") != 0            /* only added to, and awaited with "at least" */
                && strcmp(program, "g09_count_then_reset_repaired") != 0;               /* a semaphore with one waiter */
    return false;
}

static void assert_found(const CheckResult *result, uint32_t due)
{
    const CheckSpec *spec = result->spec;
    if (result->verdict == VERDICT_ERROR)
        fail_msg("%s, %u devices, %s: %s", spec->program, mesh_devices(&spec->mesh), search_name(spec->search), result->error);
    uint32_t found = checked_faults(result);
    g_autofree char *due_text = checked_faults_text(due), *found_text = checked_faults_text(found);
    if (found != due)
        fail_msg("%s, %u devices, %s: expected%s, found%s", spec->program, mesh_devices(&spec->mesh), search_name(spec->search), due_text,
                 found_text);
}

static void assert_decided(const CheckResult *result)
{
    const CheckSpec *spec = result->spec;
    if (result->verdict == VERDICT_BOUNDED || !result->outcome->complete)
        fail_msg("%s, %u devices, %s: %s", spec->program, mesh_devices(&spec->mesh), search_name(spec->search),
                 verdict_name(result->verdict));
    assert_int_equal(result->verdict, checked_faults(result) ? VERDICT_FAULTY : VERDICT_VERIFIED);
}

/* Where there are conflicts, every class of them is explored, if they are not too many. */
static void explore_at(const char *name, uint32_t devices)
{
    CheckSpec spec = spec_of(name, devices, SEARCH_AUTO);
    spec.limits.runs = 20000;
    CheckResult *result = check_run(&spec);
    assert_found(result, checked_faults_due(result));
    if (result->outcome->classes < spec.limits.runs)
        assert_decided(result);
    assert_int_equal(result->outcome->redundant, 0);
    check_result_free(result);
}

static void prove_at(const char *name, uint32_t devices)
{
    CheckSpec spec = spec_of(name, devices, SEARCH_PROVE);
    CheckResult *result = check_run(&spec);
    if (result->verdict != VERDICT_NOT_APPLICABLE) {
        if (result->verdict == VERDICT_ERROR)
            fail_msg("%s, %u devices: %s", name, devices, result->error);
        bool conflicts = result->outcome->conflicts > 0;
        if (conflicts != has_conflicts(name))
            fail_msg("%s, %u devices: %s conflicts", name, devices, conflicts ? "has" : "has no");
        if (!conflicts) {
            assert_found(result, checked_faults_due(result));
            assert_decided(result);
        } else {
            assert_int_equal(checked_faults(result) & ~checked_faults_due(result), 0);
            assert_int_not_equal(result->verdict, VERDICT_VERIFIED);
            explore_at(name, devices);
        }
    }
    check_result_free(result);
}

/* Walks every state; returns whether there were few. */
static bool enumerate_at(const char *name, uint32_t devices, bool to_the_end)
{
    CheckSpec spec = spec_of(name, devices, SEARCH_ENUMERATE);
    CheckResult *result = check_run(&spec);
    bool small = result->verdict == VERDICT_NOT_APPLICABLE;
    if (!small) {
        assert_found(result, checked_faults_due(result));
        if (to_the_end)
            assert_decided(result);
        small = result->outcome->complete && result->outcome->states < STATES_SMALL;
    }
    check_result_free(result);
    return small;
}

static void every_case_meets_its_promise(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) entries = checked_catalogue("cases");
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        uint32_t told = MAX(entry->devices_min, entry->expected_from);
        assert_true(told >= 1 && told <= GREATEST);
        for (uint32_t devices = entry->devices_min; devices <= GREATEST; devices++)
            prove_at(entry->name, devices);
        bool small = true;
        for (uint32_t devices = entry->devices_min; devices <= GREATEST && (small || devices <= told); devices++)
            small = enumerate_at(entry->name, devices, devices <= told);
    }
}

/* One file a case and a false alarm, each case with a repaired form unless it is right as it stands. */
static void all_of_them_are_there(void **state)
{
    static const char *const RIGHT[] = { "p03", "p20", "g26" };
    (void)state;
    g_autoptr(GPtrArray) entries = checked_catalogue("cases");
    g_autoptr(GHashTable) files = g_hash_table_new(g_str_hash, g_str_equal);
    unsigned cases = 0, alarms = 0, repaired = 0;
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        bool alarm = g_str_has_prefix(entry->name, "false_alarm_");
        if (g_hash_table_add(files, entry->source))
            *(alarm ? &alarms : &cases) += 1;
        if (!alarm && g_str_has_suffix(entry->name, "_repaired")) {
            assert_int_equal(entry->expected_faults, 0);
            repaired++;
        }
    }
    assert_int_equal(cases, CASES);
    assert_int_equal(alarms, FALSE_ALARMS);
    assert_int_equal(repaired, CASES - (unsigned)G_N_ELEMENTS(RIGHT));
}

static void p06_waiting_for_too_long_a_slice_is_advice(void **state)
{
    CheckSpec spec = spec_of("p06_wait_descriptor_too_long", 1, SEARCH_PROVE);
    CheckResult *result = check_run(&spec);
    bool advised = false;
    (void)state;
    assert_int_equal(result->verdict, VERDICT_VERIFIED);
    for (guint i = 0; i < result->advice->len; i++)
        advised = advised || ((const Advice *)result->advice->pdata[i])->id == ADVICE_WAIT_DESCRIPTOR_RANGE;
    assert_true(advised);
    check_result_free(result);
}

static void g12_goes_unnoticed_where_copies_keep_their_order(void **state)
{
    (void)state;
    for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
        CheckSpec spec = spec_of("g12_how_many_is_not_which", 2, search);
        spec.knobs.dma_order = DMA_ORDER_LINK_FIFO;
        CheckResult *result = check_run(&spec);
        assert_int_equal(result->verdict, VERDICT_VERIFIED);
        check_result_free(result);
    }
}

static void each_core_has_its_own_semaphores(void **state)
{
    (void)state;
    for (uint32_t cores = 2; cores <= 3; cores++) {
        CheckSpec spec = spec_of("false_alarm_02_whose_semaphore", 2, SEARCH_PROVE);
        spec.cores = cores;
        CheckResult *result = check_run(&spec);
        assert_int_equal(result->verdict, VERDICT_VERIFIED);
        check_result_free(result);
    }
}

static void padding_is_free_to_use_where_the_knob_says_so(void **state)
{
    (void)state;
    for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
        CheckSpec spec = spec_of("false_alarm_05_padding", 1, search);
        spec.knobs.bounds = BOUNDS_PADDED;
        CheckResult *result = check_run(&spec);
        assert_int_equal(result->verdict, VERDICT_VERIFIED);
        assert_true(result->results_checked);
        check_result_free(result);
    }
}

static void an_exemption_is_for_one_semaphore_and_keeps_its_reason(void **state)
{
    CheckSpec spec = spec_of("false_alarm_07_meant_to_remain_not_the_other", 2, SEARCH_PROVE);
    CheckResult *result = check_run(&spec);
    unsigned exempt = 0, reported = 0;
    (void)state;
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const char *reason = finding_exemption(result->program, result->outcome->findings->pdata[i]);
        exempt += reason != NULL && strstr(reason, "statistic") != NULL;
        reported += reason == NULL;
    }
    assert_int_equal(exempt, 1);
    assert_int_equal(reported, 1);
    check_result_free(result);
}

static void an_exempted_fault_does_not_end_a_search_for_the_first(void **state)
{
    (void)state;
    for (Search search = SEARCH_AUTO; search_name(search) != NULL; search++) {
        CheckSpec spec = spec_of("false_alarm_07_meant_to_remain_not_the_other", 1, search);
        spec.first = true;
        CheckResult *result = check_run(&spec);
        assert_int_equal(result->verdict, VERDICT_FAULTY);
        check_result_free(result);
    }
}

/* A racing value has other effects in other orders: what a run saw after it may be missing in the replay. */
static void the_first_fault_is_one_that_a_replay_shows(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        CheckSpec spec = spec_of("expert_exchange_no_barrier", 3, SEARCH_AUTO);
        spec.first = first;
        CheckResult *result = check_run(&spec);
        assert_int_equal(result->verdict, VERDICT_FAULTY);
        assert_true(first ? result->outcome->findings->len == 1 : result->outcome->findings->len > 1);
        assert_true(((const Finding *)result->outcome->findings->pdata[0])->shown);
        check_result_free(result);
    }
}

/* Two results at hand at once, in either order: neither knows of the other. */
static void verdicts_belong_to_their_runs(void **state)
{
    CheckSpec wrong = spec_of("false_alarm_08_late_fault", 3, SEARCH_PROVE);
    CheckSpec right = spec_of("false_alarm_08_late_fault_repaired", 3, SEARCH_PROVE);
    (void)state;
    CheckResult *first = check_run(&wrong), *second = check_run(&right), *third = check_run(&wrong);
    assert_int_equal(first->verdict, VERDICT_FAULTY);
    assert_int_equal(second->verdict, VERDICT_VERIFIED);
    assert_int_equal(third->verdict, VERDICT_FAULTY);
    assert_int_equal(second->outcome->findings->len, 0);
    check_result_free(second);
    check_result_free(first);
    check_result_free(third);
}

static void one_mistake_in_a_loop_is_one_report(void **state)
{
    const Override count = { "count", 300 };
    CheckSpec spec = spec_of("false_alarm_12_once_a_line", 2, SEARCH_PROVE);
    spec.override = &count;
    spec.overrides = 1;
    (void)state;
    CheckResult *result = check_run(&spec);
    assert_int_equal(result->outcome->findings->len, 1);
    assert_int_equal(((const Finding *)result->outcome->findings->pdata[0])->count, 300);
    check_result_free(result);
}

static void many_devices_do_not_put_it_to_sleep(void **state)
{
    CheckSpec spec = spec_of("false_alarm_14_asleep_many_devices", 100, SEARCH_PROVE);
    (void)state;
    CheckResult *result = check_run(&spec);
    assert_found(result, 1u << FAULT_RACE);
    check_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_them_are_there),
        cmocka_unit_test(every_case_meets_its_promise),
        cmocka_unit_test(p06_waiting_for_too_long_a_slice_is_advice),
        cmocka_unit_test(g12_goes_unnoticed_where_copies_keep_their_order),
        cmocka_unit_test(each_core_has_its_own_semaphores),
        cmocka_unit_test(padding_is_free_to_use_where_the_knob_says_so),
        cmocka_unit_test(an_exemption_is_for_one_semaphore_and_keeps_its_reason),
        cmocka_unit_test(an_exempted_fault_does_not_end_a_search_for_the_first),
        cmocka_unit_test(the_first_fault_is_one_that_a_replay_shows),
        cmocka_unit_test(verdicts_belong_to_their_runs),
        cmocka_unit_test(one_mistake_in_a_loop_is_one_report),
        cmocka_unit_test(many_devices_do_not_put_it_to_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
