/* p11_two_slots_without_capacity.c - a ring that works on one slot and receives into the other, and nobody says when a slot is free.
 *
 * Reported:  jax-ml/jax, documentation of distributed kernels, on running ahead and race conditions.
 * Wrong:     a remote copy asks nobody. A sender that is a step ahead writes into the slot that its slow neighbour still reads.
 * Right:     the receiver grants its neighbour the slot, once a step, on a capacity semaphore.
 * Teaches:   the receive semaphore orders the reader behind the writer; the way back needs a semaphore too. With N devices a block needs
 *            N-1 passes, so with two nothing is written twice.
 * Cause:     "pl_load(work)", "pl_async_remote_copy(work"
 * Repair:    capacity
 */
#include <heddle/pallas.h>

static void meet_neighbours(int left, int right)
{
    PlRef barrier = pl_get_barrier_semaphore();

    pl_semaphore_signal(barrier, 1, pl_device(left));
    pl_semaphore_signal(barrier, 1, pl_device(right));
    pl_semaphore_wait(barrier, 2);
}

KERNEL(p11_no_capacity, h, send_sem, recv_sems)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;

    pl_store(pl_at(h, 0), pl_tile_full(PL_F32, me, 8, 128));
    meet_neighbours(left, right);
    for (int t = 0; t < n - 1; t++) {
        PlRef work = pl_at(h, t % 2), receive = pl_at(h, (t + 1) % 2);
        PlCopy pass = pl_async_remote_copy(work, receive, send_sem, pl_at(recv_sems, t), pl_device(right));
        pl_load(work);
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
    }
}

KERNEL(p11_capacity, h, send_sem, recv_sems, capacity_sem)
{
    int n = pl_num_devices(), me = pl_device_id(), left = (me + n - 1) % n, right = (me + 1) % n;

    pl_store(pl_at(h, 0), pl_tile_full(PL_F32, me, 8, 128));
    meet_neighbours(left, right);
    for (int t = 0; t < n - 1; t++) {
        PlRef work = pl_at(h, t % 2), receive = pl_at(h, (t + 1) % 2);
        pl_semaphore_signal(capacity_sem, 1, pl_device(left));          /* the receiving slot is free here, */
        pl_semaphore_wait(capacity_sem, 1);                             /* and at the right neighbour */
        PlCopy pass = pl_async_remote_copy(work, receive, send_sem, pl_at(recv_sems, t), pl_device(right));
        pl_load(work);
        pl_copy_wait_send(pass);
        pl_copy_wait_recv(pass);
    }
}

PROGRAM(p11_two_slots_without_capacity, "P11: a neighbour that is a step ahead overwrites the slot that is being read")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");

    pl_launch(p11_no_capacity, .args = {pl_vmem(PL_F32, 2, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(n - 1)}, .collective_id = 0);
    pl_expect_fault(PL_RACE, .from = 3);
}

PROGRAM(p11_two_slots_without_capacity_repaired, "P11 repaired: the receiver grants each slot")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");

    pl_launch(p11_capacity, .args = {pl_vmem(PL_F32, 2, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(n - 1), pl_regular_semaphore()},
              .collective_id = 0);
}
