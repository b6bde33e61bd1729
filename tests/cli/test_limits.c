/* test_limits.c - --memory and --time hold wherever user code, the compiler or a search may take too much, and what ended is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "../support/binary.h"
#include "../support/sanitized.h"

/* Runs `words` with KERNELS standing for the file of kernels, MODULE and SPINNING for modules; the exit code must be `code`, and what is
 * said must have `part`. */
static void assert_ends(const char *words, int code, const char *part)
{
    g_autofree char *source = g_canonicalize_filename("tests/support/kernels/limits.c", NULL);
    g_autoptr(GString) line = g_string_new(words);
    g_string_replace(line, "KERNELS", source, 0);
    g_string_replace(line, "MODULE", "./limits.so", 0);
    g_string_replace(line, "SPINNING", "./spinning.so", 0);
    int got = binary_run(line->str);
    if (got != code || strstr(binary_text, part) == NULL)
        fail_msg("%s: exit code %d where %d was expected, with \"%s\":\n%s", words, got, code, part, binary_text);
}

static void memory_ends_what_takes_more(void **state)
{
    (void)state;
    static const char *const MEMORY[][2] = {
        { "check KERNELS:kernel_stores -n 2 --memory 100M", "memory: the limit of 100 MB was reached in the recorded run; raise --memory" },
        { "check KERNELS:kernel_eats -n 2 --memory 100M", "memory: the limit of 100 MB was reached in the recorded run" },
        { "check KERNELS:program_eats -n 2 --memory 100M", "memory: the limit of 100 MB was reached in PROGRAM(program_eats)" },
        { "check KERNELS:large -n 4 --memory 100M", "memory: the limit of 100 MB was reached in the recorded run" },
        { "check KERNELS:large -n 1,4 --memory 100M -j 2", "memory: the limit of 100 MB was reached in the recorded run" },
        { "check MODULE:program_prints -n 2 --memory 100M --time 2", "did not return within 2 s" },
        { "check KERNELS --cflags -DCONSTRUCTOR=eat --memory 100M", "memory: the limit of 100 MB was reached in the constructors of" },
        { "check KERNELS --cflags -DSOURCE_EATS --memory 100M", "while compiling" },
    };
    assert_ends("compile KERNELS -o MODULE", 0, "");                /* the compiler takes as long as it likes */
    for (size_t i = 0; i < G_N_ELEMENTS(MEMORY) && !SANITIZED; i++)
        assert_ends(MEMORY[i][0], 3, MEMORY[i][1]);
}

static void what_does_not_end_is_ended(void **state)
{
    (void)state;
    static const char *const ENDLESS[][2] = {
        { "check MODULE:program_spins -n 2 --time 1", "did not return within 1 s" },
        { "check MODULE:kernel_stores -n 2 --time 1 --memory 8G", " within 1 s" },
        { "check SPINNING --time 1", "did not return within 1 s" },
        { "check KERNELS --cflags -DSOURCE_EATS --time 0.5", "took more than 0.5 s; raise --time" },
        { "check all_gather -n 8 --search enumerate --time 1.5", "stopped by time" },
    };
    assert_ends("compile KERNELS -o MODULE", 0, "");
    assert_ends("compile KERNELS --cflags -DCONSTRUCTOR=spin -o SPINNING", 0, "");
    for (size_t i = 0; i < G_N_ELEMENTS(ENDLESS); i++)
        assert_ends(ENDLESS[i][0], 3, ENDLESS[i][1]);
}

/* In a constructor, in PROGRAM, in the kernel. */
static void user_code_starts_nothing(void **state)
{
    (void)state;
    static const char *const WAY[] = { "fork", "vfork", "syscall", "system", "popen", "spawn", "exec", "thread" };
    g_autofree char *source = g_canonicalize_filename("tests/support/kernels/starts.c", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(WAY) && !SANITIZED; i++)
        for (unsigned where = i % 2 + 1; where <= 3; where += 1 + (i > 0)) {
            g_autofree char *words = g_strdup_printf("check %s -n 2 --cflags '-DWAY=by_%s -DWHERE=%u'", source, WAY[i], where);
            if (binary_run(words) != 2)
                fail_msg("%s:\n%s", words, binary_text);
            if (where < 3)
                binary_says("must not start a process, a thread or a program");
        }
    g_autofree char *harmless = g_strdup_printf("check %s -n 2", source);
    assert_int_equal(binary_run(harmless), 0);
}

