/* false_alarm_12_once_a_line.c - one mistake, met in every round of a loop.
 *
 * Cried wolf: a warning for each pair of accesses: thousands from one line, and the next mistake is lost among them.
 * Is right:  one report for a pair of lines, with a count. And where the race is meant - here rows are only shown while they come in -
 *            an exemption with a reason, for that buffer alone.
 * Cause:     "pl_copy_wait_recv(row)"
 * Repair:    wait recv_sem or semaphore recv_sem
 */
#include <heddle/pallas.h>

KERNEL(fa12_watch, x, rows, send_sem, recv_sem)
{
    int count = (int)pl_parameter(count);
    PlCopy row = pl_make_async_remote_copy(pl_at(x, 0), pl_at(rows, 0), send_sem, recv_sem, pl_device(1));

    for (int i = 0; i < count; i++)
        if (pl_device_id() == 0)
            pl_async_remote_copy(pl_at(x, i), pl_at(rows, i), send_sem, recv_sem, pl_device(1));
        else
            pl_load(pl_at(rows, i));
    for (int i = 0; i < count; i++)
        if (pl_device_id() == 0)
            pl_copy_wait_send(row);
        else
            pl_copy_wait_recv(row);
}

PROGRAM(false_alarm_12_once_a_line, "the same race in every round of a loop: one report, with a count")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    int count = PARAMETER(count, 3, 1, 4096);
    PlRef x = pl_input(PL_F32, count, 8), rows = pl_vmem(PL_F32, count, 8);

    pl_launch(fa12_watch, .args = {x, rows, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(false_alarm_12_once_a_line_meant, "the same race, exempted with a reason")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    int count = PARAMETER(count, 3, 1, 4096);
    PlRef x = pl_input(PL_F32, count, 8), rows = pl_vmem(PL_F32, count, 8);

    pl_launch(fa12_watch, .args = {x, rows, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_exempt(rows, PL_RACE, "shown while it comes in; a torn row does no harm");
}
