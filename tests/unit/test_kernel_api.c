/* test_kernel_api.c - the API that kernels are written against: each program below uses one part of it and asserts what it sees.
 *
 * The headers stand after those that are known to define awkward macros; the programs register themselves beside the built-in ones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <glib.h>
#include <heddle/pallas.h>

#include "../../kernels/pallas/module.h"
#include "../support/checked.h"

_Static_assert(sizeof(PlRef) <= 32, "a ref is passed by value");

/* ---- views ---- */

static void count_up(PlRef ref)
{
    for (int i = 0; i < pl_size(ref, 0); i++)
        for (int j = 0; j < pl_size(ref, 1); j++)
            pl_store_int(pl_at(ref, i, j), 100 * i + j);
}

KERNEL(views, table)
{
    count_up(table);
    PlRef part = pl_at(table, pl_ds(1, 2), pl_dslice(1, 3, 2));         /* rows 1, 2; columns 1, 3, 5 */
    pl_assert(pl_size(part, 0) == 2 && pl_size(part, 1) == 3);
    pl_assert(pl_load_int(pl_at(part, 1, 2)) == 205);
    pl_assert(pl_load_int(pl_at(pl_at(table, PL_ALL, 3), 2)) == 203);
    pl_assert(pl_load_int(pl_at(pl_at(pl_at(table, pl_ds(1, 3)), pl_ds(1, 2)), 1, 7)) == 307);
    PlRef flat = pl_reshape(table, 32);
    pl_assert(pl_load_int(pl_at(flat, 17)) == 201);
    pl_assert(pl_load_int(pl_at(pl_reshape(table, 2, 2, 8), 1, 1, 7)) == 307);
    PlRef halves = pl_bitcast(table, PL_I16);
    pl_assert(pl_size(halves, 0) == 8 && pl_size(halves, 1) == 8);
    uint8_t small = 2;
    int64_t wide = 5;
    pl_assert(pl_load_int(pl_at(table, small, wide)) == 205);
    pl_assert(pl_load_int(pl_select_ref(1, pl_at(table, 0, 0), pl_at(table, 0, 1), pl_at(table, 0, 2))) == 1);
}

PROGRAM(views, "slices with strides, chained, reshaped, bitcast, selected")
{
    pl_launch(views, .args = {pl_smem(PL_I32, 4, 8)});
}

/* ---- tiles ---- */

KERNEL(tiles, block)
{
    PlTile two = pl_tile_full(PL_F32, 2, 4, 4), three = pl_tile_full(PL_F32, 3, 4, 4);
    pl_store(block, pl_tile_mul(two, pl_tile_add(two, three)));
    pl_assert(fabs(pl_tile_float(pl_load(block), 3, 3) - 10) < 1e-6);
    PlTile before = pl_swap(pl_at(block, 0), pl_tile_full(PL_F32, 7, 4));
    pl_assert(pl_tile_float(before, 0) == 10 && pl_load_float(pl_at(block, 0, 3)) == 7);

    PlTile mask = pl_tile_zeros(PL_BOOL, 4);
    pl_tile_put(mask, 1, 2);
    pl_store_masked(pl_at(block, 1), pl_tile_zeros(PL_F32, 4), mask);
    pl_assert(pl_load_float(pl_at(block, 1, 2)) == 0 && pl_load_float(pl_at(block, 1, 1)) == 10);

    PlTile small = pl_tile_cast(pl_tile_full(PL_F32, 257, 1), PL_BF16);         /* 8 bits of mantissa: the even neighbour */
    pl_assert(pl_tile_float(small, 0) == 256);
    pl_assert(pl_tile_int(pl_tile_sub(pl_tile_zeros(PL_U8, 1), pl_tile_full(PL_U8, 1, 1)), 0) == 255);
    pl_assert(pl_tile_float(pl_tile_min(pl_tile_max(two, three), two), 0, 0) == 2);
    pl_assert(pl_tile_float(pl_tile_div(three, two), 0, 0) == 1.5);
    pl_assert(pl_tile_int(pl_tile_zeros(PL_I32)) == 0);
}

PROGRAM(tiles, "arithmetic, swap, masks, narrow types")
{
    pl_launch(tiles, .args = {pl_vmem(PL_F32, 4, 4)});
}

/* ---- scopes ---- */

