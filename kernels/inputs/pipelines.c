/* pipelines.c - copies ahead of the work, in kernels whose number of steps, first row or sizes are an input.
 *
 * The wrong ones are right with the input that a check takes by itself; --inputs finds the others.
 */
#include <heddle/pallas.h>

enum { SLOTS = 2, COLUMNS = 8, STEPS_MOST = 6 };

static void fetch(PlRef x, PlRef slots, PlRef sems, int64_t step)
{
    pl_async_copy(pl_at(x, step), pl_at(slots, step % SLOTS), pl_at(sems, step % SLOTS));
}

static void await(PlRef x, PlRef slots, PlRef sems, int64_t step)
{
    pl_copy_wait(pl_make_async_copy(pl_at(x, step), pl_at(slots, step % SLOTS), pl_at(sems, step % SLOTS)));
}

/* ---- a look-ahead: the copy of step i + SLOTS starts when step i is done ---- */

static void work(int64_t steps, PlRef x, PlRef o, PlRef slots, PlRef sems)
{
    for (int64_t i = 0; i < steps; i++) {
        await(x, slots, sems, i);
        pl_store(pl_at(o, i), pl_load(pl_at(slots, i % SLOTS)));
        if (i + SLOTS < steps)
            fetch(x, slots, sems, i + SLOTS);
    }
}

KERNEL(look_ahead, steps, x, o, slots, sems)
{
    int64_t n = pl_load_int(steps);
    for (int64_t i = 0; i < SLOTS && i < n; i++)
        fetch(x, slots, sems, i);
    PL_CALL(work(n, x, o, slots, sems));
}

/* Fills both slots, even if there is only one step, or none. */
KERNEL(look_ahead_always, steps, x, o, slots, sems)
{
    for (int64_t i = 0; i < SLOTS; i++)
        fetch(x, slots, sems, i);
    PL_CALL(work(pl_load_int(steps), x, o, slots, sems));
}

static double row_if_worked_on(const PlRef *refs, int device, const int64_t *index)
{
    return index[0] < pl_given(refs[0], device) ? pl_given(refs[1], device, index[0], index[1]) : PL_ANY_VALUE;
}

typedef struct Pipeline { PlRef steps, x, o; } Pipeline;

static Pipeline declare_pipeline(void)
{
    return (Pipeline){ pl_table_among(PL_I32, 0, STEPS_MOST), pl_input(PL_I32, STEPS_MOST, COLUMNS),
                       pl_output_in(PL_VMEM, PL_I32, STEPS_MOST, COLUMNS) };
}

PROGRAM(look_ahead_steps, "a pipeline of two slots with a number of steps that is an input")
{
    Pipeline p = declare_pipeline();
    pl_launch(look_ahead, .args = { p.steps, p.x, p.o, pl_vmem(PL_I32, SLOTS, COLUMNS), pl_dma_semaphore(SLOTS) });
    pl_expect_values(p.o, row_if_worked_on, 0, p.steps, p.x);
}

/* Cause:  sems, "pl_async_copy" */
PROGRAM(look_ahead_too_short, "fewer steps than slots: copies that nobody waits for")
{
    Pipeline p = declare_pipeline();
    pl_launch(look_ahead_always, .args = { p.steps, p.x, p.o, pl_vmem(PL_I32, SLOTS, COLUMNS), pl_dma_semaphore(SLOTS) });
    pl_expect_fault(PL_IN_FLIGHT);
    pl_expect_fault(PL_LEFTOVER);
}

/* ---- rows written back by two slots in turn: at the end the last copies are waited for ---- */

static void write_back(int64_t steps, PlRef o, PlRef slots, PlRef sems)
{
    for (int64_t i = 0; i < steps; i++) {
        if (i >= SLOTS)
            await(o, slots, sems, i - SLOTS);
        pl_store(pl_at(slots, i % SLOTS), pl_tile_full(PL_I32, (double)i, COLUMNS));
        pl_async_copy(pl_at(slots, i % SLOTS), pl_at(o, i), pl_at(sems, i % SLOTS));
    }
}

