/* expert_exchange.c - expert-parallel all-to-all: rows go to the experts that a routing table names, and come back.
 *
 *     batch:  each device tells every expert how many rows come (0, 1, many), by a copy of one number
 *             it sends the rows, a part of the inbox for each source; nothing at all where there are none
 *             it waits once for all numbers, adds them up, and waits once for all rows, through a descriptor that is never started
 *             each expert returns the rows; the source knows how many to wait for
 *             a barrier of all, before the numbers of the next batch may overwrite these
 *
 * The barrier looks needless, since an expert that returns rows has read its numbers. But one that got no rows returns none.
 */
#include <heddle/pallas.h>

enum { MOST = 3 };

typedef struct Exchange {
    PlRef input, inbox, output, sent, come, count_send, count_recv, row_send, row_recv, back_send, back_recv, done;
} Exchange;
typedef struct Choice { bool barrier, numbers_one_by_one, rows_one_by_one; } Choice;

static int rows_from_to(int from, int to, int batch) { return (from + 2 * to + batch) % (MOST + 1); }

static double routed(int device, const int64_t *index)
{
    return rows_from_to(device, (int)index[1], (int)index[0]);
}

/* Waits until as many rows have been counted as these: a descriptor of that size, which nobody starts. */
static void wait_for_rows(PlRef blocks, int rows, PlRef semaphore)
{
    PlRef all = pl_at(pl_reshape(blocks, pl_num_devices() * MOST, 128), pl_ds(0, rows));
    pl_copy_wait(pl_make_async_copy(all, all, semaphore));
}

static int send_rows(Exchange e, int batch)
{
    int n = pl_num_devices(), me = pl_device_id(), sent = 0;
    for (int i = 0; i < n; i++) {
        int to = (me + i) % n;
        PlRef number = pl_at(e.sent, batch, pl_ds(to, 1));
        pl_async_remote_copy(number, pl_at(e.come, pl_ds(me, 1)), e.count_send, e.count_recv, pl_device(to));
        int rows = pl_load_int(pl_at(e.sent, batch, to));
        pl_async_remote_copy(pl_at(e.input, batch, to, pl_ds(0, rows)), pl_at(e.inbox, me, pl_ds(0, rows)), e.row_send, e.row_recv,
                             pl_device(to));
        sent += rows;
    }
    return sent;
}

/* Returns how many rows come; with `one_by_one`, takes the first number that has arrived for the one of the first source. */
static int learn_numbers(Exchange e, bool one_by_one)
{
    int n = pl_num_devices(), total = 0;
    PlRef one = pl_at(e.come, pl_ds(0, 1));
    if (!one_by_one)
        pl_copy_wait(pl_make_async_copy(e.come, e.come, e.count_recv));
    for (int from = 0; from < n; from++) {
        if (one_by_one)
            pl_copy_wait(pl_make_async_copy(one, one, e.count_recv));
        total += pl_load_int(pl_at(e.come, from));
    }
    return total;
}

static void return_rows(Exchange e, int batch, bool one_by_one)
{
    int n = pl_num_devices(), me = pl_device_id();
    for (int from = 0; from < n; from++) {
        int rows = pl_load_int(pl_at(e.come, from));
        if (one_by_one)
            wait_for_rows(e.inbox, rows, e.row_recv);
        pl_async_remote_copy(pl_at(e.inbox, from, pl_ds(0, rows)), pl_at(e.output, batch, me, pl_ds(0, rows)), e.back_send, e.back_recv,
                             pl_device(from));
    }
}

static void barrier_of_all(PlRef semaphore)
{
    int n = pl_num_devices();
    for (int d = 0; d < n; d++)
        pl_semaphore_signal(semaphore, 1, pl_device(d));
    pl_semaphore_wait(semaphore, n);
}

