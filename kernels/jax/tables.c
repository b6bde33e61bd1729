/* tables.c - transfers that a table in SMEM decides: who sends to whom, how many rows, from where.
 *
 * Written anew after the table-driven transfers of tpu_pallas_interpret_distributed_test.py and the ragged all-to-all that JAX ships
 * (Apache-2.0). Integers that travel in buffers steer copies here, so they are computed for real.
 */
#include <heddle/pallas.h>

enum { ROWS = 8 };

/* transfer[i] = (source, target): one block each. A receiver waits once for all its blocks, through a descriptor larger than its buffer. */
static void transfer_all(PlRef input, PlRef output, PlRef table, PlRef send_sem, PlRef recv_sem, int transfers)
{
    int me = pl_device_id(), comes = 0;
    for (int i = 0; i < transfers; i++) {
        int source = pl_load_int(pl_at(table, i, 0)), target = pl_load_int(pl_at(table, i, 1));
        if (source == me) {
            PlCopy send = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(target));
            pl_copy_start(send);
            pl_copy_wait_send(send);
        }
        comes += target == me;
    }
    if (comes > 0) {
        PlRef rows = pl_at(output, pl_ds(0, ROWS * comes));
        pl_copy_wait(pl_make_async_copy(rows, rows, recv_sem));
    }
}

KERNEL(jax_transfer_3, input, output, table, send_sem, recv_sem) { transfer_all(input, output, table, send_sem, recv_sem, 3); }
KERNEL(jax_transfer_4, input, output, table, send_sem, recv_sem) { transfer_all(input, output, table, send_sem, recv_sem, 4); }

static double chain(int device, const int64_t *index)
{
    (void)device;
    return index[1] == 0 ? (double)index[0] : (double)index[0] + 1;
}

PROGRAM(jax_transfers, "transfers 0 to 1, 1 to 2, 2 to 3 from a table")
{
    PL_NEEDS(pl_num_devices() == 4, "four devices");
    PlRef input = pl_input(PL_F32, ROWS, 128), output = pl_output(PL_F32, ROWS, 128), table = pl_input_in(PL_SMEM, PL_I32, 3, 2);
    pl_fill(table, chain);
    pl_launch(jax_transfer_3, .args = {input, output, table, pl_dma_semaphore(), pl_dma_semaphore()});
}

static double two_to_one_place(int device, const int64_t *index)
{
    static const int PAIRS[4][2] = { { 0, 1 }, { 1, 2 }, { 3, 2 }, { 3, 0 } };
    (void)device;
    return PAIRS[index[0]][index[1]];
}

/* Cause:  output, "pl_copy_start(send)"
 * Repair: slot output or device "pl_copy_start(send)" */
PROGRAM(jax_transfers_collide, "wrong: two transfers of the table go to device 2, into one place")
{
    PL_NEEDS(pl_num_devices() == 4, "four devices");
    pl_expect_fault(PL_RACE, .from = 4);
    PlRef input = pl_input(PL_F32, ROWS, 128), output = pl_output(PL_F32, ROWS, 128), table = pl_input_in(PL_SMEM, PL_I32, 4, 2);
    pl_fill(table, two_to_one_place);
    pl_launch(jax_transfer_4, .args = {input, output, table, pl_dma_semaphore(), pl_dma_semaphore()});
}

/* Ragged all-to-all: device d sends sizes[d][t] rows to device t, to an offset agreed on before; one semaphore each way, one wait for the
 * total. Sizes of 0 send nothing. */
static int rows_from_to(int from, int to) { return (from + 2 * to) % 3; }

static double size_of(int device, const int64_t *index)
{
    (void)device;
    return rows_from_to((int)index[0], (int)index[1]);
}

KERNEL(jax_ragged_all_to_all, input, output, sizes, send_sem, recv_sem)
{
    int n = pl_num_devices(), me = pl_device_id(), sent = 0, comes = 0;
    for (int to = 0; to < n; to++) {
        int rows = pl_load_int(pl_at(sizes, me, to)), offset = 0;
        for (int from = 0; from < me; from++)
            offset += pl_load_int(pl_at(sizes, from, to));
        pl_async_remote_copy(pl_at(input, pl_ds(sent, rows)), pl_at(output, pl_ds(offset, rows)), send_sem, recv_sem, pl_device(to));
        sent += rows;
    }
    for (int from = 0; from < n; from++)
        comes += pl_load_int(pl_at(sizes, from, me));
    PlRef all_sent = pl_at(input, pl_ds(0, sent)), all_come = pl_at(output, pl_ds(0, comes));
    pl_copy_wait(pl_make_async_copy(all_sent, all_sent, send_sem));
    pl_copy_wait(pl_make_async_copy(all_come, all_come, recv_sem));
}

PROGRAM(jax_ragged_all_to_all, "rows of all sizes, 0 too, from everyone to everyone; one wait for the total")
{
    int n = pl_num_devices();
    PlRef input = pl_input(PL_F32, 2 * n, 128), output = pl_output(PL_F32, 2 * n, 128), sizes = pl_input_in(PL_SMEM, PL_I32, n, n);
    pl_fill(sizes, size_of);
    pl_launch(jax_ragged_all_to_all, .args = {input, output, sizes, pl_dma_semaphore(), pl_dma_semaphore()});
}
