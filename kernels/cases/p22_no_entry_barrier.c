/* p22_no_entry_barrier.c - a kernel writes into a neighbour that is still busy with what ran before.
 *
 * Reported:  jax-ml/jax#27313, commit b6b5d952 (its interpreter adds a barrier at the entry); commits e5b542ac and 6df42ea9.
 * Wrong:     remote copies need no consent. Without a barrier at the entry they reach a device that has not come to this kernel.
 * Right:     a barrier of all devices on the semaphore of a collective id, before the first copy.
 * Teaches:   a barrier at the entry that a simulator adds by itself hides the fault; hence .skip_device_barrier here. Without it this
 *            program is verified.
 * Verdict:   the case says race. Here it is also lifetime: what belongs to this launch does not exist before the neighbour enters it.
 * Cause:     "pl_load(memory)", "pl_async_remote_copy(x, memory"
 * Repair:    barrier
 */
#include <heddle/pallas.h>

KERNEL(p22_previous_kernel, memory)
{
    pl_load(memory);
}

KERNEL(p22_sends_at_once, x, memory, send_sem, recv_sem)
{
    int right = (pl_device_id() + 1) % pl_num_devices();

    PlCopy copy = pl_async_remote_copy(x, memory, send_sem, recv_sem, pl_device(right));
    pl_copy_wait_send(copy);
    pl_copy_wait_recv(copy);
}

KERNEL(p22_meets_first, x, memory, send_sem, recv_sem)
{
    int n = pl_num_devices(), right = (pl_device_id() + 1) % n;
    PlRef barrier = pl_get_barrier_semaphore();

    for (int d = 0; d < n; d++)
        pl_semaphore_signal(barrier, 1, pl_device(d));
    pl_semaphore_wait(barrier, n);

    PlCopy copy = pl_async_remote_copy(x, memory, send_sem, recv_sem, pl_device(right));
    pl_copy_wait_send(copy);
    pl_copy_wait_recv(copy);
}

PROGRAM(p22_no_entry_barrier, "P22: a copy reaches a device that still runs what came before")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), memory = pl_output(PL_F32, 8, 128);

    pl_host(p22_previous_kernel, memory);
    pl_launch(p22_sends_at_once, .args = {x, memory, pl_dma_semaphore(), pl_dma_semaphore()}, .skip_device_barrier = true);
    pl_expect_fault(PL_RACE, .from = 2);
    pl_expect_fault(PL_LIFETIME, .from = 2);
}

PROGRAM(p22_no_entry_barrier_repaired, "P22 repaired: everybody is there before the first copy")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), memory = pl_output(PL_F32, 8, 128);

    pl_host(p22_previous_kernel, memory);
    pl_launch(p22_meets_first, .args = {x, memory, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_expect_permute(memory, x, 1);
}
