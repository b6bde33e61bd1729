/* test_delay.c - delays that are claimed lead to the fault, whatever else happens; where none does, none is claimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/explain/delay.h"
#include "../../checker/run/judge.h"
#include "../../model/rng.h"
#include "../support/script.h"

static Finding *find(Script *script, FaultId id)
{
    Finding *found = NULL;
    for (guint i = 0; i < script->outcome->findings->len && found == NULL; i++) {
        Finding *finding = g_ptr_array_index(script->outcome->findings, i);
        found = finding->id == id ? finding : NULL;
    }
    assert_non_null(found);
    delay_find(script->execution, &(ExecutionOptions){ 0 }, found);
    return found;
}

/* At random, but not a step of the core once it is at the delay: the other access is enabled anyway. */
static void expect_overtaken(Script *script, const Finding *finding, const Delay *delay)
{
    const Place *second = &finding->place[finding->meant != MEANT_SECOND];
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rng rng;
        rng_init(&rng, seed);
        execution_begin(script->execution, &(ExecutionOptions){ 0 });
        for (;;) {
            if (judge_is_next(script->execution, second))
                break;
            execution_enabled(script->execution, moves);
            for (guint i = moves->len; i-- > 0;) {
                const Request *request = execution_pending(script->execution, delay->core);
                const Move *move = &g_array_index(moves, Move, i);
                if (move->core == delay->core && move->copy == NONE && request->step.site == delay->site)
                    g_array_remove_index(moves, i);
            }
            assert_true(moves->len > 0);
            execution_do(script->execution, g_array_index(moves, Move, rng_below(&rng, moves->len)));
        }
    }
}

/* Device 1 sends, device 0 loads without waiting. */
SCRIPT_BODY(load_too_soon)
{
    Tile tile;
    if (core->device == 1)
        script_copy_all(core, 7, script_now->buffer, script_now->buffer, 0);
    else
        core_load(core, script_line(core, 8), script_ref(script_now->buffer), NULL, &tile);
}

static void a_core_is_late_before_it_starts_the_copy_that_is_not_waited_for(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, load_too_soon);
    script_prove(script);
    const Finding *race = find(script, FAULT_RACE);
    assert_non_null(race->delays);
    assert_int_equal(race->delays->len, 1);
    const Delay *delay = &g_array_index(race->delays, Delay, 0);
    bool sender = race->place[race->meant == MEANT_SECOND].copy != NONE;
    assert_int_equal(delay->core, sender ? 1 : 0);
    assert_int_equal(delay->copy, NONE);
    assert_int_equal(program_get_site(script->program, delay->site)->line, sender ? 7 : 8);
    expect_overtaken(script, race, delay);
    script_free(script);
}

/* The source is stored to while the copy may still read it: no delay of a core makes that copy late. */
SCRIPT_BODY(store_too_soon)
{
    if (core->device == 1)
        return;
    Tile tile;
    core_load(core, script_line(core, 6), script_ref(script_now->buffer), NULL, &tile);
    script_copy_all(core, 7, script_now->buffer, script_now->buffer, 1);
    core_store(core, script_line(core, 8), script_ref(script_now->buffer), NULL, &tile);
}

static void a_copy_has_to_be_slow_where_no_core_can_be_late(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, store_too_soon);
    script_prove(script);
    const Finding *race = find(script, FAULT_RACE);
    assert_non_null(race->delays);
    const Delay *delay = &g_array_index(race->delays, Delay, 0);
    assert_int_equal(delay->copy, 0);
    assert_int_equal(program_get_site(script->program, delay->site)->line, 7);
    script_free(script);
}

/* Twice: device 1 has to be late the second time only. */
SCRIPT_BODY(second_round_too_soon)
{
    Tile tile;
    for (unsigned round = 0; round < 2; round++) {
        if (core->device == 0) {
            script_copy_all(core, 7, script_now->buffer, script_now->buffer, 1);
            core_wait(core, script_line(core, 8), script_ref(script_now->semaphore), 1, true);
        } else {
            CopyDesc copy = script_describe_copy(script_now->buffer, script_now->buffer, 0);
            if (round == 0)
                core_copy_wait(core, script_line(core, 9), &copy, COPY_WAIT_RECEIVE, false);
            core_load(core, script_line(core, 10), script_ref(script_now->buffer), NULL, &tile);
            core_signal(core, script_line(core, 11), script_ref(script_now->semaphore), 1, script_on(0));
        }
    }
}

static void the_round_in_which_to_be_late_is_counted(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, second_round_too_soon);
    script_prove(script);
    const Finding *race = find(script, FAULT_RACE);
    assert_non_null(race->delays);
    const Delay *delay = &g_array_index(race->delays, Delay, 0);
    assert_int_equal(delay->times, 2);
    script_free(script);
}

/* Each device sets the other's word, then clears its own: the late one clears what it received. */
SCRIPT_BODY(cleared_too_late)
{
    core_flag_store(core, script_line(core, 1), script_ref(script_now->flag), SCRIPT_OWN, 0);
    core_flag_store(core, script_line(core, 2), script_ref(script_now->flag), script_on(1 - core->device), 1);
    core_flag_wait(core, script_line(core, 3), script_ref(script_now->flag), SCRIPT_OWN, COMPARE_GE, 1);
}

static void one_that_is_late_from_the_beginning_loses_a_signal(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, cleared_too_late);
    script_prove(script);
    Finding *deadlock = finding_new(FAULT_DEADLOCK);
    static const Move moves[] = { { 0, NONE, 0 }, { 0, NONE, 0 }, { 1, NONE, 0 }, { 1, NONE, 0 }, { 0, NONE, 0 } };
    deadlock->moves = g_array_new(FALSE, FALSE, sizeof(Move));
    g_array_append_vals(deadlock->moves, moves, G_N_ELEMENTS(moves));
    delay_find(script->execution, &(ExecutionOptions){ 0 }, deadlock);
    assert_non_null(deadlock->delays);
    assert_int_equal(deadlock->delays->len, 1);
    finding_free(deadlock);
    script_free(script);
}

SCRIPT_BODY(both_are_told_in_time)
{
    core_flag_store(core, script_line(core, 2), script_ref(script_now->flag), script_on(1 - core->device), 1);
    core_flag_wait(core, script_line(core, 3), script_ref(script_now->flag), SCRIPT_OWN, COMPARE_GE, 1);
}

static void nothing_is_claimed_where_no_delay_leads_there(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, both_are_told_in_time);
    script_prove(script);
    Finding *deadlock = finding_new(FAULT_DEADLOCK);
    deadlock->moves = g_array_new(FALSE, FALSE, sizeof(Move));
    delay_find(script->execution, &(ExecutionOptions){ 0 }, deadlock);
    assert_null(deadlock->delays);
    finding_free(deadlock);
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_is_late_before_it_starts_the_copy_that_is_not_waited_for),
        cmocka_unit_test(a_copy_has_to_be_slow_where_no_core_can_be_late),
        cmocka_unit_test(the_round_in_which_to_be_late_is_counted),
        cmocka_unit_test(one_that_is_late_from_the_beginning_loses_a_signal),
        cmocka_unit_test(nothing_is_claimed_where_no_delay_leads_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
