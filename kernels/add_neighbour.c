/* add_neighbour.c - every device adds the left neighbour's block to its own; and the small mistakes that this invites.
 *
 * wait_send says that the source may be changed. wait_recv, on our own semaphore, says that the left neighbour's block is there. Neither
 * says what the other does, and both must be waited for before the kernel ends.
 */
#include <heddle/pallas.h>

static PlCopy to_the_right(PlRef block, PlRef inbox, PlRef send_sem, PlRef recv_sem)
{
    int right = (pl_axis_index("x") + 1) % pl_axis_size("x");
    return pl_make_async_remote_copy(block, inbox, send_sem, recv_sem, pl_device(right));
}

static double sum_with_left(const PlRef *input, int device, const int64_t *index)
{
    int n = pl_num_devices(), left = (device + n - 1) % n;
    return pl_given(input[0], device, index[0], index[1]) + pl_given(input[0], left, index[0], index[1]);
}

KERNEL(add_neighbour, block, output, inbox, send_sem, recv_sem)
{
    PlCopy copy = to_the_right(block, inbox, send_sem, recv_sem);
    pl_copy_start(copy);
    pl_copy_wait(copy);
    pl_store(output, pl_tile_add(pl_load(block), pl_load(inbox)));
}

PROGRAM(add_neighbour, "own block plus the left neighbour's")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef block = pl_input_in(PL_VMEM, PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);

    pl_launch(add_neighbour, .args = {block, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_values(output, sum_with_left, 0, block);
}

/* Wrong: what arrives is read before it is known to be there. */
KERNEL(read_before_wait, block, output, inbox, send_sem, recv_sem)
{
    PlCopy copy = to_the_right(block, inbox, send_sem, recv_sem);
    pl_copy_start(copy);
    pl_store(output, pl_tile_add(pl_load(block), pl_load(inbox)));
    pl_copy_wait(copy);
}

PROGRAM(read_before_wait, "wrong: the inbox is read before the wait for it")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = 2);
    PlRef block = pl_input_in(PL_VMEM, PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);

    pl_launch(read_before_wait, .args = {block, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore()});
}

/* Wrong: the block is changed while it may still be on its way out. wait_recv says nothing about that. */
KERNEL(overwrite_before_wait_send, block, output, inbox, send_sem, recv_sem)
{
    PlCopy copy = to_the_right(block, inbox, send_sem, recv_sem);
    pl_copy_start(copy);
    pl_copy_wait_recv(copy);
    pl_store(block, pl_tile_add(pl_load(block), pl_load(inbox)));
    pl_copy_wait_send(copy);
    pl_store(output, pl_load(block));
}

PROGRAM(overwrite_before_wait_send, "wrong: the source of a copy is changed before the wait for its send")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = 2);
    PlRef block = pl_input_in(PL_VMEM, PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);

    pl_launch(overwrite_before_wait_send, .args = {block, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore()});
}

/* Wrong: the wait is for half of the bytes. It passes when any half has moved, and leaves the other half counted. */
KERNEL(wait_for_fewer_bytes, block, output, inbox, send_sem, recv_sem)
{
    PlRef half = pl_at(inbox, pl_ds(0, 4));
    PlCopy copy = to_the_right(block, inbox, send_sem, recv_sem);
    pl_copy_start(copy);
    pl_copy_wait_send(copy);
    pl_copy_wait(pl_make_async_copy(half, half, recv_sem));
    pl_store(output, pl_tile_add(pl_load(block), pl_load(inbox)));
}

PROGRAM(wait_for_fewer_bytes, "wrong: a wait for half of the bytes that are copied")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = 2);
    pl_expect_fault(PL_IN_FLIGHT, .from = 2);
    pl_expect_fault(PL_LEFTOVER, .from = 2);
    PlRef block = pl_input_in(PL_VMEM, PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);

    pl_launch(wait_for_fewer_bytes, .args = {block, output, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore()});
}

/* Wrong: a copy that nobody waits for, neither for its send nor for its arrival. */
KERNEL(never_waited_for, block, inbox, send_sem, recv_sem)
{
    PlCopy copy = to_the_right(block, inbox, send_sem, recv_sem);
    pl_copy_start(copy);
}

PROGRAM(never_waited_for, "wrong: a copy is started and never waited for")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_IN_FLIGHT, .from = 2);
    pl_expect_fault(PL_LEFTOVER, .from = 2);
    PlRef block = pl_input_in(PL_VMEM, PL_F32, 8, 128);

    pl_launch(never_waited_for, .args = {block, pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore()});
}
