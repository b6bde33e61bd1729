/* test_whatif.c - repairs that were tried, knobs under which a fault is gone, and what a right program does not need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/advise/advise.h"
#include "../support/checked.h"

static CheckResult *check_line(const char *program, uint32_t devices)
{
    const CheckSpec spec = checked_spec(program, devices, 1, SEARCH_AUTO);
    return checked(&spec);
}

static bool says(const GPtrArray *sentences, const char *part)
{
    bool found = false;
    for (guint i = 0; sentences != NULL && i < sentences->len && !found; i++) {
        g_autofree char *text = repair_text(sentences->pdata[i]);
        found = strstr(text, part) != NULL;
    }
    return found;
}

static CheckResult *repaired(const char *program, uint32_t devices)
{
    CheckResult *result = check_line(program, devices);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    check_try_repairs(result);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    assert_non_null(result->tried);
    assert_null(result->outcome->contradiction);
    return result;
}

static void repair_is_named(const char *program, uint32_t devices, const char *part)
{
    CheckResult *result = repaired(program, devices);
    if (!says(result->tried, part))
        fail_msg("%s, %u devices: nothing about \"%s\" among %u sentences", program, devices, part, result->tried->len);
    checked_free(result);
}

static void repair_is_not_named(const char *program, uint32_t devices, const char *part)
{
    CheckResult *result = repaired(program, devices);
    if (says(result->tried, part))
        fail_msg("%s, %u devices: \"%s\" is named", program, devices, part);
    checked_free(result);
}

static void one_semaphore_for_several_copies_is_mended(void **state)
{
    (void)state;
    repair_is_named("all_gather_shared_semaphore", 3, "with one recv_sem for each copy");
    repair_is_named("p10_single_receive_semaphore", 4, "with one recv_sem for each copy");
    repair_is_named("p17_counts_for_a_barrier", 3, "with one recv_sem for each copy");              /* several senders a step */
    repair_is_named("credits_one_too_many", 3, "with one recv_sems for each copy");                 /* a few in turn */
    repair_is_not_named("all_reduce_no_capacity", 3, "for each copy");
}

static void a_capacity_semaphore_is_put_in(void **state)
{
    (void)state;
    repair_is_named("all_reduce_no_capacity", 3, "with a capacity semaphore");
    repair_is_named("p11_two_slots_without_capacity", 3, "with a capacity semaphore");
    repair_is_not_named("all_gather_shared_semaphore", 3, "capacity");
    repair_is_not_named("read_before_wait", 3, "capacity");
}

static void a_single_barrier_called_twice_gets_a_second_one(void **state)
{
    (void)state;
    repair_is_named("permute_twice_single_barrier", 5, "with a second barrier after the wait at kernels/permute_twice.c:13");
    repair_is_named("p01_neighbour_barrier_reused", 3, "with a second barrier after the wait");
    repair_is_named("permute_twice_single_barrier", 5, "with a barrier of all devices where launch");
    repair_is_named("right_permute_no_barrier", 3, "with a barrier of all devices where launch 0");
    repair_is_not_named("right_permute_no_barrier", 3, "second barrier");
    repair_is_not_named("p02_one_sided_barrier", 4, "second barrier");          /* it hears of the wrong neighbour as often as you like */
}

static void a_missing_wait_is_put_in(void **state)
{
    (void)state;
    repair_is_named("never_waited_for", 2, "a wait for 4096 on recv_sem");
    repair_is_named("p24_copy_never_waited_for", 2, "a wait for 4096 on recv_sem (where it is left) at the end of the launch");
    repair_is_named("reduce_scatter_no_cleanup", 3, "a wait for 1 on left_capacity");
    repair_is_named("reduce_scatter_missing_wait", 3, "a wait for 2048 on right_recv after the start of the first copy");
    repair_is_named("p29_waits_on_the_first_slot", 1, "with a wait for 4096 on sems[1] before kernels/cases/p29_waits_on_the_first_slot.c");
}

