/* p12_two_kernels_share_a_barrier.c - two kernels between different partners use one barrier semaphore.
 *
 * Reported:  jax-ml/jax commit 4c17651a (ids for collectives are now given out); of the same kind: NVIDIA/TensorRT-LLM#3988.
 * Wrong:     kernel A is between devices 0 and 1, kernel B between 1 and 2. Device 2 has no part in A, enters B at once and signals
 *            device 1, which is still in A and takes it for the word of device 0: it looks for data that has not been sent.
 * Right:     a collective id, hence a barrier semaphore, for each pattern of communication.
 * Teaches:   a barrier semaphore belongs to its collective id and is shared by all launches that name it. The fault depends on the order
 *            of two signals, and shows in a count that is looked at: a conflict, which must be explored.
 * Cause:     barrier semaphore, "pl_semaphore_wait(barrier, 1)"
 * Repair:    semaphore barrier else barrier
 */
#include <heddle/pallas.h>

KERNEL(p12_kernel_a, data)
{
    PlRef barrier = pl_get_barrier_semaphore();

    if (pl_device_id() == 0) {
        pl_semaphore_wait(barrier, 1);                          /* device 1 is there */
        pl_semaphore_signal(data, 5, pl_device(1));
        pl_semaphore_signal(barrier, 1, pl_device(1));          /* and now it has everything */
    } else {
        pl_semaphore_signal(barrier, 1, pl_device(0));
        pl_semaphore_wait(barrier, 1);
        pl_expect_count(data, 5);
        pl_semaphore_wait(data, 5);
    }
}

KERNEL(p12_kernel_b)
{
    PlRef barrier = pl_get_barrier_semaphore();

    if (pl_device_id() == 1) {
        pl_semaphore_wait(barrier, 1);
        pl_semaphore_signal(barrier, 1, pl_device(2));
    } else {
        pl_semaphore_signal(barrier, 1, pl_device(1));
        pl_semaphore_wait(barrier, 1);
    }
}

PROGRAM(p12_two_kernels_share_a_barrier, "P12: a signal of the next kernel opens the barrier of this one")
{
    PL_NEEDS(pl_num_devices() == 3, "partners 0 and 1, 1 and 2");

    pl_launch_on(pl_devices(0, 1), p12_kernel_a, .args = {pl_regular_semaphore()}, .collective_id = 0);
    pl_launch_on(pl_devices(1, 2), p12_kernel_b, .collective_id = 0);
    pl_expect_fault(PL_ASSERT, .from = 3);
}

PROGRAM(p12_two_kernels_share_a_barrier_repaired, "P12 repaired: a collective id for each kernel")
{
    PL_NEEDS(pl_num_devices() == 3, "partners 0 and 1, 1 and 2");

    pl_launch_on(pl_devices(0, 1), p12_kernel_a, .args = {pl_regular_semaphore()}, .collective_id = 0);
    pl_launch_on(pl_devices(1, 2), p12_kernel_b, .collective_id = 1);
}
