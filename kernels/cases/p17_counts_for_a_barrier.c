/* p17_counts_for_a_barrier.c - a barrier was taken out, in the belief that counting arrivals is enough.
 *
 * Reported:  sgl-project/sglang-jax#1021 (taken out) and #1024 (put back: crashed with 32 devices, not with 8).
 * Wrong:     all senders count on one receive semaphore, tile after tile. A fast sender's row of the next tile makes up for the row of
 *            this tile that a slow sender still owes.
 * Right:     a barrier after each tile; a receive semaphore for each tile, or for each sender, would do as well.
 * Teaches:   so many rows have arrived is not: these rows have arrived. (One sender alone shows it too, since copies are unordered.)
 * Reduced:   the report says only that a slow device still writes; that the counts are mixed up is one reading of it.
 * Cause:     recv_sem, "pl_copy_wait_recv(row)"
 * Repair:    barrier or semaphore recv_sem
 */
#include <heddle/pallas.h>

enum { TILES = 2 };

KERNEL(p17_counts_only, x, gathered, send_sem, recv_sem)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int tile = 0; tile < TILES; tile++) {
        PlCopy row = pl_make_async_remote_copy(x, pl_at(gathered, tile, me), send_sem, recv_sem, pl_device(0));
        if (me != 0) {
            pl_copy_start(row);
            pl_copy_wait_send(row);
            continue;
        }
        for (int sender = 1; sender < n; sender++)
            pl_copy_wait_recv(row);
        for (int sender = 1; sender < n; sender++)
            pl_load(pl_at(gathered, tile, sender));
    }
}

KERNEL(p17_barrier_a_tile, x, gathered, send_sem, recv_sem, barrier)
{
    int n = pl_num_devices(), me = pl_device_id();

    for (int tile = 0; tile < TILES; tile++) {
        PlCopy row = pl_make_async_remote_copy(x, pl_at(gathered, tile, me), send_sem, recv_sem, pl_device(0));
        if (me != 0) {
            pl_copy_start(row);
            pl_copy_wait_send(row);
        } else {
            for (int sender = 1; sender < n; sender++)
                pl_copy_wait_recv(row);
            for (int sender = 1; sender < n; sender++)
                pl_load(pl_at(gathered, tile, sender));
        }
        for (int d = 0; d < n; d++)
            pl_semaphore_signal(barrier, 1, pl_device(d));
        pl_semaphore_wait(barrier, n);
    }
}

PROGRAM(p17_counts_for_a_barrier, "P17: a row of the next tile stands in for a row of this one")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 3, "several senders");
    PlRef x = pl_input(PL_F32, 8, 128), gathered = pl_vmem(PL_F32, TILES, n, 8, 128);

    pl_launch(p17_counts_only, .args = {x, gathered, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 3);
}

PROGRAM(p17_counts_for_a_barrier_repaired, "P17 repaired: a barrier after each tile")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 3, "several senders");
    PlRef x = pl_input(PL_F32, 8, 128), gathered = pl_vmem(PL_F32, TILES, n, 8, 128);

    pl_launch(p17_barrier_a_tile, .args = {x, gathered, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}
