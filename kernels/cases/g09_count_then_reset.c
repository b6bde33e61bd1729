/* g09_count_then_reset.c - a barrier that counts N-1 signals and then stores zero.
 *
 * Reported:  tenstorrent/tt-metal#19164 and #19582 (a barrier in two phases); Sandia-OpenSHMEM/SOS#963.
 * Wrong:     who has its N-1 signals goes on, and its signals of the next operation reach a device that has not reset yet.
 * Right:     take the N-1, and keep what is more; or one semaphore to wait on and one to release.
 * Teaches:   the lost signal of G06 in a barrier. The report had three devices; two are enough.
 * Cause:     count, "pl_flag_store(count, 0", "pl_flag_add(count"
 * Repair:    epoch count
 */
#include <heddle/pallas.h>

enum { OPERATIONS = 2 };

KERNEL(g09_reset, count)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int operation = 0; operation < OPERATIONS; operation++) {
        for (int d = 0; d < n; d++)
            if (d != me)
                pl_flag_add(count, 1, pl_device(d));
        pl_flag_wait(count, PL_GE, n - 1, PL_OWN);
        pl_flag_store(count, 0, PL_OWN);
    }
}

KERNEL(g09_take, count)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int operation = 0; operation < OPERATIONS; operation++) {
        for (int d = 0; d < n; d++)
            if (d != me)
                pl_semaphore_signal(count, 1, pl_device(d));
        pl_semaphore_wait(count, n - 1);
    }
}

PROGRAM(g09_count_then_reset, "G09: the reset of one operation eats a signal of the next")
{
    PL_NEEDS(pl_num_devices() >= 2, "somebody to wait for");

    pl_launch(g09_reset, .args = {pl_flags()}, .skip_device_barrier = true);
    pl_expect_fault(PL_DEADLOCK, .from = 2);
}

PROGRAM(g09_count_then_reset_repaired, "G09 repaired: a wait takes what it waited for and keeps the rest")
{
    PL_NEEDS(pl_num_devices() >= 2, "somebody to wait for");

    pl_launch(g09_take, .args = {pl_regular_semaphore()});
}
