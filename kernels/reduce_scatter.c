/* reduce_scatter.c - bidirectional ring reduce-scatter: half of each block travels to the left, half to the right, and grows on its way.
 *
 *     grid (N, 2):   phase TO_LEFT  works on the half that travels left, while the other half is on the wire to the right
 *                    phase TO_RIGHT works on the half that travels right, while the other half is on the wire to the left
 *
 * A half starts as its owner's own contribution, each device on the way adds its own, and after N hops it is home again. Two slots a
 * device: one is worked on, one receives. Capacity semaphores say that the receiving slot is free; a wait at the end takes the last grant.
 *
 * They are not needed: a device that sends to the left has just received from its left, in the other phase, which proves the slot free.
 */
#include <heddle/pallas.h>

enum { ROWS = 8, HALF = ROWS / 2, TO_LEFT = 0, TO_RIGHT = 1 };

typedef struct Way { PlRef send_sem, recv_sem, capacity_sem; } Way;
typedef struct Ring { PlRef input, output, slots, sum, own, copy_sem; Way way[2]; } Ring;
typedef struct Choice { bool capacity, cleanup, all_waits; } Choice;

static void copy_now(PlRef source, PlRef target, PlRef semaphore)
{
    PlCopy copy = pl_make_async_copy(source, target, semaphore);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

static PlRef half_of(PlRef blocks, int which, int way)
{
    return pl_at(blocks, which, pl_ds(way * HALF, HALF));
}

static int neighbour(int way)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x");
    return way == TO_LEFT ? (my_id + n - 1) % n : (my_id + 1) % n;
}

static PlCopy describe(Ring ring, PlRef source, int slot, int way)
{
    return pl_make_async_remote_copy(source, half_of(ring.slots, slot, way), ring.way[way].send_sem, ring.way[way].recv_sem,
                                     pl_device(neighbour(way)));
}

/* Tells the one who sends to us, on this way, that the slot which it will write next is free. */
static void grant(Ring ring, int way)
{
    pl_semaphore_signal(ring.way[way].capacity_sem, 1, pl_device(neighbour(1 - way)));
}

static void meet_neighbours(void)
{
    PlRef barrier = pl_get_barrier_semaphore();
    pl_semaphore_signal(barrier, 1, pl_device(neighbour(TO_LEFT)));
    pl_semaphore_signal(barrier, 1, pl_device(neighbour(TO_RIGHT)));
    pl_semaphore_wait(barrier, 2);
}

/* Adds our contribution to the half that lies in this slot; in the last step it is our own, and complete. */
static void work_on(Ring ring, int step, int way)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x"), slot = step % 2;
    int owner = way == TO_LEFT ? (my_id + step + 1) % n : (my_id - step - 1 + n) % n;

    if (step == n - 1) {
        copy_now(half_of(ring.slots, slot, way), pl_at(ring.output, pl_ds(way * HALF, HALF)), ring.copy_sem);
        return;
    }
    copy_now(half_of(ring.slots, slot, way), ring.sum, ring.copy_sem);
    copy_now(half_of(ring.input, owner, way), ring.own, ring.copy_sem);
    pl_store(ring.sum, pl_tile_add(pl_load(ring.sum), pl_load(ring.own)));
    copy_now(ring.sum, half_of(ring.slots, slot, way), ring.copy_sem);
}

static void phase_of_ring(Ring ring, Choice choice)
{
    int n = pl_axis_size("x"), my_id = pl_axis_index("x"), step = pl_program_id(0), way = pl_program_id(1), other = 1 - way;
    bool first = step == 0 && way == TO_LEFT, last = step == n - 1;
    /* What was worked on in the phase before goes out now: to the left within a step, to the right from one step to the next. */
    int from = way == TO_RIGHT ? step % 2 : 1 - step % 2;
    bool sends = first || way == TO_LEFT || !last;
    PlCopy pass = first ? describe(ring, half_of(ring.input, my_id, TO_RIGHT), 0, TO_RIGHT)
                        : describe(ring, half_of(ring.slots, from, other), 1 - from, other);

    if (first) {
        meet_neighbours();
        PlCopy start = describe(ring, half_of(ring.input, my_id, TO_LEFT), 0, TO_LEFT);
        pl_copy_start(start);
        pl_copy_wait(start);
    }
    if (first && choice.capacity) {
        grant(ring, TO_LEFT);
        grant(ring, TO_RIGHT);
    }
    if (sends && !first && choice.capacity)
        pl_semaphore_wait(ring.way[other].capacity_sem, 1);
    if (sends)
        pl_copy_start(pass);

    work_on(ring, step, way);

    if (sends)
        pl_copy_wait_send(pass);
    if (sends && (choice.all_waits || !first))
        pl_copy_wait_recv(pass);
    if (sends && !first && choice.capacity)
        grant(ring, other);
    if (last && choice.capacity && choice.cleanup)
        pl_semaphore_wait(ring.way[other].capacity_sem, 1);         /* the last grant, which nobody used */
}

