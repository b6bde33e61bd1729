/* false_alarm_08_late_fault.c - a fault in the very last step of the slowest device.
 *
 * Slept:     a checker kept its findings in a global flag, and tests read the flag before the run had ended, or after the next one had
 *            begun.
 * Is right:  a verdict is the result of a run that has ended, and of that run alone. Checked one after the other in one process, in
 *            any order, these two keep their verdicts.
 * Cause:     sem, last "pl_semaphore_signal(sem"
 * Repair:    without last "pl_semaphore_signal(sem" or wait sem
 */
#include <heddle/pallas.h>

KERNEL(fa08_last_word, sem)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int d = 0; d < n; d++)
        pl_semaphore_signal(sem, 1, pl_device(d));
    pl_semaphore_wait(sem, n);
    pl_delay(1000000);
    if (me == n - 1)
        pl_semaphore_signal(sem, 1);
}

KERNEL(fa08_no_last_word, sem)
{
    int n = pl_num_devices();

    for (int d = 0; d < n; d++)
        pl_semaphore_signal(sem, 1, pl_device(d));
    pl_semaphore_wait(sem, n);
    pl_delay(1000000);
}

PROGRAM(false_alarm_08_late_fault, "the last step of the last device is one signal too many")
{
    pl_launch(fa08_last_word, .args = {pl_regular_semaphore()});
    pl_expect_fault(PL_LEFTOVER, .from = 1);
}

PROGRAM(false_alarm_08_late_fault_repaired, "the same without the last step")
{
    pl_launch(fa08_no_last_word, .args = {pl_regular_semaphore()});
}
