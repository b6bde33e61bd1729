/* p31_at_most_one_store_pending.c - a stage is loaded again while the store out of it is the one that may be pending.
 *
 * Reported:  deepseek-ai/DeepEP#657.
 * Wrong:     "at most one store is pending" was to make the stage free. It holds at once, with the store of this very stage pending.
 * Right:     wait for that store.
 * Teaches:   a condition on how many are under way says nothing about which. Written with copies, the condition is no wait at all.
 * Cause:     "pl_copy_wait(store)"
 * Repair:    wait store_sem
 */
#include <heddle/pallas.h>

KERNEL(p31_one_may_be_pending, g, stage, out, load_sem, store_sem)
{
    PlCopy store = pl_make_async_copy(stage, out, store_sem);

    PlCopy load = pl_async_copy(pl_at(g, 0), stage, load_sem);
    pl_copy_wait(load);
    pl_copy_start(store);
    /* here it waits until at most one store is pending: there is one */
    PlCopy reload = pl_async_copy(pl_at(g, 1), stage, load_sem);
    pl_copy_wait(reload);
    pl_copy_wait(store);
}

KERNEL(p31_none_may_be_pending, g, stage, out, load_sem, store_sem)
{
    PlCopy store = pl_make_async_copy(stage, out, store_sem);

    PlCopy load = pl_async_copy(pl_at(g, 0), stage, load_sem);
    pl_copy_wait(load);
    pl_copy_start(store);
    pl_copy_wait(store);
    PlCopy reload = pl_async_copy(pl_at(g, 1), stage, load_sem);
    pl_copy_wait(reload);
}

PROGRAM(p31_at_most_one_store_pending, "P31: loads into the stage whose store is pending")
{
    PlRef g = pl_input(PL_F32, 2, 8, 128), stage = pl_vmem(PL_F32, 8, 128), out = pl_output(PL_F32, 8, 128);

    pl_launch(p31_one_may_be_pending, .args = {g, stage, out, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 1);
}

PROGRAM(p31_at_most_one_store_pending_repaired, "P31 repaired: waits for the store of the stage")
{
    PlRef g = pl_input(PL_F32, 2, 8, 128), stage = pl_vmem(PL_F32, 8, 128), out = pl_output(PL_F32, 8, 128);

    pl_launch(p31_none_may_be_pending, .args = {g, stage, out, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_equal(out, pl_at(g, 0));
}