KERNEL(reduce_scatter, input, output, slots, sum, own, copy_sem, left_send, left_recv, left_capacity, right_send, right_recv,
       right_capacity)
{
    phase_of_ring((Ring){ input, output, slots, sum, own, copy_sem, { { left_send, left_recv, left_capacity },
                          { right_send, right_recv, right_capacity } } }, (Choice){ .capacity = true, .cleanup = true, .all_waits = true });
}

KERNEL(reduce_scatter_no_cleanup, input, output, slots, sum, own, copy_sem, left_send, left_recv, left_capacity, right_send, right_recv,
       right_capacity)
{
    phase_of_ring((Ring){ input, output, slots, sum, own, copy_sem, { { left_send, left_recv, left_capacity },
                          { right_send, right_recv, right_capacity } } }, (Choice){ .capacity = true, .all_waits = true });
}

KERNEL(reduce_scatter_missing_wait, input, output, slots, sum, own, copy_sem, left_send, left_recv, left_capacity, right_send, right_recv,
       right_capacity)
{
    phase_of_ring((Ring){ input, output, slots, sum, own, copy_sem, { { left_send, left_recv, left_capacity },
                          { right_send, right_recv, right_capacity } } }, (Choice){ .capacity = true, .cleanup = true });
}

KERNEL(reduce_scatter_no_capacity, input, output, slots, sum, own, copy_sem, left_send, left_recv, right_send, right_recv)
{
    phase_of_ring((Ring){ input, output, slots, sum, own, copy_sem, { { .send_sem = left_send, .recv_sem = left_recv },
                          { .send_sem = right_send, .recv_sem = right_recv } } }, (Choice){ .all_waits = true });
}

#define SCRATCH pl_hbm(PL_F32, 2, ROWS, 128), pl_vmem(PL_F32, HALF, 128), pl_vmem(PL_F32, HALF, 128), pl_dma_semaphore()
#define COPY_SEMAPHORES pl_dma_semaphore(), pl_dma_semaphore()

PROGRAM(reduce_scatter, "bidirectional ring reduce-scatter, capacity semaphores both ways")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");
    PlRef input = pl_input(PL_F32, n, ROWS, 128), output = pl_output(PL_F32, ROWS, 128);

    pl_launch(reduce_scatter, .grid = {n, 2}, .collective_id = 0,
              .args = {input, output, SCRATCH, COPY_SEMAPHORES, pl_regular_semaphore(), COPY_SEMAPHORES, pl_regular_semaphore()});
    pl_expect_reduce_scatter(output, input);
}

PROGRAM(reduce_scatter_no_capacity, "the same without capacity semaphores, which are needless here")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");
    PlRef input = pl_input(PL_F32, n, ROWS, 128), output = pl_output(PL_F32, ROWS, 128);

    pl_launch(reduce_scatter_no_capacity, .grid = {n, 2}, .collective_id = 0,
              .args = {input, output, SCRATCH, COPY_SEMAPHORES, COPY_SEMAPHORES});
    pl_expect_reduce_scatter(output, input);
}

PROGRAM(reduce_scatter_no_cleanup, "wrong: the last grant of capacity is taken by nobody")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");
    pl_expect_fault(PL_LEFTOVER, .from = 2);
    PlRef input = pl_input(PL_F32, n, ROWS, 128), output = pl_output(PL_F32, ROWS, 128);

    pl_launch(reduce_scatter_no_cleanup, .grid = {n, 2}, .collective_id = 0,
              .args = {input, output, SCRATCH, COPY_SEMAPHORES, pl_regular_semaphore(), COPY_SEMAPHORES, pl_regular_semaphore()});
    pl_expect_reduce_scatter(output, input);
}

PROGRAM(reduce_scatter_missing_wait, "wrong: one wait for a receive is missing, so every later one is a copy too early")
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2, "a ring");
    pl_expect_fault(PL_RACE, .from = 2);
    pl_expect_fault(PL_LEFTOVER, .from = 2);
    pl_expect_fault(PL_IN_FLIGHT, .from = 2);
    PlRef input = pl_input(PL_F32, n, ROWS, 128), output = pl_output(PL_F32, ROWS, 128);

    pl_launch(reduce_scatter_missing_wait, .grid = {n, 2}, .collective_id = 0,
              .args = {input, output, SCRATCH, COPY_SEMAPHORES, pl_regular_semaphore(), COPY_SEMAPHORES, pl_regular_semaphore()});
    pl_expect_reduce_scatter(output, input);
}
