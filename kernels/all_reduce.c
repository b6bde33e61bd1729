/* all_reduce.c - ring all-reduce: every block goes once round the ring, and every device adds up what passes by.
 *
 * Two slots: while one is added up and sent on, the other receives. A sender that runs ahead would overwrite a slot which is still in use,
 * so each device tells its left neighbour once a step that it has room: the capacity semaphore.
 */
#include <heddle/pallas.h>

typedef struct Ring { PlRef input, output, slots, block, copy_sem, send_sem, recv_sem, capacity_sem; } Ring;

/* Meets both neighbours, then hands the own block to the right one: nobody's slot 0 is in use yet. */
static void begin(Ring ring, int left, int right)
{
    PlRef barrier = pl_get_barrier_semaphore();
    pl_semaphore_signal(barrier, 1, pl_device(left));
    pl_semaphore_signal(barrier, 1, pl_device(right));
    pl_semaphore_wait(barrier, 2);

    pl_store(ring.output, pl_tile_zeros(PL_F32, 8, 128));
    PlCopy first = pl_make_async_remote_copy(ring.input, pl_at(ring.slots, 0), ring.send_sem, ring.recv_sem, pl_device(right));
    pl_copy_start(first);
    pl_copy_wait(first);
}

static void step_of_ring(Ring ring, bool with_capacity)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x"), step = pl_program_id(0);
    int left = (my_id + n - 1) % n, right = (my_id + 1) % n, working = step % 2, receiving = 1 - working;

    if (step == 0)
        begin(ring, left, right);
    if (with_capacity)
        pl_semaphore_signal(ring.capacity_sem, 1, pl_device(left));         /* our receiving slot is free */

    PlCopy fetch = pl_make_async_copy(pl_at(ring.slots, working), ring.block, ring.copy_sem);
    pl_copy_start(fetch);

    if (with_capacity)
        pl_semaphore_wait(ring.capacity_sem, 1);                            /* so is that of the right neighbour */
    PlCopy pass = pl_make_async_remote_copy(pl_at(ring.slots, working), pl_at(ring.slots, receiving), ring.send_sem, ring.recv_sem,
                                            pl_device(right));
    pl_copy_start(pass);

    pl_copy_wait(fetch);
    pl_store(ring.output, pl_tile_add(pl_load(ring.output), pl_load(ring.block)));
    pl_copy_wait(pass);
}

KERNEL(all_reduce, input, output, slots, block, copy_sem, send_sem, recv_sem, capacity_sem)
{
    step_of_ring((Ring){ input, output, slots, block, copy_sem, send_sem, recv_sem, capacity_sem }, true);
}

PROGRAM(all_reduce, "ring all-reduce, two slots, a capacity semaphore")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);

    pl_launch(all_reduce, .grid = {n}, .collective_id = 0,
              .args = {input, output, pl_hbm(PL_F32, 2, 8, 128), pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(),
                       pl_dma_semaphore(), pl_regular_semaphore()});
    pl_expect_all_reduce(output, input);
}

/* Wrong: without the capacity semaphore a device runs ahead of its right neighbour and overwrites the slot that is being added up. */
KERNEL(all_reduce_no_capacity, input, output, slots, block, copy_sem, send_sem, recv_sem)
{
    step_of_ring((Ring){ .input = input, .output = output, .slots = slots, .block = block, .copy_sem = copy_sem, .send_sem = send_sem,
                         .recv_sem = recv_sem }, false);
}

PROGRAM(all_reduce_no_capacity, "wrong: nobody says when a slot is free, so a neighbour that runs ahead overwrites it")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = 2);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output_in(PL_VMEM, PL_F32, 8, 128);

    pl_launch(all_reduce_no_capacity, .grid = {n}, .collective_id = 0,
              .args = {input, output, pl_hbm(PL_F32, 2, 8, 128), pl_vmem(PL_F32, 8, 128), pl_dma_semaphore(), pl_dma_semaphore(),
                       pl_dma_semaphore()});
    pl_expect_all_reduce(output, input);
}
