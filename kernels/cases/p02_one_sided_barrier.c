/* p02_one_sided_barrier.c - a barrier that hears of one neighbour only, before a copy to another one.
 *
 * Reported:  vllm-project/tpu-inference#1342, commit 44a0398c; met again in sgl-project/sglang-jax#677.
 * Wrong:     every device signals its right neighbour and waits for one signal: it learns that its LEFT neighbour is there, and sends to
 *            its right one.
 * Right:     signal everybody, oneself too, and wait for as many signals as there are devices.
 * Teaches:   a barrier protects only those whose signal it waited for. With two devices left and right are the same, so tests with two
 *            pass.
 * Verdict:   the case says race. Here it is also lifetime, since the right neighbour may not have entered the kernel: its inbox and its
 *            receive semaphore are not there yet.
 * Cause:     barrier semaphore, "pl_semaphore_wait(barrier"
 * Repair:    barrier
 */
#include <heddle/pallas.h>

KERNEL(p02_right_only, x, inbox, send_sem, recv_sem)
{
    int right = (pl_device_id() + 1) % pl_num_devices();
    PlRef barrier = pl_get_barrier_semaphore();

    pl_store(inbox, pl_tile_zeros(PL_F32, 8, 128));
    pl_semaphore_signal(barrier, 1, pl_device(right));
    pl_semaphore_wait(barrier, 1);

    PlCopy scatter = pl_async_remote_copy(x, inbox, send_sem, recv_sem, pl_device(right));
    pl_copy_wait_send(scatter);
    pl_copy_wait_recv(scatter);
    pl_load(inbox);
}

KERNEL(p02_everybody, x, inbox, send_sem, recv_sem)
{
    int n = pl_num_devices(), right = (pl_device_id() + 1) % n;
    PlRef barrier = pl_get_barrier_semaphore();

    pl_store(inbox, pl_tile_zeros(PL_F32, 8, 128));
    for (int d = 0; d < n; d++)
        pl_semaphore_signal(barrier, 1, pl_device(d));
    pl_semaphore_wait(barrier, n);

    PlCopy scatter = pl_async_remote_copy(x, inbox, send_sem, recv_sem, pl_device(right));
    pl_copy_wait_send(scatter);
    pl_copy_wait_recv(scatter);
    pl_load(inbox);
}

PROGRAM(p02_one_sided_barrier, "P02: hears of the left neighbour, writes to the right one")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), inbox = pl_vmem(PL_F32, 8, 128);

    pl_launch(p02_right_only, .args = {x, inbox, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_expect_fault(PL_RACE, .from = 3);
    pl_expect_fault(PL_LIFETIME, .from = 3);
}

PROGRAM(p02_one_sided_barrier_repaired, "P02 repaired: signals everybody, waits for everybody")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), inbox = pl_vmem(PL_F32, 8, 128);

    pl_launch(p02_everybody, .args = {x, inbox, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
}
