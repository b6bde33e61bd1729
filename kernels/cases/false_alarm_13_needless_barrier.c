/* false_alarm_13_needless_barrier.c - a ring all-gather with a barrier in each step, and the same without.
 *
 * Cried wolf: reports of missing synchronisation where none was missing, repaired by barriers that then stayed.
 * Is right:  both programs. A receive semaphore for each step is all the order that it needs, and a slot is written once only.
 */
#include <heddle/pallas.h>

static void pass_on(PlRef o, PlRef send_sem, PlRef recv_sem, int step)
{
    int n = pl_num_devices(), me = pl_device_id();
    PlRef slot = pl_at(o, (me - step + n) % n);

    PlCopy pass = pl_async_remote_copy(slot, slot, send_sem, recv_sem, pl_device((me + 1) % n));
    pl_copy_wait_send(pass);
    pl_copy_wait_recv(pass);
}

KERNEL(fa13_barrier_a_step, o, send_sem, recv_sems, barrier)
{
    int n = pl_num_devices();

    pl_store(pl_at(o, pl_device_id()), pl_tile_zeros(PL_F32, 8, 128));
    for (int step = 0; step < n - 1; step++) {
        pass_on(o, send_sem, pl_at(recv_sems, step), step);
        for (int d = 0; d < n; d++)
            pl_semaphore_signal(barrier, 1, pl_device(d));
        pl_semaphore_wait(barrier, n);
    }
}

KERNEL(fa13_no_barrier, o, send_sem, recv_sems)
{
    int n = pl_num_devices();

    pl_store(pl_at(o, pl_device_id()), pl_tile_zeros(PL_F32, 8, 128));
    for (int step = 0; step < n - 1; step++)
        pass_on(o, send_sem, pl_at(recv_sems, step), step);
}

PROGRAM(false_alarm_13_needless_barrier, "ring all-gather with a barrier in each step, which it does not need")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");

    pl_launch(fa13_barrier_a_step, .args = {pl_vmem(PL_F32, n, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(n - 1),
              pl_regular_semaphore()});
}

PROGRAM(false_alarm_13_needless_barrier_left_out, "the same without the barrier")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");

    pl_launch(fa13_no_barrier, .args = {pl_vmem(PL_F32, n, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(n - 1)});
}
