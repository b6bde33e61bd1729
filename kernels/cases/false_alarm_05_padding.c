/* false_alarm_05_padding.c - a store of a whole tile into a buffer that is smaller than a tile.
 *
 * Cried wolf: a checker stopped at the logical shape, though the hardware keeps whole tiles of 8 by 128 and the padding is free to use.
 * Is right:  both levels have their use, and a knob tells them apart: out of bounds by default, which is portable, and verified with
 *            --bounds padded, where what is written to the padding is gone.
 * Cause:     small, "pl_store(pl_at(small"
 * Repair:    index "pl_store(pl_at(small" or knob bounds
 */
#include <heddle/pallas.h>

KERNEL(fa05_whole_tile, out, small, sem)
{
    pl_store(pl_at(small, pl_ds(0, 8), pl_ds(0, 128)), pl_tile_full(PL_F32, 7, 8, 128));
    PlCopy keep = pl_async_copy(small, out, sem);
    pl_copy_wait(keep);
}

static double seven(const PlRef *refs, int device, const int64_t *index)
{
    (void)refs, (void)device, (void)index;
    return 7;
}

PROGRAM(false_alarm_05_padding, "a tile of 8 by 128 into 6 by 100: out of bounds, but for --bounds padded")
{
    PlRef out = pl_output(PL_F32, 6, 100), small = pl_vmem(PL_F32, 6, 100);

    pl_launch(fa05_whole_tile, .args = {out, small, pl_dma_semaphore()});
    pl_expect_values(out, seven, 0);
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
}
