/* p01_neighbour_barrier_reused.c - a barrier with the neighbours, in a kernel that is called twice in a row.
 *
 * Reported:  jax-ml/jax#27963, commit 88dae18c; the helper with two barriers also in vllm-project/tpu-inference.
 * Wrong:     the barrier counts signals and does not know whose they are. On the chain 0 - 1 - 2, device 0 waits for device 1 alone, ends
 *            the first call, enters the second and signals again: device 1 has its two signals, and device 2 has not come yet. The copy
 *            then lands in memory that device 2 still uses for what ran before.
 * Right:     a second neighbour barrier, on a semaphore of the call's own. A signal of the next call cannot count for it.
 * Teaches:   one call alone is right; a barrier semaphore that outlives the launch must be judged over all launches.
 * Verdict:   the case says race. Here it is also lifetime: device 2 may not even have entered, so the scratch and the receive semaphore
 *            of the call need not exist yet. The barrier that launches get by default would hide all of it.
 * Cause:     barrier semaphore, "pl_semaphore_wait(barrier", "pl_semaphore_signal(barrier"
 * Repair:    barrier
 */
#include <heddle/pallas.h>

KERNEL(p01_previous_use, scratch)
{
    pl_store(scratch, pl_tile_zeros(PL_F32, 8, 128));
}

KERNEL(p01_one_barrier, x, scratch, send_sem, recv_sem)
{
    int n = pl_num_devices(), me = pl_device_id();
    PlRef barrier = pl_get_barrier_semaphore();

    for (int d = me - 1; d <= me + 1; d += 2)
        if (d >= 0 && d < n)
            pl_semaphore_signal(barrier, 1, pl_device(d));
    pl_semaphore_wait(barrier, me == 0 || me == n - 1 ? 1 : 2);

    PlCopy copy = pl_make_async_remote_copy(x, scratch, send_sem, recv_sem, pl_device(2));
    if (me == 1) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    }
    if (me == 2)
        pl_copy_wait_recv(copy);
}

KERNEL(p01_two_barriers, x, scratch, send_sem, recv_sem, second)
{
    int n = pl_num_devices(), me = pl_device_id();
    PlRef barrier = pl_get_barrier_semaphore();

    for (int d = me - 1; d <= me + 1; d += 2)
        if (d >= 0 && d < n)
            pl_semaphore_signal(barrier, 1, pl_device(d));
    pl_semaphore_wait(barrier, me == 0 || me == n - 1 ? 1 : 2);
    for (int d = me - 1; d <= me + 1; d += 2)
        if (d >= 0 && d < n)
            pl_semaphore_signal(second, 1, pl_device(d));
    pl_semaphore_wait(second, me == 0 || me == n - 1 ? 1 : 2);

    PlCopy copy = pl_make_async_remote_copy(x, scratch, send_sem, recv_sem, pl_device(2));
    if (me == 1) {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    }
    if (me == 2)
        pl_copy_wait_recv(copy);
}

PROGRAM(p01_neighbour_barrier_reused, "P01: a barrier with the neighbours does for one call, not for two in a row")
{
    PL_NEEDS(pl_num_devices() >= 3, "a chain with a middle");
    PlRef x = pl_input(PL_F32, 8, 128), scratch = pl_output(PL_F32, 8, 128);

    pl_host(p01_previous_use, scratch);
    for (int call = 0; call < 2; call++)
        pl_launch(p01_one_barrier, .args = {x, scratch, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_expect_fault(PL_RACE, .from = 3);
    pl_expect_fault(PL_LIFETIME, .from = 3);
}

PROGRAM(p01_neighbour_barrier_reused_repaired, "P01 repaired: a second barrier on a semaphore of the call's own")
{
    PL_NEEDS(pl_num_devices() >= 3, "a chain with a middle");
    PlRef x = pl_input(PL_F32, 8, 128), scratch = pl_output(PL_F32, 8, 128);

    pl_host(p01_previous_use, scratch);
    for (int call = 0; call < 2; call++)
        pl_launch(p01_two_barriers, .args = {x, scratch, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()},
                  .collective_id = 0);
}
