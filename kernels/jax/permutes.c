/* permutes.c - the permutes of JAX's distributed tests: one block to one other device, in every way of saying "I am ready".
 *
 * Written anew after tests/pallas/tpu_pallas_distributed_test.py and tpu_pallas_interpret_distributed_test.py (JAX, Apache-2.0), same
 * protocols and sizes. Most of them only ever ran on a TPU, one schedule a run.
 */
#include <heddle/pallas.h>

static int right_of(int id) { return (id + 1) % pl_num_devices(); }
static int left_of(int id) { return (id + pl_num_devices() - 1) % pl_num_devices(); }

static void send(PlRef input, PlRef output, PlRef send_sem, PlRef recv_sem, PlDevice to)
{
    PlCopy copy = pl_make_async_remote_copy(input, output, send_sem, recv_sem, to);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

/* Both ask each other by a semaphore of a scope that the other may not have opened yet: accepted, since scopes are laid out statically. */
KERNEL(jax_swap, input, output)
{
    PL_SCOPED PlRef ready = pl_regular_semaphore();
    PL_SCOPED PlRef send_sem = pl_dma_semaphore();
    PL_SCOPED PlRef recv_sem = pl_dma_semaphore();
    int other = 1 - pl_device_id();
    pl_semaphore_signal(ready, 1, pl_device(other));
    pl_semaphore_wait(ready, 1);
    send(input, output, send_sem, recv_sem, pl_device(other));
}

PROGRAM(jax_swap, "two devices swap blocks, ready semaphores of a scope")
{
    PL_NEEDS(pl_num_devices() == 2, "a pair");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_swap, .args = {input, output});
    pl_expect_permute(output, input, 1);
}

/* Copies that count on REGULAR semaphores: 1 each, waited for as such. */
KERNEL(jax_swap_regular, input, output, send_sem, recv_sem)
{
    PlCopy copy = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(1 - pl_device_id()));
    pl_copy_start(copy);
    pl_semaphore_wait(send_sem, 1);
    pl_semaphore_wait(recv_sem, 1);
}

PROGRAM(jax_swap_regular, "two devices swap blocks, copies on REGULAR semaphores")
{
    PL_NEEDS(pl_num_devices() == 2, "a pair");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_swap_regular, .args = {input, output, pl_regular_semaphore(), pl_regular_semaphore()});
    pl_expect_permute(output, input, 1);
}

/* The right neighbour is told, the own semaphore comes from the left one: it says nothing of the device that is written to. Right all the
 * same, since the launch begins with a barrier of all. */
KERNEL(jax_told_from_the_other_side, input, output)
{
    PL_SCOPED PlRef ready = pl_regular_semaphore();
    PL_SCOPED PlRef send_sem = pl_dma_semaphore();
    PL_SCOPED PlRef recv_sem = pl_dma_semaphore();
    int to = right_of(pl_device_id());
    pl_semaphore_signal(ready, 1, pl_device(to));
    pl_semaphore_wait(ready, 1);
    send(input, output, send_sem, recv_sem, pl_device(to));
}

PROGRAM(jax_told_from_the_other_side, "right permute; ready comes from the left, the entry barrier makes it right")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_told_from_the_other_side, .args = {input, output});
    pl_expect_permute(output, input, 1);
}

/* The same on a 2-D mesh, along one axis, named by tuple and by axis. */
KERNEL(jax_permute_on_mesh, input, output, ready, send_sem, recv_sem)
{
    int x = pl_axis_index("x"), y = pl_axis_index("y"), to = (y + 1) % pl_axis_size("y");
    pl_semaphore_signal(ready, 1, pl_mesh(x, to));
    pl_semaphore_wait(ready, 1);
    send(input, output, send_sem, recv_sem, pl_along("y", to));
}

PROGRAM(jax_permute_on_mesh, "right permute along y of a mesh of x and y; needs --mesh x=2,y=n")
{
    PL_NEEDS(pl_has_axis("y"), "a mesh of x and y");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_permute_on_mesh, .args = {input, output, pl_regular_semaphore(), pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_permute_along("y", output, input, 1);
}

/* Wrong: the barrier fences the wrong side. A signal from the left says that the left one is there; the copy goes to the right, and so does
 * the ready signal before it. */
KERNEL(jax_fence_to_the_left, input, output, ready, send_sem, recv_sem)
{
    int to = right_of(pl_device_id());
    PlRef barrier = pl_get_barrier_semaphore();
    pl_semaphore_signal(barrier, 1, pl_device(to));
    pl_semaphore_wait(barrier, 1);
    pl_semaphore_signal(ready, 1, pl_device(to));
    pl_semaphore_wait(ready, 1);
    send(input, output, send_sem, recv_sem, pl_device(to));
}

/* Cause:  "pl_semaphore_wait(barrier, 1)"
 * Repair: barrier */
PROGRAM(jax_fence_to_the_left, "wrong: waits for the left neighbour, then signals and copies to the right one, which may not be there")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_LIFETIME, .from = 3);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_fence_to_the_left, .collective_id = 0,
              .args = {input, output, pl_regular_semaphore(), pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_permute(output, input, 1);
}

