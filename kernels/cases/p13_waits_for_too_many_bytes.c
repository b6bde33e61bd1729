/* p13_waits_for_too_many_bytes.c - half a buffer is copied, the whole of it is waited for.
 *
 * Reported:  sgl-project/sglang-jax#1307 (a wait for weights in a fused kernel); failure modes in the documentation of jax-ml/jax.
 * Wrong:     the copy moves half of the columns; the wait names all of them. A DMA semaphore counts bytes, and so many never come.
 * Right:     wait for exactly the region that was copied.
 * Teaches:   the descriptor of a wait is a number of bytes in disguise.
 * Cause:     sem, "pl_copy_wait(pl_make_async_copy(w_hbm", "pl_async_copy(pl_at(w_hbm"
 * Repair:    count "pl_copy_wait(pl_make_async_copy(w_hbm"
 */
#include <heddle/pallas.h>

KERNEL(p13_whole, w_hbm, w, sem)
{
    pl_async_copy(pl_at(w_hbm, PL_ALL, pl_ds(0, 128)), pl_at(w, PL_ALL, pl_ds(0, 128)), sem);
    pl_copy_wait(pl_make_async_copy(w_hbm, w, sem));
    pl_load(pl_at(w, PL_ALL, pl_ds(0, 128)));
}

KERNEL(p13_half, w_hbm, w, sem)
{
    PlCopy fetch = pl_async_copy(pl_at(w_hbm, PL_ALL, pl_ds(0, 128)), pl_at(w, PL_ALL, pl_ds(0, 128)), sem);
    pl_copy_wait(fetch);
    pl_load(pl_at(w, PL_ALL, pl_ds(0, 128)));
}

PROGRAM(p13_waits_for_too_many_bytes, "P13: copies half of the columns, waits for all")
{
    PlRef w_hbm = pl_input(PL_F32, 8, 256), w = pl_vmem(PL_F32, 8, 256);

    pl_launch(p13_whole, .args = {w_hbm, w, pl_dma_semaphore()});
    pl_expect_fault(PL_DEADLOCK, .from = 1);
}

PROGRAM(p13_waits_for_too_many_bytes_repaired, "P13 repaired: waits for what was copied")
{
    PlRef w_hbm = pl_input(PL_F32, 8, 256), w = pl_vmem(PL_F32, 8, 256);

    pl_launch(p13_half, .args = {w_hbm, w, pl_dma_semaphore()});
}
