/* permute_twice.c - two launches of a right permute, each with a barrier among neighbours and none at the entry.
 *
 * A counter cannot tell who raised it. In a ring of five, a neighbour that is already in the second launch signals again, and its signal
 * stands in for the other neighbour, which has not even entered the first. A second barrier on a semaphore of the launch's own makes sure:
 * it cannot be raised from outside the launch.
 */
#include <heddle/pallas.h>

static void meet(PlRef semaphore, int left, int right)
{
    pl_semaphore_signal(semaphore, 1, pl_device(left));
    pl_semaphore_signal(semaphore, 1, pl_device(right));
    pl_semaphore_wait(semaphore, 2);
}

static void permute(PlRef input, PlRef output, PlRef send_sem, PlRef recv_sem, int right)
{
    PlCopy copy = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(right));
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

KERNEL(double_barrier_permute, input, output, send_sem, recv_sem)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x");
    int left = (my_id + n - 1) % n, right = (my_id + 1) % n;

    PL_SCOPED PlRef second_barrier = pl_regular_semaphore();
    meet(pl_get_barrier_semaphore(), left, right);
    meet(second_barrier, left, right);
    permute(input, output, send_sem, recv_sem, right);
}

PROGRAM(permute_twice, "two right permutes in turn, a double barrier in each")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), middle = pl_output(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);

    pl_launch(double_barrier_permute, .args = {input, middle, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_launch(double_barrier_permute, .args = {middle, output, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_expect_permute(output, input, 2);
}

KERNEL(single_barrier_permute, input, output, send_sem, recv_sem)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x");
    int left = (my_id + n - 1) % n, right = (my_id + 1) % n;

    meet(pl_get_barrier_semaphore(), left, right);
    permute(input, output, send_sem, recv_sem, right);
}

PROGRAM(permute_twice_single_barrier, "wrong: two right permutes in turn, whose barriers share one counter")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_LIFETIME, .from = 5);
    PlRef input = pl_input(PL_F32, 8, 128), middle = pl_output(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);

    pl_launch(single_barrier_permute, .args = {input, middle, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_launch(single_barrier_permute, .args = {middle, output, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
    pl_expect_permute(output, input, 2);
}
