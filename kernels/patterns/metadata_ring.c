/* metadata_ring.c - numbers of rows go round a ring until everybody knows all of them; then rows are scattered to where they belong.
 *
 * With the whole table at hand each device computes where its rows start at each receiver, so they land close together, without gaps and
 * without anybody being asked. All of it rests on the table being complete before the first offset is computed.
 */
#include <heddle/pallas.h>

enum { MOST = 2 };

typedef struct Scatter { PlRef input, output, own, table, copy_sem, ring_send, ring_recv, row_send, row_recv; } Scatter;
typedef struct Choice { bool one_semaphore, scatters_too_soon, skips_a_sender; } Choice;

static int rows_from_to(int from, int to) { return (from + 2 * to) % (MOST + 1); }

static double routed(int device, const int64_t *index)
{
    return rows_from_to(device, (int)index[0]);
}

static void pass_on(Scatter s, int step, bool one_semaphore, bool wait)
{
    int n = pl_num_devices(), me = pl_device_id();
    PlRef line = pl_at(s.table, (me - step + n) % n);
    PlCopy pass = pl_make_async_remote_copy(line, line, s.ring_send, pl_at(s.ring_recv, one_semaphore ? 0 : step),
                                            pl_device((me + 1) % n));
    pl_copy_start(pass);
    pl_copy_wait_send(pass);
    if (wait)
        pl_copy_wait_recv(pass);
}

/* Row at which those of `from` start at `to`. The wrong twin overlooks the sender before. */
static int offset_of(Scatter s, int from, int to, bool skips)
{
    int offset = 0;
    for (int before = 0; before < (skips ? from - 1 : from); before++)
        offset += pl_load_int(pl_at(s.table, before, to));
    return offset;
}

static void scatter(Scatter s, Choice choice)
{
    int n = pl_num_devices(), me = pl_device_id(), sent = 0, come = 0;
    PlCopy own = pl_make_async_copy(s.own, pl_at(s.table, me), s.copy_sem);
    pl_copy_start(own);
    pl_copy_wait(own);
    for (int step = 0; step < n - 1; step++)
        pass_on(s, step, choice.one_semaphore, !choice.scatters_too_soon || step < n - 2);
    for (int i = 0; i < n; i++) {
        int to = (me + i) % n, rows = pl_load_int(pl_at(s.table, me, to));
        PlRef there = pl_at(s.output, pl_ds(offset_of(s, me, to, choice.skips_a_sender), rows));
        pl_async_remote_copy(pl_at(s.input, to, pl_ds(0, rows)), there, s.row_send, s.row_recv, pl_device(to));
        sent += rows;
    }
    if (choice.scatters_too_soon && n > 1) {
        PlRef line = pl_at(s.table, me);
        pl_copy_wait(pl_make_async_copy(line, line, pl_at(s.ring_recv, n - 2)));
    }
    for (int from = 0; from < n; from++)
        come += pl_load_int(pl_at(s.table, from, me));
    PlRef all_come = pl_at(s.output, pl_ds(0, come)), all_sent = pl_at(s.output, pl_ds(0, sent));
    pl_copy_wait(pl_make_async_copy(all_come, all_come, s.row_recv));
    pl_copy_wait(pl_make_async_copy(all_sent, all_sent, s.row_send));
}

#define SCATTER_KERNEL(name, ...) \
    KERNEL(name, input, output, own, table, copy_sem, ring_send, ring_recv, row_send, row_recv) \
    { \
        scatter((Scatter){ input, output, own, table, copy_sem, ring_send, ring_recv, row_send, row_recv }, (Choice){ __VA_ARGS__ }); \
    }

SCATTER_KERNEL(metadata_ring, .one_semaphore = false)
SCATTER_KERNEL(metadata_ring_one_semaphore, .one_semaphore = true)
SCATTER_KERNEL(metadata_ring_too_soon, .scatters_too_soon = true)
SCATTER_KERNEL(metadata_ring_overlap, .skips_a_sender = true)

/* Row r of the output is the next row that is due from the first sender whose rows reach that far. */
static double close_together(const PlRef *refs, int device, const int64_t *index)
{
    int64_t row = index[0];
    for (int from = 0; from < pl_num_devices(); from++) {
        if (row < rows_from_to(from, device))
            return pl_given(refs[0], from, device, row, index[1]);
        row -= rows_from_to(from, device);
    }
    return PL_ANY_VALUE;
}

#define SCATTER_PROGRAM(kernel) \
    int n = pl_num_devices(); \
    PlRef input = pl_input(PL_F32, n, MOST, 128), output = pl_output(PL_F32, n * MOST, 128); \
    PlRef own = pl_fill(pl_input_in(PL_SMEM, PL_I32, n), routed); \
    pl_launch(kernel, .args = { input, output, own, pl_smem(PL_I32, n, n), pl_dma_semaphore(), pl_dma_semaphore(), \
                                pl_dma_semaphore(n > 1 ? n - 1 : 1), pl_dma_semaphore(), pl_dma_semaphore() }); \
    pl_expect_values(output, close_together, 0.0, input)

PROGRAM(metadata_ring, "numbers of rows round a ring, then a scatter without gaps")
{
    SCATTER_PROGRAM(metadata_ring);
}

/* Cause:  ring_recv, "pl_copy_wait_recv(pass)"
 * Repair: semaphore ring_recv */
PROGRAM(metadata_ring_one_semaphore, "wrong: one receive semaphore for all steps of the ring")
{
    pl_expect_fault(PL_RACE, .from = 3);
    SCATTER_PROGRAM(metadata_ring_one_semaphore);
}

/* Cause:  "pl_copy_wait(pl_make_async_copy(line"
 * Repair: wait ring_recv */
PROGRAM(metadata_ring_too_soon, "wrong: the last line of the table is waited for after the scatter that reads it")
{
    pl_expect_fault(PL_RACE, .from = 2);
    SCATTER_PROGRAM(metadata_ring_too_soon);
}

/* Cause:  output, "PlRef there"
 * Repair: index "PlRef there" */
PROGRAM(metadata_ring_overlap, "wrong: offsets overlook the sender before, so two senders write the same rows")
{
    pl_expect_fault(PL_RACE, .from = 3);
    pl_expect_fault(PL_UNINITIALISED, .from = 3);               /* the rows behind those stay as they were */
    SCATTER_PROGRAM(metadata_ring_overlap);
}
