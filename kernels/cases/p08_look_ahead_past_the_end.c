/* p08_look_ahead_past_the_end.c - a guard that loads the element whose existence it was to guard.
 *
 * Reported:  jax-ml/jax commit 0e690c1a, the same change as P07.
 * Wrong:     "is there a next sequence, and is it empty": in traced code both sides of an AND are computed, so after the last sequence
 *            the length beyond the end of the array is loaded from scalar memory.
 * Right:     clamp the index, then compare.
 * Teaches:   the fault is the load, whatever becomes of its value.
 * Cause:     lengths, "pl_load_int(pl_at(lengths, b + 1))"
 * Repair:    clamp "pl_load_int(pl_at(lengths, b + 1))" else index "pl_load_int(pl_at(lengths, b + 1))"
 */
#include <heddle/pallas.h>

enum { BATCH = 2 };

static double length_of(int device, const int64_t *index)
{
    (void)device;
    return (double)index[0] + 1;
}

KERNEL(p08_eager, lengths)
{
    for (int b = 0; b < BATCH; b++) {
        bool last = b + 1 >= BATCH;
        bool next_is_empty = pl_load_int(pl_at(lengths, b + 1)) == 0;
        pl_assert(last || !next_is_empty);
    }
}

KERNEL(p08_clamped, lengths)
{
    for (int b = 0; b < BATCH; b++) {
        bool last = b + 1 >= BATCH;
        bool next_is_empty = pl_load_int(pl_at(lengths, last ? BATCH - 1 : b + 1)) == 0;
        pl_assert(last || !next_is_empty);
    }
}

PROGRAM(p08_look_ahead_past_the_end, "P08: looks at the sequence after the last one")
{
    PlRef lengths = pl_fill(pl_input_in(PL_SMEM, PL_I32, BATCH), length_of);

    pl_launch(p08_eager, .args = {lengths});
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
}

PROGRAM(p08_look_ahead_past_the_end_repaired, "P08 repaired: the index is clamped first")
{
    PlRef lengths = pl_fill(pl_input_in(PL_SMEM, PL_I32, BATCH), length_of);

    pl_launch(p08_clamped, .args = {lengths});
}
