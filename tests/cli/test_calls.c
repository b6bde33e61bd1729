/* test_calls.c - faults in a function that is called from several places: distinguished by marked calls, and named with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"

static int set_up(void **state)
{
    if (binary_set_up(state) != 0)
        return -1;
    binary_take_kernel("called.c", "called.c");
    return 0;
}

static void a_marked_call_is_a_fault_of_its_own(void **state)
{
    (void)state;
    static const char *const searches[] = { "auto", "enumerate", "random", "pct" };
    for (size_t i = 0; i < G_N_ELEMENTS(searches); i++) {
        g_autofree char *marked = g_strdup_printf("check called.c:too_late -n 2 -q --search %s", searches[i]);
        g_autofree char *unmarked = g_strdup_printf("check called.c:too_late_unmarked -n 2 -q --search %s", searches[i]);
        assert_int_equal(binary_run(marked), 1);
        binary_says("faulty, 2 faults");
        assert_int_equal(binary_run(unmarked), 1);
        binary_says("faulty, 1 fault\n");
    }
    assert_int_equal(binary_run("check called.c:in_time -n 2..4 -q"), 0);
}

/* Functions that are inlined, or not, calls that become jumps: all the same. */
static void the_compiler_makes_no_difference(void **state)
{
    (void)state;
    static const char *const flags[] = { "-O0", "-O3", "-Os -fomit-frame-pointer -g0", "-O2 -fno-inline" };
    g_autofree char *first = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
        g_autofree char *words = g_strdup_printf("check called.c:too_late -n 3 --cflags '%s'", flags[i]);
        assert_int_equal(binary_run(words), 1);
        if (first == NULL)
            first = g_strdup(binary_text);
        assert_string_equal(binary_text, first);
    }
}

static void the_callers_are_named(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check called.c:too_late -n 2 --json c.json --sarif c.sarif"), 1);
    binary_says("    called.c:7, in send\n      called from send_halves at line 19\n      called from too_late at line 52\n");
    binary_says("    Also:  race of output at line 34 and line 7 (called from send_halves at line 20)");
    g_autofree char *json = binary_contents("c.json"), *sarif = binary_contents("c.sarif");
    g_autoptr(JsonParser) report = binary_parse(json), alerts = binary_parse(sarif);
    JsonObject *check = json_array_get_object_element(array_in(json_node_get_object(json_parser_get_root(report)), "checks"), 0);
    JsonObject *run = json_array_get_object_element(array_in(json_node_get_object(json_parser_get_root(alerts)), "runs"), 0);
    unsigned chains = 0;
    for (guint f = 0; f < 2; f++) {
        JsonArray *sites = array_in(json_array_get_object_element(array_in(check, "faults"), f), "sites");
        for (guint s = 0; s < 2; s++) {
            JsonArray *chain = array_in(json_array_get_object_element(sites, s), "chain");
            chains += json_array_get_length(chain) == 2;
            if (json_array_get_length(chain) == 2)
                assert_string_equal(json_array_get_string_element(chain, 1), "too_late at called.c:52");
        }
    }
    assert_int_equal(chains, 2);
    assert_int_equal(json_array_get_length(array_in(run, "results")), 1);        /* one cause */
    JsonArray *stacks = array_in(json_array_get_object_element(array_in(run, "results"), 0), "stacks");
    assert_int_equal(json_array_get_length(stacks), 2);
    for (guint s = 0; s < 2; s++)
        assert_int_equal(json_array_get_length(array_in(json_array_get_object_element(stacks, s), "frames")), 3);
}

static void a_schedule_of_one_call_shows_its_fault_again(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check called.c:too_late -n 2 -q --schedules kept"), 1);
    g_autofree char *schedule = binary_first_schedule("kept"), *words = g_strdup_printf("replay %s", schedule);
    assert_int_equal(binary_run(words), 1);
    binary_says("the schedule shows the fault");
    binary_says("called from send_halves at line ");
}

/* Calls that the first run does not make are met by workers, or after a pause, in any order: the report is the same. */
static void calls_of_some_orders_only_are_told_apart_too(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "", "-j 2", "--search enumerate", "--search enumerate -j 2", "--search random", "--search random -j 2",
    };
    g_autofree char *first = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_autofree char *words = g_strdup_printf("check called.c:some_orders -n 2 %s", ways[i]);
        assert_int_equal(binary_run(words), 1);
        binary_says("faulty, 2 faults");
        if (i % 2 == 1)
            assert_string_equal(binary_text, first);
        g_free(first);
        first = g_strdup(binary_text);
    }
    assert_int_equal(binary_run("check called.c:some_orders -n 3"), 1);
    g_free(first);
    first = g_strdup(binary_text);
    binary_run("check called.c:some_orders -n 3 -q --runs 1 --checkpoint calls.checkpoint");
    assert_int_equal(binary_run("check called.c:some_orders -n 3 --resume calls.checkpoint"), 1);
    assert_string_equal(binary_text, first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marked_call_is_a_fault_of_its_own),
        cmocka_unit_test(the_compiler_makes_no_difference),
        cmocka_unit_test(the_callers_are_named),
        cmocka_unit_test(calls_of_some_orders_only_are_told_apart_too),
        cmocka_unit_test(a_schedule_of_one_call_shows_its_fault_again),
    };
    return cmocka_run_group_tests_name("calls", tests, set_up, binary_tear_down);
}