/* The document's barrier example, with the copy that it suits: to the left neighbour, the one that was heard of. */
KERNEL(jax_fence_and_copy_to_the_left, input, output, send_sem, recv_sem)
{
    int me = pl_device_id();
    PlRef barrier = pl_get_barrier_semaphore();
    pl_semaphore_signal(barrier, 1, pl_device(right_of(me)));
    pl_semaphore_wait(barrier, 1);
    send(input, output, send_sem, recv_sem, pl_device(left_of(me)));
}

PROGRAM(jax_fence_and_copy_to_the_left, "a barrier that hears of the left neighbour, and a copy to it")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_fence_and_copy_to_the_left, .collective_id = 0, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_permute(output, input, -1);
}

KERNEL(jax_barrier_of_all, input, output, send_sem, recv_sem)
{
    int n = pl_num_devices();
    PlRef barrier = pl_get_barrier_semaphore();
    for (int d = 0; d < n; d++)
        pl_semaphore_signal(barrier, 1, pl_device(d));
    pl_semaphore_wait(barrier, n);
    send(input, output, send_sem, recv_sem, pl_device(right_of(pl_device_id())));
}

PROGRAM(jax_barrier_of_all, "signals everybody, waits for everybody, then a right permute")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_barrier_of_all, .collective_id = 13, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_permute(output, input, 1);
}

/* Wrong: the output is zeroed first, and nothing says that the neighbour's copy comes after. */
KERNEL(jax_zeroed_output, input, output, send_sem, recv_sem)
{
    pl_store(output, pl_tile_zeros(PL_F32, 8, 128));
    send(input, output, send_sem, recv_sem, pl_device(right_of(pl_device_id())));
}

/* Cause:  "pl_store(output", "pl_copy_start(copy)"
 * Repair: barrier */
PROGRAM(jax_zeroed_output, "wrong: zeroes its output while the neighbour's block may already come in")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = 2);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);
    pl_launch(jax_zeroed_output, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_permute(output, input, 1);
}

/* Wrong: even devices write slot 0, odd ones slot 1 of the right neighbour, round after round; nothing says that the neighbour is done. */
KERNEL(jax_even_and_odd, input, slots, output, send_sem, recv_sem, copy_sem)
{
    int me = pl_device_id();
    for (int round = 0; round < 2; round++) {
        send(input, pl_at(slots, me % 2), send_sem, recv_sem, pl_device(right_of(me)));
        PlCopy keep = pl_make_async_copy(pl_at(slots, 1 - me % 2), output, copy_sem);
        pl_copy_start(keep);
        pl_copy_wait(keep);
    }
}

/* Cause:  "send(input, pl_at(slots, me % 2)", "pl_make_async_copy(pl_at(slots, 1 - me % 2)"
 * Repair: capacity or barrier */
PROGRAM(jax_even_and_odd, "wrong: the next round's block may land while the last one is still copied out")
{
    PL_NEEDS(pl_num_devices() >= 2 && pl_num_devices() % 2 == 0, "an even ring");
    pl_expect_fault(PL_RACE, .from = 2);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_even_and_odd,
              .args = {input, pl_hbm(PL_F32, 2, 8, 128), output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_permute(output, input, 1);
}

/* Wrong: everybody copies to device 0 and waits for a block of its own: all but one wait for ever, and all write one place. JAX only
 * compiles it. */
KERNEL(jax_all_to_device_0, input, output, send_sem, recv_sem)
{
    send(input, output, send_sem, recv_sem, pl_device(0));
}

/* Cause:  output, "pl_make_async_remote_copy(input, output", recv_sem
 * Repair: device "send(input, output" */
PROGRAM(jax_all_to_device_0, "wrong: all copy to device 0 and wait to receive")
{
    PL_NEEDS(pl_num_devices() >= 2, "several devices");
    pl_expect_fault(PL_RACE, .from = 2);
    pl_expect_fault(PL_DEADLOCK, .from = 2);
    pl_expect_fault(PL_LEFTOVER, .from = 2);                        /* device 0 takes one block of n, and leaves */
    pl_expect_fault(PL_IN_FLIGHT, .from = 2);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_all_to_device_0, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()});
}

/* The ref is picked by an index, from the grid and from SMEM; the semaphores too. */
KERNEL(jax_selected_refs, a, b, output, which, send_sems, recv_sems)
{
    pl_store_int(pl_at(which, 0), 1);
    int pick = pl_load_int(pl_at(which, 0));
    PlRef source = pl_select_ref(pick, a, b);
    PlRef send_sem = pl_select_ref(pick, pl_at(send_sems, 0), pl_at(send_sems, 1));
    send(source, output, send_sem, pl_at(recv_sems, pick), pl_device(1 - pl_device_id()));
}

PROGRAM(jax_selected_refs, "a pair swaps the second of two blocks, picked by an index in SMEM")
{
    PL_NEEDS(pl_num_devices() == 2, "a pair");
    PlRef a = pl_input(PL_F32, 8, 128), b = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    pl_launch(jax_selected_refs, .args = {a, b, output, pl_smem(PL_I32, 1), pl_dma_semaphore(2), pl_dma_semaphore(2)});
    pl_expect_permute(output, b, 1);
}