static int leaves_early(int how)
{
    for (int i = 0; i < 3; i++) {
        PL_SCOPED PlRef scratch = pl_smem(PL_I32, 2);
        pl_store_int(pl_at(scratch, 0), i);
        if (how == 0)
            break;
        if (how == 1)
            return 1;
        PL_SCOPED PlRef inner = pl_regular_semaphore();
        pl_semaphore_signal(inner, 1);
        pl_semaphore_wait(inner, 1);
    }
    return 0;
}

KERNEL(scopes, unused)
{
    pl_assert(leaves_early(0) == 0);
    pl_assert(leaves_early(1) == 1);
    pl_assert(leaves_early(2) == 0);
}

PROGRAM(scopes, "scratch that ends with its brace, by break and return too")
{
    pl_launch(scopes, .grid = {2}, .args = {pl_smem(PL_I32)});
}

/* ---- grid and cores ---- */

KERNEL(grid, seen)
{
    pl_assert(pl_num_programs(0) == 2 && pl_num_programs(1) == 3);
    pl_store_int(pl_at(seen, pl_program_id(0), pl_program_id(1)), 1);
    if (pl_program_id(0) == 1 && pl_program_id(1) == 2)
        for (int i = 0; i < 6; i++)
            pl_assert(pl_load_int(pl_at(seen, i / 3, i % 3)) == 1);
}

PROGRAM(grid, "a grid of two dimensions")
{
    pl_launch(grid, .grid = {2, 3}, .args = {pl_smem(PL_I32, 2, 3)});
}

KERNEL(no_step) { pl_assert(false); }

PROGRAM(empty_grid, "a grid without steps")
{
    int none = pl_num_devices() - pl_num_devices();
    pl_launch(no_step, .grid = {none});
    pl_launch(no_step, .grid = {3, none});
}

KERNEL(split, total, turns)
{
    int64_t turn = pl_program_id(0) == pl_num_programs(0) * pl_core_index() / pl_num_cores() ? 0 : pl_load_int(turns);
    pl_store_int(turns, turn + 1);
    pl_assert(turn + 1 <= (5 + pl_num_cores() - 1) / pl_num_cores());
    if (pl_core_index() > 0)
        pl_semaphore_signal(total, 1, pl_core(0));
    else
        pl_semaphore_signal(total, 1);
}

KERNEL(gather_turns, total)
{
    if (pl_core_index() == 0)
        pl_semaphore_wait(total, 5);
    pl_core_barrier();
}

PROGRAM(split, "a parallel dimension, split among the cores of a device")
{
    PlRef total = pl_semaphore_output(PL_REGULAR);
    pl_launch(split, .grid = {5}, .dimension_semantics = {PL_PARALLEL}, .args = {total, pl_smem(PL_I32)});
    pl_launch(gather_turns, .args = {total});
}

/* ---- mesh ---- */

KERNEL(ring_of_row, input, output, own_sem, send_sem, recv_sems)
{
    int n = pl_axis_size("y"), me = pl_axis_index("y");
    PlCopy own = pl_async_copy(input, pl_at(output, me), own_sem);
    pl_copy_wait_for(own, PL_THIS);
    for (int i = 1; i < n; i++)
        pl_async_remote_copy(input, pl_at(output, me), send_sem, pl_at(recv_sems, me), pl_along("y", (me + i) % n));
    for (int i = 1; i < n; i++)
        pl_copy_wait(pl_make_async_remote_copy(input, pl_at(output, (me + i) % n), send_sem, pl_at(recv_sems, (me + i) % n), PL_OWN));
    pl_assert(pl_device_id() == pl_axis_index("x") * n + me);
}

PROGRAM(rows_of_a_mesh, "an all-gather in each row of a mesh")
{
    PlRef input = pl_input(PL_I8, 4), output = pl_output(PL_I8, pl_axis_size("y"), 4);
    pl_launch(ring_of_row, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(pl_axis_size("y"))});
    pl_expect_all_gather_along("y", output, input);
}

/* ---- launches ---- */

KERNEL(first_half, ready) { pl_semaphore_signal(ready, 1); }
KERNEL(second_half, ready, scratch)
{
    pl_semaphore_wait(ready, 1);
    pl_store_int(scratch, 1);
}
KERNEL(untouched, scratch)
{
    if (pl_device_id() > 5)
        pl_load_int(scratch);
}
KERNEL(double_it, block)
{
    pl_store(block, pl_tile_add(pl_load(block), pl_load(block)));
}

static double doubled(const PlRef *input, int device, const int64_t *index)
{
    return 2 * pl_given(input[0], device, index[0]);
}

static double squares(int device, const int64_t *index)
{
    return (double)(index[0] * index[0] + device);
}

