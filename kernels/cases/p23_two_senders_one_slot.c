/* p23_two_senders_one_slot.c - two devices copy into the same place of a third.
 *
 * Reported:  jax-ml/jax, test_race_detection among the distributed tests of its interpreter; failure modes in its documentation.
 * Wrong:     whose data stays is a matter of luck. The receiver waits for both copies, so its own read is in order.
 * Right:     a slot for each sender.
 * Teaches:   a race between two writes, both of them by copies: no core is at fault alone.
 * Cause:     y, "pl_copy_start(copy)"
 * Repair:    slot y or index "pl_make_async_remote_copy(x, y"
 */
#include <heddle/pallas.h>

KERNEL(p23_same_slot, x, y, send_sem, recv_sem)
{
    int last = pl_num_devices() - 1;
    PlCopy copy = pl_make_async_remote_copy(x, y, send_sem, recv_sem, pl_device(last));

    if (pl_device_id() != last) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
        return;
    }
    for (int sender = 0; sender < last; sender++)
        pl_copy_wait_recv(copy);
    pl_load(y);
}

KERNEL(p23_own_slots, x, y, send_sem, recv_sem)
{
    int last = pl_num_devices() - 1;
    PlCopy copy = pl_make_async_remote_copy(x, pl_at(y, pl_device_id()), send_sem, recv_sem, pl_device(last));

    if (pl_device_id() != last) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
        return;
    }
    for (int sender = 0; sender < last; sender++)
        pl_copy_wait_recv(copy);
    for (int sender = 0; sender < last; sender++)
        pl_load(pl_at(y, sender));
}

PROGRAM(p23_two_senders_one_slot, "P23: all others write to the same slot of the last device")
{
    PL_NEEDS(pl_num_devices() >= 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_vmem(PL_F32, 8, 128);

    pl_launch(p23_same_slot, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 3);
}

PROGRAM(p23_two_senders_one_slot_repaired, "P23 repaired: a slot for each sender")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_vmem(PL_F32, n, 8, 128);

    pl_launch(p23_own_slots, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
}
