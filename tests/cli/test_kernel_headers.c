/* test_kernel_headers.c - every built-in kernel compiles without a warning under each compiler at hand, in ISO C and GNU C, alone and
 * after headers with awkward macros; and C++ gets a one-line error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <glib.h>
#include <sys/wait.h>

static const char *const before[] = {
    "math.h", "stdlib.h", "unistd.h", "sys/wait.h", "glib.h", "stdarg.h", "stddef.h", "setjmp.h", "cmocka.h",
};

/* What the compiler says; NULL if there is none of that name. */
static char *compile(const char *compiler, const char *flags, const char *source, bool after_others, int *code)
{
    GString *command = g_string_new(compiler);
    int status = 0;
    char *out = NULL, *said = NULL;
    g_autofree char *found = g_find_program_in_path(compiler);
    if (found != NULL) {
        g_string_append_printf(command, " %s -fsyntax-only -Ikernels", flags);
        for (size_t i = 0; after_others && i < G_N_ELEMENTS(before); i++)
            g_string_append_printf(command, " -include %s", before[i]);
        g_string_append_printf(command, " %s", source);
        g_autofree char *line = g_strdup_printf("sh -c '%s $(pkg-config --cflags glib-2.0)'", command->str);
        if (!g_spawn_command_line_sync(line, &out, &said, &status, NULL))
            fail_msg("cannot run %s", line);
        *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    g_free(out);
    g_string_free(command, TRUE);
    return said;
}

static void expect_silence(const char *compiler, const char *flags, const char *source, bool after_others)
{
    int code = 0;
    g_autofree char *said = compile(compiler, flags, source, after_others, &code);
    if (said != NULL && (code != 0 || *said != '\0'))
        fail_msg("%s %s %s: %s", compiler, flags, source, said);
}

static void each_kernel_compiles_anywhere(void **state)
{
    (void)state;
    GDir *folder = g_dir_open("kernels", 0, NULL);
    assert_non_null(folder);
    int kernels = 0;
    for (const char *name = g_dir_read_name(folder); name != NULL; name = g_dir_read_name(folder)) {
        if (!g_str_has_suffix(name, ".c"))
            continue;
        g_autofree char *path = g_build_filename("kernels", name, NULL);
        expect_silence("gcc", "-std=c11 -Wall -Wextra -Wshadow", path, false);
        expect_silence("gcc", "-std=gnu11 -Wall -Wextra", path, true);
        expect_silence("clang", "-std=c11 -Wall -Wextra -Wshadow", path, true);
        kernels++;
    }
    g_dir_close(folder);
    assert_true(kernels >= 8);
    expect_silence("clang", "-std=gnu11 -Wall -Wextra", "kernels/all_gather.c", false);
}

static void cpp_is_told_in_one_line(void **state)
{
    int code = 0;
    (void)state;
    g_autofree char *said = compile("g++", "-x c++", "kernels/heddle/pallas.h", false, &code);
    if (said == NULL)
        skip();
    assert_int_not_equal(code, 0);
    char *first = strstr(said, "error");
    assert_non_null(first);
    assert_non_null(strstr(said, "kernels in C"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_kernel_compiles_anywhere), cmocka_unit_test(cpp_is_told_in_one_line) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