PROGRAM(hand_over, "a semaphore from launch to launch, a launch on some devices, a step of the host")
{
    PlRef ready = pl_semaphore_output(PL_REGULAR), scratch = pl_smem(PL_I32), block = pl_input_in(PL_HBM, PL_F32, 4);
    pl_fill(block, squares);
    pl_launch_on(pl_devices(0), first_half, .args = {ready});
    pl_launch_on(pl_device_range(0, 1, 1), second_half, .args = {ready, scratch}, .name = "second");
    pl_launch(untouched, .args = {scratch});
    pl_host(double_it, block);
    pl_expect_values(block, doubled, 0, block);
}

/* ---- flags ---- */

KERNEL(flags, word)
{
    int me = pl_device_id();
    pl_flag_add(pl_at(word, 0), 1, pl_device(0));
    pl_flag_wait(pl_at(word, 0), PL_GE, pl_num_devices(), pl_device(0));
    pl_assert(pl_flag_load(pl_at(word, 0), pl_device(0)) == pl_num_devices());
    pl_flag_store(pl_at(word, 1), me, PL_OWN);
    pl_assert(pl_flag_fetch_add(pl_at(word, 1), 5, PL_OWN) == me);
    pl_assert(pl_flag_compare_and_swap(pl_at(word, 1), me + 5, 1, PL_OWN) == me + 5 && pl_flag_load(pl_at(word, 1), PL_OWN) == 1);
}

PROGRAM(flags, "words of shared memory")
{
    pl_launch(flags, .args = {pl_flags(2)});
}

/* ---- misuse: the words are the author's ---- */

KERNEL(two_refs, input, output) { }
KERNEL(no_refs) { }
KERNEL(unscoped, unused) { pl_vmem(PL_F32, 8, 128); }
KERNEL(too_many_indices, input) { pl_at(input, 1, 2, 3); }
KERNEL(no_such_axis, input) { pl_axis_index("z"); }
KERNEL(launching, input) { pl_input(PL_F32, 8); }
KERNEL(barrier_without_id, input) { pl_get_barrier_semaphore(); }
KERNEL(looks_at_opaque, input, block, sem)
{
    pl_copy_wait(pl_async_copy(input, block, sem));
    pl_load_int(pl_at(block, 0));
}

KERNEL(passes_on, input, middle, output, sem)
{
    pl_copy_wait(pl_async_copy(input, middle, sem));
    pl_copy_wait(pl_async_copy(middle, output, sem));
}
KERNEL(steered_by_opaque, input, table, sem)
{
    pl_copy_wait(pl_async_copy(input, table, sem));
    if (pl_tile_int(pl_tile_add(pl_load(table), pl_load(table)), 0) != 0)
        pl_delay(1);
}
static double asks_for_its_core(const PlRef *refs, int device, const int64_t *index)
{
    (void)refs, (void)device, (void)index;
    return pl_core_index();
}

static double asks_for_too_much(const PlRef *refs, int device, const int64_t *index)
{
    return pl_given(refs[0], device, index[0] + 8);
}

KERNEL(keeps_a_tile, block)
{
    PlTile kept;
    {
        PL_SCOPED PlRef inner = pl_vmem(PL_F32, 8);
        kept = pl_tile_zeros(PL_F32, 8);
        pl_store(inner, kept);
    }
    pl_tile_zeros(PL_F32, 8);
    pl_store(block, kept);
}

