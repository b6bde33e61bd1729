/* test_windows.c - arrays seen through windows: what the pipeline copies when, as races show it; misuse; the words of reports.
 *
 * Each kernel that is right has a twin that differs in one thing. By the proof and by enumeration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/pallas.h>
#include "../../checker/advise/advise.h"
#include "../../checker/check/catalogue.h"
#include "../../checker/report/message.h"
#include "../../kernels/pallas/module.h"
#include "../../model/rng.h"
#include "../support/checked.h"

enum { WIDTH = 8 };

static void by_step(const int64_t *step, int64_t *block, const PlRef *refs)
{
    (void)refs;
    block[0] = step[0];
}

static void always_second(const int64_t *step, int64_t *block, const PlRef *refs)
{
    (void)step, (void)refs;
    block[0] = 1;
}

static void by_half(const int64_t *step, int64_t *block, const PlRef *refs)
{
    (void)refs;
    block[0] = step[0] / 2;
}

#define ROWS_OF(array, ...) pl_windows(array, .block = {PL_SQUEEZED, WIDTH}, .index = by_step, __VA_ARGS__)

static PlRef rows(int count)
{
    return pl_input(PL_I32, count, WIDTH);
}

/* ---- how far ahead ---- */

KERNEL(writes_two_ahead, x, whole, value, sem)
{
    int row = pl_program_id(0) + 2;
    pl_load(x);
    if (row < pl_num_programs(0))
        pl_copy_wait(pl_async_copy(value, pl_at(whole, row), sem));
}

static void write_two_ahead(int buffers)
{
    PlRef x = rows(4);
    pl_launch(writes_two_ahead, .grid = {4}, .args = {ROWS_OF(x, .buffers = buffers), x, pl_input(PL_I32, WIDTH), pl_dma_semaphore()});
}

PROGRAM(two_ahead_of_two_buffers, "the fetch of the block after the next has not begun")
{
    write_two_ahead(2);
}

PROGRAM(two_ahead_of_three_buffers, "with three buffers it has")
{
    write_two_ahead(3);
    pl_expect_fault(PL_RACE);
}

/* ---- blocks that stay ---- */

KERNEL(writes_own_block, x, whole, value, sem)
{
    pl_load(x);
    pl_copy_wait(pl_async_copy(value, pl_at(whole, pl_ds(pl_program_id(0) / 2, 1)), sem));
}

/* Each step writes the block that it works on, which was fetched before and is not fetched again. */
PROGRAM(blocks_stay, "a block that two steps in turn work on is fetched once")
{
    PlRef x = rows(2);
    pl_launch(writes_own_block, .grid = {4}, .args = {pl_windows(x, .block = {1, WIDTH}, .index = by_half), x, pl_input(PL_I32, 1, WIDTH),
                                                      pl_dma_semaphore()});
}

KERNEL(writes_first_block, x, whole, value, sem)
{
    pl_load(x);
    pl_copy_wait(pl_async_copy(value, pl_at(whole, pl_ds(0, 1)), sem));
}