KERNEL(drain, steps, o, slots, sems)
{
    int64_t n = pl_load_int(steps);
    PL_CALL(write_back(n, o, slots, sems));
    for (int64_t i = n < SLOTS ? 0 : n - SLOTS; i < n; i++)
        await(o, slots, sems, i);
}

/* Each slot has one copy left, or so it seems. */
KERNEL(drain_pairs, steps, o, slots, sems)
{
    int64_t n = pl_load_int(steps);
    PL_CALL(write_back(n, o, slots, sems));
    for (int64_t i = n / SLOTS * SLOTS - SLOTS; i >= 0 && i < n / SLOTS * SLOTS; i++)
        await(o, slots, sems, i);
}

static double number_of_row(const PlRef *refs, int device, const int64_t *index)
{
    return index[0] < pl_given(refs[0], device) ? (double)index[0] : PL_ANY_VALUE;
}

PROGRAM(write_back_steps, "rows are written back by two slots in turn")
{
    PlRef steps = pl_table_among(PL_I32, 1, STEPS_MOST), o = pl_output(PL_I32, STEPS_MOST, COLUMNS);
    pl_launch(drain, .args = { steps, o, pl_vmem(PL_I32, SLOTS, COLUMNS), pl_dma_semaphore(SLOTS) });
    pl_expect_values(o, number_of_row, 0, steps);
}

/* Cause:  sems, "pl_async_copy" */
PROGRAM(write_back_even, "waits at the end as if the number of steps were even")
{
    PlRef steps = pl_table_among(PL_I32, 1, STEPS_MOST), o = pl_output(PL_I32, STEPS_MOST, COLUMNS);
    pl_launch(drain_pairs, .args = { steps, o, pl_vmem(PL_I32, SLOTS, COLUMNS), pl_dma_semaphore(SLOTS) });
    pl_expect_fault(PL_IN_FLIGHT);
    pl_expect_fault(PL_LEFTOVER);
}

/* ---- a window of rows, fetched in blocks: a window that starts inside a block reaches into one more ---- */

enum { BLOCK = 2, WINDOW = 4, ROWS = 10 };

static void fetch_blocks(int64_t first, int64_t blocks, PlRef x, PlRef local, PlRef sem)
{
    for (int64_t b = 0; b < blocks; b++)
        pl_async_copy(pl_at(x, pl_ds((first + b) * BLOCK, BLOCK)), pl_at(local, pl_ds(b * BLOCK, BLOCK)), sem);
    for (int64_t b = 0; b < blocks; b++)
        pl_copy_wait(pl_make_async_copy(pl_at(x, pl_ds(0, BLOCK)), pl_at(local, pl_ds(0, BLOCK)), sem));
}

KERNEL(slide, start, x, o, local, sem)
{
    int64_t first = pl_load_int(start), blocks = (first + WINDOW - 1) / BLOCK - first / BLOCK + 1;
    PL_CALL(fetch_blocks(first / BLOCK, blocks, x, local, sem));
    pl_store(o, pl_load(pl_at(local, pl_ds(first % BLOCK, WINDOW))));
}

KERNEL(slide_blocks, start, x, o, local, sem)
{
    int64_t first = pl_load_int(start);
    PL_CALL(fetch_blocks(first / BLOCK, WINDOW / BLOCK, x, local, sem));
    pl_store(o, pl_load(pl_at(local, pl_ds(first % BLOCK, WINDOW))));
}

static double row_of_window(const PlRef *refs, int device, const int64_t *index)
{
    return pl_given(refs[1], device, (int64_t)pl_given(refs[0], device) + index[0], index[1]);
}

PROGRAM(window_slides, "a window of rows that may start inside a block")
{
    PlRef start = pl_table_among(PL_I32, 0, ROWS - WINDOW), x = pl_input(PL_I32, ROWS, COLUMNS);
    PlRef o = pl_output_in(PL_VMEM, PL_I32, WINDOW, COLUMNS);
    pl_launch(slide, .args = { start, x, o, pl_vmem(PL_I32, WINDOW + BLOCK, COLUMNS), pl_dma_semaphore() });
    pl_expect_values(o, row_of_window, 0, start, x);
}

