/* blocks.c - arrays seen block by block, by a pipeline that fetches ahead and writes back behind; and kernels that reach around it.
 *
 *     grid step      0           1           2
 *     fetch      x0  x1          x2          x3        the next block, while this one is worked on
 *     write back                 o0          o1        the last one, likewise
 *
 * Nothing in a kernel can wait for these copies. The wrong ones are right with --windows sequential.
 */
#include <heddle/pallas.h>

enum { ROWS = 8, COLUMNS = 128 };

static void by_row(const int64_t *step, int64_t *block, const PlRef *refs)
{
    (void)refs;
    block[0] = step[0];
}

static void by_next_row(const int64_t *step, int64_t *block, const PlRef *refs)
{
    (void)refs;
    block[0] = step[0] + 1;
}

KERNEL(scale, x, o)
{
    pl_store(o, pl_tile_mul(pl_load(x), pl_tile_full(PL_F32, 2, ROWS, COLUMNS)));
}

static double doubled(const PlRef *x, int device, const int64_t *index)
{
    return 2 * pl_given(x[0], device, index[0], index[1]);
}

PROGRAM(windows_scale, "blocks of rows through windows; the last block hangs over")
{
    int steps = PARAMETER(steps, 3, 1, 64), rows = ROWS * steps - 3;
    PlRef x = pl_input(PL_F32, rows, COLUMNS), o = pl_output(PL_F32, rows, COLUMNS);

    pl_launch(scale, .grid = {steps}, .args = {pl_windows(x, .block = {ROWS, COLUMNS}, .index = by_row),
                                               pl_windows(o, .block = {ROWS, COLUMNS}, .index = by_row, .output = true)});
    pl_expect_values(o, doubled, 0, x);
}

/* An output block that several grid steps in turn work on stays where it is. */
KERNEL(add_up, x, o)
{
    if (pl_program_id(1) == 0)
        pl_store(o, pl_tile_zeros(PL_F32, COLUMNS));
    pl_store(o, pl_tile_add(pl_load(o), pl_load(x)));
}

static void both(const int64_t *step, int64_t *block, const PlRef *refs)
{
    (void)refs;
    block[0] = step[0], block[1] = step[1];
}

enum { TERMS = 3 };

static double sum(const PlRef *x, int device, const int64_t *index)
{
    double total = 0;
    for (int i = 0; i < TERMS; i++)
        total += pl_given(x[0], device, index[0], i, index[1]);
    return total;
}

PROGRAM(windows_accumulate, "output blocks that several grid steps add to")
{
    PlRef x = pl_input(PL_F32, 2, TERMS, COLUMNS), o = pl_output(PL_F32, 2, COLUMNS);

    pl_launch(add_up, .grid = {2, TERMS},
              .args = {pl_windows(x, .block = {PL_SQUEEZED, PL_SQUEEZED, COLUMNS}, .index = both, .buffers = 3),
                       pl_windows(o, .block = {PL_SQUEEZED, COLUMNS}, .index = by_row, .output = true)});
    pl_expect_values(o, sum, 0, x);
}

/* Which block comes next stands in a table in scalar memory. */
KERNEL(gather, table, x, o)
{
    (void)table;
    pl_store(o, pl_load(x));
}

static void by_table(const int64_t *step, int64_t *block, const PlRef *refs)
{
    block[0] = pl_load_int(pl_at(refs[0], step[0]));
}

static const int WANTED[] = { 2, 0, 0, 3 };

static double wanted(int device, const int64_t *index)
{
    return WANTED[(index[0] + device) % 4];
}

static double gathered(const PlRef *x, int device, const int64_t *index)
{
    return pl_given(x[0], device, WANTED[(index[0] + device) % 4], index[1]);
}

PROGRAM(windows_gather, "rows that a table in scalar memory names")
{
    PlRef table = pl_fill(pl_input(PL_I32, 4), wanted), x = pl_input(PL_F32, 4, COLUMNS), o = pl_output(PL_F32, 4, COLUMNS);

    pl_launch(gather, .grid = {4}, .args = {pl_windows(table, .space = PL_SMEM),
                                            pl_windows(x, .block = {1, COLUMNS}, .index = by_table),
                                            pl_windows(o, .block = {1, COLUMNS}, .blocks = pl_blocks(0, 0, 1, 0, 2, 0, 3, 0),
                                                       .output = true)});
    pl_expect_values(o, gathered, 0, x);
}