PROGRAM(blocks_come_again, "an input block that was left is fetched again")
{
    PlRef x = rows(2);
    pl_launch(writes_first_block, .grid = {3}, .args = {pl_windows(x, .block = {1, WIDTH}, .blocks = pl_blocks(0, 0, 1, 0, 0, 0)), x,
                                                        pl_input(PL_I32, 1, WIDTH), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE);
}

/* ---- how long a write-back may last ---- */

KERNEL(reads_older, o, whole, tmp, sem)
{
    int back = pl_parameter(back), row = pl_program_id(0) - back;
    pl_store(o, pl_tile_full(PL_I32, 7, WIDTH));
    if (row >= 0)
        pl_copy_wait(pl_async_copy(pl_at(whole, row), tmp, sem));
}

static void read_older(int back, int buffers)
{
    PlRef o = pl_output(PL_I32, 4, WIDTH);
    PARAMETER(back, back, 1, 3);
    pl_launch(reads_older, .grid = {4}, .args = {ROWS_OF(o, .buffers = buffers, .output = true), o, pl_vmem(PL_I32, WIDTH),
                                                 pl_dma_semaphore()});
}

PROGRAM(reads_two_back_of_two_buffers, "the room of that block is needed again, so it is written back")
{
    read_older(2, 2);
}

PROGRAM(reads_two_back_of_three_buffers, "with three buffers it may still be on its way")
{
    read_older(2, 3);
    pl_expect_fault(PL_RACE);
}

PROGRAM(reads_one_back_of_one_buffer, "with one buffer all is written back")
{
    read_older(1, 1);
}

/* ---- the room itself ---- */

KERNEL(sends_room, x, kept, sem)
{
    int step = pl_program_id(0);
    if (step > 0)
        pl_copy_wait(pl_make_async_copy(x, pl_at(kept, step - 1), sem));
    pl_async_copy(x, pl_at(kept, step), sem);
    if (pl_last_step())
        pl_copy_wait(pl_make_async_copy(x, pl_at(kept, step), sem));
}

PROGRAM(sends_input_room, "a copy out of a window goes on in the next step, whose fetch ahead takes that room")
{
    pl_launch(sends_room, .grid = {3}, .args = {ROWS_OF(rows(3)), pl_output(PL_I32, 3, WIDTH), pl_dma_semaphore()});
    pl_expect_fault(PL_RACE);
}

PROGRAM(sends_input_room_of_three, "with three buffers the room is still free")
{
    PlRef x = rows(3), kept = pl_output(PL_I32, 3, WIDTH);
    pl_launch(sends_room, .grid = {3}, .args = {ROWS_OF(x, .buffers = 4), kept, pl_dma_semaphore()});
    pl_expect_equal(kept, x);
}

KERNEL(sends_output_room, o, kept, sem)
{
    int step = pl_program_id(0);
    pl_store(o, pl_tile_full(PL_I32, step, WIDTH));
    if (step > 0)
        pl_copy_wait(pl_make_async_copy(o, pl_at(kept, step - 1), sem));
    pl_async_copy(o, pl_at(kept, step), sem);
    if (pl_last_step())
        pl_copy_wait(pl_make_async_copy(o, pl_at(kept, step), sem));
}

static void send_output_room(int buffers)
{
    pl_launch(sends_output_room, .grid = {3}, .args = {ROWS_OF(pl_output(PL_I32, 3, WIDTH), .output = true, .buffers = buffers),
                                                       pl_output(PL_I32, 3, WIDTH), pl_dma_semaphore()});
}

PROGRAM(sends_output_room, "a copy out of an output's window goes on in the next step, which works in the other room")
{
    send_output_room(2);
}

PROGRAM(sends_output_room_of_one, "there is no other room")
{
    send_output_room(1);
    pl_expect_fault(PL_RACE);
}

/* ---- over the end, in scalar memory, whole arrays ---- */

KERNEL(doubles, x, factor, o)
{
    pl_store(o, pl_tile_mul(pl_load(x), pl_tile_full(PL_I32, pl_load_int(factor), 3)));
}

static double seven(int device, const int64_t *index)
{
    (void)device, (void)index;
    return 7;
}

static double sevenfold(const PlRef *x, int device, const int64_t *index)
{
    return 7 * pl_given(x[0], device, index[0]);
}

static void multiply(int64_t size)
{
    PlRef x = pl_input(PL_I32, 7), o = pl_output(PL_I32, size);
    pl_launch(doubles, .grid = {3}, .args = {pl_windows(x, .block = {3}, .index = by_step),
                                             pl_windows(pl_fill(pl_input(PL_I32), seven), .space = PL_SMEM),
                                             pl_windows(o, .block = {3}, .index = by_step, .output = true)});
    pl_expect_values(o, sevenfold, 0, x);
}

PROGRAM(hangs_over, "the last block hangs over the end")
{
    multiply(7);
}

PROGRAM(begins_outside, "a block that begins outside")
{
    multiply(6);
    pl_expect_fault(PL_OUT_OF_BOUNDS);
}

KERNEL(looks_at_tail, x, o)
{
    pl_store_int(o, pl_load_int(pl_at(x, 2)));
}

PROGRAM(tail_is_unwritten, "what hangs over holds nothing")
{
    pl_launch(looks_at_tail, .grid = {3}, .args = {pl_windows(pl_input(PL_I32, 7), .block = {3}, .index = by_step), pl_smem(PL_I32)});
    pl_expect_fault(PL_UNINITIALISED);
}

KERNEL(adds_to_output, o)
{
    pl_store(o, pl_tile_add(pl_load(o), pl_load(o)));
}

PROGRAM(outputs_begin_unwritten, "an output's window holds nothing of the array")
{
    PlRef x = rows(2);
    pl_launch(adds_to_output, .grid = {2}, .args = {ROWS_OF(x, .output = true)});
    pl_expect_equal(x, x);
    pl_expect_fault(PL_UNINITIALISED);
}

/* Element by element: blocks that overlap. */
KERNEL(sums, x, o)
{
    pl_store_int(pl_at(o, 0), pl_load_int(pl_at(x, 0)) + pl_load_int(pl_at(x, 1)));
}

static double sum_of_two(const PlRef *x, int device, const int64_t *index)
{
    return pl_given(x[0], device, index[0]) + pl_given(x[0], device, index[0] + 1);
}

PROGRAM(blocks_overlap, "blocks of two elements, one element apart")
{
    PlRef x = pl_input(PL_I32, 4), o = pl_output(PL_I32, 3);
    pl_launch(sums, .grid = {3}, .args = {pl_windows(x, .block = {2}, .stride = {1}, .index = by_step, .space = PL_SMEM),
                                          pl_windows(o, .block = {1}, .index = by_step, .output = true, .space = PL_SMEM)});
    pl_expect_values(o, sum_of_two, 0, x);
}

/* ---- several cores, several launches ---- */

KERNEL(moves_on, x, o)
{
    pl_store(o, pl_load(x));
}

static void move_on(PlRef x, PlRef o, bool one_core, bool parallel)
{
    pl_launch(moves_on, .grid = {4}, .one_core = one_core, .dimension_semantics = {parallel ? PL_PARALLEL : PL_ARBITRARY},
              .args = {ROWS_OF(x), ROWS_OF(o, .output = true)});
}

PROGRAM(cores_share_a_grid, "each core has its part of the grid, and windows of its own; a second launch takes what the first left")
{
    PlRef x = rows(4), between = pl_hbm(PL_I32, 4, WIDTH), o = pl_output(PL_I32, 4, WIDTH);
    move_on(x, o, false, true);
    move_on(o, between, true, false);
    pl_expect_equal(o, x);
}

PROGRAM(cores_do_the_same, "two cores that both write all of the output")
{
    move_on(rows(4), pl_output(PL_I32, 4, WIDTH), false, false);
    pl_expect_fault(PL_RACE);
}

PROGRAM(second_block_always, "an index that never changes")
{
    PlRef x = rows(2), o = pl_output(PL_I32, 2, WIDTH);
    pl_launch(moves_on, .grid = {3}, .args = {pl_windows(x, .block = {1, WIDTH}, .index = always_second),
                                              pl_windows(o, .block = {1, WIDTH}, .index = always_second, .output = true)});
}

KERNEL(overwrites_all, x, whole, value, sem)
{
    (void)x;
    pl_copy_wait(pl_async_copy(value, whole, sem));
}

PROGRAM(too_many_to_tell_apart, "an array of more blocks than have names of their own")
{
    PlRef x = pl_opaque(pl_input(PL_I8, 8192, 4096)), value = pl_opaque(pl_input(PL_I8, 8192, 4096));
    pl_launch(overwrites_all, .grid = {2}, .args = {pl_windows(x, .block = {1, WIDTH}, .stride = {1, 1}, .index = by_step), x, value,
                                                    pl_dma_semaphore()});
    pl_expect_fault(PL_RACE);
}

/* ---- random grids: which block each step works on, and one access around the windows ---- */

enum { STEPS = 5, X_ROWS = 3, SEEDS = 160, SEEDS_WALKED = 20 };

typedef struct Grid {
    int x[STEPS], o[STEPS];                     /* rows; an output's never come back */
    int x_buffers, o_buffers;
    int step, row;                              /* where the access is, and of what */
    bool of_x, writes;
} Grid;

static Grid grid_of(int seed)
{
    Grid grid = { 0 };
    uint64_t state = (uint64_t)seed * 64;
    for (int t = 0; t < STEPS; t++) {
        grid.x[t] = (int)(rng_mix(++state) % X_ROWS);
        grid.o[t] = t == 0 ? 0 : grid.o[t - 1] + (int)(rng_mix(++state) % 2);
    }
    grid.x_buffers = 1 + (int)(rng_mix(++state) % 4), grid.o_buffers = 1 + (int)(rng_mix(++state) % 4);
    grid.step = (int)(rng_mix(++state) % STEPS), grid.of_x = rng_mix(++state) % 2, grid.writes = rng_mix(++state) % 4 != 0;
    int any = (int)(rng_mix(++state) % 12), near = grid.o[grid.step] + 1 - any % 4;
    grid.row = grid.of_x ? any % X_ROWS : CLAMP(near, 0, STEPS - 1);
    return grid;
}

KERNEL(reaches_around, x, o, all_x, all_o, tmp, sem)
{
    const Grid grid = grid_of((int)pl_parameter(seed));
    pl_store(o, pl_load(x));
    if (pl_program_id(0) != grid.step)
        return;
    PlRef row = pl_at(grid.of_x ? all_x : all_o, grid.row);
    pl_copy_wait(grid.writes ? pl_async_copy(tmp, row, sem) : pl_async_copy(row, tmp, sem));
}

PROGRAM(random_windows, "random blocks, and one access around the windows")
{
    const Grid grid = grid_of((int)PARAMETER(seed, 0, 0, 1 << 20));
    PlRef x = rows(X_ROWS), o = rows(STEPS);
    const int *at = grid.x, *to = grid.o;
    pl_launch(reaches_around, .grid = {STEPS},
              .args = {pl_windows(x, .block = {PL_SQUEEZED, WIDTH}, .buffers = grid.x_buffers,
                                  .blocks = pl_blocks(at[0], 0, at[1], 0, at[2], 0, at[3], 0, at[4], 0)),
                       pl_windows(o, .block = {PL_SQUEEZED, WIDTH}, .buffers = grid.o_buffers, .output = true,
                                  .blocks = pl_blocks(to[0], 0, to[1], 0, to[2], 0, to[3], 0, to[4], 0)),
                       x, o, pl_input_in(PL_VMEM, PL_I32, WIDTH), pl_dma_semaphore()});
}

/* ---- misuse ---- */

#define MISUSE(name, ...) PROGRAM(name, "misuse") { pl_launch(moves_on, __VA_ARGS__); }

MISUSE(window_of_semaphores, .args = {pl_windows(pl_dma_semaphore(8)), pl_vmem(PL_I32, 8)})
MISUSE(window_of_three_dimensions, .args = {pl_windows(pl_input(PL_I32, 8), .block = {1, 8}), pl_vmem(PL_I32, 8)})
MISUSE(window_without_a_size, .args = {pl_windows(pl_input(PL_I32, 8, 8), .block = {1}), pl_vmem(PL_I32, 8)})
MISUSE(window_with_a_short_table, .grid = {3},
       .args = {pl_windows(rows(2), .block = {1, 8}, .blocks = pl_blocks(0, 0, 1, 0)), pl_vmem(PL_I32, 8)})
MISUSE(window_with_two_answers, .grid = {1},
       .args = {pl_windows(rows(2), .block = {1, 8}, .blocks = pl_blocks(0, 0), .index = by_step), pl_vmem(PL_I32, 8)})
MISUSE(window_with_nine_buffers, .args = {pl_windows(pl_input(PL_I32, 8), .buffers = 9), pl_vmem(PL_I32, 8)})
MISUSE(window_that_revisits_with_two_buffers,
       .args = {pl_windows(pl_input(PL_I32, 8), .output = true, .revisit = true), pl_vmem(PL_I32, 8)})
MISUSE(window_of_a_window, .args = {pl_windows(pl_windows(pl_input(PL_I32, 8))), pl_vmem(PL_I32, 8)})

PROGRAM(window_for_the_host, "misuse")
{
    pl_host(moves_on, pl_windows(pl_input(PL_I32, 8)), pl_vmem(PL_I32, 8));
}

/* ---- */

static CheckResult *check_windows(const char *program, uint32_t devices, uint32_t cores, Windows windows, Search search)
{
    CheckSpec spec = checked_spec(program, devices, cores, search);
    spec.knobs.windows = windows;
    return checked(&spec);
}

static unsigned faults_decided(const CheckResult *result)
{
    if (result->verdict != VERDICT_VERIFIED && result->verdict != VERDICT_FAULTY)
        fail_msg("%s: %s", result->spec->program, result->error ? result->error : verdict_name(result->verdict));
    return checked_faults(result);
}

/* What the program says of itself, by both searches. */
static void assert_as_declared_on(const char *program, uint32_t devices, uint32_t cores, Search last)
{
    for (Search search = SEARCH_PROVE; search <= last; search++) {
        CheckResult *result = check_windows(program, devices, cores, WINDOWS_PIPELINED, search);
        unsigned faults = faults_decided(result);
        if (faults != result->program->expected_faults)
            fail_msg("%s, %s: faults %#x, due %#x", program, search_name(search), faults, result->program->expected_faults);
        checked_free(result);
    }
}

static void assert_as_declared(const char *program, uint32_t cores)
{
    assert_as_declared_on(program, 1, cores, SEARCH_ENUMERATE);
}

/* The built-in ones: by the proof at up to three devices, by enumeration on one. */
static void what_is_built_in_is_as_declared(void **state)
{
    unsigned right = 0, wrong = 0;
    (void)state;
    g_autoptr(GPtrArray) entries = checked_catalogue("windows");
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        for (uint32_t devices = entry->devices_min; devices <= MAX(entry->devices_min, 3); devices++)
            assert_as_declared_on(entry->name, devices, 1, devices == 1 ? SEARCH_ENUMERATE : SEARCH_PROVE);
        *(entry->expected_faults ? &wrong : &right) += 1;
    }
    assert_true(right >= 5 && wrong >= 5);
}

