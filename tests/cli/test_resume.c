/* test_resume.c - a check that is stopped and gone on with says, to the letter, what the uninterrupted one says: under entry barriers that
 * settle during the search, with contents that turn out to be needed, and wherever it stops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../support/verdicts.h"

static const char CHECKPOINT[] = "resume.checkpoint";

/* Of a program, or FILE:program; `limit`: the option that stops the search; `all`: enough for all of it, or what it stops at anyhow. */
typedef struct ResumeCase { const char *program; unsigned devices; const char *search, *limit; unsigned all; } ResumeCase;

static const ResumeCase CASES[] = {
    { "later_launches.so:got_there", 2, "enumerate", "states", 2000 },         /* a launch that has no barrier */
    { "later_launches.so:stuck_before_quiet", 2, "enumerate", "states", 2000 },
    { "later_launches.so:stuck_in_one_order", 2, "enumerate", "states", 2000 },
    { "later_launches.so:receives_in_one_order", 2, "enumerate", "states", 2000 },
    { "later_launches.so:stuck_in_one_order", 2, "auto", "runs", 2000 },       /* the search itself shows it: all is done again */
    { "later_launches.so:tells_in_one_order", 2, "auto", "runs", 2000 },
    { "later_launches.so:receives_in_one_order", 2, "auto", "runs", 2000 },
    { "later_launches.so:stopped_before", 2, "random", "runs", 30 },           /* presumed to have one */
    { "later_launches.so:stuck_before_asking", 2, "random", "runs", 30 },
    { "later_launches.so:stuck_before_asking", 3, "random", "runs", 30 },
    { "later_launches.so:tells_in_one_order", 2, "random", "runs", 30 },
    { "exemptions.so:asserts_of_it", 2, "enumerate", "states", 2000 },         /* contents, which only the search shows to be needed */
    { "exemptions.so:counts", 2, "enumerate", "states", 2000 },
    { "all_reduce", 2, "enumerate", "states", 300 },
    { "right_permute_no_barrier", 2, "enumerate", "states", 2000 },            /* contents, until it races */
    { "g03_equality_poll", 2, "auto", "runs", 100 },
    { "missing_signal", 2, "pct", "runs", 30 },
};

/* What it says; *code: its exit code. */
static char *check(const ResumeCase *one, unsigned limit, const char *option, int *code)
{
    g_autofree char *words = g_strdup_printf("check %s -n %u --search %s --%s %u %s %s --color never", one->program, one->devices,
                                             one->search, one->limit, limit, option, *option ? CHECKPOINT : "");
    *code = binary_run(words);
    return g_strdup(binary_text);
}

static void a_check_that_goes_on_says_what_the_whole_one_says(void **state)
{
    static const unsigned CUT[] = { 1, 9 };
    (void)state;
    verdicts_compile("later_launches.c");
    verdicts_compile("exemptions.c");
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        int code, other;
        g_autofree char *whole = check(&CASES[i], CASES[i].all, "", &code);
        if (code == 2)
            fail_msg("%s: %s", CASES[i].program, whole);
        for (size_t c = 0; c < G_N_ELEMENTS(CUT); c++) {
            g_autofree char *file = binary_path(CHECKPOINT);
            (void)remove(file);
            g_free(check(&CASES[i], MIN(CUT[c], CASES[i].all), "--checkpoint", &other));
            g_autofree char *rest = check(&CASES[i], CASES[i].all, "--resume", &other);
            if (other != code || strcmp(rest, whole) != 0)
                fail_msg("%s by %s, stopped at %u: %d in place of %d: %s", CASES[i].program, CASES[i].search, CUT[c], other, code, rest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_that_goes_on_says_what_the_whole_one_says),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