/* Reads around the windows of an input: who only reads disturbs nobody. */
KERNEL(look_ahead, x, whole, o, next, sem)
{
    int step = pl_program_id(0), last = pl_num_programs(0) - 1;
    pl_copy_wait(pl_async_copy(pl_at(whole, pl_ds(ROWS * (step < last ? step + 1 : 0), ROWS)), next, sem));
    pl_store(o, pl_tile_add(pl_load(x), pl_load(next)));
}

static double with_next(const PlRef *x, int device, const int64_t *index)
{
    return pl_given(x[0], device, index[0], index[1]) + pl_given(x[0], device, (index[0] + ROWS) % (4 * ROWS), index[1]);
}

PROGRAM(windows_look_ahead, "a kernel that reads the array of its windows by copies of its own")
{
    PlRef x = pl_input(PL_F32, 4 * ROWS, COLUMNS), o = pl_output(PL_F32, 4 * ROWS, COLUMNS);

    pl_launch(look_ahead, .grid = {4}, .args = {pl_windows(x, .block = {ROWS, COLUMNS}, .index = by_row), x,
                                                pl_windows(o, .block = {ROWS, COLUMNS}, .index = by_row, .output = true),
                                                pl_vmem(PL_F32, ROWS, COLUMNS), pl_dma_semaphore()});
    pl_expect_values(o, with_next, 0, x);
}

/* Wrong: puts the next block right in HBM, where it is being fetched already. */
KERNEL(patch_next, x, whole, o, sem)
{
    int next = pl_program_id(0) + 1;
    pl_store(o, pl_tile_add(pl_load(x), pl_load(x)));
    if (next < pl_num_programs(0))
        pl_copy_wait(pl_async_copy(o, pl_at(whole, pl_ds(ROWS * next, ROWS)), sem));
}

static double powers(const PlRef *x, int device, const int64_t *index)
{
    return (2 << (index[0] / ROWS)) * pl_given(x[0], device, index[0] % ROWS, index[1]);
}

static void patch_next_block(int buffers)
{
    PlRef given = pl_input(PL_F32, 3 * ROWS, COLUMNS), o = pl_output(PL_F32, 3 * ROWS, COLUMNS);

    pl_launch(patch_next, .grid = {3},
              .args = {pl_windows(given, .block = {ROWS, COLUMNS}, .index = by_row, .buffers = buffers), given,
                       pl_windows(o, .block = {ROWS, COLUMNS}, .index = by_row, .output = true), pl_dma_semaphore()});
    pl_expect_values(o, powers, 0, given);
}

/* Cause:  "pl_copy_wait(pl_async_copy(o, pl_at(whole", x
 * Repair: knob windows */
PROGRAM(windows_patch_next, "wrong: writes a block of its input that is being fetched")
{
    patch_next_block(2);
    pl_expect_fault(PL_RACE);
}

/* With one buffer a block is fetched only when its grid step comes. */
PROGRAM(windows_patch_next_synchronous, "the same with one buffer")
{
    patch_next_block(1);
}

/* Wrong: reads back what the last grid step has left, while it is being written back. */
KERNEL(read_back, x, o, whole, last, sem)
{
    int step = pl_program_id(0);
    if (step == 0) {
        pl_store(o, pl_load(x));
        return;
    }
    pl_copy_wait(pl_async_copy(pl_at(whole, pl_ds(ROWS * (step - 1), ROWS)), last, sem));
    pl_store(o, pl_tile_add(pl_load(x), pl_load(last)));
}

static double prefix(const PlRef *x, int device, const int64_t *index)
{
    double total = 0;
    for (int64_t row = index[0]; row >= 0; row -= ROWS)
        total += pl_given(x[0], device, row, index[1]);
    return total;
}

/* Cause:  "pl_copy_wait(pl_async_copy(pl_at(whole, pl_ds(ROWS * (step - 1)", o
 * Repair: knob windows */
PROGRAM(windows_read_back, "wrong: reads a block of its output that is being written back")
{
    PlRef x = pl_input(PL_F32, 3 * ROWS, COLUMNS), o = pl_output(PL_F32, 3 * ROWS, COLUMNS);

    pl_launch(read_back, .grid = {3}, .args = {pl_windows(x, .block = {ROWS, COLUMNS}, .index = by_row),
                                               pl_windows(o, .block = {ROWS, COLUMNS}, .index = by_row, .output = true), o,
                                               pl_vmem(PL_F32, ROWS, COLUMNS), pl_dma_semaphore()});
    pl_expect_values(o, prefix, 0, x);
    pl_expect_fault(PL_RACE);
}

