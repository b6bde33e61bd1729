/* counts.c - what is counted, and what decides. */
#include <heddle/pallas.h>

/* Both cores' copies count on the semaphore of core 0, so that either may satisfy the wait for the other: two racing pairs a device. */
KERNEL(shared_semaphore, x, y, sem)
{
    PlCopy fetch = pl_async_copy(pl_at(x, pl_core_index()), y, pl_core_ref(sem, 0));
    pl_copy_wait(fetch);
    pl_load(y);
}

PROGRAM(two_pairs, "as many racing pairs as cores, in many executions")
{
    PL_NEEDS(pl_num_cores() == 2, "two cores share the semaphore");
    pl_launch(shared_semaphore, .args = {pl_input(PL_F32, 2, 8, 128), pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()});
}

KERNEL(fetch_and_look, x, y, sem)
{
    PlCopy fetch = pl_async_copy(x, y, sem);
    if (!pl_parameter(late))
        pl_copy_wait(fetch);
    pl_load(y);
    if (pl_parameter(late))
        pl_copy_wait(fetch);
}

PROGRAM(late_or_not, "a wait before or after the load")
{
    pl_choose("late", 0, 1);
    pl_launch(fetch_and_look, .args = {pl_input(PL_F32, 8, 128), pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()});
}
