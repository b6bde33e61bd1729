/* bounds.c - the memory tests of JAX's interpreter: what lies outside of a buffer, what nobody wrote, what cannot be accessed directly.
 *
 * Written anew after tests/pallas/tpu_pallas_interpret_test.py and tpu_pallas_interpret_distributed_test.py (JAX, Apache-2.0).
 */
#include <heddle/pallas.h>

static void copy(PlRef source, PlRef target, PlRef semaphore)
{
    PlCopy now = pl_make_async_copy(source, target, semaphore);
    pl_copy_start(now);
    pl_copy_wait(now);
}

KERNEL(jax_scalar_beyond_smem, table)
{
    for (int i = 0; i < 4; i++)
        pl_store_int(pl_at(table, i), i + 1);
    int last = pl_load_int(pl_at(table, 3));
    pl_load_int(pl_at(table, last));
}

/* Cause:  table, last "pl_load_int(pl_at(table"
 * Repair: index last "pl_load_int(pl_at(table" */
PROGRAM(jax_scalar_beyond_smem, "wrong: an index computed at run time is one too large")
{
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
    pl_launch(jax_scalar_beyond_smem, .args = {pl_smem(PL_I32, 4)});
}

KERNEL(jax_copy_beyond_hbm, input, output, sem)
{
    copy(pl_at(input, pl_ds(4, 8)), output, sem);
}

/* Cause:  input, "copy(pl_at(input, pl_ds(4, 8))"
 * Repair: index "copy(pl_at(input, pl_ds(4, 8))" */
PROGRAM(jax_copy_beyond_hbm, "wrong: copies rows 4 to 11 of 8")
{
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_copy_beyond_hbm, .args = {input, output, pl_dma_semaphore()});
}

/* VMEM of 10 rows has 16 of them physically: out of bounds, but allowed with --bounds padded, and what lands in the padding is lost. */
KERNEL(jax_copy_into_row_10, input, scratch, sem)
{
    copy(pl_at(input, pl_ds(0, 1)), pl_at(scratch, pl_ds(10, 1)), sem);
}

/* Cause:  scratch, "pl_at(scratch, pl_ds(10, 1))"
 * Repair: index "pl_at(scratch, pl_ds(10, 1))" or knob bounds */
PROGRAM(jax_copy_into_row_10, "wrong: copies into row 10 of 10 rows of VMEM; allowed with --bounds padded")
{
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
    PlRef input = pl_input(PL_F32, 8, 128);
    pl_launch(jax_copy_into_row_10, .args = {input, pl_vmem(PL_F32, 10, 128), pl_dma_semaphore()});
}

KERNEL(jax_copy_into_rows_4_to_11, input, scratch, sem)
{
    copy(input, pl_at(scratch, pl_ds(4, 8)), sem);
}

/* Cause:  scratch, "pl_at(scratch, pl_ds(4, 8))"
 * Repair: index "pl_at(scratch, pl_ds(4, 8))" or knob bounds */
PROGRAM(jax_copy_into_rows_4_to_11, "wrong: copies 8 rows to row 4 of 10 rows of VMEM; allowed with --bounds padded")
{
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
    PlRef input = pl_input(PL_F32, 8, 128);
    pl_launch(jax_copy_into_rows_4_to_11, .args = {input, pl_vmem(PL_F32, 10, 128), pl_dma_semaphore()});
}

/* SMEM has no padding: wrong with either reading. */
/* Cause:  "pl_at(scratch, pl_ds(4, 8))"
 * Repair: index "pl_at(scratch, pl_ds(4, 8))" */
PROGRAM(jax_copy_into_smem_beyond, "wrong: copies 8 rows to row 4 of 10 rows of SMEM")
{
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
    PlRef input = pl_input(PL_F32, 8, 128);
    pl_launch(jax_copy_into_rows_4_to_11, .args = {input, pl_smem(PL_F32, 10, 128), pl_dma_semaphore()});
}

