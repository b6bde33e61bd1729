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

static void repair_is_named(const char *program, uint32_t devices, const char *part)
{
    CheckResult *result = check(program, devices, NULL);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    check_try_repairs(result);
    if (!says(result->tried, part))
        fail_msg("%s, %u devices: nothing about \"%s\" among %u sentences", program, devices, part, result->tried ? result->tried->len : 0);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    done(result);
}

static void usual_repairs_are_tried(void **state)
{
    (void)state;
    repair_is_named("all_gather_shared_semaphore", 3, "with one recv_sem for each copy");
    repair_is_named("all_gather_shared_semaphore", 3, "fine only if the hardware promises dma-order link-fifo");
    repair_is_named("permute_twice_single_barrier", 5, "with a barrier of all devices where launch");
    repair_is_named("right_permute_no_barrier", 3, "with a barrier of all devices where launch 0");
    repair_is_named("never_waited_for", 2, "a wait for 4096 on recv_sem");
    repair_is_named("reduce_scatter_no_cleanup", 3, "a wait for 1 on left_capacity");
    repair_is_named("wait_for_fewer_bytes", 3, "with a wait for 4096 instead of 2048");
    repair_is_named("all_reduce_no_capacity", 3, "with a capacity semaphore");
    repair_is_named("p11_two_slots_without_capacity", 3, "with a capacity semaphore");
    repair_is_named("false_alarm_05_padding", 1, "bounds padded");
}

/* What does not repair must not be called a repair. */
static void a_cycle_is_not_mended_by_any(void **state)
{
    (void)state;
    CheckResult *result = check("cyclic_wait", 3, NULL);
    check_try_repairs(result);
    assert_non_null(result->tried);
    assert_int_equal(result->tried->len, 0);
    done(result);
}

static const Advice *needless(const CheckResult *result)
{
    for (guint i = 0; i < result->advice->len; i++)
        if (((const Advice *)result->advice->pdata[i])->id == ADVICE_NEEDLESS_SYNC)
            return result->advice->pdata[i];
    return NULL;
}

static void what_is_not_needed_is_said(void **state)
{
    (void)state;
    CheckResult *result = check("false_alarm_13_needless_barrier", 3, NULL);
    assert_int_equal(result->verdict, VERDICT_VERIFIED);
    check_try_without(result);
    assert_non_null(needless(result));
    done(result);
    result = check("all_gather", 3, NULL);
    check_try_without(result);
    assert_null(needless(result));
    assert_true(says(result->tried, "needed: the barrier where launch 0 (all_gather) begins; without this there is a lifetime"));
    done(result);
}

static void a_change_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    const Edit edit = { .kind = EDIT_SPREAD, .name = "no such semaphore" };
    CheckResult *result = check("all_gather", 3, &(Edits){ &edit, 1 });
    assert_int_equal(result->verdict, VERDICT_ERROR);
    done(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_repairs_are_tried),
        cmocka_unit_test(a_cycle_is_not_mended_by_any),
        cmocka_unit_test(what_is_not_needed_is_said),
        cmocka_unit_test(a_change_that_does_not_fit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
