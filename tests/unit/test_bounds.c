/* test_bounds.c - a load out of bounds is a fault, and what comes after it is judged; what may have come of its value is not.
 *
 * Each program loads from `beyond` elements behind the end of its table: with 0 it is right, or has the other fault alone. The searches
 * agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/pallas.h>
#include "../../kernels/pallas/module.h"
#include "../support/checked.h"

enum { ROWS = 4 };

#define BEYOND pl_parameter(beyond)
#define TABLE pl_input_in(PL_SMEM, PL_I32, ROWS)
#define LOADS(kernel, what, ...) \
    PROGRAM(kernel, what) \
    { \
        pl_choose("beyond", 0, ROWS); \
        pl_launch(kernel, .args = {__VA_ARGS__}); \
    }

KERNEL(unused, table) { pl_load(pl_at(table, ROWS - 1 + BEYOND)); }
LOADS(unused, "a value that nobody uses", TABLE)

KERNEL(before_a_race, table, input, block, sem)
{
    pl_load(pl_at(table, ROWS - 1 + BEYOND));
    PlCopy copy = pl_async_copy(input, block, sem);
    pl_load(block);
    pl_copy_wait(copy);
}
LOADS(before_a_race, "a race behind it", TABLE, pl_input(PL_F32, 8), pl_vmem(PL_F32, 8), pl_dma_semaphore())

KERNEL(before_a_deadlock, table, sem)
{
    pl_load(pl_at(table, ROWS - 1 + BEYOND));
    pl_semaphore_wait(sem, 1);
}
LOADS(before_a_deadlock, "a deadlock behind it", TABLE, pl_regular_semaphore())

KERNEL(in_part, input, block, sem)
{
    PlCopy copy = pl_async_copy(input, pl_at(block, pl_ds(6, 2)), sem);
    pl_load(pl_at(block, pl_ds(BEYOND ? 7 : 0, 1 + BEYOND)));
    pl_copy_wait(copy);
}
LOADS(in_part, "what is inside races", pl_input(PL_F32, 2), pl_vmem(PL_F32, 8), pl_dma_semaphore())

KERNEL(steered, table)
{
    if (pl_load_int(pl_at(table, ROWS - 1 + BEYOND)) > 100)
        pl_load(pl_at(table, ROWS));
}
LOADS(steered, "it decides what is done", TABLE)

KERNEL(asserted, table) { pl_assert(pl_load_int(pl_at(table, ROWS - 1 + BEYOND)) < 100 - 200 * (BEYOND > 0)); }
LOADS(asserted, "it is asserted", TABLE)

static void deliver(PlRef table, PlRef output, bool wrong)
{
    for (int i = 0; i < ROWS; i++)
        pl_store(pl_at(output, i), pl_load(pl_at(table, wrong && i == 1 ? 2 : i)));
    if (BEYOND)
        pl_store(pl_at(output, 0), pl_load(pl_at(table, ROWS - 1 + BEYOND)));
}

KERNEL(delivered, table, output) { deliver(table, output, false); }
KERNEL(delivered_beside, table, output) { deliver(table, output, true); }

PROGRAM(delivered, "it becomes an element of a result")
{
    pl_choose("beyond", 0, ROWS);
    PlRef table = TABLE, output = pl_output_in(PL_SMEM, PL_I32, ROWS);
    pl_launch(delivered, .args = {table, output});
    pl_expect_equal(output, table);
}

PROGRAM(delivered_beside, "it becomes an element of a result, of which another is wrong")
{
    pl_choose("beyond", 0, ROWS);
    PlRef table = TABLE, output = pl_output_in(PL_SMEM, PL_I32, ROWS);
    pl_launch(delivered_beside, .args = {table, output});
    pl_expect_equal(output, table);
}

/* Device 0 loads it and sends it to device 1, which looks at it. */
KERNEL(sent, table, box, send, recv)
{
    if (pl_device_id() == 0)
        pl_store(pl_at(table, 0), pl_load(pl_at(table, ROWS - 1 + BEYOND)));
    PlCopy copy = pl_make_async_remote_copy(table, box, send, recv, pl_device(1 - pl_device_id()));
    pl_copy_start(copy);
    pl_copy_wait(copy);
    if (pl_device_id() == 1 && pl_load_int(pl_at(box, 0)) > 100)
        pl_load_int(pl_at(table, ROWS - 1));
}
LOADS(sent, "another device looks at it", TABLE, pl_smem(PL_I32, ROWS), pl_dma_semaphore(), pl_dma_semaphore())

KERNEL(repeated, table)
{
    for (int i = 0; i < ROWS; i++)
        pl_load(pl_at(table, i + BEYOND));
}
LOADS(repeated, "one line, several times", TABLE)

KERNEL(stored, table, sem)
{
    pl_store_int(pl_at(table, ROWS - 1 + BEYOND), 1);
    pl_semaphore_wait(sem, 1);
}
LOADS(stored, "a store ends the core, and no deadlock is told", pl_smem(PL_I32, ROWS), pl_regular_semaphore())

KERNEL(swapped, table)
{
    pl_swap(pl_at(table, ROWS - 1 + BEYOND), pl_tile_full(PL_I32, 1));
    pl_assert(false);
}
LOADS(swapped, "a swap ends the core", TABLE)

