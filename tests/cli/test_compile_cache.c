/* test_compile_cache.c - a kernel's file is compiled again exactly when something that the compiler reads has changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "../support/binary.h"

static const char KERNEL[] =
    "#include \"heddle/pallas.h\"\n"
    "#include \"count.h\"\n"
    "KERNEL(token, semaphore) { pl_semaphore_signal(semaphore, COUNT, pl_device(pl_device_id())); pl_semaphore_wait(semaphore, WAITED); }\n"
    "PROGRAM(token, \"a token\") { pl_launch(token, .args = {pl_regular_semaphore()}); }\n";

/* A compiler that counts how often it compiles. */
static const char COMPILER[] =
    "#!/bin/sh\n"
    "case \" $* \" in *' -E '*) ;; *) echo >>compiled ;; esac\n"
    "exec cc \"$@\"\n";

static int set_up(void **state)
{
    if (binary_set_up(state) != 0)
        return -1;
    g_autofree char *compiler = binary_path("compiler"), *cache = binary_path("cache");
    binary_write("compiler", COMPILER);
    binary_write("token.c", KERNEL);
    g_setenv("CC", compiler, TRUE);
    g_setenv("XDG_CACHE_HOME", cache, TRUE);
    return chmod(compiler, 0755);
}

static int begin(void **state)
{
    (void)state;
    binary_write("count.h", "#define COUNT 1\n#ifndef WAITED\n#define WAITED 1\n#endif\n");
    return binary_shell("rm -rf cache compiled");
}

/* The check's exit code, and how often the compiler ran since the last time. */
static int check(const char *options, unsigned *compiled)
{
    g_autofree char *words = g_strconcat("check token.c -n 1 ", options, NULL);
    int code = binary_run(words);
    g_autofree char *said = g_strdup(binary_text);
    binary_shell("cat compiled 2>/dev/null; rm -f compiled");
    *compiled = (unsigned)strlen(binary_text);
    binary_shell("true");
    g_free(binary_text);
    binary_text = g_steal_pointer(&said);
    return code;
}

static void expect(const char *options, int code, unsigned compiled)
{
    unsigned times;
    assert_int_equal(check(options, &times), code);
    if (times != compiled)
        fail_msg("%s: compiled %u times, expected %u", options, times, compiled);
}

static void the_same_text_is_compiled_once(void **state)
{
    (void)state;
    expect("", 0, 1);
    expect("", 0, 0);
    expect("--search enumerate -q", 0, 0);
}

static void a_header_a_flag_or_the_compiler_makes_it_new(void **state)
{
    (void)state;
    expect("", 0, 1);
    binary_write("count.h", "#define COUNT 2\n#define WAITED 1\n");
    expect("", 1, 1);
    begin(state);
    expect("", 0, 1);
    expect("--cflags -DWAITED=2", 1, 1);
    expect("--cflags -DWAITED=2", 1, 0);
    binary_shell("touch -d '2 days ago' compiler");
    expect("", 0, 1);
}

static void what_may_read_more_than_the_text_is_compiled_each_time(void **state)
{
    (void)state;
    expect("--cflags -Wl,--as-needed", 0, 1);
    expect("--cflags -Wl,--as-needed", 0, 1);
    binary_write("count.h", "__asm__(\".section .rodata\\n.incbin \\\"count.h\\\"\\n.text\\n\");\n#define COUNT 1\n#define WAITED 1\n");
    expect("", 0, 1);
    expect("", 0, 1);
}

static void a_damaged_entry_counts_as_not_there(void **state)
{
    (void)state;
    expect("", 0, 1);
    binary_shell("for f in cache/heddle/modules/*; do printf x | dd of=$f bs=1 seek=2000 conv=notrunc; done");
    expect("", 0, 1);
    expect("", 0, 0);
    binary_shell("for f in cache/heddle/modules/*; do truncate -s 100 $f; done");
    expect("", 0, 1);
}

static void warnings_are_said_again(void **state)
{
    (void)state;
    binary_write("count.h", "#warning \"odd\"\n#define COUNT 1\n#define WAITED 1\n");
    expect("", 0, 1);
    binary_says("odd");
    expect("", 0, 0);
    binary_says("odd");
}

static void locals_that_may_be_unset_are_tried_from_the_cache_too(void **state)
{
    unsigned first, again;
    (void)state;
    binary_write("count.h", "#define COUNT ({ int x[4], n = pl_num_devices(); x[0] = 1; x[n] > 0; })\n#define WAITED 1\n");
    int code = check("", &first);
    assert_true(code == 2 && first > 1);          /* an element that nobody set decides */
    g_autofree char *said = g_strdup(binary_text);
    assert_int_equal(check("", &again), code);
    assert_string_equal(binary_text, said);
    assert_int_equal(again, 0);
}

static void no_cache_is_no_error(void **state)
{
    (void)state;
    binary_write("cache", "a file");
    expect("", 0, 1);
    expect("", 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_same_text_is_compiled_once, begin),
        cmocka_unit_test_setup(a_header_a_flag_or_the_compiler_makes_it_new, begin),
        cmocka_unit_test_setup(what_may_read_more_than_the_text_is_compiled_each_time, begin),
        cmocka_unit_test_setup(a_damaged_entry_counts_as_not_there, begin),
        cmocka_unit_test_setup(warnings_are_said_again, begin),
        cmocka_unit_test_setup(locals_that_may_be_unset_are_tried_from_the_cache_too, begin),
        cmocka_unit_test_setup(no_cache_is_no_error, begin),
    };
    return cmocka_run_group_tests(tests, set_up, binary_tear_down);
}