/* Wrong: the neighbour's next block comes by a remote copy, and is waited for, but not by the fetch that has begun. */
KERNEL(feed_neighbour, x, o, whole, send_sem, recv_sems)
{
    int n = pl_axis_size("x"), right = (pl_axis_index("x") + 1) % n, next = pl_program_id(0) + 1;
    pl_store(o, pl_load(x));
    if (next == pl_num_programs(0))
        return;
    PlCopy feed = pl_async_remote_copy(o, pl_at(whole, pl_ds(ROWS * next, ROWS)), send_sem, pl_at(recv_sems, next), pl_device(right));
    pl_copy_wait(feed);
}

static double fed(const PlRef *x, int device, const int64_t *index)
{
    int n = pl_num_devices(), from = device - (int)(index[0] / ROWS) % n;
    return pl_given(x[0], (from + n) % n, index[0] % ROWS, index[1]);
}

/* Cause:  "pl_async_remote_copy(o, pl_at(whole", x
 * Repair: knob windows */
PROGRAM(windows_feed_neighbour, "wrong: a remote copy into an array whose blocks are being fetched")
{
    PL_NEEDS(pl_num_devices() >= 2, "a neighbour");
    PlRef x = pl_input(PL_F32, 3 * ROWS, COLUMNS), o = pl_output(PL_F32, 3 * ROWS, COLUMNS);

    pl_launch(feed_neighbour, .grid = {3}, .args = {pl_windows(x, .block = {ROWS, COLUMNS}, .index = by_row),
                                                    pl_windows(o, .block = {ROWS, COLUMNS}, .index = by_row, .output = true), x,
                                                    pl_dma_semaphore(), pl_dma_semaphore(3)});
    pl_expect_values(o, fed, 0, x);
    pl_expect_fault(PL_RACE, .from = 2);
}

/* Wrong: input and output are one array, and each grid step writes the block that the next one reads. */
PROGRAM(windows_in_place_recurrence, "wrong: writes a block of an array that is its input, too, and is fetched ahead")
{
    PlRef x = pl_input(PL_F32, 4 * ROWS, COLUMNS);

    pl_launch(scale, .grid = {3}, .args = {pl_windows(x, .block = {ROWS, COLUMNS}, .index = by_row),
                                           pl_windows(x, .block = {ROWS, COLUMNS}, .index = by_next_row, .output = true)});
    pl_expect_fault(PL_RACE);
}

/* The same array as input and output is fine block by block: each is fetched before it is written. */
PROGRAM(windows_in_place, "input and output are one array")
{
    PlRef x = pl_input(PL_F32, 4 * ROWS, COLUMNS);

    pl_launch(scale, .grid = {4}, .args = {pl_windows(x, .block = {ROWS, COLUMNS}, .index = by_row),
                                           pl_windows(x, .block = {ROWS, COLUMNS}, .index = by_row, .output = true)});
    pl_expect_values(x, doubled, 0, x);
}

/* Wrong: comes back to an output block that it has left. */
PROGRAM(windows_come_back, "wrong: an output block is visited again after another one")
{
    PlRef x = pl_input(PL_F32, 2 * ROWS, COLUMNS), o = pl_output(PL_F32, 2 * ROWS, COLUMNS);

    pl_launch(scale, .grid = {3}, .args = {pl_windows(x, .block = {ROWS, COLUMNS}, .blocks = pl_blocks(0, 0, 1, 0, 0, 0)),
                                           pl_windows(o, .block = {ROWS, COLUMNS}, .blocks = pl_blocks(0, 0, 1, 0, 0, 0),
                                                      .output = true)});
    pl_expect_fault(PL_REVISIT);
}

/* The same is fine where blocks that begin are fetched: nothing is lost. */
KERNEL(count_up, o)
{
    pl_store(o, pl_tile_add(pl_load(o), pl_tile_full(PL_F32, pl_program_id(0) + 1, ROWS, COLUMNS)));
}

static double counted(const PlRef *o, int device, const int64_t *index)
{
    return pl_given(o[0], device, index[0], index[1]) + (index[0] < ROWS ? 1 + 3 : 2);
}

PROGRAM(windows_revisit, "output blocks that a kernel may come back to")
{
    PlRef o = pl_input(PL_F32, 2 * ROWS, COLUMNS);

    pl_launch(count_up, .grid = {3}, .args = {pl_windows(o, .block = {ROWS, COLUMNS}, .blocks = pl_blocks(0, 0, 1, 0, 0, 0),
                                                         .output = true, .revisit = true, .buffers = 1)});
    pl_expect_values(o, counted, 0, o);
}
