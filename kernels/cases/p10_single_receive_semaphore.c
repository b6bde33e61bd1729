/* p10_single_receive_semaphore.c - ring all-gather that counts all its steps on one receive semaphore.
 *
 * Reported:  jax-ml/jax, the all-gather of the documentation of distributed kernels (#22887): why it has N-1 receive semaphores.
 * Wrong:     when devices drift, the left neighbour has two copies to us under way, this step's and the next one's. If the later one
 *            lands first, the wait of this step is content, and we pass on a slot that has not arrived.
 * Right:     a receive semaphore for each step.
 * Teaches:   wait_recv on a descriptor is a wait for bytes, not for that copy. With two devices there is one step, hence no fault.
 * Cause:     recv_sem, "pl_copy_wait_recv(pass)"
 * Repair:    semaphore recv_sem
 */
#include <heddle/pallas.h>

KERNEL(p10_one_for_all_steps, o, send_sem, recv_sem)
{
    int n = pl_num_devices(), me = pl_device_id(), right = (me + 1) % n;

    pl_store(pl_at(o, me), pl_tile_full(PL_F32, me, 8, 128));
    for (int t = 0; t < n - 1; t++) {
        PlRef slot = pl_at(o, (me - t + n) % n);
        PlCopy pass = pl_async_remote_copy(slot, slot, send_sem, recv_sem, pl_device(right));
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
    }
}

KERNEL(p10_one_a_step, o, send_sem, recv_sems)
{
    int n = pl_num_devices(), me = pl_device_id(), right = (me + 1) % n;

    pl_store(pl_at(o, me), pl_tile_full(PL_F32, me, 8, 128));
    for (int t = 0; t < n - 1; t++) {
        PlRef slot = pl_at(o, (me - t + n) % n);
        PlCopy pass = pl_async_remote_copy(slot, slot, send_sem, pl_at(recv_sems, t), pl_device(right));
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
    }
}

PROGRAM(p10_single_receive_semaphore, "P10: a slot is passed on when another one has arrived")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");

    pl_launch(p10_one_for_all_steps, .args = {pl_vmem(PL_F32, n, 8, 128), pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 3);
}

PROGRAM(p10_single_receive_semaphore_repaired, "P10 repaired: one receive semaphore a step")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");

    pl_launch(p10_one_a_step, .args = {pl_vmem(PL_F32, n, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(n - 1)});
}
