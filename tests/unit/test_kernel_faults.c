/* test_kernel_faults.c - the machine's rules as a kernel meets them through the API: what is allowed, and each fault with its words.
 *
 * Each program does one thing. Both searches must agree.
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

/* ---- allowed ---- */

KERNEL(copies_nothing, input, block, sem)
{
    int rows = pl_device_id();                                          /* 0 on device 0: a start and nothing else */
    PlCopy copy = pl_make_async_copy(pl_at(input, pl_ds(0, rows)), pl_at(block, pl_ds(0, rows)), sem);
    pl_copy_start(copy);
    pl_copy_wait(copy);
    if (rows == 0)
        pl_expect_count(sem, 0);
}

PROGRAM(copies_nothing, "a copy of no bytes")
{
    pl_launch(copies_nothing, .args = {pl_input(PL_F32, 2, 8), pl_vmem(PL_F32, 2, 8), pl_dma_semaphore()});
}

KERNEL(counts_one, input, block, sem)
{
    pl_async_copy(input, block, sem);
    pl_semaphore_wait(sem, 1);
    pl_load(block);
}

PROGRAM(counts_one, "a copy on a REGULAR semaphore counts 1")
{
    pl_launch(counts_one, .args = {pl_input(PL_F32, 8), pl_vmem(PL_F32, 8), pl_regular_semaphore()});
}

KERNEL(looks_and_takes, sem)
{
    pl_semaphore_signal(sem, 3);
    pl_semaphore_wait(sem, 2, .decrement = false);
    int decrement = 3;
    pl_semaphore_wait(sem, decrement);
    pl_semaphore_signal(sem, 0);
    pl_semaphore_wait(sem, 0);
}

PROGRAM(looks_and_takes, "a wait that takes nothing, a wait and a signal of nothing")
{
    pl_launch(looks_and_takes, .args = {pl_regular_semaphore()});
}

KERNEL(in_place, block)
{
    pl_store(block, pl_tile_add(pl_load(block), pl_load(block)));
}

static double doubled(const PlRef *block, int device, const int64_t *index)
{
    return 2 * pl_given(block[0], device, index[0]);
}

PROGRAM(in_place, "an input that is an output too")
{
    PlRef block = pl_input_in(PL_VMEM, PL_F32, 8);
    pl_launch(in_place, .args = {block});
    pl_expect_values(block, doubled, 0, block);
}

KERNEL(masked_tail, block)
{
    PlTile mask = pl_tile_zeros(PL_BOOL, 4);
    pl_tile_put(mask, 1, 0);
    pl_store_masked(pl_at(block, pl_ds(7, 4)), pl_tile_full(PL_F32, 1, 4), mask);
}

PROGRAM(masked_tail, "a masked store, whose outside part is not stored")
{
    pl_launch(masked_tail, .args = {pl_vmem(PL_F32, 8)});
}

KERNEL(waits_by_any_descriptor, input, table, sem)
{
    for (int row = 0; row < 4; row++)
        pl_async_copy(pl_at(input, row), pl_at(table, row), sem);
    PlRef large = pl_at(table, pl_ds(2, 4));                            /* beyond the table, but only its size counts */
    pl_copy_wait(pl_make_async_copy(large, large, sem));
    pl_load(table);
}

PROGRAM(waits_by_any_descriptor, "one wait for four copies, through a descriptor that is never started")
{
    pl_launch(waits_by_any_descriptor, .args = {pl_input(PL_F32, 4, 8), pl_vmem(PL_F32, 4, 8), pl_dma_semaphore()});
}

KERNEL(leaves_one, sem) { pl_semaphore_signal(sem, 1); }

PROGRAM(exempted, "a count that is left on purpose")
{
    PlRef sem = pl_regular_semaphore();
    pl_exempt(sem, PL_LEFTOVER, "the next program takes it");
    pl_launch(leaves_one, .args = {sem});
}

