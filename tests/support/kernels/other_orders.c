/* other_orders.c - small wrong kernels from all over: what is decided of them, whichever search decides. */
#include <heddle/pallas.h>

#define TILE PL_F32, 8, 128

/* Core 0 overwrites what core 1 may still be reading. */
KERNEL(overwrites, tile, out, full)
{
    PlRef shared = pl_core_ref(tile, 0);

    for (int i = 0; i < 2; i++)
        if (pl_core_index() == 0) {
            pl_store(shared, pl_tile_full(PL_F32, i, 8, 128));
            pl_semaphore_signal(full, 1, pl_core(1));
        } else {
            pl_semaphore_wait(full, 1);
            pl_store(pl_at(out, i), pl_load(shared));
        }
}

PROGRAM(one_way, "a core is told when a tile is full, and nobody when it is free")
{
    PL_NEEDS(pl_num_cores() == 2, "one that fills and one that reads");
    pl_launch(overwrites, .args = {pl_vmem(TILE), pl_output_in(PL_VMEM, PL_F32, 2, 8, 128), pl_regular_semaphore()});
}

/* Each core's own VMEM gets its own part. */
KERNEL(keeps_its_part, x, tile, out, d)
{
    pl_copy_wait(pl_async_copy(pl_at(x, pl_core_index()), tile, d));
    pl_store(out, pl_load(tile));
}

PROGRAM(same_on_all_cores, "core 1 ends with another part than is expected")
{
    PlRef x = pl_input(PL_F32, 2, 8, 128), out = pl_output_in(PL_VMEM, TILE);

    PL_NEEDS(pl_num_cores() == 2, "two parts");
    pl_launch(keeps_its_part, .args = {x, pl_vmem(TILE), out, pl_dma_semaphore()});
    pl_expect_equal(out, pl_at(x, 0));
}

KERNEL(writes_its_part, x, tile, out, d)
{
    pl_copy_wait(pl_async_copy(pl_at(x, pl_core_index()), tile, d));
    pl_store(pl_at(out, pl_core_index()), pl_load(tile));
}

PROGRAM(all_on_each_core, "no core writes the part of the other one")
{
    PlRef x = pl_input(PL_F32, 2, 8, 128), out = pl_output_in(PL_VMEM, PL_F32, 2, 8, 128);

    PL_NEEDS(pl_num_cores() == 2, "two parts");
    pl_launch(writes_its_part, .args = {x, pl_vmem(TILE), out, pl_dma_semaphore()});
    pl_expect_equal(out, x);
}

/* Both cores count on one semaphore. */
KERNEL(counts_together, x, tile, d)
{
    PlRef shared = pl_core_ref(d, 0);

    pl_copy_wait(pl_async_copy(pl_at(x, pl_core_index()), tile, shared));
    pl_load(tile);
}

PROGRAM(one_count_for_two, "a wait is satisfied by the other core's copy")
{
    PL_NEEDS(pl_num_cores() == 2, "two that count");
    pl_launch(counts_together, .args = {pl_input(PL_F32, 2, 8, 128), pl_vmem(TILE), pl_dma_semaphore()});
}