static void what_is_copied_when(void **state)
{
    static const char *const program[] = {
        "two_ahead_of_two_buffers", "two_ahead_of_three_buffers", "blocks_stay", "blocks_come_again", "reads_two_back_of_two_buffers",
        "reads_two_back_of_three_buffers", "reads_one_back_of_one_buffer", "sends_input_room", "sends_input_room_of_three",
        "sends_output_room", "sends_output_room_of_one", "hangs_over", "begins_outside", "tail_is_unwritten",
        "outputs_begin_unwritten", "blocks_overlap", "second_block_always",
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(program); i++)
        assert_as_declared(program[i], 1);
}

static void each_core_has_windows_of_its_own(void **state)
{
    (void)state;
    assert_as_declared("cores_share_a_grid", 2);
    assert_as_declared("cores_do_the_same", 2);
}

/* Told apart from the pipeline's code: a fetch for step t is under way while the buffers - 1 steps before t work, unless the block is there
 * already; the write-back of a block that was left from the step after it until as many other blocks have begun as there are buffers. */
static bool grid_races(const Grid *grid)
{
    bool races = false;
    for (int t = 0; t < STEPS && grid->of_x; t++) {
        bool fetched = t == 0 || grid->x[t] != grid->x[t - 1];
        races |= fetched && grid->writes && grid->x[t] == grid->row && grid->step < t && grid->step > t - grid->x_buffers;
    }
    int begun = grid->of_x ? 0 : grid->o[grid->step] - grid->row;       /* output blocks are 0, 1, 2, ... in turn */
    return races || (begun > 0 && begun < grid->o_buffers);
}

