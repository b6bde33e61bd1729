/* p21_store_before_the_wait.c - a staging buffer is written again while the copy out of it is still under way.
 *
 * Reported:  sgl-project/sglang-jax#1110 (found in review); of the same kind jax-ml/jax commit 0a66e2d0 (output windows reused too soon).
 * Wrong:     store, wait, start: the store comes before the wait for the copy that last used the slot.
 * Right:     wait, store, start.
 * Teaches:   the wait is there, on the right semaphore, one line too late.
 * Cause:     "pl_copy_wait(scatter)"
 * Repair:    wait sems
 */
#include <heddle/pallas.h>

enum { ROUNDS = 3 };

KERNEL(p21_store_first, staging, out, sems)
{
    for (int round = 0; round < ROUNDS; round++) {
        PlRef slot = pl_at(staging, round % 2), sem = pl_at(sems, round % 2);
        PlCopy scatter = pl_make_async_copy(slot, pl_at(out, round), sem);
        pl_store(slot, pl_tile_full(PL_F32, round, 8, 128));
        if (round >= 2)
            pl_copy_wait(scatter);
        pl_copy_start(scatter);
    }
    for (int slot = 0; slot < 2; slot++)
        pl_copy_wait(pl_make_async_copy(pl_at(staging, slot), pl_at(out, slot), pl_at(sems, slot)));
}

KERNEL(p21_wait_first, staging, out, sems)
{
    for (int round = 0; round < ROUNDS; round++) {
        PlRef slot = pl_at(staging, round % 2), sem = pl_at(sems, round % 2);
        PlCopy scatter = pl_make_async_copy(slot, pl_at(out, round), sem);
        if (round >= 2)
            pl_copy_wait(scatter);
        pl_store(slot, pl_tile_full(PL_F32, round, 8, 128));
        pl_copy_start(scatter);
    }
    for (int slot = 0; slot < 2; slot++)
        pl_copy_wait(pl_make_async_copy(pl_at(staging, slot), pl_at(out, slot), pl_at(sems, slot)));
}

static double number_of_round(const PlRef *refs, int device, const int64_t *index)
{
    (void)refs, (void)device;
    return (double)index[0];
}

PROGRAM(p21_store_before_the_wait, "P21: the slot is stored to before the wait for its last copy")
{
    PlRef staging = pl_vmem(PL_F32, 2, 8, 128), out = pl_output(PL_F32, ROUNDS, 8, 128);

    pl_launch(p21_store_first, .args = {staging, out, pl_dma_semaphore(2)});
    pl_expect_fault(PL_RACE, .from = 1);
}

PROGRAM(p21_store_before_the_wait_repaired, "P21 repaired: waits, then stores")
{
    PlRef staging = pl_vmem(PL_F32, 2, 8, 128), out = pl_output(PL_F32, ROUNDS, 8, 128);

    pl_launch(p21_wait_first, .args = {staging, out, pl_dma_semaphore(2)});
    pl_expect_values(out, number_of_round, 0);
}
