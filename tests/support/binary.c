/* binary.c - see binary.h. */
#include "binary.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>

char *binary_folder, *binary_heddle, *binary_text;

static int run(char **argv)
{
    g_autofree char *out = NULL, *err = NULL;
    int status = 0;
    g_setenv("COLUMNS", "1000", TRUE);          /* sentences stay in one piece */
    assert_true(g_spawn_sync(binary_folder, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, NULL));
    assert_true(WIFEXITED(status));
    g_free(binary_text);
    binary_text = g_strconcat(out, err, NULL);
    return WEXITSTATUS(status);
}

int binary_run(const char *words)
{
    g_autofree char *line = g_strdup_printf("%s %s", binary_heddle, words);
    g_auto(GStrv) argv = NULL;
    assert_true(g_shell_parse_argv(line, NULL, &argv, NULL));
    return run(argv);
}

int binary_shell(const char *script)
{
    char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
    g_setenv("HEDDLE", binary_heddle, TRUE);
    return run(argv);
}

void binary_says(const char *part)
{
    if (!strstr(binary_text, part))
        fail_msg("nothing about \"%s\" in:\n%s", part, binary_text);
}

char *binary_path(const char *name)
{
    return g_build_filename(binary_folder, name, NULL);
}

char *binary_contents(const char *name)
{
    g_autofree char *path = binary_path(name);
    char *all = NULL;
    assert_true(g_file_get_contents(path, &all, NULL, NULL));
    return all;
}

bool binary_tool(const char *command)
{
    int status = 0;
    g_autofree char *out = NULL, *err = NULL;
    g_auto(GStrv) argv = NULL;
    assert_true(g_shell_parse_argv(command, NULL, &argv, NULL));
    if (!g_spawn_sync(binary_folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, NULL))
        return true;
    if (WEXITSTATUS(status) != 0)
        fail_msg("%s: %s%s", command, out, err);
    return false;
}

JsonParser *binary_parse(const char *json)
{
    GError *error = NULL;
    JsonParser *parser = json_parser_new();
    if (!json_parser_load_from_data(parser, json, -1, &error))
        fail_msg("no JSON: %s", error->message);
    return parser;
}

void binary_write(const char *name, const char *text)
{
    g_autofree char *path = binary_path(name);
    assert_true(g_file_set_contents(path, text, -1, NULL));
}

void binary_copy_kernel(const char *name)
{
    g_autofree char *kernel = binary_contents("kernel.c");
    binary_write(name, kernel);
}

static char *kernel_text(const char *from)
{
    g_autofree char *source = g_build_filename("tests", "support", "kernels", from, NULL);
    char *all = NULL;
    assert_true(g_file_get_contents(source, &all, NULL, NULL));
    return all;
}

void binary_take_kernel(const char *from, const char *name)
{
    g_autofree char *all = kernel_text(from);
    binary_write(name, all);
}

void binary_write_kernel(const char *before, const char *with, const char *instead)
{
    g_autofree char *all = kernel_text("ring.c");
    g_autoptr(GString) kernel = g_string_new(before);
    g_string_append(kernel, all);
    if (with)
        assert_int_equal(g_string_replace(kernel, with, instead, 0) > 0, 1);
    binary_write("kernel.c", kernel->str);
}

void binary_use_kernels(const char *name)
{
    g_autofree char *file = g_strconcat(name, ".c", NULL), *compile = g_strdup_printf("compile %s -o %s.so", file, name);
    binary_take_kernel(file, file);
    assert_int_equal(binary_run(compile), 0);
}

char *binary_first_schedule(const char *name)
{
    g_autofree char *folder_of = binary_path(name);
    GDir *directory = g_dir_open(folder_of, 0, NULL);
    assert_non_null(directory);
    char *schedule = g_build_filename(name, g_dir_read_name(directory), NULL);
    g_dir_close(directory);
    return schedule;
}

void binary_is_golden(const char *text, const char *name)
{
    g_autofree char *path = g_build_filename("tests/cli/golden", name, NULL), *before = NULL;
    if (g_strcmp0(g_getenv("GOLDEN"), "write") == 0)
        assert_true(g_file_set_contents(path, text, -1, NULL));
    assert_true(g_file_get_contents(path, &before, NULL, NULL));
    assert_string_equal(text, before);
}

int binary_set_up(void **state)
{
    (void)state;
    const char *name = g_getenv("HEDDLE");
    binary_folder = g_dir_make_tmp("outputs-XXXXXX", NULL);
    binary_heddle = name ? g_canonicalize_filename(name, NULL) : NULL;
    if (binary_folder && binary_heddle)
        binary_write_kernel("", NULL, NULL);
    return binary_folder && binary_heddle ? 0 : -1;
}

int binary_tear_down(void **state)
{
    (void)state;
    g_autofree char *command = g_strdup_printf("rm -rf '%s'", binary_folder);
    g_free(binary_heddle);
    g_free(binary_folder);
    g_free(binary_text);
    return system(command);
}
