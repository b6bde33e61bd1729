/* tables.c - kernels that a table of sizes or of ids steers: right for all tables, and wrong for some that are easily forgotten.
 *
 * The wrong ones are right with the input that a check takes by itself; --inputs finds the others.
 */
#include <heddle/pallas.h>

enum { COLUMNS = 4 };

/* ---- ragged all-to-all: sizes[i, j] is the number of rows that device i sends to device j ---- */

static int64_t rows_between(PlRef sizes, int64_t from, int64_t to)
{
    return (int64_t)pl_given(sizes, 0, from, to);
}

static double row_received(const PlRef *refs, int device, const int64_t *index)
{
    int64_t row = index[0];
    for (int i = 0; i < pl_num_devices(); i++) {
        int64_t count = rows_between(refs[0], i, device), before = 0;
        for (int j = 0; j < device; j++)
            before += rows_between(refs[0], i, j);
        if (row < count)
            return pl_given(refs[1], i, before + row, index[1]);
        row -= count;
    }
    return PL_ANY_VALUE;
}

/* Sends all rows, and returns how many there are. */
static int64_t send_rows(PlRef sizes, PlRef input, PlRef output, PlRef send, PlRef receive)
{
    int64_t sent = 0;
    for (int j = 0; j < pl_num_devices(); j++) {
        int64_t count = pl_load_int(pl_at(sizes, pl_device_id(), j)), to = 0;
        for (int i = 0; i < pl_device_id(); i++)
            to += pl_load_int(pl_at(sizes, i, j));
        if (count > 0)
            pl_async_remote_copy(pl_at(input, pl_ds(sent, count)), pl_at(output, pl_ds(to, count)), send, receive, pl_device(j));
        sent += count;
    }
    return sent;
}

static int64_t rows_to_come(PlRef sizes)
{
    int64_t rows = 0;
    for (int i = 0; i < pl_num_devices(); i++)
        rows += pl_load_int(pl_at(sizes, i, pl_device_id()));
    return rows;
}

/* A wait for so many rows; for none there is nothing to wait for. */
static void wait_rows(PlRef array, int64_t rows, PlRef semaphore)
{
    if (rows > 0)
        pl_copy_wait(pl_make_async_copy(pl_at(array, pl_ds(0, rows)), pl_at(array, pl_ds(0, rows)), semaphore));
}

KERNEL(ragged, sizes, input, output, send, receive)
{
    int64_t sent = PL_CALL(send_rows(sizes, input, output, send, receive));
    wait_rows(input, sent, send);
    wait_rows(output, rows_to_come(sizes), receive);
}

KERNEL(ragged_early, sizes, input, output, send, receive)
{
    int64_t sent = PL_CALL(send_rows(sizes, input, output, send, receive));
    if (sent == 0)
        return;                                 /* but others may send to it */
    wait_rows(input, sent, send);
    wait_rows(output, rows_to_come(sizes), receive);
}

typedef struct Ragged { PlRef sizes, input, output; } Ragged;

static Ragged declare_ragged(void)
{
    int n = pl_num_devices();
    PL_NEEDS(n >= 2 && n <= 3, "two or three devices, so that all tables can be tried");
    int64_t most = PARAMETER(most, n == 2 ? 2 : 1, 1, 4);
    return (Ragged){ pl_table_among(PL_I32, 0, most, n, n), pl_input(PL_I32, most * n, COLUMNS), pl_output(PL_I32, most * n, COLUMNS) };
}

PROGRAM(ragged_all_to_all, "each device sends each other one as many rows as a table says")
{
    Ragged r = declare_ragged();
    pl_launch(ragged, .args = { r.sizes, r.input, r.output, pl_dma_semaphore(), pl_dma_semaphore() });
    pl_expect_values(r.output, row_received, 0, r.sizes, r.input);
}

