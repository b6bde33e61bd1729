/* test_never_ran.c - a verdict comes with a line where it says less than it seems to: nothing ran, or nothing was expected of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"

static const char NEVER_RAN[] = "advice, never-ran: ", IDLE[] = "advice, idle-expectation: ";

static void check_idle(const char *program, const char *devices)
{
    g_autofree char *words = g_strdup_printf("check ./idle.so:%s -n %s --json report.json --sarif report.sarif", program, devices);
    assert_int_equal(binary_run(words), 0);
}

/* In the text, in JSON, and in SARIF; nowhere: none of them. */
static void want_said(const char *program, const char *devices, const char *advice, bool said)
{
    g_autofree char *id = g_strndup(advice + strlen("advice, "), strlen(advice) - strlen("advice, : "));
    g_autofree char *member = g_strdup_printf("\"id\" : \"%s\"", id);
    check_idle(program, devices);
    g_autofree char *json = binary_contents("report.json"), *sarif = binary_contents("report.sarif");
    if ((strstr(binary_text, advice) != NULL) != said || (strstr(json, member) != NULL) != said || (strstr(sarif, id) != NULL) != said)
        fail_msg("%s: %s %s in:\n%s%s%s", program, said ? "no" : "there is", advice, binary_text, json, sarif);
}

static void a_launch_that_runs_nowhere_is_named(void **state)
{
    static const char *const programs[] = { "grid_of_zero", "grid_of_zero_in_one_dimension", "on_no_device", "one_of_two" };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(programs); i++)
        want_said(programs[i], "2", NEVER_RAN, true);
    want_said("does_all", "2", NEVER_RAN, false);
}

static void it_is_named_at_the_size_where_it_is_so(void **state)
{
    (void)state;
    want_said("grid_of_devices_but_one", "1", NEVER_RAN, true);
    want_said("grid_of_devices_but_one", "2", NEVER_RAN, false);
}

static void operations_of_a_kernel_that_does_none_are_unreached(void **state)
{
    (void)state;
    check_idle("does_nothing", "2");
    binary_says("advice, unreached: nothing executed idle.c:");
    check_idle("does_all", "2");
    assert_null(strstr(binary_text, "unreached"));
}

static void an_expectation_that_holds_of_anything_is_named(void **state)
{
    static const char *const programs[] = { "any_value", "infinite", "itself", "no_elements", "of_no_launch" };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(programs); i++) {
        want_said(programs[i], "2", IDLE, true);
        binary_says("no result was checked");
    }
    want_said("some", "2", IDLE, true);
    binary_says("results checked");
    want_said("right", "2", IDLE, false);
    binary_says("results checked");
}

static int set_up(void **state)
{
    if (binary_set_up(state) != 0)
        return -1;
    binary_use_kernels("idle");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_that_runs_nowhere_is_named),
        cmocka_unit_test(it_is_named_at_the_size_where_it_is_so),
        cmocka_unit_test(operations_of_a_kernel_that_does_none_are_unreached),
        cmocka_unit_test(an_expectation_that_holds_of_anything_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, binary_tear_down);
}
