/* g15_source_reused_too_soon.c - the source is written again before it has been sent.
 *
 * Reported:  open-mpi/ompi#13115 (an all-to-all returns while neighbours still read its buffer); NVIDIA/TensorRT-LLM#15546 (host memory
 *            rewritten under a pending copy).
 * Wrong:     one wait for both sends at the end, in place of one before each reuse.
 * Right:     wait_send before the source is written.
 * Teaches:   the receiver gets the data of the next iteration; nothing hangs and no count is off.
 * Cause:     "pl_copy_wait_send(send)"
 * Repair:    wait send_sem
 */
#include <heddle/pallas.h>

enum { ROUNDS = 2 };

KERNEL(g15_waits_at_the_end, source, target, send_sem, recv_sem)
{
    PlCopy send = pl_make_async_remote_copy(source, pl_at(target, 0), send_sem, recv_sem, pl_device(1));

    if (pl_device_id() == 0) {
        for (int round = 0; round < ROUNDS; round++) {
            pl_store(source, pl_tile_full(PL_F32, round, 8, 128));
            pl_async_remote_copy(source, pl_at(target, round), send_sem, recv_sem, pl_device(1));
        }
        for (int round = 0; round < ROUNDS; round++)
            pl_copy_wait_send(send);
    } else {
        for (int round = 0; round < ROUNDS; round++)
            pl_copy_wait_recv(send);
    }
}

KERNEL(g15_waits_each_time, source, target, send_sem, recv_sem)
{
    PlCopy send = pl_make_async_remote_copy(source, pl_at(target, 0), send_sem, recv_sem, pl_device(1));

    if (pl_device_id() == 0)
        for (int round = 0; round < ROUNDS; round++) {
            pl_store(source, pl_tile_full(PL_F32, round, 8, 128));
            pl_async_remote_copy(source, pl_at(target, round), send_sem, recv_sem, pl_device(1));
            pl_copy_wait_send(send);
        }
    else
        for (int round = 0; round < ROUNDS; round++)
            pl_copy_wait_recv(send);
}

static double number_of_round(const PlRef *refs, int device, const int64_t *index)
{
    (void)refs;
    return device == 1 ? (double)index[0] : PL_ANY_VALUE;
}

PROGRAM(g15_source_reused_too_soon, "G15: the source is stored to while the copy may still read it")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef source = pl_vmem(PL_F32, 8, 128), target = pl_output(PL_F32, ROUNDS, 8, 128);

    pl_launch(g15_waits_at_the_end, .args = {source, target, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(g15_source_reused_too_soon_repaired, "G15 repaired: waits for the send before each reuse")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef source = pl_vmem(PL_F32, 8, 128), target = pl_output(PL_F32, ROUNDS, 8, 128);

    pl_launch(g15_waits_each_time, .args = {source, target, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_values(target, number_of_round, 0);
}
