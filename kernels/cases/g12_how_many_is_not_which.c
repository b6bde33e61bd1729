/* g12_how_many_is_not_which.c - a counter of chunks, used to tell which chunk has come.
 *
 * Reported:  NVIDIA/nvshmem#84 (the example of a ring reduction).
 * Wrong:     puts complete in any order, so that one has come does not say that the first one has.
 * Right:     a signal for each chunk.
 * Teaches:   P10 between two devices. It went unnoticed on transports that happen to keep the order (--dma-order link-fifo).
 * Cause:     recv_sem, "pl_copy_wait_recv(put[c])"
 * Repair:    semaphore recv_sem
 */
#include <heddle/pallas.h>

enum { CHUNKS = 2 };

KERNEL(g12_counter, x, y, send_sem, recv_sem)
{
    PlCopy put[CHUNKS];
    for (int c = 0; c < CHUNKS; c++)
        put[c] = pl_make_async_remote_copy(pl_at(x, c), pl_at(y, c), send_sem, recv_sem, pl_device(1));

    if (pl_device_id() == 0) {
        for (int c = 0; c < CHUNKS; c++)
            pl_copy_start(put[c]);
        for (int c = 0; c < CHUNKS; c++)
            pl_copy_wait_send(put[c]);
        return;
    }
    for (int c = 0; c < CHUNKS; c++) {
        pl_copy_wait_recv(put[c]);
        pl_load(pl_at(y, c));
    }
}

KERNEL(g12_signal_a_chunk, x, y, send_sem, recv_sems)
{
    PlCopy put[CHUNKS];
    for (int c = 0; c < CHUNKS; c++)
        put[c] = pl_make_async_remote_copy(pl_at(x, c), pl_at(y, c), send_sem, pl_at(recv_sems, c), pl_device(1));

    if (pl_device_id() == 0) {
        for (int c = 0; c < CHUNKS; c++)
            pl_copy_start(put[c]);
        for (int c = 0; c < CHUNKS; c++)
            pl_copy_wait_send(put[c]);
        return;
    }
    for (int c = 0; c < CHUNKS; c++) {
        pl_copy_wait_recv(put[c]);
        pl_load(pl_at(y, c));
    }
}

PROGRAM(g12_how_many_is_not_which, "G12: one chunk has come, but which?")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, CHUNKS, 8, 128), y = pl_vmem(PL_F32, CHUNKS, 8, 128);

    pl_launch(g12_counter, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(g12_how_many_is_not_which_repaired, "G12 repaired: a semaphore for each chunk")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, CHUNKS, 8, 128), y = pl_vmem(PL_F32, CHUNKS, 8, 128);

    pl_launch(g12_signal_a_chunk, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore(CHUNKS)});
}