static void a_wait_that_comes_too_late_is_moved_up(void **state)
{
    (void)state;
    repair_is_named("read_before_wait", 3, "with the wait on recv_sem at kernels/add_neighbour.c:43 moved up to before "
                                           "kernels/add_neighbour.c:42");
    repair_is_named("overwrite_before_wait_send", 3, "with the wait on send_sem at kernels/add_neighbour.c:62 moved up");
    repair_is_named("p21_store_before_the_wait", 1, "p21_store_before_the_wait.c:19 (the last time)");
    repair_is_named("hypercube_sends_awaited_last", 4, "with wait_send (in place of the waits on send_sem elsewhere) right after");
    repair_is_not_named("all_gather_shared_semaphore", 3, "moved up");
}

static void a_late_wait_waits_for_what_it_did_where_it_was(void **state)
{
    (void)state;
    repair_is_named("false_alarm_04_storage_reused_outlived", 1, "moved up to before the end of the scope of");
    repair_is_named("false_alarm_11_one_schedule", 3, "one_schedule.c:26 moved up to before kernels/cases/false_alarm_11_one_schedule.c:24 "
                                                      "(the last time)");
    repair_is_named("false_alarm_12_once_a_line", 2, "moved up to before kernels/cases/false_alarm_12_once_a_line.c:20, all at once "
                                                     "the first time");
    repair_is_named("false_alarm_14_asleep_one_of_two", 3, "with the wait on ready at kernels/cases/false_alarm_14_asleep.c:41 moved up");
}

/* The order that was meant, between cores whose steps are told apart by what they touch. */
static void a_core_that_comes_too_early_is_told(void **state)
{
    (void)state;
    repair_is_named("g07_zeroed_too_late", 2, "with a barrier between the store on flag at kernels/cases/g07_zeroed_too_late.c:14 and");
    repair_is_named("g20_cleans_the_next_bank", 2, "with a semaphore of its own that each core signals after the store on flags at");
    repair_is_named("g01_no_exit_barrier", 2, "with a capacity semaphore that each core signals after the load of inbox at");
    repair_is_not_named("g24_one_credit_too_many", 2, "of its own that each core signals");
    repair_is_not_named("p23_two_senders_one_slot", 3, "semaphore");             /* the first row would be lost in order, too */
}

static void a_semaphore_with_two_meanings_becomes_two(void **state)
{
    (void)state;
    repair_is_named("g05b_two_meanings", 3, "with a check_in of its own for each of the waits at kernels/cases/g05b_two_meanings.c:21 and");
    repair_is_not_named("missing_signal", 3, "of its own for each");
}

static void the_first_credit_is_given_before_the_loop(void **state)
{
    (void)state;
    repair_is_named("g23_no_initial_credit", 3, "with a signal on credit before the first wait at kernels/cases/g23_no_initial");
    repair_is_named("g23_no_initial_credit", 3, "and none there the last time");
    repair_is_not_named("cyclic_wait", 3, "before the first wait");
}

/* A repair that lets a wait pass by a value that says nothing is none. */
static void flags_grow_and_are_not_reset(void **state)
{
    (void)state;
    repair_is_named("g03_equality_poll", 2, "as the comparison of each wait on flag");
    repair_is_named("g06_reset_loses_a_signal", 2, "with an epoch in ready: each round waits for as much more, and the reset at");
    repair_is_named("g09_count_then_reset", 3, "with an epoch in count: each round waits for as much more");
    repair_is_named("g11_epoch_wraps_around", 2, "with an epoch in epoch that only grows");
    repair_is_named("g20_cleans_the_next_bank", 2, "without the store of 0 to flags");
    repair_is_not_named("g06_reset_loses_a_signal", 2, "without the store");
    static const char *const reset[] = { "g06_reset_loses_a_signal", "g07_zeroed_too_late", "g09_count_then_reset",
                                         "g20_cleans_the_next_bank" };
    for (unsigned i = 0; i < G_N_ELEMENTS(reset); i++) {
        repair_is_not_named(reset[i], 2, "instead of");
        repair_is_not_named(reset[i], 2, "a store on");
        repair_is_not_named(reset[i], 2, "sent to");
    }
}