static void a_race_is_where_a_copy_is_under_way(void **state)
{
    unsigned racing = 0;
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        const Grid grid = grid_of(seed);
        const Override override = { "seed", seed };
        bool due = grid_races(&grid);
        racing += due;
        for (Search search = SEARCH_PROVE; search <= (seed < SEEDS_WALKED ? SEARCH_ENUMERATE : SEARCH_PROVE); search++) {
            CheckSpec spec = { .open = pl_module_open, .program = "random_windows", .cores = 1, .search = search, .override = &override,
                               .overrides = 1 };
            mesh_line(&spec.mesh, 1);
            CheckResult *result = checked(&spec);
            if (faults_decided(result) != (due ? 1u << FAULT_RACE : 0))
                fail_msg("seed %d, %s: faults %#x, a race is %sdue", seed, search_name(search), faults_decided(result), due ? "" : "not ");
            checked_free(result);
        }
    }
    assert_true(racing > SEEDS / 8 && racing < SEEDS / 2);
}

/* Who reaches around windows is right again, and who comes back to a block is not. */
static void sequential_windows_overlap_nothing(void **state)
{
    static const struct { const char *program; unsigned faults; } twin[] = {
        { "windows_patch_next", 0 }, { "windows_read_back", 0 }, { "windows_feed_neighbour", 0 }, { "windows_in_place_recurrence", 0 },
        { "windows_scale", 0 }, { "windows_come_back", 1u << FAULT_REVISIT },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(twin); i++)
        for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
            CheckResult *result = check_windows(twin[i].program, 2, 1, WINDOWS_SEQUENTIAL, search);
            assert_int_equal(faults_decided(result), twin[i].faults);
            checked_free(result);
        }
}

