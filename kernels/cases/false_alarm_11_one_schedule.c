/* false_alarm_11_one_schedule.c - many places where a race could be, one where it is.
 *
 * Cried wolf: audits that list hundreds of pairs that nothing obvious orders, for somebody else to go through.
 * Is right:  a report has a schedule, and the schedule has been run. Here every device reads each row that it gets, and all those reads
 *            are in order but the last: its row is waited for after it was read.
 * Cause:     last "pl_copy_wait_recv(row)"
 * Repair:    wait recv_sems
 */
#include <heddle/pallas.h>

KERNEL(fa11_gather, x, rows, send_sem, recv_sems)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int d = 0; d < n; d++)
        if (d != me)
            pl_async_remote_copy(x, pl_at(rows, me), send_sem, pl_at(recv_sems, me), pl_device(d));
    for (int i = 1; i < n; i++) {
        int from = (me + i) % n;
        PlCopy row = pl_make_async_remote_copy(x, pl_at(rows, from), send_sem, pl_at(recv_sems, from), pl_device(from));
        pl_copy_wait_send(row);
        if (i < n - 1)
            pl_copy_wait_recv(row);
        pl_load(pl_at(rows, from));
        if (i == n - 1)
            pl_copy_wait_recv(row);
    }
}

PROGRAM(false_alarm_11_one_schedule, "all rows are waited for, the last one after it was read")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), rows = pl_vmem(PL_F32, n, 8, 128);

    pl_launch(fa11_gather, .args = {x, rows, pl_dma_semaphore(), pl_dma_semaphore(n)});
    pl_expect_fault(PL_RACE, .from = 2);
}
