/* p25_not_a_permutation.c - a table of targets in which one device is named twice and another not at all.
 *
 * Reported:  jax-ml/jax, documentation of distributed kernels, failure modes: waited too often, sent more than is awaited.
 * Wrong:     0 and 2 send to 1, 1 sends to 2. Device 0 waits for what nobody sends; device 1 gets two copies and waits for one.
 * Right:     every device is named once.
 * Teaches:   one wrong number, and the two ends of it fail in different ways.
 * Verdict:   the case says deadlock. Here device 1, which is not stuck, is held to its exit as well: it may leave with a copy on its way
 *            (in-flight), or with one more than it took (leftover).
 * Cause:     recv_sem, "pl_async_remote_copy(x, pl_at(y, pl_device_id())"
 * Repair:    device "pl_async_remote_copy(x, pl_at(y, pl_device_id())"
 */
#include <heddle/pallas.h>

KERNEL(p25_send_along, x, y, send_sem, recv_sem)
{
    static const int target[] = { 1, 2, 1 };        /* should be a permutation */

    PlCopy copy = pl_async_remote_copy(x, pl_at(y, pl_device_id()), send_sem, recv_sem, pl_device(target[pl_device_id()]));
    pl_copy_wait_send(copy);
    pl_copy_wait_recv(copy);
}

KERNEL(p25_send_along_a_ring, x, y, send_sem, recv_sem)
{
    int right = (pl_device_id() + 1) % pl_num_devices();

    PlCopy copy = pl_async_remote_copy(x, pl_at(y, pl_device_id()), send_sem, recv_sem, pl_device(right));
    pl_copy_wait_send(copy);
    pl_copy_wait_recv(copy);
}

PROGRAM(p25_not_a_permutation, "P25: one device gets two copies, another none")
{
    PL_NEEDS(pl_num_devices() == 3, "the table has three devices");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_vmem(PL_F32, 3, 8, 128);

    pl_launch(p25_send_along, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_DEADLOCK, .from = 3);
    pl_expect_fault(PL_IN_FLIGHT, .from = 3);
    pl_expect_fault(PL_LEFTOVER, .from = 3);
}

PROGRAM(p25_not_a_permutation_repaired, "P25 repaired: every device gets one copy")
{
    PL_NEEDS(pl_num_devices() == 3, "the table has three devices");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_vmem(PL_F32, 3, 8, 128);

    pl_launch(p25_send_along_a_ring, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
}