#define MISUSE(name) PROGRAM(name, "misuse")
MISUSE(wrong_count) { pl_launch(two_refs, .args = {pl_input(PL_F32, 8)}); }
MISUSE(ref_not_set)
{
    PlRef nothing = {0, 0, 0, 0};
    pl_launch(two_refs, .args = {nothing, pl_input(PL_F32, 8)});
}
MISUSE(nine_dimensions) { pl_launch(two_refs, .args = {pl_input(PL_F32, 1, 1, 1, 1, 1, 1, 1, 1, 1), pl_input(PL_F32, 8)}); }
MISUSE(negative_size) { pl_launch(two_refs, .args = {pl_input(PL_F32, 3, -1), pl_input(PL_F32, 8)}); }
MISUSE(huge) { pl_launch(two_refs, .args = {pl_input(PL_F32, INT64_MAX / 4, 8), pl_input(PL_F32, 8)}); }
MISUSE(unscoped) { pl_launch(unscoped, .args = {pl_input(PL_F32, 8)}); }
MISUSE(too_many_indices) { pl_launch(too_many_indices, .args = {pl_input(PL_F32, 8, 128)}); }
MISUSE(no_such_axis) { pl_launch(no_such_axis, .args = {pl_input(PL_F32, 8)}); }
MISUSE(input_in_kernel) { pl_launch(launching, .args = {pl_input(PL_F32, 8)}); }
MISUSE(barrier_without_id) { pl_launch(barrier_without_id, .args = {pl_input(PL_F32, 8)}); }
MISUSE(barrier_argument_without_id) { pl_launch(two_refs, .args = {pl_input(PL_F32, 8), pl_barrier_semaphore()}); }
MISUSE(launches_nothing) { pl_num_devices(); }
MISUSE(in_program)
{
    pl_load(pl_input(PL_F32, 8));
    pl_launch(no_refs);
}
MISUSE(looks_at_opaque)
{
    pl_launch(looks_at_opaque, .args = {pl_opaque(pl_input(PL_I32, 8)), pl_opaque(pl_vmem(PL_I32, 8)), pl_dma_semaphore()});
}
MISUSE(expects_of_opaque)
{
    PlRef input = pl_opaque(pl_input(PL_F32, 8)), output = pl_output(PL_F32, 8);
    pl_launch(two_refs, .args = {input, output});
    pl_expect_equal(output, input);
}
MISUSE(expects_through_opaque)
{
    PlRef input = pl_input(PL_F32, 8), output = pl_output(PL_F32, 8);
    pl_launch(passes_on, .args = {input, pl_opaque(pl_vmem(PL_F32, 8)), output, pl_dma_semaphore()});
    pl_expect_equal(output, input);
}
MISUSE(steered_by_opaque)
{
    pl_launch(steered_by_opaque, .args = {pl_opaque(pl_input(PL_I32, 8)), pl_smem(PL_I32, 8), pl_dma_semaphore()});
}
MISUSE(misuse_in_expected)
{
    PlRef input = pl_input(PL_F32, 8), output = pl_output(PL_F32, 8);
    pl_launch(passes_on, .args = {input, pl_vmem(PL_F32, 8), output, pl_dma_semaphore()});
    pl_expect_values(output, asks_for_too_much, 0, input);
}
MISUSE(core_of_a_device_in_expected)
{
    PlRef input = pl_input(PL_F32, 8), output = pl_output(PL_F32, 8);
    pl_launch(passes_on, .args = {input, pl_vmem(PL_F32, 8), output, pl_dma_semaphore()});
    pl_expect_values(output, asks_for_its_core, 0, input);
}
MISUSE(sizes_do_not_fit)
{
    PlRef input = pl_input(PL_F32, 8), output = pl_output(PL_F32, 8);
    pl_launch(two_refs, .args = {input, output});
    pl_expect_all_gather(output, input);
}
MISUSE(keeps_a_tile) { pl_launch(keeps_a_tile, .args = {pl_vmem(PL_F32, 8)}); }
MISUSE(grid_in_parts) { pl_launch(two_refs, .grid[0] = 3, .args = {pl_input(PL_F32, 8), pl_input(PL_F32, 8)}); }
MISUSE(not_that_device) { pl_launch_on(pl_devices(0, 7), no_refs); }

/* ---- expectations that fail ---- */

KERNEL(gather_shifted, input, output, own_sem, send_sem, recv_sem)
{
    int me = pl_device_id(), other = 1 - me;
    pl_copy_wait(pl_async_copy(input, pl_at(output, other), own_sem));
    PlCopy copy = pl_make_async_remote_copy(input, pl_at(output, other), send_sem, recv_sem, pl_device(other));
    pl_copy_start(copy);
    pl_copy_wait(copy);
}

