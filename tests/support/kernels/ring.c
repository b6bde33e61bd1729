/* ring.c - a ring all-gather as a user would bring it: right, and with one receive semaphore for all steps. */
#include <heddle/pallas.h>

static void pass_all(PlRef input, PlRef output, PlRef own_sem, PlRef send_sem, PlRef recv_sem)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x"), step = pl_program_id(0);
    int right = (my_id + 1) % n, slot = (my_id - step + n) % n;
    if (step == 0) {
        PlCopy own = pl_make_async_copy(input, pl_at(output, my_id), own_sem);
        pl_copy_start(own);
        pl_copy_wait(own);
    }
    PlCopy pass = pl_make_async_remote_copy(pl_at(output, slot), pl_at(output, slot), send_sem, recv_sem, pl_device(right));
    pl_copy_start(pass);
    pl_copy_wait(pass);
}

KERNEL(ring, input, output, own_sem, send_sem, recv_sems)
{
    pass_all(input, output, own_sem, send_sem, pl_at(recv_sems, pl_program_id(0)));
}

KERNEL(ring_shared, input, output, own_sem, send_sem, recv_sem)
{
    pass_all(input, output, own_sem, send_sem, recv_sem);
}

PROGRAM(ring, "ring all-gather, one receive semaphore a step")
{
    int n = pl_num_devices(), rows = PARAMETER(rows, 8, 1, 64);
    PL_NEEDS(n >= 2, "a ring needs two devices");
    PlRef input = pl_input(PL_F32, rows, 128), output = pl_output(PL_F32, n, rows, 128);
    pl_launch(ring, .grid = {n - 1}, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(n - 1)});
    pl_expect_all_gather(output, input);
}

PROGRAM(ring_shared, "the same with one receive semaphore for all steps")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring needs two devices");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, n, 8, 128);
    pl_launch(ring_shared, .grid = {n - 1}, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_all_gather(output, input);
    pl_expect_fault(PL_RACE, .from = 3);
}