static void a_signal_that_comes_too_soon_is_moved_down(void **state)
{
    (void)state;
    repair_is_named("consumers_credit_too_soon", 2, "with the signal on credits at kernels/patterns/consumers.c:42 moved down to after "
                                                    "kernels/patterns/consumers.c:45");
    repair_is_named("ring_attention_credit_too_soon", 3, "with the signal on credit at kernels/patterns/ring_attention.c:61 moved down");
    repair_is_not_named("p02_one_sided_barrier", 3, "moved down");
    repair_is_not_named("permute_twice_single_barrier", 5, "moved down");
}

static void a_wrong_count_is_mended(void **state)
{
    (void)state;
    repair_is_named("wait_for_fewer_bytes", 3, "with a wait for 4096 instead of 2048");
    repair_is_named("p14_waits_for_too_few_bytes", 1, "with a wait for 8192 instead of 4096");
    repair_is_named("p09_signals_two_waits_for_two", 3, "with a wait for 4 instead of 2");
    repair_is_named("p13_waits_for_too_many_bytes", 1, "with a wait for 4096 instead of 8192");
    repair_is_not_named("all_gather_shared_semaphore", 3, "instead of 4096");
}

static void a_kinder_machine_is_named_where_it_helps(void **state)
{
    (void)state;
    repair_is_named("all_gather_shared_semaphore", 3, "right only if the hardware guarantees dma-order link-fifo");
    repair_is_named("p31_at_most_one_store_pending", 1, "right only if the hardware guarantees dma-order issue-order");
    repair_is_named("hypercube_one_semaphore", 4, "right only if the hardware guarantees dma-progress whole");
    repair_is_named("false_alarm_05_padding", 1, "right only if the hardware guarantees bounds padded");
    repair_is_not_named("all_gather_shared_semaphore", 3, "bounds padded");
    repair_is_not_named("read_before_wait", 3, "right only if");
}

static void fixed_places_of_scopes_are_named_where_they_help(void **state)
{
    (void)state;
    CheckSpec spec = checked_spec("jax_swap", 2, 1, SEARCH_AUTO);
    spec.knobs.scopes = SCOPES_STRICT;
    CheckResult *result = check_run(&spec);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    check_try_repairs(result);
    assert_true(says(result->tried, "with --scopes static it is verified"));
    check_result_free(result);
}

static void the_smallest_wrong_size_is_named(void **state)
{
    (void)state;
    static const struct { const char *program; uint32_t devices; const char *said; } cases[] = {
        { "permute_twice_single_barrier", 6, "right with 2 to 4 devices: the smallest wrong size is 5 devices" },
        { "all_gather_shared_semaphore", 5, "right with 2 devices: the smallest wrong size is 3 devices" },
        { "missing_signal", 4, NULL },                          /* wrong from the smallest size on */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        CheckResult *result = check_line(cases[i].program, cases[i].devices);
        check_try_smaller(result);
        assert_int_equal(says(result->tried, cases[i].said ? cases[i].said : "size"), cases[i].said != NULL);
        checked_free(result);
    }
}

/* Sixty-four devices are too many to try repairs on: they are tried where few devices are wrong already, and say so. */
static void a_large_program_is_mended_where_it_is_small(void **state)
{
    (void)state;
    CheckResult *result = repaired("all_gather_shared_semaphore", 64);
    assert_true(says(result->tried, "with one recv_sem for each copy (an array, indexed by the step) instead of one for all, "
                                    "verified with 3 devices"));
    assert_true(says(result->tried, "with --dma-order link-fifo it is verified with 3 devices"));
    assert_false(says(result->tried, "at this size"));
    check_try_smaller(result);
    assert_true(says(result->tried, "right with 2 devices: the smallest wrong size is 3 devices"));
    checked_free(result);
}

