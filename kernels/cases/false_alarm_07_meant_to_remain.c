/* false_alarm_07_meant_to_remain.c - a count that is meant to remain when the kernel ends.
 *
 * Cried wolf: a checker that demands zero everywhere, or is told to demand it nowhere: a switch for all semaphores sleeps over the next
 *             mistake.
 * Is right:  an exemption for one semaphore, with a reason, which the report repeats. In the second program another semaphore keeps a
 *            count as well, and that is reported.
 * Cause:     credit, last "pl_semaphore_signal(credit"
 * Repair:    without last "pl_semaphore_signal(credit" or wait credit
 */
#include <heddle/pallas.h>

KERNEL(fa07_statistics, rounds, credit)
{
    int right = (pl_device_id() + 1) % pl_num_devices();

    for (int round = 0; round < 3; round++) {
        pl_semaphore_signal(credit, 1, pl_device(right));
        pl_semaphore_wait(credit, 1);
        pl_semaphore_signal(rounds, 1);                         /* counted, and never taken */
    }
}

KERNEL(fa07_credit_too, rounds, credit)
{
    int right = (pl_device_id() + 1) % pl_num_devices();

    for (int round = 0; round < 3; round++) {
        pl_semaphore_signal(credit, 1, pl_device(right));
        pl_semaphore_wait(credit, 1);
        pl_semaphore_signal(rounds, 1);
    }
    pl_semaphore_signal(credit, 1, pl_device(right));
}

PROGRAM(false_alarm_07_meant_to_remain, "a count that remains by intention, exempted with a reason")
{
    PlRef rounds = pl_regular_semaphore();

    pl_launch(fa07_statistics, .args = {rounds, pl_regular_semaphore()});
    pl_exempt(rounds, PL_LEFTOVER, "a statistic: how many rounds were done");
}

PROGRAM(false_alarm_07_meant_to_remain_not_the_other, "the same, and a credit too many on a semaphore that is not exempt")
{
    PlRef rounds = pl_regular_semaphore();

    pl_launch(fa07_credit_too, .args = {rounds, pl_regular_semaphore()});
    pl_exempt(rounds, PL_LEFTOVER, "a statistic: how many rounds were done");
    pl_expect_fault(PL_LEFTOVER, .from = 1);
}