/* Processes that began with MARK=mark in their environment and are still there. */
static unsigned count_marked(const char *mark)
{
    g_autofree char *entry = g_strdup_printf("MARK=%s", mark);
    GDir *all = g_dir_open("/proc", 0, NULL);
    unsigned count = 0;
    for (const char *name; (name = g_dir_read_name(all)) != NULL;) {
        g_autofree char *path = g_build_filename("/proc", name, "environ", NULL), *text = NULL;
        gsize bytes = 0;
        if (!g_ascii_isdigit(name[0]) || !g_file_get_contents(path, &text, &bytes, NULL))
            continue;
        for (gsize at = 0; at < bytes; at += strlen(text + at) + 1)
            count += strcmp(text + at, entry) == 0;
    }
    g_dir_close(all);
    return count;
}

/* Starts a script in the background, waits until `least` processes are there, ends it by the second one, and waits until none is left. */
static void assert_nothing_outlives(const char *begin, unsigned least, const char *end)
{
    static unsigned runs;
    const double patience = 60;
    g_autofree char *mark = g_strdup_printf("%d.%u", (int)getpid(), runs++);
    g_autofree char *source = g_canonicalize_filename("tests/support/kernels", NULL);
    g_autofree char *script = g_strdup_printf("export MARK=%s K=%s; (%s) >said 2>&1 & echo $! >pid", mark, source, begin);
    g_autofree char *finish = g_strdup_printf("p=$(cat pid); %s", end);
    gint64 until = g_get_monotonic_time() + (gint64)(patience * 1e6);
    binary_shell(script);
    while (count_marked(mark) < least && g_get_monotonic_time() < until)
        g_usleep(10000);
    assert_true(count_marked(mark) >= least);
    g_usleep(300000);                           /* until it is in the middle of something; sooner is right, too */
    binary_shell(finish);
    while (count_marked(mark) > 0 && g_get_monotonic_time() < until)
        g_usleep(10000);
    if (count_marked(mark) > 0)
        fail_msg("%u processes are left of: %s", count_marked(mark), begin);
}

static void nothing_outlives_the_one_above_it(void **state)
{
    (void)state;
    static const char *const BEGIN[] = {
        "exec $HEDDLE check all_gather -n 8 --search enumerate --states 1000000000",
        "exec $HEDDLE check all_gather -n 64 --search random --runs 1000000000 -j 2",
        "exec $HEDDLE check $K/limits.c:program_spins -n 2",
        "exec $HEDDLE check $K/limits.c --cflags -DCONSTRUCTOR=spin",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(BEGIN); i++) {
        assert_nothing_outlives(BEGIN[i], 3, "kill -KILL $p");
        assert_nothing_outlives(BEGIN[i], 3, i % 2 ? "kill -TERM $p" : "kill -INT $p");
    }
    assert_nothing_outlives("exec $HEDDLE check $K/limits.c --cflags -DSOURCE_EATS --memory 8G", 4, "kill -KILL $p");
    /* As the Python package starts it. */
    assert_nothing_outlives("trap : INT; sh -c 'echo $$ >parent; HEDDLE_PARENT=$$ $HEDDLE check all_gather -n 8 --search enumerate "
                            "--states 1000000000; true'",
                            4, "kill -KILL $(cat parent)");
}

static void enough_is_enough(void **state)
{
    (void)state;
    assert_ends("check KERNELS:large -n 1 --memory 1G --time 60", 0, "verified");
    assert_ends("check all_gather -n 4 --memory 200M --time 60", 0, "verified");
}

static void little_address_space_is_enough_for_small_programs(void **state)
{
    (void)state;
    if (SANITIZED)
        return;                                 /* which reserves terabytes itself */
    assert_int_equal(binary_shell("ulimit -v 8000000; exec $HEDDLE check all_gather -n 2..4"), 0);
    binary_says("all_gather, 4 devices: verified");
    assert_int_equal(binary_shell("ulimit -v 2000000; exec $HEDDLE check all_gather -n 3 --search enumerate"), 0);
    assert_int_equal(binary_shell("ulimit -v 2000000; exec $HEDDLE check missing_signal -n 3"), 1);
    int code = binary_shell("ulimit -v 100000; exec $HEDDLE check all_gather -n 3");
    assert_true(code == 3 || code == 2);        /* bounded, or there is too little to begin with */
    binary_says("memory: the address space that ulimit -v leaves is used up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_ends_what_takes_more),
        cmocka_unit_test(what_does_not_end_is_ended),
        cmocka_unit_test(user_code_starts_nothing),
        cmocka_unit_test(nothing_outlives_the_one_above_it),
        cmocka_unit_test(enough_is_enough),
        cmocka_unit_test(little_address_space_is_enough_for_small_programs),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
