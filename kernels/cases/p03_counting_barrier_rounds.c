/* p03_counting_barrier_rounds.c - one barrier of all devices on one semaphore, round after round. This is right.
 *
 * Reported:  vllm-project/tpu-inference#1342 (the repaired barrier, used many times a tile); sgl-project/sglang-jax#677.
 * Looks wrong: like the neighbour barrier of P01 it counts signals without knowing whose they are, and nothing resets it.
 * Is right:  to signal a second time a device must have all signals of the first round in hand, so everybody has arrived; until then it
 *            is one signal ahead of the slowest at most, and no mixture of the two rounds makes N.
 * Teaches:   a checker must tell this from P01, or it cries wolf at every tile.
 */
#include <heddle/pallas.h>

KERNEL(p03_rounds, x, inbox, send_sem, recv_sem)
{
    int n = pl_num_devices(), right = (pl_device_id() + 1) % n;
    PlRef barrier = pl_get_barrier_semaphore();

    for (int round = 0; round < 2; round++) {
        pl_store(inbox, pl_tile_zeros(PL_F32, 8, 128));
        for (int d = 0; d < n; d++)
            pl_semaphore_signal(barrier, 1, pl_device(d));
        pl_semaphore_wait(barrier, n);

        PlCopy scatter = pl_async_remote_copy(x, inbox, send_sem, recv_sem, pl_device(right));
        pl_copy_wait_send(scatter);
        pl_copy_wait_recv(scatter);
        pl_load(inbox);
    }
}

PROGRAM(p03_counting_barrier_rounds, "P03: a barrier of all on one semaphore may be used again at once")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef x = pl_input(PL_F32, 8, 128), inbox = pl_vmem(PL_F32, 8, 128);

    pl_launch(p03_rounds, .args = {x, inbox, pl_dma_semaphore(), pl_dma_semaphore()}, .collective_id = 0);
}
