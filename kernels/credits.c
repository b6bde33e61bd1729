/* credits.c - a ring all-gather that reuses k receive semaphores: the story of a public question.
 *
 * Step t receives on semaphore t mod k. That is right as long as the left neighbour is at most k steps ahead: then no two copies that can
 * be under way at once share a semaphore. So each device, after a wait for a receive, gives its left neighbour one credit; the first k
 * steps need none. With one credit more, two copies can be under way on one semaphore, and in a ring of k+2 devices the wait for the first
 * can be satisfied by the second: the slot is then passed on before it arrived. It happens so rarely that a run hardly ever shows it.
 */
#include <heddle/pallas.h>

/* ahead: how many steps the left neighbour may be ahead of us. */
static void gather(PlRef input, PlRef output, PlRef local_copy_sem, PlRef send_sem, PlRef recv_sems, PlRef credit_sem, int ahead)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x"), k = pl_size(recv_sems, 0);
    int left = (my_id + n - 1) % n, right = (my_id + 1) % n;

    PlCopy own = pl_make_async_copy(input, pl_at(output, my_id), local_copy_sem);
    pl_copy_start(own);
    pl_copy_wait(own);
    for (int step = 0; step < n - 1; step++) {
        int slot = (my_id - step + n) % n;
        PlCopy pass = pl_make_async_remote_copy(pl_at(output, slot), pl_at(output, slot), send_sem, pl_at(recv_sems, step % k),
                                                pl_device(right));
        if (step >= ahead)
            pl_semaphore_wait(credit_sem, 1);
        pl_copy_start(pass);
        pl_copy_wait(pass);
        if (step + ahead < n - 1)                   /* the left neighbour has a step to come that needs it */
            pl_semaphore_signal(credit_sem, 1, pl_device(left));
    }
}

KERNEL(credits, input, output, local_copy_sem, send_sem, recv_sems, credit_sem)
{
    gather(input, output, local_copy_sem, send_sem, recv_sems, credit_sem, pl_size(recv_sems, 0));
}

PROGRAM(credits, "ring all-gather that reuses k receive semaphores, with k credits")
{
    int n = pl_num_devices(), k = PARAMETER(k, 1, 1, 64);
    PL_NEEDS(n >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, n, 8, 128);

    pl_launch(credits, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(k), pl_regular_semaphore()});
    pl_expect_all_gather(output, input);
}

KERNEL(credits_one_too_many, input, output, local_copy_sem, send_sem, recv_sems, credit_sem)
{
    gather(input, output, local_copy_sem, send_sem, recv_sems, credit_sem, pl_size(recv_sems, 0) + 1);
}

PROGRAM(credits_one_too_many, "wrong: k+1 credits for k receive semaphores")
{
    int n = pl_num_devices(), k = PARAMETER(k, 1, 1, 64);
    PL_NEEDS(n >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = k + 2);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, n, 8, 128);

    pl_launch(credits_one_too_many,
              .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(k), pl_regular_semaphore()});
    pl_expect_all_gather(output, input);
}
