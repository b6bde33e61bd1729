/* p15_waits_for_a_copy_not_started.c - the copy depends on a condition, the wait for it does not.
 *
 * Reported:  sgl-project/sglang-jax#760 (a tile without valid tokens); the same care in sglang-jax#1647 (prefetches that are skipped).
 * Wrong:     a tile of padding starts no copy, and its completion is waited for all the same.
 * Right:     wait where the copy was started, else fill with zeros.
 * Teaches:   the report names the wait, its count and that nobody is left who could signal.
 * Cause:     sem, "pl_copy_wait(fetch)", "pl_copy_start(fetch)"
 * Repair:    without "pl_copy_wait(fetch)" else start "pl_copy_wait(fetch)"
 */
#include <heddle/pallas.h>

enum { TILES = 2 };

static bool is_valid(int tile)
{
    return tile == 0;                               /* the second one is padding */
}

KERNEL(p15_always_waits, hbm, acc, sem)
{
    for (int tile = 0; tile < TILES; tile++) {
        PlCopy fetch = pl_make_async_copy(pl_at(hbm, tile), acc, sem);
        if (is_valid(tile))
            pl_copy_start(fetch);
        pl_copy_wait(fetch);
        pl_load(acc);
    }
}

KERNEL(p15_waits_if_started, hbm, acc, sem)
{
    for (int tile = 0; tile < TILES; tile++) {
        PlCopy fetch = pl_make_async_copy(pl_at(hbm, tile), acc, sem);
        if (is_valid(tile)) {
            pl_copy_start(fetch);
            pl_copy_wait(fetch);
        } else {
            pl_store(acc, pl_tile_zeros(PL_F32, 8, 128));
        }
        pl_load(acc);
    }
}

PROGRAM(p15_waits_for_a_copy_not_started, "P15: a tile of padding starts no copy and waits for it")
{
    PlRef hbm = pl_input(PL_F32, TILES, 8, 128), acc = pl_vmem(PL_F32, 8, 128);

    pl_launch(p15_always_waits, .args = {hbm, acc, pl_dma_semaphore()});
    pl_expect_fault(PL_DEADLOCK, .from = 1);
}

PROGRAM(p15_waits_for_a_copy_not_started_repaired, "P15 repaired: waits for what was started")
{
    PlRef hbm = pl_input(PL_F32, TILES, 8, 128), acc = pl_vmem(PL_F32, 8, 128);

    pl_launch(p15_waits_if_started, .args = {hbm, acc, pl_dma_semaphore()});
}
