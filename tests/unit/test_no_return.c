/* test_no_return.c - the move after which a deadlock cannot be avoided is named where there is one, and nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/explain/no_return.h"
#include "../support/script.h"

/* The `why` of a deadlock with this schedule; NULL: nothing is said. g_free. */
static char *point_of(Script *script, const Move *moves, guint count)
{
    Finding *deadlock = finding_new(FAULT_DEADLOCK);
    deadlock->moves = g_array_new(FALSE, FALSE, sizeof(Move));
    g_array_append_vals(deadlock->moves, moves, count);
    no_return_find(script->execution, &(ExecutionOptions){ 0 }, deadlock);
    char *why = g_strdup(deadlock->why);
    finding_free(deadlock);
    return why;
}

/* Each sets the other's flag, then waits; a core that clears its own flag after it was set loses the signal. */
SCRIPT_BODY(cleared_too_late)
{
    core_flag_store(core, script_line(core, 1), script_ref(script_now->flag), SCRIPT_OWN, 0);
    core_flag_store(core, script_line(core, 2), script_ref(script_now->flag), script_on(1 - core->device), 1);
    core_flag_wait(core, script_line(core, 3), script_ref(script_now->flag), SCRIPT_OWN, COMPARE_GE, 1);
}

static void the_store_that_will_be_wiped_out_is_the_point_of_no_return(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, cleared_too_late);
    script_prove(script);
    static const Move moves[] = { { 0, NONE, 0 }, { 0, NONE, 0 }, { 1, NONE, 0 }, { 1, NONE, 0 }, { 0, NONE, 0 } };
    g_autofree char *why = point_of(script, moves, G_N_ELEMENTS(moves));
    assert_string_equal(why, "After the flag store of device 0 at test:2, move 2 of the schedule, no schedule avoids the fault.");
    script_free(script);
}

SCRIPT_BODY(never_told)
{
    core_flag_store(core, script_line(core, 1), script_ref(script_now->flag), SCRIPT_OWN, 0);
    core_flag_wait(core, script_line(core, 2), script_ref(script_now->flag), SCRIPT_OWN, COMPARE_GE, 1);
}

static void what_comes_in_every_order_has_no_such_point(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, never_told);
    script_prove(script);
    static const Move moves[] = { { 0, NONE, 0 }, { 1, NONE, 0 } };
    assert_null(point_of(script, moves, G_N_ELEMENTS(moves)));
    script_free(script);
}

/* Looks first: the state alone does not show what it has seen. */
SCRIPT_BODY(looks_then_decides)
{
    if (core->device == 1) {
        core_flag_store(core, script_line(core, 1), script_ref(script_now->flag), script_on(0), 1);
        return;
    }
    int64_t seen = core_flag_load(core, script_line(core, 2), script_ref(script_now->flag), SCRIPT_OWN);
    core_signal(core, script_line(core, 3), script_ref(script_now->semaphore), 1, SCRIPT_OWN);
    core_wait(core, script_line(core, 4), script_ref(script_now->semaphore), seen ? 1 : 2, true);
}

static void a_look_can_be_the_point_of_no_return(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, looks_then_decides);
    script_prove(script);
    static const Move moves[] = { { 0, NONE, 0 }, { 0, NONE, 0 }, { 1, NONE, 0 } };
    g_autofree char *why = point_of(script, moves, G_N_ELEMENTS(moves));
    assert_string_equal(why, "After the flag load of device 0 at test:2, move 1 of the schedule, no schedule avoids the fault.");
    script_free(script);
}

/* Polls: the states are unbounded, so nothing is decided. */
SCRIPT_BODY(polls_for_ever)
{
    if (core->device == 1)
        core_wait(core, script_line(core, 1), script_ref(script_now->semaphore), 1, true);
    for (unsigned i = 0; i < 5000 && core->device == 0; i++)
        core_flag_load(core, script_line(core, 2), script_ref(script_now->flag), SCRIPT_OWN);
}

static void what_is_not_decided_is_not_claimed(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, polls_for_ever);
    script_prove(script);
    static const Move moves[] = { { 0, NONE, 0 }, { 0, NONE, 0 } };
    assert_null(point_of(script, moves, G_N_ELEMENTS(moves)));
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_store_that_will_be_wiped_out_is_the_point_of_no_return),
        cmocka_unit_test(what_comes_in_every_order_has_no_such_point),
        cmocka_unit_test(a_look_can_be_the_point_of_no_return),
        cmocka_unit_test(what_is_not_decided_is_not_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