static void exchange(Exchange e, Choice choice)
{
    int batches = pl_size(e.sent, 0);
    for (int batch = 0; batch < batches; batch++) {
        int sent = send_rows(e, batch), come = learn_numbers(e, choice.numbers_one_by_one);
        if (!choice.rows_one_by_one)
            wait_for_rows(e.inbox, come, e.row_recv);
        return_rows(e, batch, choice.rows_one_by_one);
        wait_for_rows(e.inbox, sent, e.back_recv);
        pl_copy_wait(pl_make_async_copy(e.come, e.come, e.count_send));
        wait_for_rows(e.inbox, sent, e.row_send);
        wait_for_rows(e.inbox, come, e.back_send);
        if (choice.barrier)
            barrier_of_all(e.done);
    }
}

#define EXCHANGE_KERNEL(name, ...) \
    KERNEL(name, input, inbox, output, sent, come, count_send, count_recv, row_send, row_recv, back_send, back_recv, done) \
    { \
        exchange((Exchange){ input, inbox, output, sent, come, count_send, count_recv, row_send, row_recv, back_send, back_recv, done }, \
                 (Choice){ __VA_ARGS__ }); \
    }

EXCHANGE_KERNEL(expert_exchange, .barrier = true)
EXCHANGE_KERNEL(expert_exchange_no_barrier, .barrier = false)
EXCHANGE_KERNEL(expert_exchange_numbers_one_by_one, .barrier = true, .numbers_one_by_one = true)
EXCHANGE_KERNEL(expert_exchange_rows_one_by_one, .barrier = true, .rows_one_by_one = true)

/* Each row that was routed is back in its place. */
static double back_home(const PlRef *refs, int device, const int64_t *index)
{
    int rows = rows_from_to(device, (int)index[1], (int)index[0]);
    return index[2] < rows ? pl_given(refs[0], device, index[0], index[1], index[2], index[3]) : PL_ANY_VALUE;
}

#define EXCHANGE_PROGRAM(kernel) \
    int n = pl_num_devices(), batches = PARAMETER(batches, 2, 1, 8); \
    PlRef input = pl_input(PL_F32, batches, n, MOST, 128), output = pl_output(PL_F32, batches, n, MOST, 128); \
    PlRef sent = pl_fill(pl_input_in(PL_SMEM, PL_I32, batches, n), routed); \
    pl_launch(kernel, .args = { input, pl_hbm(PL_F32, n, MOST, 128), output, sent, pl_smem(PL_I32, n), pl_dma_semaphore(), \
                                pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(), \
                                pl_regular_semaphore() }); \
    pl_expect_values(output, back_home, 0.0, input)

PROGRAM(expert_exchange, "rows to the experts that a routing table names, and back; numbers sent ahead, one wait for the total")
{
    EXCHANGE_PROGRAM(expert_exchange);
}

/* Cause:  "pl_load_int(pl_at(e.come, from))", "pl_async_remote_copy(number"
 * Repair: barrier */
PROGRAM(expert_exchange_no_barrier, "wrong: no barrier between batches, and no rows from an expert that has yet to read its number, 0")
{
    pl_expect_fault(PL_RACE, .from = 3);
    EXCHANGE_PROGRAM(expert_exchange_no_barrier);
}

/* Cause:  count_recv, "pl_copy_wait(pl_make_async_copy(one"
 * Repair: semaphore count_recv */
PROGRAM(expert_exchange_numbers_one_by_one, "wrong: takes any number that has come for the first source's")
{
    pl_expect_fault(PL_RACE, .from = 2);
    EXCHANGE_PROGRAM(expert_exchange_numbers_one_by_one);
}

/* Cause:  row_recv, "pl_copy_wait(pl_make_async_copy(all"
 * Repair: semaphore row_recv */
PROGRAM(expert_exchange_rows_one_by_one, "wrong: returns a source's rows when as many rows have come, from whomever")
{
    pl_expect_fault(PL_RACE, .from = 2);
    EXCHANGE_PROGRAM(expert_exchange_rows_one_by_one);
}