static PlTile rows_below(int rows)
{
    PlTile mask = pl_tile_zeros(PL_BOOL, 8, 128);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 128; j++)
            pl_tile_put(mask, 1, i, j);
    return mask;
}

KERNEL(jax_masked_store, scratch)
{
    pl_store_masked(pl_at(scratch, pl_ds(4, 8)), pl_tile_full(PL_F32, 1, 8, 128), rows_below(4));
}

PROGRAM(jax_masked_store, "a store that reaches beyond the end, where its mask is off")
{
    pl_launch(jax_masked_store, .args = {pl_vmem(PL_F32, 8, 128)});
}

KERNEL(jax_masked_store_beyond, scratch)
{
    pl_store_masked(pl_at(scratch, pl_ds(4, 8)), pl_tile_full(PL_F32, 1, 8, 128), rows_below(5));
}

/* Cause:  scratch, "pl_store_masked(pl_at(scratch"
 * Repair: index "pl_store_masked(pl_at(scratch" */
PROGRAM(jax_masked_store_beyond, "wrong: the mask lets one row beyond the end through")
{
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
    pl_launch(jax_masked_store_beyond, .args = {pl_vmem(PL_F32, 8, 128)});
}

KERNEL(jax_copy_then_read, input, output, scratch, sem)
{
    copy(input, scratch, sem);
    pl_store(output, pl_tile_add(pl_load(scratch), pl_load(scratch)));
}

PROGRAM(jax_copy_then_read, "a copy is waited for, then read")
{
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);
    pl_launch(jax_copy_then_read, .args = {input, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()});
}

KERNEL(jax_read_before_wait, input, output, scratch, sem)
{
    PlCopy now = pl_make_async_copy(input, scratch, sem);
    pl_copy_start(now);
    pl_store(output, pl_load(scratch));
    pl_copy_wait(now);
}

/* Cause:  "pl_copy_wait(now)"
 * Repair: wait sem */
PROGRAM(jax_read_before_wait, "wrong: a copy is read before it is waited for")
{
    pl_expect_fault(PL_RACE, .from = 1);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);
    pl_launch(jax_read_before_wait, .args = {input, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()});
    pl_expect_equal(output, input);
}

KERNEL(jax_never_written, output, scratch)
{
    pl_store(output, pl_load(scratch));
}

/* Cause:  scratch, "pl_store(output, pl_load(scratch))"
 * Repair: store scratch */
PROGRAM(jax_never_written, "wrong: scratch that nobody wrote becomes the result")
{
    pl_expect_fault(PL_UNINITIALISED, .from = 1);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);
    pl_launch(jax_never_written, .args = {output, pl_vmem(PL_F32, 8, 128)});
    pl_expect_equal(output, input);
}

KERNEL(jax_direct_load, input, output)
{
    pl_store(output, pl_load(input));
}

PROGRAM(jax_direct_load, "wrong: loads from ANY without a copy")
{
    pl_expect_fault(PL_SPACE, .from = 1);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);
    pl_launch(jax_direct_load, .args = {input, output});
}

/* Device 0 fails before the barrier: one report, and no word of the others, who wait for it. */
KERNEL(jax_out_of_bounds_before_a_barrier, table)
{
    int n = pl_num_devices();
    if (pl_device_id() == 0)
        pl_load(pl_at(table, 100));
    PlRef barrier = pl_get_barrier_semaphore();
    for (int d = 0; d < n; d++)
        pl_semaphore_signal(barrier, 1, pl_device(d));
    pl_semaphore_wait(barrier, n);
}

/* Cause:  table, "pl_load(pl_at(table, 100))"
 * Repair: index "pl_load(pl_at(table, 100))" */
PROGRAM(jax_out_of_bounds_before_a_barrier, "wrong: device 0 reads row 100 of 8, then a barrier of all")
{
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
    pl_launch(jax_out_of_bounds_before_a_barrier, .collective_id = 0, .args = {pl_vmem(PL_F32, 8, 128)});
}
