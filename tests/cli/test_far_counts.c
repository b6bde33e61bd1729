/* test_far_counts.c - sums beyond 2^31 and 2^32 are decided by proof as by walking states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/verdicts.h"

static void counts_of_semaphores_have_no_end(void **state)
{
    (void)state;
    verdicts_compile("far_counts.c");
    verdicts_are("far_counts.so:signals", "-n 2 -D times=2..4 -D extra=2..3",
                 "signals verified; signals faulty leftover; signals verified; signals faulty leftover; signals verified; "
                 "signals faulty leftover");
    verdicts_are("far_counts.so:signals", "-n 2 -D times=2 -D extra=1..2 -D taken=2", "signals faulty deadlock; signals verified");
    verdicts_are("far_counts.so:copies", "-n 2 -D times=2..3 -D waits=2", "copies verified; copies faulty leftover in-flight");
}

static void flag_words_wrap_around(void **state)
{
    (void)state;
    verdicts_are("far_counts.so:wraps", "-n 3", "wraps faulty deadlock");
    verdicts_are("far_counts.so:just_fits", "-n 3", "just_fits verified");
    verdicts_are("far_counts.so:sum_wraps", "-n 2 -D extra=0..1", "sum_wraps verified; sum_wraps faulty deadlock");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_semaphores_have_no_end),
        cmocka_unit_test(flag_words_wrap_around),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