PROGRAM(wrong_slot, "an all-gather into the wrong slots, of bytes that may well be equal")
{
    PL_NEEDS(pl_num_devices() == 2, "two devices");
    PlRef input = pl_input(PL_I8, 4), output = pl_output(PL_I8, 2, 4);
    pl_launch(gather_shifted, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_all_gather(output, input);
}

KERNEL(keep_own, block, output) { pl_store(output, pl_load(block)); }
KERNEL(twice_own, block, output) { pl_store(output, pl_tile_add(pl_load(block), pl_load(block))); }

PROGRAM(sum_lacks_one, "a sum over two devices that has one part only")
{
    PlRef block = pl_input_in(PL_VMEM, PL_BF16, 4), output = pl_output_in(PL_VMEM, PL_BF16, 4);
    pl_launch(keep_own, .args = {block, output});
    pl_expect_all_reduce(output, block);
}

PROGRAM(sum_has_one_twice, "a sum over one device that counts it twice")
{
    PlRef block = pl_input_in(PL_VMEM, PL_BF16, 4), output = pl_output_in(PL_VMEM, PL_BF16, 4);
    pl_launch(twice_own, .args = {block, output});
    pl_expect_all_reduce(output, block);
}

KERNEL(half_of_it, block, output) { pl_store(pl_at(output, pl_ds(0, 2)), pl_load(pl_at(block, pl_ds(0, 2)))); }

PROGRAM(half_written, "an output of which half is never written")
{
    PlRef block = pl_input_in(PL_VMEM, PL_F32, 4), output = pl_output_in(PL_VMEM, PL_F32, 4);
    pl_launch(half_of_it, .args = {block, output});
    pl_expect_equal(output, block);
}

static double off_by_one(const PlRef *input, int device, const int64_t *index)
{
    return pl_given(input[0], device, index[0]) + 1;
}

PROGRAM(wrong_values, "values that are not those of the author's function")
{
    PlRef block = pl_input_in(PL_VMEM, PL_F32, 4), output = pl_output_in(PL_VMEM, PL_F32, 4);
    pl_launch(keep_own, .args = {block, output});
    pl_expect_values(output, off_by_one, 0, block);
}

KERNEL(keep_of_core, block, output) { pl_store(output, pl_load(pl_at(block, pl_core_index()))); }

static double of_its_core(const PlRef *input, int device, const int64_t *index)
{
    return pl_given(input[0], device, pl_core_index(), index[0]);
}

static double of_core_0(const PlRef *input, int device, const int64_t *index)
{
    return pl_given(input[0], device, 0, index[0]);
}

static void keep_of_each_core(PlExpected due)
{
    PlRef block = pl_input_in(PL_VMEM, PL_F32, pl_num_cores(), 4), output = pl_output_in(PL_VMEM, PL_F32, 4);
    pl_launch(keep_of_core, .args = {block, output});
    pl_expect_values(output, due, 0, block);
}

PROGRAM(each_core_its_own, "an output in the memory of each core") { keep_of_each_core(of_its_core); }
PROGRAM(each_core_the_first, "values of core 0, expected of all cores") { keep_of_each_core(of_core_0); }

/* ---- running them ---- */

typedef struct MeshCase { const char *program; uint32_t devices, cores; const char *part; } MeshCase;

static CheckResult *check_mesh(const MeshCase *at, const char *mesh, Search search)
{
    CheckSpec spec = checked_spec(at->program, MAX(at->devices, 1), MAX(at->cores, 1), search);
    if (mesh != NULL)
        assert_true(mesh_parse(&spec.mesh, mesh));
    return checked(&spec);
}

static void expect_verified(const MeshCase *at, const char *mesh, Search search)
{
    CheckResult *result = check_mesh(at, mesh, search);
    if (result->verdict != VERDICT_VERIFIED) {
        const Finding *first = result->outcome && result->outcome->findings->len ? result->outcome->findings->pdata[0] : NULL;
        fail_msg("%s, %u devices: %s: %s", at->program, at->devices, verdict_name(result->verdict),
                 first ? first->message ? first->message : fault_name(first->id) : result->error);
    }
    checked_free(result);
}

static void each_part_of_the_api_does_what_it_says(void **state)
{
    static const MeshCase verified[] = {
        { "views", 1, 1, NULL }, { "tiles", 1, 1, NULL }, { "scopes", 1, 1, NULL }, { "grid", 1, 1, NULL }, { "empty_grid", 1, 1, NULL },
        { "split", 1, 1, NULL }, { "split", 1, 2, NULL }, { "split", 1, 3, NULL }, { "each_core_its_own", 2, 3, NULL },
        { "hand_over", 1, 1, NULL }, { "hand_over", 2, 1, NULL },
        { "flags", 1, 1, NULL }, { "flags", 2, 1, NULL },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(verified); i++) {
        if (strcmp(verified[i].program, "flags") != 0)          /* looks at words are for a search */
            expect_verified(&verified[i], NULL, SEARCH_PROVE);
        expect_verified(&verified[i], NULL, SEARCH_ENUMERATE);
    }
    const MeshCase rows = { "rows_of_a_mesh", 4, 1, NULL };
    expect_verified(&rows, "x=2,y=2", SEARCH_PROVE);
}

static void misuse_is_one_line_at_the_authors_place(void **state)
{
    static const MeshCase misused[] = {
        { "wrong_count", 1, 1, "two_refs needs 2 refs (input, output), got 1" },
        { "ref_not_set", 1, 1, "two_refs: its ref 1 (input) was never set" },
        { "nine_dimensions", 1, 1, "pl_input with 9 dimensions: at most 8 are supported" },
        { "negative_size", 1, 1, "pl_input: dimension 1 has size -1" },
        { "huge", 1, 1, "pl_input of more than 2^40 bytes" },
        { "unscoped", 1, 1, "scratch made in a kernel needs PL_SCOPED" },
        { "too_many_indices", 1, 1, "pl_at of input, whose shape is (8, 128): more indices than dimensions" },
        { "no_such_axis", 2, 1, "no axis \"z\" in the mesh x=2" },
        { "input_in_kernel", 1, 1, "pl_input belongs in PROGRAM" },
        { "barrier_without_id", 1, 1, "get_barrier_semaphore needs a collective_id" },
        { "barrier_argument_without_id", 1, 1, "two_refs gets a barrier semaphore, which needs a collective_id" },
        { "launches_nothing", 1, 1, "PROGRAM(launches_nothing) launches nothing" },
        { "in_program", 1, 1, "pl_load belongs in a KERNEL" },
        { "looks_at_opaque", 1, 1, "comes from an opaque buffer" },
        { "expects_of_opaque", 1, 1, "input is opaque, so nothing can be expected of its values" },
        { "expects_through_opaque", 1, 1, "output[0] on device 0 comes from an opaque buffer, so nothing can be expected of it" },
        { "steered_by_opaque", 1, 1, "comes from an opaque buffer, so its value is not known" },
        { "misuse_in_expected", 1, 1, "pl_given: index 8 of dimension 0, whose size is 8" },
        { "core_of_a_device_in_expected", 1, 1, "pl_core_index: these values belong to the whole device" },
        { "keeps_a_tile", 1, 1, "pl_store: this PlTile is gone" },
        { "grid_in_parts", 1, 1, "the grid of a launch is written .grid = { n, ... }" },
        { "sizes_do_not_fit", 2, 1, "pl_expect_all_gather: 8 elements of output and 8 of input do not fit, for 2 devices" },
        { "not_that_device", 2, 1, "pl_launch_on names device 7, but there are devices 0 to 1" },
    };
    (void)state;
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(misused); i++) {
        const MeshCase *at = &misused[i / 2];
        CheckResult *result = check_mesh(at, NULL, i % 2 == 0 ? SEARCH_PROVE : SEARCH_ENUMERATE);
        if (result->verdict != VERDICT_ERROR || strstr(result->error, at->part) == NULL
            || strstr(result->error, "test_kernel_api.c:") == NULL || strchr(result->error, '\n') != NULL)
            fail_msg("%s: %s: %s", at->program, verdict_name(result->verdict), result->error ? result->error : "no error");
        checked_free(result);
    }
}

