/* p14_waits_for_too_few_bytes.c - several copies on one semaphore, and one of them waited for.
 *
 * Reported:  sgl-project/sglang-jax#760 (the gather before an accumulation: one wait for top_k copies).
 * Wrong:     one wait of one row against two copies: both rows are read when any one has come, or half of each.
 * Right:     as many waits as copies.
 * Teaches:   one forgotten wait is three faults: the rows raced with, the copy that may outlive the kernel, the count that stays behind.
 * Cause:     sem, "pl_copy_wait(fetch[0])"
 * Repair:    wait sem or count "pl_copy_wait(fetch[0])"
 */
#include <heddle/pallas.h>

enum { TOP_K = 2 };

KERNEL(p14_one_wait, g_hbm, acc, sem)
{
    PlCopy fetch[TOP_K];

    for (int k = 0; k < TOP_K; k++)
        fetch[k] = pl_async_copy(pl_at(g_hbm, k), pl_at(acc, k), sem);
    pl_copy_wait(fetch[0]);
    for (int k = 0; k < TOP_K; k++)
        pl_load(pl_at(acc, k));
}

KERNEL(p14_all_waits, g_hbm, acc, sem)
{
    PlCopy fetch[TOP_K];

    for (int k = 0; k < TOP_K; k++)
        fetch[k] = pl_async_copy(pl_at(g_hbm, k), pl_at(acc, k), sem);
    for (int k = 0; k < TOP_K; k++)
        pl_copy_wait(fetch[k]);
    for (int k = 0; k < TOP_K; k++)
        pl_load(pl_at(acc, k));
}

PROGRAM(p14_waits_for_too_few_bytes, "P14: two copies, one wait")
{
    PlRef g_hbm = pl_input(PL_F32, TOP_K, 8, 128), acc = pl_vmem(PL_F32, TOP_K, 8, 128);

    pl_launch(p14_one_wait, .args = {g_hbm, acc, pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 1);
    pl_expect_fault(PL_LEFTOVER, .from = 1);
    pl_expect_fault(PL_IN_FLIGHT, .from = 1);
}

PROGRAM(p14_waits_for_too_few_bytes_repaired, "P14 repaired: a wait for each copy")
{
    PlRef g_hbm = pl_input(PL_F32, TOP_K, 8, 128), acc = pl_vmem(PL_F32, TOP_K, 8, 128);

    pl_launch(p14_all_waits, .args = {g_hbm, acc, pl_dma_semaphore()});
}