KERNEL(across_cores, block)
{
    PL_SCOPED PlRef shared = pl_hbm(PL_F32, 8);
    PL_SCOPED PlRef done = pl_regular_semaphore();
    PL_SCOPED PlRef sem = pl_dma_semaphore();
    if (pl_core_index() == 0) {
        pl_store(block, pl_tile_zeros(PL_F32, 8));
        pl_copy_wait(pl_async_copy(block, shared, sem));
        pl_semaphore_signal(done, 1, pl_core(1));
    } else if (pl_core_index() == 1) {
        pl_semaphore_wait(done, 1);
        pl_copy_wait(pl_async_copy(shared, block, sem));
        pl_load(block);
    }
    pl_core_barrier();
}

PROGRAM(across_cores, "two cores share memory of a scope, in order")
{
    pl_launch(across_cores, .args = {pl_vmem(PL_F32, 8)});
}

/* ---- faults ---- */

#define FAULTY(name, ...) PROGRAM(name, "faulty") { pl_launch(name, .args = { __VA_ARGS__ }); }
#define BLOCK pl_vmem(PL_F32, 8, 128)

KERNEL(load_outside, block) { pl_load(pl_at(block, 8)); }
FAULTY(load_outside, BLOCK)
KERNEL(copy_outside, input, block, sem)
{
    pl_async_copy(pl_at(input, pl_ds(4, 8)), block, sem);
}
FAULTY(copy_outside, pl_input(PL_F32, 8, 128), BLOCK, pl_dma_semaphore())
KERNEL(load_of_any, input) { pl_load(input); }
FAULTY(load_of_any, pl_input(PL_F32, 8, 128))
KERNEL(shapes_differ, input, block, sem) { pl_async_copy(pl_at(input, 0), block, sem); }
FAULTY(shapes_differ, pl_input(PL_F32, 8, 128), BLOCK, pl_dma_semaphore())
KERNEL(copy_onto_itself, block, sem)
{
    pl_store(block, pl_tile_zeros(PL_F32, 8, 128));
    pl_async_copy(pl_at(block, pl_ds(0, 4)), pl_at(block, pl_ds(2, 4)), sem);
}
FAULTY(copy_onto_itself, BLOCK, pl_dma_semaphore())
KERNEL(no_such_device, sem) { pl_semaphore_signal(sem, 1, pl_device(pl_device_id() - 1)); }
FAULTY(no_such_device, pl_regular_semaphore())
KERNEL(negative_signal, sem) { pl_semaphore_signal(sem, -1); }
FAULTY(negative_signal, pl_regular_semaphore())
KERNEL(signal_of_dma, sem) { pl_semaphore_signal(sem, 1); }
FAULTY(signal_of_dma, pl_dma_semaphore())
KERNEL(wait_for_copy_on_regular, block, sem) { pl_copy_wait(pl_make_async_copy(block, block, sem)); }
FAULTY(wait_for_copy_on_regular, BLOCK, pl_regular_semaphore())
KERNEL(assertion, sem) { pl_assert(pl_device_id() > 0); }
FAULTY(assertion, pl_regular_semaphore())
KERNEL(count_differs, sem) { pl_expect_count(sem, 1); }
FAULTY(count_differs, pl_regular_semaphore())
KERNEL(never_written, table)
{
    if (pl_load_int(pl_at(table, 3)) > 0)
        pl_delay(1);
}
FAULTY(never_written, pl_smem(PL_I32, 8))
KERNEL(races, input, block, sem)
{
    PlCopy copy = pl_async_copy(input, block, sem);
    pl_load(block);
    pl_copy_wait(copy);
}
FAULTY(races, pl_input(PL_F32, 8, 128), BLOCK, pl_dma_semaphore())

KERNEL(wrong_order, input, first, second, sem)
{
    PlCopy a = pl_async_copy(input, first, sem), b = pl_async_copy(input, second, sem);
    pl_copy_wait_for(a, PL_THIS);
    pl_copy_wait(b);
}
FAULTY(wrong_order, pl_input(PL_F32, 8, 128), BLOCK, BLOCK, pl_dma_semaphore())

KERNEL(counts_two, sem)
{
    pl_semaphore_signal(sem, 1);
    pl_semaphore_signal(sem, 1);
    pl_semaphore_wait(sem, 2);
}

PROGRAM(counts_two, "a count above its limit")
{
    PlRef sem = pl_regular_semaphore();
    pl_limit(sem, 1);
    pl_launch(counts_two, .args = {sem});
}

/* ---- running them ---- */

