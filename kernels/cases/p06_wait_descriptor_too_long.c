/* p06_wait_descriptor_too_long.c - a descriptor made only to wait for a number of bytes, with a slice that its buffer does not have.
 *
 * Reported:  vllm-project/tpu-inference#1342, second part of the change.
 * Wrong:     four rows arrive over two slabs of three. One wait takes all, through a descriptor that names four rows of the first slab:
 *            nothing is copied, but a bounds check looks at the slice all the same and stops the kernel.
 * Right:     take the slice from a ref that is long enough: both slabs as one.
 * Teaches:   a wait counts bytes, its refs are no accesses.
 * Verdict:   the case calls it out of bounds. Here a descriptor that only waits is never an access, so the first program is verified and
 *            gets the advice wait-descriptor-range; the second one loads what the slice names, and that is out of bounds.
 * Cause:     slabs, "pl_load(pl_at(slabs"
 * Repair:    index "pl_load(pl_at(slabs"
 */
#include <heddle/pallas.h>

enum { SLABS = 2, SLAB_ROWS = 3, USED_ROWS = 2, ROWS = SLABS * USED_ROWS };

static void start_rows(PlRef x, PlRef slabs, PlRef sem)
{
    for (int i = 0; i < ROWS; i++)
        pl_async_copy(pl_at(x, i), pl_at(slabs, i / USED_ROWS, i % USED_ROWS), sem);
}

KERNEL(p06_wait_only, x, slabs, sem)
{
    start_rows(x, slabs, sem);
    pl_copy_wait(pl_make_async_copy(pl_at(x, pl_ds(0, ROWS)), pl_at(slabs, 0, pl_ds(0, ROWS)), sem));
}

KERNEL(p06_load_too, x, slabs, sem)
{
    start_rows(x, slabs, sem);
    pl_copy_wait(pl_make_async_copy(pl_at(x, pl_ds(0, ROWS)), pl_at(slabs, 0, pl_ds(0, ROWS)), sem));
    pl_load(pl_at(slabs, 0, pl_ds(0, ROWS)));
}

KERNEL(p06_one_ref, x, slabs, sem)
{
    PlRef flat = pl_reshape(slabs, SLABS * SLAB_ROWS, 128);

    for (int i = 0; i < ROWS; i++)
        pl_async_copy(pl_at(x, i), pl_at(flat, i), sem);
    pl_copy_wait(pl_make_async_copy(pl_at(x, pl_ds(0, ROWS)), pl_at(flat, pl_ds(0, ROWS)), sem));
    pl_load(pl_at(flat, pl_ds(0, ROWS)));
}

PROGRAM(p06_wait_descriptor_too_long, "P06: a slice too long, but only waited for: advice, no fault")
{
    PlRef x = pl_input(PL_F32, ROWS, 128), slabs = pl_vmem(PL_F32, SLABS, SLAB_ROWS, 128);

    pl_launch(p06_wait_only, .args = {x, slabs, pl_dma_semaphore()});
}

PROGRAM(p06_wait_descriptor_too_long_loaded, "P06: the same slice, loaded")
{
    PlRef x = pl_input(PL_F32, ROWS, 128), slabs = pl_vmem(PL_F32, SLABS, SLAB_ROWS, 128);

    pl_launch(p06_load_too, .args = {x, slabs, pl_dma_semaphore()});
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
}

PROGRAM(p06_wait_descriptor_too_long_repaired, "P06 repaired: the slice of a ref that is long enough")
{
    PlRef x = pl_input(PL_F32, ROWS, 128), slabs = pl_vmem(PL_F32, SLABS, SLAB_ROWS, 128);

    pl_launch(p06_one_ref, .args = {x, slabs, pl_dma_semaphore()});
}
