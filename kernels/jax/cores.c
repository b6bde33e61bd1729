/* cores.c - kernels of JAX's interpreter tests with several cores a device, and those about scratch in HBM.
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

/* Every core says to every other that it is there; only then the slices move. Would hang if cores ran one after the other. */
KERNEL(jax_core_map, input, output)
{
    int cores = pl_num_cores(), me = pl_core_index();
    PL_SCOPED PlRef block = pl_vmem(PL_F32, 8, 128);
    PL_SCOPED PlRef sem = pl_dma_semaphore();
    PL_SCOPED PlRef ready = pl_regular_semaphore();
    for (int c = 0; c < cores; c++)
        pl_semaphore_signal(ready, 1, pl_core(c));
    pl_semaphore_wait(ready, cores);
    copy(pl_at(input, me), block, sem);
    pl_store(block, pl_tile_add(pl_load(block), pl_load(block)));
    copy(block, pl_at(output, me), sem);
}

PROGRAM(jax_core_map, "cores meet by their indices, then each moves its slice through VMEM")
{
    PlRef input = pl_input(PL_F32, pl_num_cores(), 8, 128), output = pl_output(PL_F32, pl_num_cores(), 8, 128);
    pl_launch(jax_core_map, .args = {input, output});
}

KERNEL(jax_hbm_of_a_scope, input, output)
{
    PL_SCOPED PlRef shared = pl_hbm(PL_F32, 8, 128);
    PL_SCOPED PlRef sem = pl_dma_semaphore();
    if (pl_core_index() == 0)
        copy(input, shared, sem);
    pl_core_barrier();
    if (pl_core_index() + 1 == pl_num_cores())
        copy(shared, output, sem);
    pl_core_barrier();
}

PROGRAM(jax_hbm_of_a_scope, "HBM of a scope is one object a device: one core fills it, another reads it")
{
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_hbm_of_a_scope, .args = {input, output});
    pl_expect_equal(output, input);
}

static void hand_over(PlRef input, PlRef output, PlRef shared, PlRef sem, PlRef filled, bool ordered)
{
    if (pl_core_index() == 0) {
        copy(input, shared, sem);
        if (ordered)
            pl_semaphore_signal(filled, 1, pl_core(1));
    } else if (pl_core_index() == 1) {
        if (ordered)
            pl_semaphore_wait(filled, 1);
        copy(shared, output, sem);
    }
}

KERNEL(jax_shared_scratch, input, output, shared, sem, filled)
{
    hand_over(input, output, shared, sem, filled, true);
}

PROGRAM(jax_shared_scratch, "two cores share HBM, ordered by a REGULAR semaphore; needs --cores 2")
{
    PL_NEEDS(pl_num_cores() == 2, "two cores");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_shared_scratch, .args = {input, output, pl_hbm(PL_F32, 8, 128), pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_equal(output, input);
}

KERNEL(jax_shared_scratch_unordered, input, output, shared, sem, filled)
{
    hand_over(input, output, shared, sem, filled, false);
}

/* Cause:  shared, "copy(input, shared, sem)", "copy(shared, output, sem)"
 * Repair: signal filled or barrier or capacity */
PROGRAM(jax_shared_scratch_unordered, "wrong: two cores share HBM, and nothing orders them; needs --cores 2")
{
    PL_NEEDS(pl_num_cores() == 2, "two cores");
    pl_expect_fault(PL_RACE, .from = 1);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_shared_scratch_unordered, .args = {input, output, pl_hbm(PL_F32, 8, 128), pl_dma_semaphore(), pl_regular_semaphore()});
}

/* A parallel dimension of the grid is split among the cores. */
KERNEL(jax_parallel_blocks, input, output, block, sem)
{
    int i = pl_program_id(0);
    copy(pl_at(input, i), block, sem);
    copy(block, pl_at(output, i), sem);
}

