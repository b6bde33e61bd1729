/* g13_flag_overtakes_data.c - a message says that the data is there, and is faster than the data.
 *
 * Reported:  tenstorrent/tt-metal#33958, #50272, #50273, #47264; deepseek-ai/DeepEP#181; cousins in the memory models of
 *            vllm-project/vllm#57059 and ROCm/iris#462.
 * Wrong:     the sender waits until its source is free, and signals. The signal is not ordered behind the payload.
 * Right:     the receiver waits for the arrival itself, on the receive semaphore.
 * Teaches:   wait_send never says that anything has arrived.
 * Cause:     "pl_copy_wait_recv(payload)"
 * Repair:    wait recv_sem
 */
#include <heddle/pallas.h>

KERNEL(g13_believes_the_flag, x, y, send_sem, recv_sem, flag)
{
    PlCopy payload = pl_make_async_remote_copy(x, y, send_sem, recv_sem, pl_device(1));

    if (pl_device_id() == 0) {
        pl_copy_start(payload);
        pl_copy_wait_send(payload);
        pl_semaphore_signal(flag, 1, pl_device(1));
    } else {
        pl_semaphore_wait(flag, 1);
        pl_load(y);
        pl_copy_wait_recv(payload);
    }
}

KERNEL(g13_waits_for_arrival, x, y, send_sem, recv_sem, flag)
{
    PlCopy payload = pl_make_async_remote_copy(x, y, send_sem, recv_sem, pl_device(1));

    if (pl_device_id() == 0) {
        pl_copy_start(payload);
        pl_copy_wait_send(payload);
        pl_semaphore_signal(flag, 1, pl_device(1));
    } else {
        pl_semaphore_wait(flag, 1);
        pl_copy_wait_recv(payload);
        pl_load(y);
    }
}

PROGRAM(g13_flag_overtakes_data, "G13: the signal arrives before the data it announces")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_vmem(PL_F32, 8, 128);

    pl_launch(g13_believes_the_flag, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(g13_flag_overtakes_data_repaired, "G13 repaired: the receiver waits for the arrival")
{
    PL_NEEDS(pl_num_devices() == 2, "a sender and a receiver");
    PlRef x = pl_input(PL_F32, 8, 128), y = pl_vmem(PL_F32, 8, 128);

    pl_launch(g13_waits_for_arrival, .args = {x, y, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}
