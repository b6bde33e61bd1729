/* g01_no_exit_barrier.c - a one-shot all-reduce that is called again at once.
 *
 * Reported:  pytorch/pytorch#137257; alibaba/rtp-llm#1043 (an exit barrier was added); hw-native-sys/pypto#2743.
 * Wrong:     who has received everything begins the next call, and overwrites the staging buffer that a slower partner still sums up.
 * Right:     a barrier at the exit, or two slots in turn (see P20).
 * Teaches:   the same gap as in P04, between calls in place of phases. Wrong sums on the slow device, no hang.
 * Reduced:   the original pulls its data; here it is pushed.
 * Cause:     "pl_load(inbox)", "pl_async_remote_copy(x, inbox"
 * Repair:    barrier or capacity
 */
#include <heddle/pallas.h>

enum { CALLS = 2 };

KERNEL(g01_calls, x, inbox, send_sem, recv_sem)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    for (int call = 0; call < CALLS; call++) {
        PlCopy push = pl_async_remote_copy(x, inbox, send_sem, recv_sem, partner);
        pl_copy_wait_send(push);
        pl_copy_wait_recv(push);
        pl_load(inbox);
    }
}

KERNEL(g01_calls_with_exit_barrier, x, inbox, send_sem, recv_sem, done)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    for (int call = 0; call < CALLS; call++) {
        PlCopy push = pl_async_remote_copy(x, inbox, send_sem, recv_sem, partner);
        pl_copy_wait_send(push);
        pl_copy_wait_recv(push);
        pl_load(inbox);
        pl_semaphore_signal(done, 1, partner);
        pl_semaphore_wait(done, 1);
    }
}

PROGRAM(g01_no_exit_barrier, "G01: the next call overwrites what the partner still reads")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef x = pl_input(PL_F32, 8, 128), inbox = pl_vmem(PL_F32, 8, 128);

    pl_launch(g01_calls, .args = {x, inbox, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(g01_no_exit_barrier_repaired, "G01 repaired: a barrier at the end of each call")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef x = pl_input(PL_F32, 8, 128), inbox = pl_vmem(PL_F32, 8, 128);

    pl_launch(g01_calls_with_exit_barrier, .args = {x, inbox, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}
