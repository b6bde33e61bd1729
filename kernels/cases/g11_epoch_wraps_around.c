/* g11_epoch_wraps_around.c - "at least this epoch", after the epoch has begun again at zero.
 *
 * Reported:  alibaba/rtp-llm#1418 (an epoch that grew to the largest int).
 * Wrong:     right after the wrap every old value is at least the new epoch: the barrier at the entry is open once.
 * Right:     a counter that does not wrap, or a comparison that takes this epoch and the next one only.
 * Teaches:   such a fault needs 2^31 calls in the field and three here: one bit stands in for 32.
 * Cause:     epoch, "pl_flag_wait(epoch", "pl_flag_store(epoch"
 * Repair:    epoch epoch
 */
#include <heddle/pallas.h>

enum { EPOCHS = 3 };

KERNEL(g11_wraps, x, in, epoch, send_sem, recv_sem, done)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    for (int e = 1; e <= EPOCHS; e++) {
        pl_store(in, pl_tile_zeros(PL_F32, 8, 128));
        pl_flag_store(epoch, e % 2, partner);
        pl_flag_wait(epoch, PL_GE, e % 2, PL_OWN);              /* entry barrier */
        PlCopy push = pl_async_remote_copy(x, in, send_sem, recv_sem, partner);
        pl_copy_wait_send(push);
        pl_copy_wait_recv(push);
        pl_load(in);
        pl_semaphore_signal(done, 1, partner);                  /* exit barrier */
        pl_semaphore_wait(done, 1);
    }
}

KERNEL(g11_grows, x, in, epoch, send_sem, recv_sem, done)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    for (int e = 1; e <= EPOCHS; e++) {
        pl_store(in, pl_tile_zeros(PL_F32, 8, 128));
        pl_flag_store(epoch, e, partner);
        pl_flag_wait(epoch, PL_GE, e, PL_OWN);
        PlCopy push = pl_async_remote_copy(x, in, send_sem, recv_sem, partner);
        pl_copy_wait_send(push);
        pl_copy_wait_recv(push);
        pl_load(in);
        pl_semaphore_signal(done, 1, partner);
        pl_semaphore_wait(done, 1);
    }
}

PROGRAM(g11_epoch_wraps_around, "G11: after the wrap the old epoch opens the barrier")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef x = pl_input(PL_F32, 8, 128), in = pl_vmem(PL_F32, 8, 128);

    pl_launch(g11_wraps, .args = {x, in, pl_flags(), pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(g11_epoch_wraps_around_repaired, "G11 repaired: an epoch that does not wrap")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef x = pl_input(PL_F32, 8, 128), in = pl_vmem(PL_F32, 8, 128);

    pl_launch(g11_grows, .args = {x, in, pl_flags(), pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}
