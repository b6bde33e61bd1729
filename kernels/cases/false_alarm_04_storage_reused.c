/* false_alarm_04_storage_reused.c - one scope after the other, where a compiler may give both the same storage.
 *
 * Cried wolf: a checker knew places by their address: stores of the second scope raced with a copy of the first one.
 * Slept:     the same checker let a copy out of a scope that had ended pass as one of its successor.
 * Is right:  each life is an object of its own. What must not be is a copy that outlives the scope it reads: the second program waits
 *            for it after the brace.
 * Cause:     "pl_copy_wait(pl_make_async_copy(pl_at(out, 1 - i)"
 * Repair:    wait sem
 */
#include <heddle/pallas.h>

KERNEL(fa04_waits_inside, out, sem)
{
    for (int i = 0; i < 2; i++) {
        PL_SCOPED PlRef scratch = pl_vmem(PL_F32, 8, 128);
        pl_store(scratch, pl_tile_full(PL_F32, i, 8, 128));
        PlCopy keep = pl_async_copy(scratch, pl_at(out, i), sem);
        pl_copy_wait(keep);
    }
}

KERNEL(fa04_waits_outside, out, sem)
{
    for (int i = 0; i < 2; i++) {
        {
            PL_SCOPED PlRef scratch = pl_vmem(PL_F32, 8, 128);
            pl_store(scratch, pl_tile_full(PL_F32, i, 8, 128));
            pl_async_copy(scratch, pl_at(out, i), sem);
        }
        pl_copy_wait(pl_make_async_copy(pl_at(out, 1 - i), pl_at(out, i), sem));        /* as many bytes, too late */
    }
}

static double number_of_scope(const PlRef *refs, int device, const int64_t *index)
{
    (void)refs, (void)device;
    return (double)index[0];
}

PROGRAM(false_alarm_04_storage_reused, "two scopes in turn, each drained before its end")
{
    PlRef out = pl_output(PL_F32, 2, 8, 128);

    pl_launch(fa04_waits_inside, .args = {out, pl_dma_semaphore()});
    pl_expect_values(out, number_of_scope, 0);
}

PROGRAM(false_alarm_04_storage_reused_outlived, "a copy that is still read from when its scope has ended")
{
    pl_launch(fa04_waits_outside, .args = {pl_output(PL_F32, 2, 8, 128), pl_dma_semaphore()});
    pl_expect_fault(PL_LIFETIME, .from = 1);
}