/* Cause:  o, "pl_store" */
PROGRAM(window_starts_late, "fetches as many blocks as the window is long")
{
    PlRef start = pl_table_among(PL_I32, 0, ROWS - WINDOW), x = pl_input(PL_I32, ROWS, COLUMNS);
    PlRef o = pl_output_in(PL_VMEM, PL_I32, WINDOW, COLUMNS);
    pl_launch(slide_blocks, .args = { start, x, o, pl_vmem(PL_I32, WINDOW + BLOCK, COLUMNS), pl_dma_semaphore() });
    pl_expect_values(o, row_of_window, 0, start, x);
    pl_expect_fault(PL_UNINITIALISED);
}

/* ---- chunks of different sizes through one slot: who waits must wait for the chunk that was started ---- */

enum { CHUNKS = 3, CHUNK_MOST = 2 };

static void start_chunk(PlRef x, PlRef slot, PlRef sem, int64_t chunk, int64_t rows)
{
    pl_async_copy(pl_at(slot, pl_ds(0, rows)), pl_at(x, chunk, pl_ds(0, rows)), sem);
}

static void wait_chunk(PlRef x, PlRef slot, PlRef sem, int64_t rows)
{
    pl_copy_wait(pl_make_async_copy(pl_at(slot, pl_ds(0, rows)), pl_at(x, 0, pl_ds(0, rows)), sem));
}

static void fill(PlRef slot, int64_t chunk, int64_t rows)
{
    pl_store(pl_at(slot, pl_ds(0, rows)), pl_tile_full(PL_I32, (double)chunk, rows, COLUMNS));
}

KERNEL(chunks, sizes, o, slot, sem)
{
    for (int64_t c = 0; c < CHUNKS; c++) {
        if (c > 0)
            wait_chunk(o, slot, sem, pl_load_int(pl_at(sizes, c - 1)));
        fill(slot, c, pl_load_int(pl_at(sizes, c)));
        start_chunk(o, slot, sem, c, pl_load_int(pl_at(sizes, c)));
    }
    wait_chunk(o, slot, sem, pl_load_int(pl_at(sizes, CHUNKS - 1)));
}

/* Waits for the size of the chunk that is to come. */
KERNEL(chunks_next, sizes, o, slot, sem)
{
    for (int64_t c = 0; c < CHUNKS; c++) {
        if (c > 0)
            wait_chunk(o, slot, sem, pl_load_int(pl_at(sizes, c)));
        fill(slot, c, pl_load_int(pl_at(sizes, c)));
        start_chunk(o, slot, sem, c, pl_load_int(pl_at(sizes, c)));
    }
    wait_chunk(o, slot, sem, pl_load_int(pl_at(sizes, 0)));     /* the sum is right */
}

static double number_of_chunk(const PlRef *refs, int device, const int64_t *index)
{
    return index[1] < pl_given(refs[0], device, index[0]) ? (double)index[0] : PL_ANY_VALUE;
}

PROGRAM(chunk_sizes, "chunks of different sizes through one slot")
{
    PlRef sizes = pl_table_among(PL_I32, 1, CHUNK_MOST, CHUNKS), o = pl_output(PL_I32, CHUNKS, CHUNK_MOST, COLUMNS);
    pl_launch(chunks, .args = { sizes, o, pl_vmem(PL_I32, CHUNK_MOST, COLUMNS), pl_dma_semaphore() });
    pl_expect_values(o, number_of_chunk, 0, sizes);
}

/* Cause:  sem, "pl_copy_wait" */
PROGRAM(chunk_sizes_differ, "waits for the size of the next chunk: right while sizes do not change")
{
    PlRef sizes = pl_table_among(PL_I32, 1, CHUNK_MOST, CHUNKS), o = pl_output(PL_I32, CHUNKS, CHUNK_MOST, COLUMNS);
    pl_launch(chunks_next, .args = { sizes, o, pl_vmem(PL_I32, CHUNK_MOST, COLUMNS), pl_dma_semaphore() });
    pl_expect_fault(PL_DEADLOCK);
}