PROGRAM(jax_parallel_blocks, "a parallel grid over disjoint blocks, split among 1 to 6 cores")
{
    PlRef input = pl_input(PL_F32, 6, 8, 128), output = pl_output(PL_F32, 6, 8, 128);
    pl_launch(jax_parallel_blocks, .grid = {6}, .dimension_semantics = {PL_PARALLEL},
              .args = {input, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()});
    pl_expect_equal(output, input);
}

KERNEL(jax_parallel_whole, input, output, block, sem)
{
    copy(pl_at(input, pl_program_id(0)), block, sem);
    copy(block, output, sem);
}

/* Cause:  output, "copy(block, output, sem)"
 * Repair: slot output or index "copy(block, output, sem)" */
PROGRAM(jax_parallel_whole, "wrong: two cores write the whole output, each in its half of a parallel grid; needs --cores 2")
{
    PL_NEEDS(pl_num_cores() == 2, "two cores");
    pl_expect_fault(PL_RACE, .from = 1);
    PlRef input = pl_input(PL_F32, 2, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_parallel_whole, .grid = {2}, .dimension_semantics = {PL_PARALLEL},
              .args = {input, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore()});
}

/* Core 1 fails before it would have told core 0: one report on core 1. */
KERNEL(jax_out_of_bounds_on_core_1, table, told)
{
    if (pl_core_index() == 1) {
        pl_load(pl_at(table, 100));
        pl_semaphore_signal(told, 1, pl_core(0));
    } else {
        pl_semaphore_wait(told, 1);
    }
}

/* Cause:  table, "pl_load(pl_at(table, 100))"
 * Repair: index "pl_load(pl_at(table, 100))" */
PROGRAM(jax_out_of_bounds_on_core_1, "wrong: core 1 reads row 100 of 8 before it signals core 0; needs --cores 2")
{
    PL_NEEDS(pl_num_cores() == 2, "two cores");
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 1);
    pl_launch(jax_out_of_bounds_on_core_1, .args = {pl_vmem(PL_F32, 8, 128), pl_regular_semaphore()});
}

/* Each core sends 8 of 16 rows to the left, from its own index on: rows 0 to 7 and 1 to 8 overlap at the neighbour. One core fails. */
KERNEL(jax_overlapping_rows, input, output, table, send_sem, recv_sem)
{
    int me = pl_device_id(), n = pl_num_devices(), core = pl_core_index();
    if (me == 1 && core == 0)
        pl_load(pl_at(table, 100));
    PlRef rows = pl_at(input, pl_ds(core, 8)), there = pl_at(output, pl_ds(core, 8));
    PlCopy pass = pl_make_async_remote_copy(rows, there, send_sem, recv_sem, pl_device((me + n - 1) % n));
    pl_copy_start(pass);
    pl_copy_wait(pass);
}

PROGRAM(jax_overlapping_rows, "wrong: the rows of two cores overlap at the neighbour, and one core reads out of bounds; needs --cores 2")
{
    PL_NEEDS(pl_num_cores() == 2 && pl_num_devices() >= 3, "two cores, three devices");
    pl_expect_fault(PL_OUT_OF_BOUNDS, .from = 3);
    pl_expect_fault(PL_RACE, .from = 3);
    PlRef input = pl_input(PL_F32, 16, 128), output = pl_output(PL_F32, 16, 128);
    pl_launch(jax_overlapping_rows, .args = {input, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore()});
}

/* From core 0 of device 0 to core 1 of device 1: the send is waited for here, the arrival there. */
KERNEL(jax_core_to_core, input, output, send_sem, recv_sem)
{
    PlCopy over = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(1, 1));
    if (pl_device_id() == 0 && pl_core_index() == 0) {
        pl_copy_start(over);
        pl_copy_wait_send(over);
    } else if (pl_device_id() == 1 && pl_core_index() == 1) {
        pl_copy_wait_recv(over);
    }
}

PROGRAM(jax_core_to_core, "a copy from core 0 of device 0 to core 1 of device 1; needs --cores 2")
{
    PL_NEEDS(pl_num_cores() == 2 && pl_num_devices() == 2, "two devices of two cores");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_core_to_core, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()});
}
