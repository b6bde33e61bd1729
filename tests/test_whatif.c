/* test_whatif.c - repairs that were tried, knobs under which a fault is gone, and what a right program does not need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../checker/check.h"
#include "../kernels/pallas/module.h"

static CheckResult *check(const char *program, uint32_t devices, const Edits *edits)
{
    CheckSpec *spec = g_new0(CheckSpec, 1);
    *spec = (CheckSpec){ .open = pl_module_open, .program = program, .cores = 1, .edits = edits };
    mesh_line(&spec->mesh, devices);
    return check_run(spec);
}

static void done(CheckResult *result)
{
    CheckSpec *spec = (CheckSpec *)result->spec;
    check_result_free(result);
    g_free(spec);
}

static bool says(const GPtrArray *sentences, const char *part)
{
    for (guint i = 0; sentences != NULL && i < sentences->len; i++)
        if (strstr(sentences->pdata[i], part) != NULL)
            return true;
    return false;
}

static CheckResult *repaired(const char *program, uint32_t devices)
{
    CheckResult *result = check(program, devices, NULL);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    check_try_repairs(result);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    assert_non_null(result->tried);
    return result;
}

static void repair_is_named(const char *program, uint32_t devices, const char *part)
{
    CheckResult *result = repaired(program, devices);
    if (!says(result->tried, part))
        fail_msg("%s, %u devices: nothing about \"%s\" among %u sentences", program, devices, part, result->tried->len);
    done(result);
}

static void repair_is_not_named(const char *program, uint32_t devices, const char *part)
{
    CheckResult *result = repaired(program, devices);
    if (says(result->tried, part))
        fail_msg("%s, %u devices: \"%s\" is named", program, devices, part);
    done(result);
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
    repair_is_named("permute_twice_single_barrier", 5, "with a second barrier behind the wait at kernels/permute_twice.c:13");
    repair_is_named("p01_neighbour_barrier_reused", 3, "with a second barrier behind the wait");
    repair_is_named("permute_twice_single_barrier", 5, "with a barrier of all devices where launch");
    repair_is_named("right_permute_no_barrier", 3, "with a barrier of all devices where launch 0");
    repair_is_not_named("right_permute_no_barrier", 3, "second barrier");
    repair_is_not_named("p02_one_sided_barrier", 4, "second barrier");          /* it hears of the wrong neighbour as often as you like */
}

static void a_missing_wait_is_put_in(void **state)
{
    (void)state;
    repair_is_named("never_waited_for", 2, "a wait for 4096 on recv_sem");
    repair_is_named("p24_copy_never_waited_for", 2, "a wait for 4096 on recv_sem (where it is left over) before the launch is left");
    repair_is_named("reduce_scatter_no_cleanup", 3, "a wait for 1 on left_capacity");
    repair_is_named("reduce_scatter_missing_wait", 3, "a wait for 2048 on right_recv behind the start of the first copy");
    repair_is_named("p29_waits_on_the_first_slot", 1, "with a wait for 4096 on sems[1] before kernels/cases/p29_waits_on_the_first_slot.c");
}

static void a_wait_that_comes_too_late_is_moved_up(void **state)
{
    (void)state;
    repair_is_named("read_before_wait", 3, "with the wait on recv_sem at kernels/add_neighbour.c:43 moved up to before "
                                           "kernels/add_neighbour.c:42");
    repair_is_named("overwrite_before_wait_send", 3, "with the wait on send_sem at kernels/add_neighbour.c:62 moved up");
    repair_is_named("p21_store_before_the_wait", 1, "p21_store_before_the_wait.c:17 (the last time)");
    repair_is_named("hypercube_sends_awaited_last", 4, "with wait_send (in place of the waits on send_sem elsewhere) right behind");
    repair_is_not_named("all_gather_shared_semaphore", 3, "moved up");
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
    repair_is_named("all_gather_shared_semaphore", 3, "fine only if the hardware promises dma-order link-fifo");
    repair_is_named("p31_at_most_one_store_pending", 1, "fine only if the hardware promises dma-order issue-order");
    repair_is_named("hypercube_one_semaphore", 4, "fine only if the hardware promises dma-progress whole");
    repair_is_named("false_alarm_05_padding", 1, "fine only if the hardware promises bounds padded");
    repair_is_not_named("all_gather_shared_semaphore", 3, "bounds padded");
    repair_is_not_named("read_before_wait", 3, "fine only if");
}

/* An exempted fault is no fault, but does not hide others either. */
static void an_exemption_makes_nothing_look_mended(void **state)
{
    (void)state;
    repair_is_named("false_alarm_07_meant_to_remain_not_the_other", 1, "with a wait for 1 on credit before the launch is left");
    repair_is_not_named("false_alarm_07_meant_to_remain_not_the_other", 1, "rounds");
    repair_is_not_named("false_alarm_07_meant_to_remain_not_the_other", 1, "fine only if");
}

/* What does not repair must not be called a repair. */
static void a_cycle_is_not_mended_by_any(void **state)
{
    (void)state;
    CheckResult *result = repaired("cyclic_wait", 3);
    assert_int_equal(result->tried->len, 0);
    done(result);
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
    CheckResult *result = check(program, devices, NULL);
    assert_int_equal(result->verdict, VERDICT_VERIFIED);
    check_try_without(result);
    return result;
}

static void what_is_not_needed_is_said(void **state)
{
    (void)state;
    CheckResult *result = advised("false_alarm_13_needless_barrier", 3);
    assert_true(is_needless(result, "barrier"));
    done(result);
    result = advised("reduce_scatter", 3);
    assert_true(is_needless(result, "the signals and waits on left_capacity"));
    assert_false(is_needless(result, "the wait on left_capacity"));             /* said once */
    done(result);
}

static void what_is_needed_is_said_with_what_happens_otherwise(void **state)
{
    (void)state;
    CheckResult *result = advised("all_gather", 3);
    assert_false(is_needless(result, "barrier"));
    assert_true(says(result->tried, "needed: the barrier where launch 0 (all_gather) begins; without this there is a lifetime: copy 1 of "
                                    "device 0 writes"));
    assert_true(says(result->tried, "needed: the wait on recv_sems at kernels/all_gather.c:21; without this there is a race: "));
    done(result);
}

static void a_wait_that_may_come_later_is_said(void **state)
{
    (void)state;
    CheckResult *result = advised("all_gather", 3);
    assert_true(is_needless(result, "the wait on send_sem at kernels/all_gather.c:21"));
    assert_false(is_needless(result, "recv_sems"));
    assert_false(is_needless(result, "local_copy_sem"));
    done(result);
    result = advised("p21_store_before_the_wait_repaired", 1);
    assert_false(is_needless(result, "sems"));
    done(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_semaphore_for_several_copies_is_mended),
        cmocka_unit_test(a_capacity_semaphore_is_put_in),
        cmocka_unit_test(a_single_barrier_called_twice_gets_a_second_one),
        cmocka_unit_test(a_missing_wait_is_put_in),
        cmocka_unit_test(a_wait_that_comes_too_late_is_moved_up),
        cmocka_unit_test(a_wrong_count_is_mended),
        cmocka_unit_test(a_kinder_machine_is_named_where_it_helps),
        cmocka_unit_test(an_exemption_makes_nothing_look_mended),
        cmocka_unit_test(a_cycle_is_not_mended_by_any),
        cmocka_unit_test(what_is_not_needed_is_said),
        cmocka_unit_test(what_is_needed_is_said_with_what_happens_otherwise),
        cmocka_unit_test(a_wait_that_may_come_later_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