static void misuse_is_said_where_it_is(void **state)
{
    static const struct { const char *program, *words; } misuse[] = {
        { "window_of_semaphores", "pl_windows needs an array: this ref is a semaphore" },
        { "window_of_three_dimensions", "its block or stride has more than the array's 1 dimensions" },
        { "window_without_a_size", "along dimension 1 the block has size 0" },
        { "window_with_a_short_table", "pl_blocks has 4 indices, for 3 grid steps and 2 dimensions" },
        { "window_with_two_answers", ".index and .blocks both say which block" },
        { "window_with_nine_buffers", "9 buffers (1 to 8 are possible" },
        { "window_that_revisits_with_two_buffers", ".revisit needs .output = true and .buffers = 1" },
        { "window_of_a_window", "pl_windows(...) is an argument of a launch and nothing else" },
        { "window_for_the_host", "pl_host hands arrays to moves_on as they are" },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(misuse); i++) {
        CheckResult *result = check_windows(misuse[i].program, 1, 1, WINDOWS_PIPELINED, SEARCH_PROVE);
        assert_int_equal(result->verdict, VERDICT_ERROR);
        if (strstr(result->error, misuse[i].words) == NULL || strstr(result->error, "test_windows.c:") == NULL)
            fail_msg("%s: %s", misuse[i].program, result->error);
        checked_free(result);
    }
}

