/* reduce_scatter.c - the ring reduce-scatter whose blocks stay in HBM, as JAX's interpreter test runs it and as its document prints it.
 *
 *     first:  a barrier with both neighbours, then a second one on a semaphore of a scope, so that nobody can be taken for a round ahead
 *     step:   a partial sum goes on to the right neighbour; the own block is added to the one that came, piece by piece through VMEM
 *     last:   the finished sum goes from HBM scratch to the output
 *
 * The pieces are what an inner pipeline moves. The test hands it the sum as input and as output: a piece is fetched, added to, written
 * back. The document hands it over as output alone: what is added to is then a piece of VMEM that nobody filled.
 *
 * Written anew after tests/pallas/tpu_pallas_interpret_distributed_test.py and docs/pallas/tpu/distributed.md (JAX, Apache-2.0).
 */
#include <heddle/pallas.h>

enum { ROWS = 8, PIECE = 4 };

typedef struct Ring { PlRef input, output, slots, sum, own, copy_sem, send_sem, recv_sems, capacity; } Ring;

static int to_right(void) { return (pl_device_id() + 1) % pl_num_devices(); }
static int to_left(void) { return (pl_device_id() + pl_num_devices() - 1) % pl_num_devices(); }

static void copy_now(PlRef from, PlRef to, PlRef semaphore)
{
    PlCopy copy = pl_make_async_copy(from, to, semaphore);
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

static void signal_both(PlRef semaphore)
{
    pl_semaphore_signal(semaphore, 1, pl_device(to_left()));
    pl_semaphore_signal(semaphore, 1, pl_device(to_right()));
    pl_semaphore_wait(semaphore, 2);
}

/* One counter cannot tell a neighbour's second visit from the other one's first; the second barrier can. */
static void double_barrier(void)
{
    signal_both(pl_get_barrier_semaphore());
    PL_SCOPED PlRef second = pl_regular_semaphore();
    signal_both(second);
}

/* Adds our part of a block to the partial sum in this slot. */
static void accumulate(Ring ring, int slot, int block, bool fetches)
{
    for (int row = 0; row < ROWS; row += PIECE) {
        PlRef piece = pl_at(ring.slots, slot, pl_ds(row, PIECE));
        if (fetches)
            copy_now(piece, ring.sum, ring.copy_sem);
        copy_now(pl_at(ring.input, block, pl_ds(row, PIECE)), ring.own, ring.copy_sem);
        pl_store(ring.sum, pl_tile_add(pl_load(ring.sum), pl_load(ring.own)));
        copy_now(ring.sum, piece, ring.copy_sem);
    }
}

static void step_of_ring(Ring ring, bool fetches)
{
    int n = pl_num_devices(), me = pl_device_id(), step = pl_program_id(0), slot = step % 2, next = 1 - slot;
    bool passes = step < n - 1;
    PlCopy pass = pl_make_async_remote_copy(pl_at(ring.slots, slot), pl_at(ring.slots, next), ring.send_sem, pl_at(ring.recv_sems, next),
                                            pl_device(to_right()));
    if (step == 0) {
        double_barrier();
        copy_now(pl_at(ring.input, (me + n - 1) % n), pl_at(ring.slots, 0), ring.copy_sem);
    } else {
        accumulate(ring, slot, (me + n - 1 - step) % n, fetches);
    }
    if (passes) {
        if (step > 0)
            pl_semaphore_wait(ring.capacity, 1);
        pl_copy_start(pass);
        pl_copy_wait(pass);
        if (step < n - 2)
            pl_semaphore_signal(ring.capacity, 1, pl_device(to_left()));
    } else {
        copy_now(pl_at(ring.slots, slot), ring.output, ring.copy_sem);
    }
}

KERNEL(jax_reduce_scatter_in_hbm, input, output, slots, sum, own, copy_sem, send_sem, recv_sems, capacity)
{
    step_of_ring((Ring){ input, output, slots, sum, own, copy_sem, send_sem, recv_sems, capacity }, true);
}

KERNEL(jax_reduce_scatter_sum_not_fetched, input, output, slots, sum, own, copy_sem, send_sem, recv_sems, capacity)
{
    step_of_ring((Ring){ input, output, slots, sum, own, copy_sem, send_sem, recv_sems, capacity }, false);
}

#define REDUCE_SCATTER(kernel) \
    int n = pl_num_devices(); \
    PL_NEEDS(n >= 2, "a ring"); \
    PlRef input = pl_input(PL_F32, n, ROWS, 128), output = pl_output(PL_F32, ROWS, 128); \
    pl_launch(kernel, .grid = { n }, .collective_id = 0, \
              .args = { input, output, pl_hbm(PL_F32, 2, ROWS, 128), pl_vmem(PL_F32, PIECE, 128), pl_vmem(PL_F32, PIECE, 128), \
                        pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(2), pl_regular_semaphore() }); \
    pl_expect_reduce_scatter(output, input)

PROGRAM(jax_reduce_scatter_in_hbm, "ring reduce-scatter in HBM, double barrier, sums fetched and written back piece by piece")
{
    REDUCE_SCATTER(jax_reduce_scatter_in_hbm);
}

/* Cause:  sum, "pl_store(ring.sum"
 * Repair: store sum */
PROGRAM(jax_reduce_scatter_sum_not_fetched, "wrong: the sum is an output of the inner pipeline only, so what is added to was never filled")
{
    pl_expect_fault(PL_UNINITIALISED, .from = 2);
    REDUCE_SCATTER(jax_reduce_scatter_sum_not_fetched);
}
