/* test_foreign_files.c - files with any name, and files that may not grow: each report can be read, or one line says why there is none.
 *
 * Runs the binary that $HEDDLE names in a binary_folder of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <libxml/parser.h>

#include "../support/binary.h"

static JsonObject *first_fault(JsonParser *parser)
{
    JsonArray *checks = array_in(json_node_get_object(json_parser_get_root(parser)), "checks");
    for (guint i = 0; i < json_array_get_length(checks); i++) {
        JsonArray *faults = array_in(json_array_get_object_element(checks, i), "faults");
        if (json_array_get_length(faults) > 0)
            return json_array_get_object_element(faults, 0);
    }
    fail_msg("no fault");
    return NULL;
}

static void assert_utf8(const char *name)
{
    g_autofree char *text = binary_contents(name);
    assert_true(g_utf8_validate(text, -1, NULL));
}

/* JSON, SARIF and traces are JSON, JUnit is XML, the page and the graph are UTF-8; and the schedule is followed. */
static void every_report_of_a_file_with_any_name_can_be_read(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "-dash.c", "--help.c", "@at.c", "sp ace.c", "quo\"te.c", "new\nline.c", "gr\xc3\xb6\xc3\x9f" "e.c",
                                         "col:on.c", "bad\xff.c", "control\x01.c", "a.c:b.c", "100%s.c", "<b>&amp;.c" };
    for (size_t i = 0; i < G_N_ELEMENTS(NAMES); i++) {
        g_autofree char *quoted = g_shell_quote(NAMES[i]);
        g_autofree char *words = g_strdup_printf("check -n 3 -q --schedules s%zu --json o.json --sarif o.sarif --junit o.xml --html o.html "
                                                 "--markdown o.md "
                                                 "--trace o.trace --dot o.dot --results o.results -- %s", i, quoted);
        g_autofree char *kept = g_strdup_printf("s%zu", i);
        binary_copy_kernel(NAMES[i]);
        assert_int_equal(binary_run(words), 1);
        static const char *const JSON[] = { "o.json", "o.sarif", "o.trace" };
        for (size_t k = 0; k < G_N_ELEMENTS(JSON); k++) {
            g_autofree char *json = binary_contents(JSON[k]);
            g_autoptr(JsonParser) parser = binary_parse(json);
            if (k == 0)                         /* what is quiet is the text */
                assert_true(json_array_get_length(array_in(first_fault(parser), "story")) > 0);
        }
        g_autofree char *xml = binary_contents("o.xml");
        xmlDocPtr document = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET);
        assert_non_null(document);
        xmlFreeDoc(document);
        assert_utf8("o.html");
        assert_utf8("o.md");
        assert_utf8("o.dot");
        g_autofree char *schedule = binary_first_schedule(kept), *replay = g_strdup_printf("replay -q -- %s", schedule);
        assert_int_equal(binary_run(replay), 1);
    }
}

static void arrays_with_names_of_all_letters_are_named_in_json(void **state)
{
    (void)state;
    binary_write("names.c", "#include <heddle/pallas.h>\n"
                                    "KERNEL(copies, input, gr\xc3\xb6\xc3\x9f" "e) { pl_store(gr\xc3\xb6\xc3\x9f" "e, pl_load(input)); }\n"
                                    "PROGRAM(copies, \"a \\xff summary\") {\n"
                                    "    PlRef input = pl_input_in(PL_VMEM, PL_F32, 8, 128), out = pl_output_in(PL_VMEM, PL_F32, 8, 128);\n"
                                    "    pl_launch(copies, .args = {input, out});\n}\n");
    if (binary_run("check names.c -n 2 --results o.results --json o.json") != 0)
        fail_msg("%s", binary_text);
    g_autofree char *all = binary_contents("o.results");
    g_autofree char *head = g_strndup(all, strcspn(all, "\n"));
    g_autoptr(JsonParser) parser = binary_parse(head);
    assert_non_null(strstr(head, "gr\xc3\xb6\xc3\x9f" "e"));
}

static void a_deadlock_has_a_site_for_each_core_that_is_stuck(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check missing_signal -n 3 -q --json d.json"), 1);
    g_autofree char *json = binary_contents("d.json");
    g_autoptr(JsonParser) parser = binary_parse(json);
    JsonArray *sites = array_in(first_fault(parser), "sites");
    assert_int_equal(json_array_get_length(sites), 1);
    JsonObject *site = json_array_get_object_element(sites, 0);
    assert_int_equal(json_object_get_int_member(site, "line"), 33);
    assert_string_equal(text_in(site, "step"), "wait");
    assert_string_equal(text_in(site, "semaphore"), "token");
}

/* Limits files to that many blocks: no file is left half-written, and each failure is reported. */
static void a_file_that_may_not_grow_is_told_and_not_left_behind(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = { "--json", "--sarif", "--junit", "--html", "--markdown", "--trace", "--dot", "--results",
                                           "--checkpoint" };
    for (size_t i = 0; i < G_N_ELEMENTS(OPTIONS); i++) {
        g_autofree char *path = binary_path("small"), *out = NULL, *err = NULL;
        g_autofree char *script = g_strdup_printf("ulimit -f 0; exec %s check all_gather -n 2 --search enumerate --schedules none %s small",
                                                  binary_heddle, OPTIONS[i]);
        char *argv[] = { "/bin/sh", "-c", script, NULL };
        int status = 0;
        assert_true(g_spawn_sync(binary_folder, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, NULL));
        assert_int_equal(status, 2 << 8);
        assert_non_null(strstr(err, "small: File too large"));
        assert_non_null(strstr(out, "verified"));
        assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
        g_autoptr(GDir) folder = g_dir_open(binary_folder, 0, NULL);
        for (const char *name; (name = g_dir_read_name(folder)) != NULL;)
            assert_false(g_str_has_prefix(name, "small"));
    }
}

static void what_is_no_kernel_is_told_in_one_line(void **state)
{
    (void)state;
    static const char *const WRONG[][2] = {
        { "check nothing.c", "nothing.c: no such file" }, { "check /etc/passwd", "a kernel is a .c or a .so file" },
        { "check /usr", "/usr holds no .c file with a PROGRAM" },
        { "check all_gather -n 2 --baseline /dev/null", "not a regular file" }, { "check all_gather -n 2 --baseline .", "Is a directory" },
        { "check all_gather -n 2 --search enumerate --resume .", "Is a directory" },
        { "check all_gather -n 2 --search enumerate --resume /dev/null", "not a regular file" },
        { "replay /dev/null", "not a regular file" }, { "replay /dev/zero", "not a regular file" }, { "replay nothing", "No such file" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(WRONG); i++) {
        assert_int_equal(binary_run(WRONG[i][0]), 2);
        binary_says(WRONG[i][1]);
        assert_ptr_equal(strchr(binary_text, '\n'), binary_text + strlen(binary_text) - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_report_of_a_file_with_any_name_can_be_read),
        cmocka_unit_test(arrays_with_names_of_all_letters_are_named_in_json),
        cmocka_unit_test(a_deadlock_has_a_site_for_each_core_that_is_stuck),
        cmocka_unit_test(a_file_that_may_not_grow_is_told_and_not_left_behind),
        cmocka_unit_test(what_is_no_kernel_is_told_in_one_line),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
