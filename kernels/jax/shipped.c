/* shipped.c - the bidirectional all-gather that JAX ships, and running ahead without a handshake.
 *
 * Written anew (JAX, Apache-2.0). The shipped kernel has ONE receive semaphore a direction for all steps. If copies may overtake each
 * other, a wait can take a later step's half for its own; if the copies of a link land in order (--dma-order link-fifo) it is right.
 */
#include <heddle/pallas.h>

static PlRef half(PlRef output, int slot, int which)
{
    return pl_at(output, slot, pl_ds(4 * which, 4));
}

static void both_ways(PlRef input, PlRef output, PlRef own_sem, PlRef send_sems, PlRef recv_right, PlRef recv_left)
{
    int n = pl_num_devices(), me = pl_device_id(), step = pl_program_id(0), right = (me + 1) % n, left = (me + n - 1) % n;
    if (step == 0) {
        PlRef barrier = pl_get_barrier_semaphore();
        pl_semaphore_signal(barrier, 1, pl_device(left));
        pl_semaphore_signal(barrier, 1, pl_device(right));
        pl_semaphore_wait(barrier, 2);
        PlCopy own = pl_make_async_copy(input, pl_at(output, me), own_sem);
        pl_copy_start(own);
        pl_copy_wait(own);
    }
    PlRef to_right = half(output, (me - step + n) % n, 0), to_left = half(output, (me + step) % n, 1);
    PlCopy a = pl_make_async_remote_copy(to_right, to_right, pl_at(send_sems, 0), recv_right, pl_device(right));
    PlCopy b = pl_make_async_remote_copy(to_left, to_left, pl_at(send_sems, 1), recv_left, pl_device(left));
    pl_copy_start(a);
    pl_copy_start(b);
    pl_copy_wait(a);
    pl_copy_wait(b);
}

KERNEL(jax_shipped_all_gather, input, output, own_sem, send_sems, recv_sems)
{
    both_ways(input, output, own_sem, send_sems, pl_at(recv_sems, 0), pl_at(recv_sems, 1));
}

/* Cause:  recv_sems, "pl_copy_wait(a)"
 * Repair: semaphore recv_sems */
PROGRAM(jax_shipped_all_gather, "wrong if copies overtake: both ways round, one receive semaphore a direction; right with link-fifo")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = 3);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, n, 8, 128);
    pl_launch(jax_shipped_all_gather, .grid = {n - 1}, .collective_id = 0,
              .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(2), pl_dma_semaphore(2)});
    pl_expect_all_gather(output, input);
}

KERNEL(jax_shipped_all_gather_repaired, input, output, own_sem, send_sems, recv_right, recv_left)
{
    int step = pl_program_id(0);
    both_ways(input, output, own_sem, send_sems, pl_at(recv_right, step), pl_at(recv_left, step));
}

PROGRAM(jax_shipped_all_gather_repaired, "both ways round, a receive semaphore a step and direction")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, n, 8, 128);
    pl_launch(jax_shipped_all_gather_repaired, .grid = {n - 1}, .collective_id = 0,
              .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(2), pl_dma_semaphore(n - 1), pl_dma_semaphore(n - 1)});
    pl_expect_all_gather(output, input);
}

/* Wrong: a device may run ahead of its neighbour by as many rounds as there are devices, into the two slots of the neighbour. */
KERNEL(jax_run_ahead, input, slots, output, send_sem, recv_sem)
{
    int n = pl_num_devices(), me = pl_device_id(), round = pl_program_id(0);
    PlCopy pass = pl_make_async_remote_copy(input, pl_at(slots, round % 2), send_sem, recv_sem, pl_device((me + 1) % n));
    pl_copy_start(pass);
    pl_copy_wait(pass);
    pl_store(output, pl_tile_add(pl_load(output), pl_load(pl_at(slots, round % 2))));
}

KERNEL(jax_zero, output)
{
    pl_store(output, pl_tile_zeros(PL_F32, 8, 128));
}

/* Cause:  "pl_copy_start(pass)", "pl_load(pl_at(slots, round % 2))"
 * Repair: capacity or barrier */
PROGRAM(jax_run_ahead, "wrong: no handshake, so a neighbour two rounds ahead overwrites the slot that is being read")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 3, "a ring on which one can be two rounds ahead");
    pl_expect_fault(PL_RACE, .from = 3);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);
    pl_launch(jax_zero, .args = {output});
    pl_launch(jax_run_ahead, .grid = {n}, .args = {input, pl_vmem(PL_F32, 2, 8, 128), output, pl_dma_semaphore(), pl_dma_semaphore()});
}