KERNEL(copied, input, block, sem)
{
    pl_copy_wait(pl_async_copy(pl_at(input, pl_ds(BEYOND, ROWS)), block, sem));
    pl_assert(false);
}
LOADS(copied, "a copy ends the core", pl_input(PL_I32, ROWS), pl_vmem(PL_I32, ROWS), pl_dma_semaphore())

/* ---- running them ---- */

#define BIT(fault) (1u << FAULT_##fault)

typedef struct BoundsCase { const char *program; uint32_t devices, inside, outside, stopped; bool unjudged; } BoundsCase;

static const BoundsCase CASES[] = {                   /* the faults with a load inside; outside; and outside with --stop-at-bounds */
    { "unused", 1, 0, BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), false },
    { "before_a_race", 1, BIT(RACE), BIT(OUT_OF_BOUNDS) | BIT(RACE), BIT(OUT_OF_BOUNDS), false },
    { "before_a_deadlock", 1, BIT(DEADLOCK), BIT(OUT_OF_BOUNDS) | BIT(DEADLOCK), BIT(OUT_OF_BOUNDS), false },
    { "in_part", 1, 0, BIT(OUT_OF_BOUNDS) | BIT(RACE), BIT(OUT_OF_BOUNDS), false },
    { "steered", 1, 0, BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), true },
    { "asserted", 1, 0, BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), true },
    { "delivered", 1, 0, BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), true },
    { "delivered_beside", 1, BIT(ASSERT), BIT(OUT_OF_BOUNDS) | BIT(ASSERT), BIT(OUT_OF_BOUNDS), true },
    { "sent", 2, 0, BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), true },
    { "repeated", 1, 0, BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), false },
    { "stored", 1, BIT(DEADLOCK), BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), false },
    { "swapped", 1, BIT(ASSERT), BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), false },
    { "copied", 1, BIT(ASSERT), BIT(OUT_OF_BOUNDS), BIT(OUT_OF_BOUNDS), false },
};

static CheckResult *check_case(const BoundsCase *at, bool outside, AtBounds at_bounds, Search search)
{
    static const Override beyond[] = { { "beyond", 0 }, { "beyond", 1 } };
    CheckSpec spec = checked_spec(at->program, at->devices, 1, search);
    spec.override = &beyond[outside], spec.overrides = 1;
    spec.knobs.at_bounds = at_bounds;
    spec.limits.runs = 50;
    return checked(&spec);
}

static CheckResult *want_faults(const BoundsCase *at, bool outside, AtBounds at_bounds, Search search, uint32_t due)
{
    CheckResult *result = check_case(at, outside, at_bounds, search);
    uint32_t seen = checked_faults(result);
    g_autofree char *text = checked_faults_text(seen);
    if (seen != due || result->verdict == VERDICT_ERROR)
        fail_msg("%s, %s, %s: finds%s: %s", at->program, outside ? "outside" : "inside", search_name(search), text,
                 result->error ? result->error : "");
    return result;
}

static const Search SEARCHES[] = { SEARCH_AUTO, SEARCH_PROVE, SEARCH_ENUMERATE, SEARCH_RANDOM };

static void what_follows_a_load_out_of_bounds_is_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        for (size_t s = 0; s < G_N_ELEMENTS(SEARCHES); s++) {
            const BoundsCase *at = &CASES[i];
            checked_free(want_faults(at, false, AT_BOUNDS_GO_ON, SEARCHES[s], at->inside));
            CheckResult *result = want_faults(at, true, AT_BOUNDS_GO_ON, SEARCHES[s], at->outside);
            assert_int_equal(result->verdict, VERDICT_FAULTY);
            if (result->outcome->unjudged_after_race != at->unjudged && !(at->outside & BIT(RACE)))
                fail_msg("%s, %s: told as unjudged: %d", at->program, search_name(SEARCHES[s]), !at->unjudged);
            checked_free(result);
        }
}

static void a_load_out_of_bounds_stops_its_core_if_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        for (size_t s = 0; s < G_N_ELEMENTS(SEARCHES); s++)
            checked_free(want_faults(&CASES[i], true, AT_BOUNDS_STOP, SEARCHES[s], CASES[i].stopped));
}

static void loads_out_of_bounds_at_one_line_are_one_fault_with_a_count(void **state)
{
    static const BoundsCase at = { "repeated", 1, 0, BIT(OUT_OF_BOUNDS), 0, false };
    static const Override all = { "beyond", ROWS };
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        CheckSpec spec = checked_spec(at.program, 1, 1, SEARCHES[s]);
        spec.override = &all, spec.overrides = 1;
        CheckResult *result = checked(&spec);
        assert_int_equal(result->outcome->findings->len, 1);
        const Finding *finding = result->outcome->findings->pdata[0];
        assert_int_equal(finding->count, ROWS);
        assert_non_null(strstr(finding->message, "load reaches index 4 of dimension 0"));
        checked_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_a_load_out_of_bounds_is_judged),
        cmocka_unit_test(a_load_out_of_bounds_stops_its_core_if_asked),
        cmocka_unit_test(loads_out_of_bounds_at_one_line_are_one_fault_with_a_count),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