/* An exempted fault is not reported, but does not hide others. */
static void an_exemption_makes_nothing_look_mended(void **state)
{
    (void)state;
    repair_is_named("false_alarm_07_meant_to_remain_not_the_other", 1, "with a wait for 1 on credit at the end of the launch");
    repair_is_not_named("false_alarm_07_meant_to_remain_not_the_other", 1, "rounds");
    repair_is_not_named("false_alarm_07_meant_to_remain_not_the_other", 1, "right only if");
}

/* What does not repair must not be called a repair: a cycle is broken by a signal before the wait, and by nothing else. */
static void a_cycle_is_mended_by_signalling_first(void **state)
{
    (void)state;
    CheckResult *result = repaired("cyclic_wait", 3);
    assert_int_equal(result->tried->len, 1);
    assert_true(says(result->tried, "with the wait on token at kernels/token_ring.c:51 moved down to after kernels/token_ring.c:52"));
    checked_free(result);
}

static bool is_needless(const CheckResult *result, const char *part)
{
    for (guint i = 0; i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        if (advice->id == ADVICE_NEEDLESS_SYNC && strstr(advice->message, part) != NULL)
            return true;
    }
    return false;
}

static CheckResult *advised(const char *program, uint32_t devices)
{
    CheckResult *result = check_line(program, devices);
    assert_int_equal(result->verdict, VERDICT_VERIFIED);
    check_try_without(result);
    return result;
}

static void what_is_not_needed_is_said(void **state)
{
    (void)state;
    CheckResult *result = advised("false_alarm_13_needless_barrier", 3);
    assert_true(is_needless(result, "barrier"));
    checked_free(result);
    result = advised("reduce_scatter", 3);
    assert_true(is_needless(result, "the signals and waits on left_capacity"));
    assert_false(is_needless(result, "the wait on left_capacity"));             /* said once */
    checked_free(result);
}

static void what_is_needed_is_said_with_what_happens_otherwise(void **state)
{
    (void)state;
    CheckResult *result = advised("all_gather", 3);
    assert_false(is_needless(result, "barrier"));
    assert_true(says(result->tried, "the barrier where launch 0 (all_gather) begins; without it there is a lifetime: copy 1 of "
                                    "device 0 writes"));
    assert_true(says(result->tried, "the wait on recv_sems at kernels/all_gather.c:21; without it there is a race: "));
    checked_free(result);
}

static void a_wait_that_may_come_later_is_said(void **state)
{
    (void)state;
    CheckResult *result = advised("all_gather", 3);
    assert_true(is_needless(result, "the wait on send_sem at kernels/all_gather.c:21"));
    assert_false(is_needless(result, "recv_sems"));
    assert_false(is_needless(result, "local_copy_sem"));
    checked_free(result);
    result = advised("p21_store_before_the_wait_repaired", 1);
    assert_false(is_needless(result, "sems"));
    checked_free(result);
}

static unsigned count_advice(const CheckResult *result, AdviceId id, const char *part)
{
    unsigned count = 0;
    for (guint i = 0; i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        count += advice->id == id && strstr(advice->message, part) != NULL;
    }
    return count;
}

static void looked_at(const char *program, uint32_t devices, AdviceId id, const char *part, unsigned times)
{
    CheckResult *result = check_line(program, devices);
    check_look_for_advice(result);
    if (count_advice(result, id, part) != times)
        fail_msg("%s, %u devices: not %u times \"%s\"", program, devices, times, part);
    checked_free(result);
}

