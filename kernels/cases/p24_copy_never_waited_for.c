/* p24_copy_never_waited_for.c - a copy is started and forgotten, on both sides.
 *
 * Reported:  failure modes in the documentation of jax-ml/jax; tenstorrent/tt-metal#50973 (atomics under way at a kernel's exit).
 * Wrong:     both devices may leave while the copy is on its way, and both of its semaphores keep its bytes.
 * Right:     wait_send at the source, wait_recv at the target.
 * Teaches:   each side owes a wait; the sender's does not replace the receiver's.
 * Cause:     recv_sem, "pl_async_remote_copy(x, y"
 * Repair:    wait recv_sem
 */
#include <heddle/pallas.h>

KERNEL(p24_forgets, x, y, send_sem, recv_sem)
{
    if (pl_device_id() == 0)
        pl_async_remote_copy(x, y, send_sem, recv_sem, pl_device(1));
}

KERNEL(p24_drains, x, y, send_sem, recv_sem)
{
    PlCopy copy = pl_make_async_remote_copy(x, y, send_sem, recv_sem, pl_device(1));

    if (pl_device_id() == 0) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    } else {
        pl_copy_wait_recv(copy);
    }
}

PROGRAM(p24_copy_never_waited_for, "P24: nobody waits for the copy")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_output(PL_F32, 8, 128);

    pl_launch(p24_forgets, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_IN_FLIGHT, .from = 2);
    pl_expect_fault(PL_LEFTOVER, .from = 2);
}

PROGRAM(p24_copy_never_waited_for_repaired, "P24 repaired: both sides wait")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_output(PL_F32, 8, 128);

    pl_launch(p24_drains, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
}