typedef struct FaultCase { const char *program; uint32_t devices, cores; FaultId fault; const char *part; } FaultCase;

static CheckResult *check_case(const FaultCase *at, Search search)
{
    const CheckSpec spec = checked_spec(at->program, at->devices, MAX(at->cores, 1), search);
    return checked(&spec);
}

static const char *first_words(const CheckResult *result)
{
    if (result->outcome == NULL || result->outcome->findings->len == 0)
        return result->error != NULL ? result->error : "nothing";
    const Finding *first = result->outcome->findings->pdata[0];
    return first->message != NULL ? first->message : fault_name(first->id);
}

static void what_is_allowed_is_verified(void **state)
{
    static const FaultCase allowed[] = {
        { "copies_nothing", 2, 1, FAULT_COUNT, NULL }, { "counts_one", 1, 1, FAULT_COUNT, NULL },
        { "looks_and_takes", 1, 1, FAULT_COUNT, NULL }, { "in_place", 2, 1, FAULT_COUNT, NULL },
        { "masked_tail", 1, 1, FAULT_COUNT, NULL }, { "exempted", 2, 1, FAULT_COUNT, NULL },
        { "waits_by_any_descriptor", 1, 1, FAULT_COUNT, NULL }, { "across_cores", 1, 2, FAULT_COUNT, NULL },
        { "across_cores", 1, 3, FAULT_COUNT, NULL },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(allowed); i++)
        for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
            CheckResult *result = check_case(&allowed[i], search);
            if (result->verdict != VERDICT_VERIFIED)
                fail_msg("%s, %s: %s: %s", allowed[i].program, search_name(search), verdict_name(result->verdict), first_words(result));
            checked_free(result);
        }
}

static void each_fault_has_its_words(void **state)
{
    static const FaultCase faulty[] = {
        { "load_outside", 1, 1, FAULT_OUT_OF_BOUNDS, "load reaches index 8 of dimension 0 of block, whose size there is 8" },
        { "copy_outside", 1, 1, FAULT_OUT_OF_BOUNDS, "copy (its read) reaches indices 4 to 11 of dimension 0 of input" },
        { "load_of_any", 1, 1, FAULT_SPACE, "load of input, which is in ANY" },
        { "shapes_differ", 1, 1, FAULT_SHAPE, "copy from input float32[128] to block float32[8, 128]" },
        { "copy_onto_itself", 1, 1, FAULT_SHAPE, "copy from block[0:4, 0:128] on device 0 to block[2:6, 0:128] on device 0" },
        { "no_such_device", 1, 1, FAULT_SHAPE, "semaphore_signal names device -1, but there are devices 0 to 0" },
        { "negative_signal", 1, 1, FAULT_SHAPE, "semaphore_signal with inc -1" },
        { "signal_of_dma", 1, 1, FAULT_SHAPE, "semaphore_signal on the DMA semaphore sem" },
        { "wait_for_copy_on_regular", 1, 1, FAULT_SHAPE, "wait on sem, which is not a DMA semaphore" },
        { "assertion", 1, 1, FAULT_ASSERT, "pl_assert(pl_device_id() > 0) does not hold" },
        { "count_differs", 1, 1, FAULT_ASSERT, NULL },
        { "never_written", 1, 1, FAULT_UNINITIALISED, NULL },
        { "races", 1, 1, FAULT_RACE, NULL },
        { "wrong_order", 1, 1, FAULT_MISMATCH, NULL },
        { "counts_two", 1, 1, FAULT_OVERFLOW, NULL },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(faulty); i++)
        for (Search search = SEARCH_PROVE; search <= SEARCH_ENUMERATE; search++) {
            CheckResult *result = check_case(&faulty[i], search);
            if (result->verdict != VERDICT_FAULTY || ((const Finding *)result->outcome->findings->pdata[0])->id != faulty[i].fault
                || (faulty[i].part != NULL && strstr(first_words(result), faulty[i].part) == NULL))
                fail_msg("%s, %s: %s: %s", faulty[i].program, search_name(search), verdict_name(result->verdict), first_words(result));
            assert_int_equal(result->outcome->findings->len, 1);
            checked_free(result);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_allowed_is_verified), cmocka_unit_test(each_fault_has_its_words) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
