/* test_exemption_reports.c - what a user reads of exemptions: which cannot be, and what is left open beside one; alike in all reports. */
#include "../support/binary.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void what_cannot_be_exempted_is_refused_with_what_can(void **state)
{
    static const char *const said[] = {
        "assert cannot be exempted on a buffer, but race, lifetime, in-flight, uninitialised can",
        "out-of-bounds cannot be exempted on a buffer", "leftover cannot be exempted on a buffer",
        "deadlock cannot be exempted on a buffer",
        "race cannot be exempted on a semaphore, but lifetime, leftover, mismatch, overflow can",
        "shape cannot be exempted on a semaphore", "leftover cannot be exempted on a flag: nothing can",
    };
    (void)state;
    binary_take_kernel("exempt_refused.c", "kernel.c");
    for (unsigned i = 0; i < G_N_ELEMENTS(said); i++) {
        g_autofree char *words = g_strdup_printf("check kernel.c -n 1 -D which=%u", i);
        assert_int_equal(binary_run(words), 2);
        binary_says(said[i]);
        binary_says("kernel.c:");
    }
    assert_int_equal(binary_run("check kernel.c -n 1 -D which=7"), 0);
    binary_says("the exemption of race on output hides nothing here");
}

static JsonObject *first_check(JsonParser *parser)
{
    return json_array_get_object_element(array_in(json_node_get_object(json_parser_get_root(parser)), "checks"), 0);
}

static void what_hangs_on_an_exempt_race_is_named_in_every_report(void **state)
{
    (void)state;
    binary_take_kernel("exemptions.c", "kernel.c");
    assert_int_equal(binary_run("check kernel.c:carried_on -n 1 --json out.json --sarif out.sarif --junit out.xml --html out.html"), 3);
    binary_says("stopped by exempted-race");
    binary_says("not covered: what hangs on the outcome of an exempted race: the result expected at kernel.c:");
    binary_says("the program says: both write the same");
    g_autofree char *json = binary_contents("out.json"), *sarif = binary_contents("out.sarif"), *junit = binary_contents("out.xml");
    g_autofree char *html = binary_contents("out.html");
    g_autoptr(JsonParser) parser = binary_parse(json);
    JsonObject *check = first_check(parser), *covered = object_in(check, "covered");
    assert_string_equal(text_in(check, "verdict"), "bounded");
    assert_string_equal(json_array_get_string_element(array_in(covered, "limits"), 0), "exempted-race");
    assert_non_null(strstr(json_array_get_string_element(array_in(covered, "not_covered"), 0), "the result expected at"));
    assert_int_equal(json_array_get_length(array_in(check, "exempted")), 1);
    assert_int_equal(json_array_get_length(array_in(check, "faults")), 0);
    assert_null(strstr(sarif, "\"ruleId\" : \"race\""));
    assert_non_null(strstr(junit, "exempted-race"));
    assert_non_null(strstr(html, "Not covered: what hangs on the outcome of an exempted race: the result expected at kernel.c:"));
}

static void values_beside_a_reported_race_are_said_to_be_unjudged(void **state)
{
    (void)state;
    binary_take_kernel("exemptions.c", "kernel.c");
    assert_int_equal(binary_run("check kernel.c:reported -n 1 -D twin=0 --json out.json"), 1);
    binary_says("What a racing value may have reached is not judged: fix the race first.");
    assert_null(strstr(binary_text, "decided what a core did next"));
    g_autofree char *json = binary_contents("out.json");
    g_autoptr(JsonParser) parser = binary_parse(json);
    JsonObject *covered = object_in(first_check(parser), "covered");
    assert_true(json_object_get_boolean_member(covered, "unjudged_after_race"));
    assert_false(json_object_get_boolean_member(covered, "incomplete_after_race"));
}

static void a_repair_without_expected_results_says_what_it_does_not_know(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check never_waited_for -n 2"), 1);
    binary_says("Repair:  ");
    binary_says("values were not judged: no result is expected");
}

static void a_fault_beside_an_exempt_race_is_replayed(void **state)
{
    (void)state;
    binary_take_kernel("exemptions.c", "kernel.c");
    assert_int_equal(binary_run("check kernel.c:results_beside -n 1 -D twin=1 --schedules beside"), 1);
    g_autofree char *schedule = binary_first_schedule("beside"), *words = g_strdup_printf("replay %s", schedule);
    assert_int_equal(binary_run(words), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_exempted_is_refused_with_what_can),
        cmocka_unit_test(what_hangs_on_an_exempt_race_is_named_in_every_report),
        cmocka_unit_test(values_beside_a_reported_race_are_said_to_be_unjudged),
        cmocka_unit_test(a_repair_without_expected_results_says_what_it_does_not_know),
        cmocka_unit_test(a_fault_beside_an_exempt_race_is_replayed),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
