/* false_alarm_02_whose_semaphore.c - several cores a device, each with semaphores of its own. This is right.
 *
 * Cried wolf: a checker signalled too few cores of the target device, so that some waited for ever; repaired, it signalled too many, and
 *             counts were left over.
 * Is right:  the send semaphore is the issuing core's, the receive semaphore that of the named core of the target device; where none is
 *            named, of the core with the caller's index. (Run with --cores 2 or more; with one core it is a plain ring.)
 */
#include <heddle/pallas.h>

KERNEL(fa02_core_to_core, inbox, send_sem, recv_sem)
{
    int right = (pl_device_id() + 1) % pl_num_devices(), next_core = (pl_core_index() + 1) % pl_num_cores();
    PlRef own = pl_at(inbox, 0);

    pl_store(own, pl_tile_full(PL_F32, pl_core_index(), 8, 128));
    PlCopy same = pl_async_remote_copy(own, pl_at(inbox, 1), send_sem, pl_at(recv_sem, 0), pl_device(right));
    PlCopy next = pl_async_remote_copy(own, pl_at(inbox, 2), send_sem, pl_at(recv_sem, 1), pl_device(right, next_core));
    pl_copy_wait(same);
    pl_copy_wait(next);
    pl_load(pl_at(inbox, 1));
    pl_load(pl_at(inbox, 2));
}

PROGRAM(false_alarm_02_whose_semaphore, "each core's copy signals its own send semaphore and one core's receive semaphore")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");

    pl_launch(fa02_core_to_core, .args = {pl_vmem(PL_F32, 3, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(2)});
}
