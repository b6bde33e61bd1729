/* right_permute.c - every device sends its block to the right neighbour.
 *
 * The neighbours meet at a barrier first: a copy must not reach a device that has not entered the kernel, where nothing waits for it yet.
 */
#include <heddle/pallas.h>

KERNEL(right_permute, input, output, send_sem, recv_sem)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x");
    int left = (my_id + n - 1) % n, right = (my_id + 1) % n;

    PlRef barrier = pl_get_barrier_semaphore();
    pl_semaphore_signal(barrier, 1, pl_device(left));
    pl_semaphore_signal(barrier, 1, pl_device(right));
    pl_semaphore_wait(barrier, 2);

    PlCopy copy = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(right));
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

PROGRAM(right_permute, "every block to the right neighbour, after a barrier with both")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);

    pl_launch(right_permute, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_expect_permute(output, input, 1);
}

/* Wrong: no barrier of its own, and told to do without the one at the entry. */
KERNEL(right_permute_no_barrier, input, output, send_sem, recv_sem)
{
    int right = (pl_axis_index("x") + 1) % pl_axis_size("x");

    PlCopy copy = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(right));
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

PROGRAM(right_permute_no_barrier, "wrong: no barrier at all, so a block may reach a device that has not entered")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_LIFETIME, .from = 2);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);

    pl_launch(right_permute_no_barrier, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()}, .skip_device_barrier = true);
    pl_expect_permute(output, input, 1);
}
