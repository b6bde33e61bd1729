/* every_fault.c - each fault of the list, one program each, for tests that ask it of all searches: same words, and schedules that replay. */
#include <heddle/pallas.h>

KERNEL(races, v, d)
{
    PlCopy copy = pl_async_copy(pl_at(v, 0), pl_at(v, 1), d);
    pl_load(pl_at(v, 1));
    pl_copy_wait(copy);
}

PROGRAM(race, "a load of what a copy is writing")
{
    pl_launch(races, .args = {pl_input_in(PL_VMEM, PL_F32, 2, 8), pl_dma_semaphore()});
}

KERNEL(outlives, g)
{
    if (pl_device_id() == 0)
        pl_semaphore_signal(g, 1, pl_device(1));
    else
        pl_semaphore_wait(g, 1);
}

PROGRAM(lifetime, "a signal to a device that may not have entered")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    pl_launch(outlives, .args = {pl_regular_semaphore()}, .skip_device_barrier = true);
}

KERNEL(blocks, g)
{
    pl_semaphore_wait(g, 1);
}

PROGRAM(deadlock, "a wait in vain")
{
    pl_launch(blocks, .args = {pl_regular_semaphore()});
}

KERNEL(leaves, g)
{
    pl_semaphore_signal(g, 2);
    pl_semaphore_wait(g, 1);
}

PROGRAM(leftover, "a signal too many")
{
    pl_launch(leaves, .args = {pl_regular_semaphore()});
}

KERNEL(drops, v, d)
{
    pl_async_copy(pl_at(v, 0), pl_at(v, 1), d);
}

PROGRAM(in_flight, "a copy that nobody waits for")
{
    pl_launch(drops, .args = {pl_input_in(PL_VMEM, PL_F32, 2, 8), pl_semaphore_output(PL_DMA)});
}

KERNEL(stores_beyond, v, g)
{
    pl_semaphore_signal(g, 1);
    pl_store(pl_at(v, pl_ds(6, 4)), pl_tile_full(PL_F32, 1, 4));
}

PROGRAM(out_of_bounds, "a store beyond the end")
{
    pl_launch(stores_beyond, .args = {pl_input_in(PL_VMEM, PL_F32, 8), pl_regular_semaphore()});
}

KERNEL(asks_nobody, v, g)
{
    if (pl_load_int(pl_at(v, 0)) == 0)
        pl_semaphore_signal(g, 0);
}

PROGRAM(uninitialised, "a value that nobody wrote decides")
{
    pl_launch(asks_nobody, .args = {pl_smem(PL_I32, 1), pl_regular_semaphore()});
}

KERNEL(copies_half, v, out, d)
{
    pl_copy_wait(pl_async_copy(pl_at(v, 0, pl_ds(0, 4)), pl_at(out, pl_ds(0, 4)), d));
}

PROGRAM(never_written, "a result that nobody wrote")
{
    PlRef out = pl_output_in(PL_VMEM, PL_F32, 8), v = pl_input_in(PL_VMEM, PL_F32, 2, 8);

    pl_launch(copies_half, .args = {v, out, pl_dma_semaphore()});
    pl_expect_equal(out, pl_at(v, 0));
}

KERNEL(does_not_fit, v, d)
{
    pl_async_copy(pl_at(v, pl_ds(0, 2)), pl_at(v, pl_ds(2, 3)), d);
}

PROGRAM(shape, "a copy between regions that differ")
{
    pl_launch(does_not_fit, .args = {pl_input_in(PL_VMEM, PL_F32, 8), pl_dma_semaphore()});
}

KERNEL(loads_hbm, v)
{
    pl_load(v);
}

PROGRAM(space, "a load of HBM")
{
    pl_launch(loads_hbm, .args = {pl_input_in(PL_HBM, PL_F32, 8)});
}

KERNEL(claims, g)
{
    pl_semaphore_signal(g, 1);
    pl_assert(pl_semaphore_read(g) == 2);
}

PROGRAM(assertion, "what is claimed does not hold")
{
    pl_launch(claims, .args = {pl_regular_semaphore()});
}

KERNEL(claims_a_count, g)
{
    pl_expect_count(g, 1);
}

PROGRAM(expected_count, "a count is not what is expected: the searches word it each in their way")
{
    pl_launch(claims_a_count, .args = {pl_regular_semaphore()});
}

KERNEL(copies_the_wrong_one, v, out, d)
{
    pl_copy_wait(pl_async_copy(pl_at(v, 1), out, d));
}

PROGRAM(expected_result, "a result is not the expected one")
{
    PlRef out = pl_output_in(PL_VMEM, PL_F32, 8), v = pl_input_in(PL_VMEM, PL_F32, 2, 8);

    pl_launch(copies_the_wrong_one, .args = {v, out, pl_dma_semaphore()});
    pl_expect_equal(out, pl_at(v, 0));
}

KERNEL(confuses, v, d)
{
    PlCopy first = pl_async_copy(pl_at(v, 0), pl_at(v, 1), d), second = pl_async_copy(pl_at(v, 2), pl_at(v, 3), d);
    pl_copy_wait_for(first, PL_THIS);
    pl_copy_wait(second);
}

PROGRAM(mismatch, "a wait that is meant for one of two copies on one semaphore")
{
    pl_launch(confuses, .args = {pl_input_in(PL_VMEM, PL_F32, 4, 8), pl_dma_semaphore()});
}

KERNEL(counts_too_far, g)
{
    if (pl_device_id() != 0)
        pl_semaphore_signal(g, 1, pl_device(0));
    else
        for (int i = 1; i < pl_num_devices(); i++)
            pl_semaphore_wait(g, 1);
}

PROGRAM(overflow, "a count that passes its limit in some order")
{
    PlRef g = pl_regular_semaphore();

    PL_NEEDS(pl_num_devices() >= 2, "one that counts and one that is counted");
    pl_launch(counts_too_far, .args = {g});
    pl_limit(g, pl_num_devices() - 2);
}

KERNEL(first_come, g, out)
{
    if (pl_device_id() == 0)
        pl_semaphore_signal(g, 1, pl_device(1));
    else {
        pl_store_int(out, (int)pl_semaphore_read(g));
        pl_semaphore_wait(g, 1);
    }
}

PROGRAM(divergence, "what a look saw is the result")
{
    PL_NEEDS(pl_num_devices() == 2, "one that signals and one that looks");
    pl_launch(first_come, .args = {pl_regular_semaphore(), pl_output_in(PL_SMEM, PL_I32)});
}

KERNEL(writes_its_block, out)
{
    pl_store(out, pl_tile_full(PL_F32, 1, 8));
}

PROGRAM(revisit, "an output block is visited again")
{
    pl_launch(writes_its_block, .grid = {3},
              .args = {pl_windows(pl_output(PL_F32, 16), .block = {8}, .blocks = pl_blocks(0, 1, 0), .output = true)});
}

KERNEL(polls, f)
{
    pl_flag_store(f, 1, PL_OWN);
    while (pl_flag_load(f, PL_OWN) != 0)
        ;
}

PROGRAM(no_progress, "a poll of what nobody changes")
{
    pl_launch(polls, .args = {pl_flags()});
}

KERNEL(jumps_to_nowhere, g)
{
    pl_semaphore_signal(g, 1);
    *(volatile int *)8 = 1;
    pl_semaphore_wait(g, 1);
}

PROGRAM(crash, "a write to no memory")
{
    pl_launch(jumps_to_nowhere, .args = {pl_regular_semaphore()});
}
