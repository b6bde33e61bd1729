/* test_coro.c - coroutines: switching, many stacks, guard pages, repeated starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>
#include "../../checker/run/coro.h"

typedef struct Counting { CoroPool *pool; int rounds, seen; double product; char stack_at; uintptr_t address; } Counting;

static void count_up(void *argument)
{
    Counting *counter = argument;
    volatile char here = 0;
    counter->address = (uintptr_t)&here;
    for (int i = 0; i < counter->rounds; i++) {
        counter->seen++;
        counter->product *= 1.5;                /* floating state must survive switches */
        coro_yield(counter->pool);
    }
}

static void a_coroutine_goes_on_where_it_yielded(void **state)
{
    (void)state;
    CoroPool *pool = coro_pool_new(2);
    Counting a = { pool, 3, 0, 1, 0, 0 }, b = { pool, 2, 0, 1, 0, 0 };
    coro_start(pool, 0, count_up, &a);
    coro_start(pool, 1, count_up, &b);
    for (int i = 0; i < 3; i++) {
        coro_resume(pool, 0);
        if (i < 2)
            coro_resume(pool, 1);
        assert_int_equal(a.seen, i + 1);
    }
    assert_false(coro_done(pool, 0));
    coro_resume(pool, 0);
    coro_resume(pool, 1);
    assert_true(coro_done(pool, 0) && coro_done(pool, 1));
    assert_true(a.product == 3.375 && b.product == 2.25);
    coro_pool_free(pool);
}

static void thousands_of_stacks_are_cheap(void **state)
{
    (void)state;
    enum { SLOTS = 4096 };
    CoroPool *pool = coro_pool_new(SLOTS);
    Counting *counter = g_new0(Counting, SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++) {
        counter[i] = (Counting){ pool, 2, 0, 1, 0, 0 };
        coro_start(pool, i, count_up, &counter[i]);
    }
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < SLOTS; i++)
            coro_resume(pool, i);
    for (uint32_t i = 0; i < SLOTS; i++)
        assert_true(coro_done(pool, i) && counter[i].seen == 2);
    g_free(counter);
    coro_pool_free(pool);
}

static void more_stacks_than_guard_pages_allow_still_run(void **state)
{
    (void)state;
    enum { SLOTS = 20000 };
    CoroPool *pool = coro_pool_new(SLOTS);
    Counting counter = { pool, 1, 0, 1, 0, 0 };
    coro_start(pool, SLOTS - 1, count_up, &counter);
    coro_resume(pool, SLOTS - 1);
    coro_resume(pool, SLOTS - 1);
    assert_true(coro_done(pool, SLOTS - 1));
    coro_pool_free(pool);
}

static void a_shift_moves_the_addresses_of_locals(void **state)
{
    (void)state;
    CoroPool *pool = coro_pool_new(1);
    Counting first = { pool, 1, 0, 1, 0, 0 }, second = first;
    coro_start(pool, 0, count_up, &first);
    coro_resume(pool, 0);
    coro_pool_shift(pool, 16 * 517, 0xa7);
    coro_start(pool, 0, count_up, &second);     /* the abandoned one is simply forgotten */
    coro_resume(pool, 0);
    assert_int_equal(first.address - second.address, 16 * 517);
    coro_pool_free(pool);
}

static void a_guard_page_knows_its_slot(void **state)
{
    (void)state;
    CoroPool *pool = coro_pool_new(3);
    Counting counter = { pool, 1, 0, 1, 0, 0 };
    coro_start(pool, 1, count_up, &counter);
    coro_resume(pool, 1);
    uint32_t slot = 99;
    assert_false(coro_in_guard(pool, (const void *)counter.address, &slot));
    assert_int_equal(slot, 1);
    int outside;
    assert_false(coro_in_guard(pool, &outside, &slot));
    coro_pool_free(pool);
}

static void a_parked_stack_in_use_is_small_and_repeatable(void **state)
{
    (void)state;
    CoroPool *pool = coro_pool_new(1);
    size_t bytes[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        Counting counter = { pool, 1, 0, 1, 0, 0 };
        coro_start(pool, 0, count_up, &counter);
        coro_resume(pool, 0);
        if (coro_stack_in_use(pool, 0, &bytes[i]) == NULL)
            skip();
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_in_range(bytes[0], 16, 4096);
    coro_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_coroutine_goes_on_where_it_yielded),
        cmocka_unit_test(thousands_of_stacks_are_cheap),
        cmocka_unit_test(more_stacks_than_guard_pages_allow_still_run),
        cmocka_unit_test(a_shift_moves_the_addresses_of_locals),
        cmocka_unit_test(a_guard_page_knows_its_slot),
        cmocka_unit_test(a_parked_stack_in_use_is_small_and_repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