static void waits_that_different_signals_satisfy_are_told(void **state)
{
    (void)state;
    looked_at("all_gather_shared_semaphore", 3, ADVICE_AMBIGUOUS_WAIT, "the wait on recv_sem of device 0 can be satisfied by copy 1 of "
              "device 2 (kernels/all_gather.c:47) or by copy 2 of device 2", 1);
    looked_at("p03_counting_barrier_rounds", 5, ADVICE_AMBIGUOUS_WAIT, "barrier semaphore", 1);        /* right all the same */
    looked_at("all_gather", 4, ADVICE_AMBIGUOUS_WAIT, "", 0);
    looked_at("token_ring", 4, ADVICE_AMBIGUOUS_WAIT, "", 0);
    looked_at("right_permute", 4, ADVICE_AMBIGUOUS_WAIT, "", 0);
}

static void counts_that_run_ahead_are_told(void **state)
{
    (void)state;
    looked_at("one_signal_too_many", 3, ADVICE_OVERSIGNAL, "can be at 2 where this wait needs 1", 1);
    looked_at("all_gather_shared_semaphore", 3, ADVICE_OVERSIGNAL, "recv_sem of device 0 can be at 8192 where this wait needs 4096", 1);
    looked_at("all_gather", 4, ADVICE_OVERSIGNAL, "", 0);
}

static void copies_that_go_further_than_one_hop_are_told(void **state)
{
    (void)state;
    looked_at("all_to_all", 5, ADVICE_NON_NEIGHBOUR, "goes 2 hops", 1);
    looked_at("all_to_all", 3, ADVICE_NON_NEIGHBOUR, "", 0);    /* on a ring of three all are neighbours */
    looked_at("all_gather", 5, ADVICE_NON_NEIGHBOUR, "", 0);
}

static void steps_that_name_a_scope_early_are_told(void **state)
{
    (void)state;
    looked_at("jax_swap", 2, ADVICE_EARLY_SIGNAL, "with --scopes static it counts for the scope to come", 1);
    looked_at("permute_twice", 3, ADVICE_EARLY_SIGNAL, "", 0);  /* its scope is open before the first barrier */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_semaphore_for_several_copies_is_mended),
        cmocka_unit_test(a_capacity_semaphore_is_put_in),
        cmocka_unit_test(a_single_barrier_called_twice_gets_a_second_one),
        cmocka_unit_test(a_missing_wait_is_put_in),
        cmocka_unit_test(a_wait_that_comes_too_late_is_moved_up),
        cmocka_unit_test(a_signal_that_comes_too_soon_is_moved_down),
        cmocka_unit_test(a_late_wait_waits_for_what_it_did_where_it_was),
        cmocka_unit_test(a_core_that_comes_too_early_is_told),
        cmocka_unit_test(a_semaphore_with_two_meanings_becomes_two),
        cmocka_unit_test(the_first_credit_is_given_before_the_loop),
        cmocka_unit_test(flags_grow_and_are_not_reset),
        cmocka_unit_test(a_wrong_count_is_mended),
        cmocka_unit_test(a_kinder_machine_is_named_where_it_helps),
        cmocka_unit_test(fixed_places_of_scopes_are_named_where_they_help),
        cmocka_unit_test(the_smallest_wrong_size_is_named),
        cmocka_unit_test(a_large_program_is_mended_where_it_is_small),
        cmocka_unit_test(an_exemption_makes_nothing_look_mended),
        cmocka_unit_test(a_cycle_is_mended_by_signalling_first),
        cmocka_unit_test(what_is_not_needed_is_said),
        cmocka_unit_test(what_is_needed_is_said_with_what_happens_otherwise),
        cmocka_unit_test(a_wait_that_may_come_later_is_said),
        cmocka_unit_test(waits_that_different_signals_satisfy_are_told),
        cmocka_unit_test(counts_that_run_ahead_are_told),
        cmocka_unit_test(copies_that_go_further_than_one_hop_are_told),
        cmocka_unit_test(steps_that_name_a_scope_early_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
