/* all_to_all.c - every device sends a block to every other, all at once.
 *
 * A copy may go to any device, so everybody must have entered: each device signals all (itself too) and waits for N. One send semaphore
 * for all copies, since all of them must be out in the end; one receive semaphore for each sender.
 */
#include <heddle/pallas.h>

static void exchange(PlRef input, PlRef output, PlRef own_sem, PlRef send_sem, PlRef recv_sems)
{
    int n = pl_num_devices(), my_id = pl_device_id();

    PlCopy own = pl_make_async_copy(pl_at(input, my_id), pl_at(output, my_id), own_sem);
    pl_copy_start(own);
    for (int i = 1; i < n; i++) {
        int to = (my_id + i) % n;
        PlCopy copy = pl_make_async_remote_copy(pl_at(input, to), pl_at(output, my_id), send_sem, pl_at(recv_sems, my_id), pl_device(to));
        pl_copy_start(copy);
    }
    pl_copy_wait(own);
    for (int i = 1; i < n; i++) {
        int from = (my_id + i) % n;
        PlCopy copy = pl_make_async_remote_copy(pl_at(input, from), pl_at(output, from), send_sem, pl_at(recv_sems, from), pl_device(from));
        pl_copy_wait(copy);         /* one block is out, and that of this sender is in */
    }
}

KERNEL(all_to_all, input, output, own_sem, send_sem, recv_sems)
{
    int n = pl_num_devices();

    PlRef barrier = pl_get_barrier_semaphore();
    for (int device = 0; device < n; device++)
        pl_semaphore_signal(barrier, 1, pl_device(device));
    pl_semaphore_wait(barrier, n);

    exchange(input, output, own_sem, send_sem, recv_sems);
}

PROGRAM(all_to_all, "a block from everyone to everyone, after a counting barrier")
{
    int n = pl_num_devices();
    PlRef input = pl_input(PL_F32, n, 8, 128), output = pl_output(PL_F32, n, 8, 128);

    pl_launch(all_to_all, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(n)}, .collective_id = 0);
    pl_expect_all_to_all(output, input);
}

/* Wrong: one signal from the left says that the left neighbour has entered, and nothing about the others. */
KERNEL(all_to_all_neighbour_fence, input, output, own_sem, send_sem, recv_sems)
{
    int right = (pl_device_id() + 1) % pl_num_devices();

    PlRef barrier = pl_get_barrier_semaphore();
    pl_semaphore_signal(barrier, 1, pl_device(right));
    pl_semaphore_wait(barrier, 1);

    exchange(input, output, own_sem, send_sem, recv_sems);
}

PROGRAM(all_to_all_neighbour_fence, "wrong: a fence with the left neighbour only, then copies to everyone")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a neighbour");
    pl_expect_fault(PL_LIFETIME, .from = 3);
    PlRef input = pl_input(PL_F32, n, 8, 128), output = pl_output(PL_F32, n, 8, 128);

    pl_launch(all_to_all_neighbour_fence, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(n)},
              .collective_id = 0);
    pl_expect_all_to_all(output, input);
}
