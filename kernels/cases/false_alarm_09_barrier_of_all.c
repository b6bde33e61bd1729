/* false_alarm_09_barrier_of_all.c - one counting barrier on one semaphore, used round after round: of all devices, and of neighbours.
 *
 * Cried wolf: a checker that learnt from P01 that a barrier semaphore must not be used twice in a row.
 * Is right:  the barrier of all devices may be used again at once (see P03). In each round somebody else writes to the same inbox, so a
 *            barrier that let anybody through too early would be a race.
 * Is wrong:  the barrier of the two neighbours, which looks alike, from four devices on: with three, the neighbours are everybody.
 * Cause:     barrier, "pl_semaphore_wait(barrier, 2)"
 * Repair:    barrier or capacity
 */
#include <heddle/pallas.h>

enum { ROUNDS = 2 };

static void hand_over(PlRef x, PlRef inbox, PlRef send_sem, PlRef recv_sem, int to)
{
    PlCopy copy = pl_async_remote_copy(x, inbox, send_sem, recv_sem, pl_device(to));
    pl_copy_wait_send(copy);
    pl_copy_wait_recv(copy);
    pl_load(inbox);
}

KERNEL(fa09_all, x, inbox, send_sem, recv_sem, barrier)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int round = 0; round < ROUNDS; round++) {
        hand_over(x, inbox, send_sem, pl_at(recv_sem, round), (me + round + 1) % n);
        for (int d = 0; d < n; d++)
            pl_semaphore_signal(barrier, 1, pl_device(d));
        pl_semaphore_wait(barrier, n);
    }
}

KERNEL(fa09_neighbours, x, inbox, send_sem, recv_sem, barrier)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int round = 0; round < ROUNDS; round++) {
        hand_over(x, inbox, send_sem, pl_at(recv_sem, round), (me + round + 1) % n);
        pl_semaphore_signal(barrier, 1, pl_device((me + 1) % n));
        pl_semaphore_signal(barrier, 1, pl_device((me + n - 1) % n));
        pl_semaphore_wait(barrier, 2);
    }
}

PROGRAM(false_alarm_09_barrier_of_all, "another sender in each round, and a barrier of all on one semaphore between the rounds")
{
    PL_NEEDS(pl_num_devices() >= 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), inbox = pl_vmem(PL_F32, 8, 128);

    pl_launch(fa09_all, .args = {x, inbox, pl_dma_semaphore(), pl_dma_semaphore(ROUNDS), pl_regular_semaphore()});
}

PROGRAM(false_alarm_09_barrier_of_all_only_neighbours, "the same with a barrier of the neighbours, which looks alike")
{
    PL_NEEDS(pl_num_devices() >= 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), inbox = pl_vmem(PL_F32, 8, 128);

    pl_launch(fa09_neighbours, .args = {x, inbox, pl_dma_semaphore(), pl_dma_semaphore(ROUNDS), pl_regular_semaphore()});
    pl_expect_fault(PL_RACE, .from = 4);
}
