/* test_short_reports.c - reports of one cause are short: of each wrong program that is built in, at the smallest size that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"

enum { LINES = 25, COLUMNS = 80, WRONG_LEAST = 100 };

static guint causes_of(const char *report)
{
    g_autofree char *json = binary_contents(report);
    g_autoptr(JsonParser) parser = binary_parse(json);
    JsonObject *check = json_array_get_object_element(array_in(json_node_get_object(json_parser_get_root(parser)), "checks"), 0);
    JsonArray *faults = array_in(check, "faults");
    gint64 causes = 0;
    for (guint i = 0; i < json_array_get_length(faults); i++)
        causes = MAX(causes, json_object_get_int_member(json_array_get_object_element(faults, i), "entry"));
    return (guint)causes;
}

/* The verdict, which begins with the name, and a command are not broken: they are looked for, or copied. */
static void assert_narrow(const char *program, const char *line)
{
    if (*line == ' ' && g_utf8_strlen(line, -1) > COLUMNS && !strstr(line, "heddle replay "))
        fail_msg("%s: more than %d columns: %s", program, COLUMNS, line);
}

static bool is_of_one_cause_and_short(const char *program, gint64 devices)
{
    g_autofree char *words = g_strdup_printf("COLUMNS=%d \"$HEDDLE\" check %s -n %d --schedules s --json report.json", COLUMNS, program,
                                              (int)devices);
    if (binary_shell(words) != 1)
        fail_msg("%s is not faulty at %d devices: %s", program, (int)devices, binary_text);
    g_auto(GStrv) line = g_strsplit(g_strchomp(binary_text), "\n", -1);
    bool one = causes_of("report.json") == 1;
    if (one && g_strv_length(line) > LINES)
        fail_msg("%s: more than %d lines:\n%s", program, LINES, binary_text);
    for (char **at = line; *at; at++)
        assert_narrow(program, *at);
    return one;
}

static void a_single_cause_is_told_in_25_lines_of_80_columns(void **state)
{
    (void)state;
    assert_int_equal(binary_run("list --json"), 0);
    g_autoptr(JsonParser) parser = binary_parse(binary_text);
    JsonArray *programs = array_in(json_node_get_object(json_parser_get_root(parser)), "programs");
    unsigned wrong = 0, single = 0;
    for (guint i = 0; i < json_array_get_length(programs); i++) {
        JsonObject *program = json_array_get_object_element(programs, i), *expected = object_in(program, "expected");
        bool by_inputs = g_str_has_prefix(text_in(program, "source"), "kernels/inputs/");          /* right with their own */
        if (by_inputs || strcmp(text_in(expected, "verdict"), "faulty") != 0)
            continue;
        wrong++;
        single += is_of_one_cause_and_short(text_in(program, "name"), json_object_get_int_member(expected, "from"));
    }
    print_message("%u of %u wrong programs have one cause\n", single, wrong);
    assert_true(wrong >= WRONG_LEAST && single > wrong / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_single_cause_is_told_in_25_lines_of_80_columns) };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
