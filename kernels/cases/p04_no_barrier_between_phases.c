/* p04_no_barrier_between_phases.c - two phases write into the same place of the partner, and nothing separates them.
 *
 * Reported:  vllm-project/tpu-inference#1252, commit e9a87923 (the second of its three causes).
 * Wrong:     who has received the metadata goes on and scatters tokens. That the partner's metadata has come says nothing about whether
 *            the partner is through with ours; nor does wait_send.
 * Right:     a barrier of all devices between the phases.
 * Teaches:   a receive count is news about what came in, never about what the others have done with what went out.
 * Reduced:   the real kernel has two buffers; the order that is missing is the same.
 * Cause:     first "pl_load(stage)", "pl_async_remote_copy(tokens"
 * Repair:    barrier or capacity
 */
#include <heddle/pallas.h>

KERNEL(p04_two_phases, meta, tokens, stage, send_sems, recv_sems)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    PlCopy metadata = pl_async_remote_copy(meta, stage, pl_at(send_sems, 0), pl_at(recv_sems, 0), partner);
    pl_copy_wait_send(metadata);
    pl_copy_wait_recv(metadata);
    pl_load(stage);

    PlCopy scatter = pl_async_remote_copy(tokens, stage, pl_at(send_sems, 1), pl_at(recv_sems, 1), partner);
    pl_copy_wait_send(scatter);
    pl_copy_wait_recv(scatter);
    pl_load(stage);
}

KERNEL(p04_two_phases_apart, meta, tokens, stage, send_sems, recv_sems, barrier)
{
    int n = pl_num_devices();
    PlDevice partner = pl_device(1 - pl_device_id());

    PlCopy metadata = pl_async_remote_copy(meta, stage, pl_at(send_sems, 0), pl_at(recv_sems, 0), partner);
    pl_copy_wait_send(metadata);
    pl_copy_wait_recv(metadata);
    pl_load(stage);

    for (int d = 0; d < n; d++)
        pl_semaphore_signal(barrier, 1, pl_device(d));
    pl_semaphore_wait(barrier, n);

    PlCopy scatter = pl_async_remote_copy(tokens, stage, pl_at(send_sems, 1), pl_at(recv_sems, 1), partner);
    pl_copy_wait_send(scatter);
    pl_copy_wait_recv(scatter);
    pl_load(stage);
}

PROGRAM(p04_no_barrier_between_phases, "P04: tokens may land while the partner still reads the metadata")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef meta = pl_input(PL_F32, 8, 128), tokens = pl_input(PL_F32, 8, 128), stage = pl_vmem(PL_F32, 8, 128);

    pl_launch(p04_two_phases, .args = {meta, tokens, stage, pl_dma_semaphore(2), pl_dma_semaphore(2)});
    pl_expect_fault(PL_RACE, .from = 2);
}

PROGRAM(p04_no_barrier_between_phases_repaired, "P04 repaired: a barrier of all between the phases")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef meta = pl_input(PL_F32, 8, 128), tokens = pl_input(PL_F32, 8, 128), stage = pl_vmem(PL_F32, 8, 128);

    pl_launch(p04_two_phases_apart, .args = {meta, tokens, stage, pl_dma_semaphore(2), pl_dma_semaphore(2), pl_regular_semaphore()});
}
