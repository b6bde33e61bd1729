/* test_guide.c - kernels/README.md tells the truth: its kernel has the faults that it says, its repair removes them, and its index of
 * mistakes has every wrong program that is built in, and no name that is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <glib/gstdio.h>

#include "../support/binary.h"

static char *guide;

static int read_guide(void **state)
{
    if (!g_file_get_contents("kernels/README.md", &guide, NULL, NULL))
        return -1;
    return binary_set_up(state);
}

static int forget_guide(void **state)
{
    g_free(guide);
    return binary_tear_down(state);
}

static void write_kernel(const char *instead)
{
    const char *from = strstr(guide, "```c\n") + strlen("```c\n");
    g_autoptr(GString) text = g_string_new_len(from, strstr(from, "```") - from);
    assert_int_equal(g_string_replace(text, "pl_copy_wait_send(copy)", instead, 0), 1);
    binary_write("shift.c", text->str);
}

static void its_kernel_fails_and_its_repair_is_verified(void **state)
{
    (void)state;
    write_kernel("pl_copy_wait_send(copy)");
    assert_int_equal(binary_run("check shift.c"), 1);
    binary_says("leftover");
    binary_says("in-flight");
    binary_says("recv_sem");
    write_kernel("pl_copy_wait(copy)");
    assert_int_equal(binary_run("check shift.c"), 0);
    binary_says("4 checks: 4 verified");
}

static bool is_in_guide(const char *name)
{
    g_autofree char *quoted = g_strdup_printf("`%s`", name);
    return strstr(guide, quoted) != NULL;
}

static void its_index_has_every_wrong_program(void **state)
{
    (void)state;
    assert_int_equal(binary_run("list --json"), 0);
    g_autoptr(JsonParser) parser = binary_parse(binary_text);
    JsonArray *programs = array_in(json_node_get_object(json_parser_get_root(parser)), "programs");
    unsigned wrong = 0;
    for (guint i = 0; i < json_array_get_length(programs); i++) {
        JsonObject *program = json_array_get_object_element(programs, i);
        bool faulty = strcmp(text_in(object_in(program, "expected"), "verdict"), "faulty") == 0;
        wrong += faulty;
        if (faulty && !is_in_guide(text_in(program, "name")))
            fail_msg("kernels/README.md: %s is in no table of mistakes", text_in(program, "name"));
    }
    assert_true(wrong > 80);
}

/* The first column of the tables behind "Mistakes, by kind". */
static void every_kernel_of_its_index_exists(void **state)
{
    (void)state;
    assert_int_equal(binary_run("list --names"), 0);
    g_autofree char *names = g_strconcat("\n", binary_text, NULL);
    g_auto(GStrv) line = g_strsplit(strstr(guide, "## Mistakes, by kind"), "\n", -1);
    unsigned kernels = 0;
    for (char **at = line; *at != NULL; at++) {
        g_auto(GStrv) part = g_strsplit(g_str_has_prefix(*at, "| `") ? *at : "", "|", 3);
        g_auto(GStrv) name = g_strsplit(part[0] ? part[1] : "", "`", -1);
        for (guint i = 1; i < g_strv_length(name); i += 2, kernels++) {
            g_autofree char *whole = g_strdup_printf("\n%s\n", name[i]);
            if (strstr(names, whole) == NULL)
                fail_msg("kernels/README.md: no program %s", name[i]);
        }
    }
    assert_true(kernels > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_kernel_fails_and_its_repair_is_verified),
        cmocka_unit_test(its_index_has_every_wrong_program),
        cmocka_unit_test(every_kernel_of_its_index_exists),
    };
    return cmocka_run_group_tests_name("guide", tests, read_guide, forget_guide);
}
