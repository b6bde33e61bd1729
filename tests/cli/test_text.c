/* test_text.c - the report as people read it: its width, how much of it there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"

/* The widest line from there on, but for the command, which stays in one piece. */
static size_t widest(const char *text)
{
    size_t most = 0;
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (char **at = line; *at; at++)
        if (!strstr(*at, "heddle replay "))
            most = MAX(most, strlen(*at));
    return most;
}

static void lines_are_as_wide_as_is_asked_for(void **state)
{
    (void)state;
    static const unsigned WIDTH[] = { 60, 80, 120, 0 };
    for (size_t i = 0; i < G_N_ELEMENTS(WIDTH); i++) {
        g_autofree char *set = WIDTH[i] ? g_strdup_printf("COLUMNS=%u", WIDTH[i]) : g_strdup("unset COLUMNS;");
        g_autofree char *script = g_strconcat(set, " $HEDDLE check all_gather_shared_semaphore -n 3 --story", NULL);
        assert_int_equal(binary_shell(script), 1);
        const char *from = strstr(binary_text, "  race: ");
        unsigned width = WIDTH[i] ? WIDTH[i] : 80;
        assert_non_null(from);
        assert_in_range(widest(from), width - 20, width);
    }
}

static void a_story_is_told_to_those_who_ask(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check cyclic_wait -n 3"), 1);
    assert_null(strstr(binary_text, "How it happens"));
    assert_int_equal(binary_run("check cyclic_wait -n 3 --story"), 1);
    binary_says("      - device 2 waits on token of device 2, for ever (line 51)\n");
    assert_int_equal(binary_run("check cyclic_wait -n 3 -q"), 1);
    binary_says("\n  deadlock at kernels/token_ring.c:51\n");
}

static void a_count_is_of_pairs_and_not_of_executions(void **state)
{
    (void)state;
    static const char *const SEARCH[] = { "--search auto", "--search auto -j 3", "--search enumerate" };
    for (unsigned devices = 1; devices <= 2; devices++)
        for (size_t i = 0; i < G_N_ELEMENTS(SEARCH); i++) {
            g_autofree char *words = g_strdup_printf("check counts.c:two_pairs -n %u %s", devices, SEARCH[i]);
            g_autofree char *count = g_strdup_printf("(one of %u such pairs)", 2 * devices);
            assert_int_equal(binary_run(words), 1);
            binary_says(count);
        }
}

static void what_decides_is_what_varied(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check counts.c:late_or_not -n 1..2"), 1);
    binary_says("\nlate_or_not is right for some values of late only: the first wrong one here is 1.\n");
    assert_int_equal(binary_run("check counts.c:late_or_not -n 1..3 -D late=1"), 1);
    assert_null(strstr(binary_text, " only: "));
    binary_says("\n  late_or_not  faulty at 1 device, late=1; 2 devices, late=1; 3 devices, late=1: race\n");
    assert_int_equal(binary_run("check all_gather_shared_semaphore -n 2..5"), 1);
    binary_says("\nall_gather_shared_semaphore is right for some sizes only: the smallest wrong one here is 3 devices.\n");
    binary_says("\n  all_gather_shared_semaphore  verified at 2 devices; faulty at 3 to 5 devices: race\n");
    assert_int_equal(binary_run("check all_gather_shared_semaphore -n 3"), 1);
    assert_null(strstr(binary_text, " only: "));
}

static int set_up(void **state)
{
    if (binary_set_up(state) != 0)
        return -1;
    binary_use_kernels("counts");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_as_wide_as_is_asked_for),
        cmocka_unit_test(a_count_is_of_pairs_and_not_of_executions),
        cmocka_unit_test(what_decides_is_what_varied),
        cmocka_unit_test(a_story_is_told_to_those_who_ask),
    };
    return cmocka_run_group_tests(tests, set_up, binary_tear_down);
}
