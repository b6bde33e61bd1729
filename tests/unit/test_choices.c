/* test_choices.c - what a program leaves open by pl_choose is checked in all combinations that pl_require lets through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>
#include "../support/checked.h"

static const char SOURCE[] =
    "#include <heddle/pallas.h>\n"
    "KERNEL(k, s) { pl_semaphore_signal(s, pl_parameter(a)); pl_semaphore_wait(s, pl_parameter(b)); }\n"
    "PROGRAM(p, \"signals a, waits for b\")\n"
    "{\n"
    "    int a = pl_choose(\"a\", 0, 2), b = pl_choose(\"b\", 0, 2);\n"
    "    pl_require(a + b <= 3, \"fits\");\n"
    "    pl_launch(k, .args = {pl_regular_semaphore()});\n"
    "}\n";

static char *check_source(const char *folder, const char *source, const char *options, int *exit_code)
{
    const char *binary = g_getenv("HEDDLE");
    g_autofree char *path = g_build_filename(folder, "choices.c", NULL);
    assert_true(g_file_set_contents(path, source, -1, NULL));
    g_autofree char *command = g_strdup_printf("%s check %s -n 1 -q --schedules %s %s", binary ? binary : "build/heddle", path, folder,
                                               options);
    char *out = NULL;
    int status = 0;
    assert_true(g_spawn_command_line_sync(command, &out, NULL, &status, NULL));
    *exit_code = status >> 8;
    return out;
}

static char *check_choices(const char *folder, const char *options, int *exit_code)
{
    return check_source(folder, SOURCE, options, exit_code);
}

static unsigned lines_with(const char *text, const char *word)
{
    unsigned lines = 0;
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (char **l = line; *l; l++)
        lines += strstr(*l, word) != NULL;
    return lines;
}

static void all_combinations_are_checked_and_the_failing_ones_named(void **state)
{
    int exit_code;
    g_autofree char *out = check_choices(*state, "", &exit_code);
    assert_int_equal(exit_code, 1);
    assert_int_equal(lines_with(out, "a="), 9);
    assert_int_equal(lines_with(out, "verified"), 2);           /* 0, 0 and 1, 1 */
    assert_int_equal(lines_with(out, "faulty"), 6);
    assert_int_equal(lines_with(out, "a=2, b=2: not applicable: fits"), 1);
    assert_int_equal(lines_with(out, "a=0, b=1: faulty"), 1);
}

static void a_condition_without_a_reason_is_named_by_its_line(void **state)
{
    int exit_code;
    g_autoptr(GString) source = g_string_new(SOURCE);
    g_string_replace(source, "\"fits\"", "\"\"", 0);
    g_autofree char *out = check_source(*state, source->str, "-D a=2 -D b=2", &exit_code);
    assert_int_equal(exit_code, 2);
    assert_int_equal(lines_with(out, "choices.c:6 does not hold"), 1);
    assert_int_equal(lines_with(out, "not applicable: the condition at "), 1);
}

static char *report(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "report", NULL);
    return checked_take_report(path);
}

static void checks_made_at_the_same_time_are_told_as_if_in_turn(void **state)
{
    g_autofree char *first = NULL, *first_report = NULL;
    for (unsigned workers = 1; workers <= 4; workers++) {
        int exit_code;
        g_autofree char *options = g_strdup_printf("--json %s/report -j %u -n 1,2", (char *)*state, workers);
        g_autofree char *out = check_choices(*state, options, &exit_code), *json = report(*state);
        assert_int_equal(exit_code, 1);
        if (workers == 1) {
            first = g_steal_pointer(&out);
            first_report = g_steal_pointer(&json);
        } else {
            assert_string_equal(out, first);
            assert_string_equal(json, first_report);
        }
    }
    assert_int_equal(lines_with(first, "a="), 18);
}

static void a_choice_can_be_fixed_from_the_command_line(void **state)
{
    int exit_code;
    g_autofree char *out = check_choices(*state, "-D a=1 -D b=1", &exit_code);
    assert_int_equal(exit_code, 0);
    assert_int_equal(lines_with(out, "a="), 1);
}

static int make_folder(void **state)
{
    *state = g_dir_make_tmp("heddle-choices-XXXXXX", NULL);
    return *state == NULL;
}

static int drop_folder(void **state)
{
    g_autoptr(GDir) folder = g_dir_open(*state, 0, NULL);
    for (const char *name; folder != NULL && (name = g_dir_read_name(folder)) != NULL;) {
        g_autofree char *path = g_build_filename(*state, name, NULL);
        g_remove(path);
    }
    g_rmdir(*state);
    g_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_combinations_are_checked_and_the_failing_ones_named),
        cmocka_unit_test(a_condition_without_a_reason_is_named_by_its_line),
        cmocka_unit_test(checks_made_at_the_same_time_are_told_as_if_in_turn),
        cmocka_unit_test(a_choice_can_be_fixed_from_the_command_line),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
