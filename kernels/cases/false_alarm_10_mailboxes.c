/* false_alarm_10_mailboxes.c - two banks of mailboxes between any number of devices, and no barrier. This is right.
 *
 * Cried wolf: a checker that wants to see a barrier, or a word from the reader, before a mailbox is written again.
 * Is right:  as in P20. With more devices it is less obvious: the receive semaphore of a bank counts rows of everybody, so a fast row
 *            of generation g+2 could stand in for a slow row of g. But to send g+2 one needs my row of g+1, which I send when I have all
 *            rows of g.
 */
#include <heddle/pallas.h>

KERNEL(fa10_exchange, x, mail, send_sems, recv_sems)
{
    int n = pl_num_devices(), me = pl_device_id(), generations = (int)pl_parameter(generations);

    for (int g = 0; g < generations; g++) {
        PlRef bank = pl_at(mail, g % 2), send_sem = pl_at(send_sems, g % 2), recv_sem = pl_at(recv_sems, g % 2);
        PlCopy row = pl_make_async_remote_copy(x, pl_at(bank, me), send_sem, recv_sem, pl_device(me));
        for (int d = 0; d < n; d++)
            if (d != me)
                pl_async_remote_copy(x, pl_at(bank, me), send_sem, recv_sem, pl_device(d));
        for (int d = 0; d < n - 1; d++)
            pl_copy_wait(row);
        for (int d = 0; d < n; d++)
            if (d != me)
                pl_load(pl_at(bank, d));
    }
}

PROGRAM(false_alarm_10_mailboxes, "everybody's rows in two banks in turn, without a barrier")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a sender and a receiver");
    PARAMETER(generations, 3, 1, 16);
    PlRef x = pl_input(PL_F32, 8, 128), mail = pl_vmem(PL_F32, 2, n, 8, 128);

    pl_launch(fa10_exchange, .args = {x, mail, pl_dma_semaphore(2), pl_dma_semaphore(2)});
}