/* Cause:  receive, "pl_async_remote_copy" */
PROGRAM(ragged_nothing_to_send, "a device that sends nothing leaves before it has received")
{
    Ragged r = declare_ragged();
    pl_launch(ragged_early, .args = { r.sizes, r.input, r.output, pl_dma_semaphore(), pl_dma_semaphore() });
    pl_expect_fault(PL_IN_FLIGHT);
    pl_expect_fault(PL_LEFTOVER);
}

/* ---- expert exchange: ids[i, t] is the expert of token t of device i; experts are dealt out to devices in blocks ---- */

enum { EXPERTS = 4 };

static int owner(int64_t expert)
{
    return (int)(expert * pl_num_devices() / EXPERTS);
}

static double token_received(const PlRef *refs, int device, const int64_t *index)
{
    return owner((int64_t)pl_given(refs[0], 0, index[0], index[1])) == device ? pl_given(refs[1], (int)index[0], index[1], index[2])
                                                                           : PL_ANY_VALUE;
}

static int tokens_for(PlRef ids, int device, int from, int until)
{
    int count = 0;
    for (int i = from; i < until; i++)
        for (int t = 0; t < pl_size(ids, 1); t++)
            count += owner(pl_load_int(pl_at(ids, i, t))) == device;
    return count;
}

static void send_tokens(PlRef ids, PlRef tokens, PlRef inbox, PlRef send, PlRef receive)
{
    int me = pl_device_id();
    for (int t = 0; t < pl_size(tokens, 0); t++)
        pl_async_remote_copy(pl_at(tokens, t), pl_at(inbox, me, t), send, receive, pl_device(owner(pl_load_int(pl_at(ids, me, t)))));
}

static void wait_tokens(PlRef tokens, int64_t count, PlRef semaphore)
{
    for (int64_t i = 0; i < count; i++)
        pl_copy_wait(pl_make_async_copy(pl_at(tokens, 0), pl_at(tokens, 0), semaphore));
}

KERNEL(exchange, ids, tokens, inbox, send, receive)
{
    PL_CALL(send_tokens(ids, tokens, inbox, send, receive));
    wait_tokens(tokens, pl_size(tokens, 0), send);
    wait_tokens(tokens, tokens_for(ids, pl_device_id(), 0, pl_num_devices()), receive);
}

/* A device whose experts get no token has nothing to do, or so it seems. */
KERNEL(exchange_if_used, ids, tokens, inbox, send, receive)
{
    PL_CALL(send_tokens(ids, tokens, inbox, send, receive));
    int come = tokens_for(ids, pl_device_id(), 0, pl_num_devices());
    if (come == 0)
        return;
    wait_tokens(tokens, pl_size(tokens, 0), send);
    wait_tokens(tokens, come, receive);
}

typedef struct Experts { PlRef ids, tokens, inbox; } Experts;

static Experts declare_experts(void)
{
    int n = pl_num_devices();
    PL_NEEDS(n == 2, "two devices, so that all routings can be tried");
    int64_t tokens = PARAMETER(tokens, 2, 1, 4);
    return (Experts){ pl_table_among(PL_I32, 0, EXPERTS - 1, n, tokens), pl_input(PL_I32, tokens, COLUMNS),
                      pl_output(PL_I32, n, tokens, COLUMNS) };
}

PROGRAM(routed_tokens, "each token goes to the device of its expert")
{
    Experts e = declare_experts();
    pl_launch(exchange, .args = { e.ids, e.tokens, e.inbox, pl_dma_semaphore(), pl_dma_semaphore() });
    pl_expect_values(e.inbox, token_received, 0, e.ids, e.tokens);
}

/* Cause:  send, "pl_async_remote_copy" */
PROGRAM(routed_nowhere, "a device whose experts get no token leaves before its own tokens are sent")
{
    Experts e = declare_experts();
    pl_launch(exchange_if_used, .args = { e.ids, e.tokens, e.inbox, pl_dma_semaphore(), pl_dma_semaphore() });
    pl_expect_fault(PL_IN_FLIGHT);
    pl_expect_fault(PL_LEFTOVER);
}
