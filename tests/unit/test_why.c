/* test_why.c - what the proof says about a fault beyond the fact: which wait was meant, what else can satisfy it, which signal is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include "../../checker/proof/prove.h"
#include "../support/script.h"

static const Knobs WHOLE = {.dma_progress = DMA_PROGRESS_WHOLE};

/* The first finding of that kind says all of `words`, a list that ends with NULL. The script is freed. */
static void expect_why(Script *s, FaultId id, const char *const *words)
{
    const Outcome *outcome = script_prove(s);
    const Finding *found = NULL;
    for (guint i = 0; i < outcome->findings->len && !found; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        found = finding->id == id ? finding : NULL;
    }
    assert_non_null(found);
    assert_non_null(found->why);
    for (; *words; words++)
        if (!strstr(found->why, *words))
            fail_msg("\"%s\" does not say \"%s\"", found->why, *words);
    script_free(s);
}

#define EXPECT_WHY(s, id, ...) expect_why(s, id, (const char *const[]){__VA_ARGS__, NULL})

static void the_wait_that_was_meant_is_named_with_what_else_can_satisfy_it(void **state)
{
    (void)state;
    Script *s = script_small(3, 1, &WHOLE);
    script_send(s, 1, 0, 0, 1, 0);
    for (unsigned i = 0; i < 2; i++)
        script_send(s, 2, 0, 0, 2, 0);
    script_wait(s, 0, script_dma(s, 0, 0), 4);
    script_access(s, 0, STEP_LOAD, s->buffer, 1);
    EXPECT_WHY(s, FAULT_RACE, "The wait of device 0 at script:1 on dma[0] of device 0 was meant to come after the write of copy 0 of",
               "by copy 0 of device 2 at script:2001 and copy 1 of device 2 at script:2002.");
}

/* Device 0 overwrites slot 1 before device 1, which has its own data there, is known to have read it. */
static void an_overwriting_copy_is_told_what_it_knows_of_the_reader(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_signal(s, 1, script_sem(s, 0, 0), 1);
    script_access(s, 1, STEP_LOAD, s->buffer, 1);
    script_wait(s, 0, script_sem(s, 0, 0), 1);
    script_send(s, 0, 0, 1, 1, 0);
    EXPECT_WHY(s, FAULT_RACE, "Nothing that device 0 waits for before script:2 tells it that the load of device 1 at script:1002 is done",
               "all that device 0 knows of device 1 by then is that it has passed the signal at script:1001.");
}

static void a_wait_that_comes_too_late_is_named(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_send(s, 1, 0, 0, 1, 0);
    script_access(s, 0, STEP_LOAD, s->buffer, 1);
    script_wait(s, 0, script_dma(s, 0, 0), 4);
    EXPECT_WHY(s, FAULT_RACE, "Device 0 waits for the write of copy 0 of device 1 at script:1001 only at script:2, after the load of "
               "device 0 at script:1.");
}

/* The record did the copy of device 0 first; but in its program it follows another copy, unlike the fetch of device 1. */
static void the_order_that_was_meant_need_not_be_the_record_s(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_send(s, 0, 0, 1, 2, 1);
    script_send(s, 0, 0, 1, 1, 0);
    script_send(s, 1, 0, 1, 1, 2);
    script_wait(s, 1, script_dma(s, 1, 2), 4);
    EXPECT_WHY(s, FAULT_RACE, "Device 1 waits for the write of copy 0 of device 1 at script:1001 only at script:1002",
               "device 0 does not wait for anything that device 1 does before that.");
}

static void a_wait_is_meant_for_signals_of_its_own_turn(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_wait(s, 0, script_sem(s, 0, 0), 1);
    script_send(s, 0, 0, 1, 1, 0);
    script_signal(s, 1, script_sem(s, 0, 0), 1);
    script_access(s, 1, STEP_LOAD, s->buffer, 1);
    script_signal(s, 1, script_sem(s, 0, 0), 1);       /* too late for the wait above, which took the first one */
    script_wait(s, 0, script_sem(s, 0, 0), 1);
    EXPECT_WHY(s, FAULT_RACE, "Nothing that device 0 waits for before script:2 tells it that the load of device 1 at script:1002 is");
}

/* Device 1 says that it has read slot 1, but device 0 goes on without waiting for that. */
static void a_signal_that_nobody_takes_is_what_would_order_the_two(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_access(s, 1, STEP_LOAD, s->buffer, 1);
    script_signal(s, 1, script_sem(s, 0, 0), 1);
    script_send(s, 0, 0, 1, 1, 0);
    EXPECT_WHY(s, FAULT_RACE, "Device 0 would learn that from the signal of device 1 at script:1002, on sem[0] of device 0, but nobody "
               "waits for it.");
}

static void a_wait_that_takes_less_than_is_given_is_what_would_order_the_two(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_access(s, 1, STEP_LOAD, s->buffer, 1);
    script_signal(s, 1, script_sem(s, 0, 0), 2);
    script_send(s, 0, 0, 1, 1, 0);
    script_wait(s, 0, script_sem(s, 0, 0), 1);
    EXPECT_WHY(s, FAULT_RACE, "on sem[0] of device 0, but waits take only 1 of 2, at script:2.");
}

/* The signal of device 0 was meant for its neighbour: its own wait hears nothing of device 1. */
static void a_wait_that_hears_only_of_its_own_core_is_named(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_access(s, 1, STEP_LOAD, s->buffer, 1);
    script_signal(s, 1, script_sem(s, 1, 0), 1);
    script_wait(s, 1, script_sem(s, 1, 0), 1);
    script_signal(s, 0, script_sem(s, 0, 0), 1);
    script_wait(s, 0, script_sem(s, 0, 0), 1);
    script_send(s, 0, 0, 1, 1, 0);
    EXPECT_WHY(s, FAULT_RACE, "Before it the wait of device 0 at script:2, on sem[0] of device 0, hears only of the signal of device 0 "
               "at script:1.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wait_that_was_meant_is_named_with_what_else_can_satisfy_it),
        cmocka_unit_test(an_overwriting_copy_is_told_what_it_knows_of_the_reader),
        cmocka_unit_test(a_wait_that_comes_too_late_is_named),
        cmocka_unit_test(the_order_that_was_meant_need_not_be_the_record_s),
        cmocka_unit_test(a_wait_is_meant_for_signals_of_its_own_turn),
        cmocka_unit_test(a_signal_that_nobody_takes_is_what_would_order_the_two),
        cmocka_unit_test(a_wait_that_takes_less_than_is_given_is_what_would_order_the_two),
        cmocka_unit_test(a_wait_that_hears_only_of_its_own_core_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