/* The author's words: which block of what, at the line of its windows; no repair puts a wait into the pipeline. */
static void reports_name_blocks(void **state)
{
    (void)state;
    CheckResult *result = check_windows("windows_read_back", 1, 1, WINDOWS_PIPELINED, SEARCH_AUTO);
    assert_int_equal(faults_decided(result), 1u << FAULT_RACE);
    const Finding *finding = result->outcome->findings->pdata[0];
    g_autofree char *message = message_text(result, finding);
    assert_non_null(strstr(message, "the write-back of block (0, 0) of o by device 0 writes o[0:8, 0:128]"));
    assert_non_null(strstr(finding->why, "nothing in a kernel can wait for it"));
    check_try_repairs(result);
    assert_int_equal(result->tried->len, 1);
    assert_non_null(strstr(((const Repair *)result->tried->pdata[0])->words, "with one buffer for each"));
    checked_free(result);
}

static void blocks_beyond_counting_are_a_block(void **state)
{
    (void)state;
    CheckResult *result = check_windows("too_many_to_tell_apart", 1, 1, WINDOWS_PIPELINED, SEARCH_PROVE);
    assert_int_equal(faults_decided(result), 1u << FAULT_RACE);
    g_autofree char *message = message_text(result, result->outcome->findings->pdata[0]);
    assert_non_null(strstr(message, "the fetch of a block of x by device 0 reads x[1, 0:8]"));
    checked_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_built_in_is_as_declared), cmocka_unit_test(what_is_copied_when),
        cmocka_unit_test(each_core_has_windows_of_its_own), cmocka_unit_test(a_race_is_where_a_copy_is_under_way),
        cmocka_unit_test(sequential_windows_overlap_nothing), cmocka_unit_test(misuse_is_said_where_it_is),
        cmocka_unit_test(reports_name_blocks), cmocka_unit_test(blocks_beyond_counting_are_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
