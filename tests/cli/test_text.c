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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_as_wide_as_is_asked_for),
        cmocka_unit_test(a_story_is_told_to_those_who_ask),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
