/* test_step.c - the table of kinds of steps has no holes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/step.h"

static void every_kind_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int a = 0; a < STEP_KIND_COUNT; a++) {
        assert_non_null(step_kind_name((StepKind)a));
        for (int b = 0; b < a; b++)
            assert_string_not_equal(step_kind_name((StepKind)a), step_kind_name((StepKind)b));
    }
}

static void the_kinds_that_block_are_waits_and_joins(void **state)
{
    (void)state;
    for (int i = 0; i < STEP_KIND_COUNT; i++) {
        StepKind kind = (StepKind)i;
        bool join = kind == STEP_ENTER || kind == STEP_EXIT || kind == STEP_CORE_BARRIER;
        assert_int_equal(step_is_join(kind), join);
        assert_int_equal(step_blocks(kind), join || kind == STEP_WAIT || kind == STEP_WAIT_KEEP || kind == STEP_FLAG_WAIT);
    }
}

static void looks_at_counts_and_flags_are_conflicts(void **state)
{
    (void)state;
    for (int i = 0; i < STEP_KIND_COUNT; i++) {
        StepKind kind = (StepKind)i;
        bool flag = kind >= STEP_FLAG_LOAD && kind <= STEP_FLAG_WAIT;
        assert_int_equal(step_is_conflict(kind), flag || kind == STEP_SEMAPHORE_READ || kind == STEP_EXPECT_COUNT);
    }
}

static void only_an_add_whose_old_value_nobody_sees_is_plain(void **state)
{
    (void)state;
    assert_true(step_is_plain_add(&(Step){.kind = STEP_FLAG_ADD}));
    assert_false(step_is_plain_add(&(Step){.kind = STEP_FLAG_ADD, .extra = 1}));
    assert_false(step_is_plain_add(&(Step){.kind = STEP_FLAG_STORE}));
}

static void comparisons_hold_as_their_names_say(void **state)
{
    (void)state;
    static const struct { Compare compare; bool less, equal, greater; } CASE[] = {
        {COMPARE_EQ, false, true, false}, {COMPARE_NE, true, false, true}, {COMPARE_GT, false, false, true},
        {COMPARE_GE, false, true, true}, {COMPARE_LT, true, false, false}, {COMPARE_LE, true, true, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++) {
        assert_int_equal(compare_holds(CASE[i].compare, -3, 2), CASE[i].less);
        assert_int_equal(compare_holds(CASE[i].compare, 2, 2), CASE[i].equal);
        assert_int_equal(compare_holds(CASE[i].compare, 2, -3), CASE[i].greater);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_name_of_its_own),
        cmocka_unit_test(the_kinds_that_block_are_waits_and_joins),
        cmocka_unit_test(looks_at_counts_and_flags_are_conflicts),
        cmocka_unit_test(only_an_add_whose_old_value_nobody_sees_is_plain),
        cmocka_unit_test(comparisons_hold_as_their_names_say),
    };
    return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
