/* all_gather.c - ring all-gather: in each of N-1 steps every device passes one slot on to its right neighbour.
 *
 * The slots are passed on in place, from output[slot] here to output[slot] there, so nothing is ever overwritten. What must be known is
 * that a slot has arrived before it is passed on: the left neighbour may have two copies under way, and copies arrive in any order. Hence
 * one receive semaphore a step.
 */
#include <heddle/pallas.h>

KERNEL(all_gather, input, output, local_copy_sem, send_sem, recv_sems)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x"), step = pl_program_id(0);
    int right = (my_id + 1) % n, slot = (my_id - step + n) % n;

    if (step == 0) {
        PlCopy own = pl_make_async_copy(input, pl_at(output, my_id), local_copy_sem);
        pl_copy_start(own);
        pl_copy_wait(own);
    }
    PlCopy pass = pl_make_async_remote_copy(pl_at(output, slot), pl_at(output, slot), send_sem, pl_at(recv_sems, step), pl_device(right));
    pl_copy_start(pass);
    pl_copy_wait(pass);             /* wait_send, then wait_recv: our own counter, which the LEFT neighbour's copy raises */
}

PROGRAM(all_gather, "ring all-gather, one receive semaphore a step")
{
    int n = pl_num_devices(), rows = PARAMETER(rows, 8, 1, 64);
    PL_NEEDS(n >= 2, "a ring");
    PlRef input = pl_input(PL_F32, rows, 128), output = pl_output(PL_F32, n, rows, 128);

    pl_launch(all_gather, .grid = {n - 1}, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(n - 1)});
    pl_expect_all_gather(output, input);
}

/* Wrong: all steps share one receive semaphore. The wait of a step can be satisfied by the next copy, and a slot that has not arrived is
 * passed on. With two devices there is one step only. */
KERNEL(all_gather_shared_semaphore, input, output, local_copy_sem, send_sem, recv_sem)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x"), step = pl_program_id(0);
    int right = (my_id + 1) % n, slot = (my_id - step + n) % n;

    if (step == 0) {
        PlCopy own = pl_make_async_copy(input, pl_at(output, my_id), local_copy_sem);
        pl_copy_start(own);
        pl_copy_wait(own);
    }
    PlCopy pass = pl_make_async_remote_copy(pl_at(output, slot), pl_at(output, slot), send_sem, recv_sem, pl_device(right));
    pl_copy_start(pass);
    pl_copy_wait(pass);
}

PROGRAM(all_gather_shared_semaphore, "wrong: one receive semaphore for all steps, so a wait takes the wrong copy for its own")
{
    int n = pl_num_devices(), rows = PARAMETER(rows, 8, 1, 64);
    PL_NEEDS(n >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = 3);
    PlRef input = pl_input(PL_F32, rows, 128), output = pl_output(PL_F32, n, rows, 128);

    pl_launch(all_gather_shared_semaphore, .grid = {n - 1},
              .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_all_gather(output, input);
}