static void wrong_results_say_where_they_came_from(void **state)
{
    static const MeshCase wrong[] = {
        { "wrong_slot", 2, 1, "output[0, 0] on device 0 is input[0] on device 1, not input[0] on device 0" },
        { "sum_lacks_one", 2, 1, "output[0] on device 0 is block[0] on device 0, not the sum over all 2 devices" },
        { "sum_has_one_twice", 1, 1, "output[0] on device 0 is a sum that has block[0] on device 0 once too often" },
        { "half_written", 1, 1, "nobody wrote output[2] on device 0" },
        { "wrong_values", 1, 1, "output[0] on device 0 is " },
        { "each_core_the_first", 1, 2, "output[0] on device 0 core 1 is 2, not 1" },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        CheckResult *result = check_mesh(&wrong[i], NULL, SEARCH_ENUMERATE);
        const Finding *first = result->outcome && result->outcome->findings->len ? result->outcome->findings->pdata[0] : NULL;
        if (result->verdict != VERDICT_FAULTY || first == NULL || first->message == NULL || strstr(first->message, wrong[i].part) == NULL)
            fail_msg("%s: %s: %s", wrong[i].program, verdict_name(result->verdict),
                     first && first->message ? first->message : result->error ? result->error : "nothing said");
        assert_int_equal(first->id, strcmp(wrong[i].program, "half_written") == 0 ? FAULT_UNINITIALISED : FAULT_ASSERT);
        checked_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_of_the_api_does_what_it_says),
        cmocka_unit_test(misuse_is_one_line_at_the_authors_place),
        cmocka_unit_test(wrong_results_say_where_they_came_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
