/* test_enumerate_looks.c - the enumeration of cores that look: at counts, in loops; at data, with contents in the state. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../model/machine.h"
#include "../support/act.h"

static bool has_limit(const Outcome *outcome, const char *limit)
{
    for (guint i = 0; i < outcome->limits->len; i++)
        if (g_str_equal(g_ptr_array_index(outcome->limits, i), limit))
            return true;
    return false;
}

static const Finding *only(const Outcome *outcome, FaultId id)
{
    assert_int_equal(outcome->findings->len, 1);
    const Finding *finding = g_ptr_array_index(outcome->findings, 0);
    assert_int_equal(finding->id, id);
    assert_non_null(finding->moves);
    return finding;
}

/* ---- loops that look ---- */

static void polls_until_told(Run *run)
{
    if (run->core == 1)
        act_tell(run, act_id(run, 0, 0));
    while (run->core == 0 && !run->over && act_look(run, act_id(run, 0, 0), 7) < 1)
        ;
}

static void a_poll_is_one_node(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_until_told, true);
    Outcome *outcome = act_enumerate(act, false);
    assert_true(outcome->complete);
    assert_int_equal(outcome->findings->len, 0);
    assert_int_equal(outcome->states, 6);       /* not looked, looked in vain, done; each told or not: done only when told */
    assert_int_equal(outcome->end_states->len, 2);
    act_free(act, outcome);
}

static void a_poll_without_fingerprint_is_a_guess(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_until_told, false);
    Outcome *outcome = act_enumerate(act, false);
    assert_false(outcome->complete);
    assert_true(has_limit(outcome, "polls"));
    assert_int_equal(outcome->findings->len, 0);
    act_free(act, outcome);
}

static void polls_in_vain(Run *run)
{
    while (run->core == 0 && !run->over && act_look(run, act_id(run, 0, 0), 7) < 1)
        if (act_look(run, act_id(run, 0, 1), 8) >= 1)
            break;
    if (run->core == 1)
        act_wait(run, act_id(run, 1, 0), 1);
}

static void nobody_is_left_to_change_it(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_in_vain, true);
    Outcome *outcome = act_enumerate(act, false);
    assert_true(outcome->complete);
    assert_int_equal(outcome->states, 3);
    assert_int_equal(only(outcome, FAULT_NO_PROGRESS)->place[0].core, 0);
    act_free(act, outcome);
}

enum { PATIENCE = 300 };                        /* looks: more than a loop is fed before it is taken for one without an end */

static void loses_patience(Run *run)
{
    for (unsigned looks = 0; run->core == 0 && !run->over && looks < PATIENCE; looks++)
        act_look(run, act_id(run, 0, 0), 7);
}

static void nobody_is_stuck_in_a_loop_that_was_guessed(void **state)
{
    (void)state;
    for (int patient = 0; patient < 2; patient++) {
        Act *act = act_new(2, patient ? loses_patience : polls_in_vain, false);
        Outcome *outcome = act_enumerate(act, false);
        assert_false(outcome->complete);
        assert_true(has_limit(outcome, "polls"));
        assert_int_equal(outcome->findings->len, 0);
        act_free(act, outcome);
    }
}

static void fails_in_its_second_round(Run *run)
{
    if (run->core == 1)
        act_tell(run, act_id(run, 0, 0));
    for (unsigned round = 0; run->core == 0 && !run->over && round < PATIENCE; round++) {
        if (act_look(run, act_id(run, 0, 0), 7) >= 1) {
            if (round == 1)
                act_stop(run, FAULT_ASSERT);
            return;
        }
        act_look(run, act_id(run, 0, 1), 8);
    }
}

/* Where a core counts its rounds, a third one is not the second. */
static void a_schedule_goes_through_no_loop_again(void **state)
{
    (void)state;
    static const unsigned MODES[] = { 0, WALK_HASH_COMPACT };  /* schedules are found backwards, and forwards */
    for (size_t m = 0; m < G_N_ELEMENTS(MODES); m++) {
        const EnumerateOptions options = {.modes = MODES[m], .states_max = 100000};
        Act *act = act_new(2, fails_in_its_second_round, false);
        Outcome *outcome = enumerate_run(&act->source, &options);
        const GArray *moves = only(outcome, FAULT_ASSERT)->moves;
        unsigned of_core_0 = 0;
        for (guint i = 0; i < moves->len; i++)
            of_core_0 += g_array_index(moves, Move, i).core == 0;
        assert_int_equal(of_core_0, 4);         /* three looks, and the end */
        act_free(act, outcome);
    }
}

static void gives_up(Run *run)
{
    if (run->core == 1)
        act_tell(run, act_id(run, 0, 0));
    for (run->state = 0; run->core == 0 && !run->over && run->state < 5; run->state++)
        if (act_look(run, act_id(run, 0, 0), 7) >= 1)
            return;
    if (run->core == 0)
        act_tell(run, act_id(run, 0, 1));
}

static void a_core_that_counts_its_polls_is_no_loop(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        Act *act = act_new(2, gives_up, with);
        Outcome *outcome = act_enumerate(act, false);
        assert_true(outcome->complete);
        assert_int_equal(outcome->findings->len, 0);
        assert_int_equal(outcome->end_states->len, 6);  /* told before look 1, 2, 3, 4, 5, or too late */
        act_free(act, outcome);
    }
}

static void polls_until_the_patient_tells(Run *run)
{
    unsigned looks = 0;
    while (!run->over && (run->core == 0 || looks++ < PATIENCE) && act_look(run, act_id(run, run->core, 0), 7) < 1)
        ;
    if (run->core == 1)
        act_tell(run, act_id(run, 0, 0));
}

static void whoever_may_leave_its_loop_may_end_that_of_others(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_until_the_patient_tells, true);
    act->source.fingerprint = act_fingerprint_of_core_0;
    Outcome *outcome = act_enumerate(act, false);
    assert_false(outcome->complete);
    assert_true(has_limit(outcome, "polls"));
    assert_int_equal(outcome->findings->len, 0);
    act_free(act, outcome);
}

static void a_sweep_is_refused_where_a_core_polls(void **state)
{
    (void)state;
    const EnumerateOptions options = {.modes = WALK_SWEEP, .states_max = 100000};
    Act *act = act_new(2, polls_until_told, true);
    Outcome *outcome = enumerate_run(&act->source, &options);
    assert_non_null(outcome->refused);
    assert_non_null(strstr(outcome->refused, "polls"));
    act_free(act, outcome);
    act = act_new(2, gives_up, true);           /* looks five times at most: each look is a level */
    Outcome *plain = act_enumerate(act, false);
    outcome = enumerate_run(&act->source, &options);
    assert_null(outcome->refused);
    assert_int_equal(outcome->states, plain->states);
    outcome_free(plain);
    act_free(act, outcome);
}

/* ---- ids that outgrow their fields ---- */

enum { ROUNDS = 40 };                           /* more components than the fields of ten cores hold at first */

static void goes_on_to_something_new(Run *run)
{
    const Step store = {.kind = STEP_FLAG_STORE, .object = script_semaphore_id(run->act->script, run->act->more, 0, 0), .value = 1};
    for (uint32_t i = 0; run->core == 0 && i < ROUNDS; i++) {
        act_tell(run, act_id(run, 0, 0));
        act_wait(run, act_id(run, 0, 0), 1);
    }
    if (run->core == 0)
        act_look(run, act_id(run, 0, 1), 7);
    if (run->core == 0 && run->act->rounds == 0)
        act_look(run, act_id(run, 1, 0), 8);
    else if (run->core == 0)
        act_step(run, (UnrollStep){.step = store, .fault = FAULT_COUNT}, false);
}

/* The search begins anew, and what was unrolled stays. */
static void what_matters_late_finds_room_for_all_that_is_known(void **state)
{
    (void)state;
    for (uint32_t word = 0; word < 2; word++) {
        const EnumerateOptions options = {.modes = word ? 0 : WALK_MERGE_LOCAL, .states_max = 100000};
        Act *act = act_new(10, goes_on_to_something_new, true);
        act->rounds = word, act->more = script_semaphore(act->script, SEMAPHORE_FLAG, 1, "word");
        Outcome *outcome = enumerate_run(&act->source, &options);
        assert_true(outcome->complete);
        assert_int_equal(outcome->findings->len, 0);
        assert_int_equal(outcome->states, 2 * ROUNDS + 3);      /* one after the other */
        assert_int_equal(outcome->end_states->len, 1);
        act_free(act, outcome);
    }
}

/* Polls between loads; at first with a copy under way. */
static void polls_late(Run *run)
{
    if (run->core > 0)
        return;
    for (uint32_t i = 0; i < run->act->rounds; i++)
        act_tell(run, act_id(run, 1, 0));
    act_copy(run, run->act->buffer, run->act->more, 1, act_id(run, 1, 1));
    while (!run->over && act_look(run, act_id(run, 0, 0), 200) < 1)
        for (unsigned i = 0; i < 4; i++)
            act_step(run, act_access(run, STEP_LOAD, run->act->buffer), false);
}

/* A judge goes through states of polling ahead of the search, and what it makes there may be the first to outgrow a field. */
static void what_polling_makes_finds_room(void **state)
{
    (void)state;
    uint64_t states = 0;
    for (uint32_t count = 0; count < 60; count++) {
        Act *act = act_new(10, polls_late, true);
        act->rounds = count;
        Outcome *outcome = act_enumerate(act, false);
        assert_true(outcome->complete);
        assert_int_equal(outcome->findings->len, 3);
        assert_int_equal(outcome->end_states->len, 0);
        assert_true(count == 0 || outcome->states == states + 1);
        states = outcome->states;
        act_free(act, outcome);
    }
}

/* ---- data ---- */

static void passes_on(Run *run)
{
    if (run->core == 0) {
        act_store(run, run->act->buffer, 3);
        act_copy(run, run->act->buffer, run->act->more, 1, act_id(run, 1, 0));
    } else {
        act_wait(run, act_id(run, 1, 0), 1);
        if (act_load(run, run->act->more) != 3)
            act_stop(run, FAULT_ASSERT);
    }
}

static void copies_carry_what_they_read(void **state)
{
    (void)state;
    Act *act = act_new(2, passes_on, true);
    Outcome *outcome = act_enumerate(act, true);
    assert_true(outcome->complete);
    assert_int_equal(outcome->findings->len, 0);
    assert_int_equal(outcome->end_states->len, 1);
    act_free(act, outcome);
}

static void takes_too_early(Run *run)
{
    if (run->core == 0) {
        act_copy(run, run->act->buffer, run->act->more, 1, act_id(run, 1, 0));
        act_store(run, run->act->buffer, 3);
    } else {
        act_wait(run, act_id(run, 1, 0), 1);
        if (act_load(run, run->act->more) == 3)
            act_stop(run, FAULT_ASSERT);
    }
}

static void a_race_has_two_outcomes(void **state)
{
    (void)state;
    Act *act = act_new(2, takes_too_early, true);
    Outcome *outcome = act_enumerate(act, true);
    assert_true(outcome->complete);
    assert_true(outcome->incomplete_after_race);
    assert_int_equal(outcome->findings->len, 2);
    assert_int_equal(((Finding *)g_ptr_array_index(outcome->findings, 0))->id, FAULT_RACE);
    assert_int_equal(((Finding *)g_ptr_array_index(outcome->findings, 1))->id, FAULT_ASSERT);
    act_free(act, outcome);
    act = act_new(2, takes_too_early, true);
    outcome = act_enumerate(act, false);            /* without contents it is not decided */
    assert_false(outcome->complete);
    assert_int_equal(outcome->limits->len, 0);
    act_free(act, outcome);
}

static void races_blindly(Run *run)
{
    for (int64_t i = 0; run->core == 0 && i < 2; i++)
        act_store(run, run->act->buffer, i);
    if (run->core == 1) {
        Program *program = run->act->script->program;
        UnrollStep step = act_access(run, STEP_STORE, run->act->buffer);
        step.step.object = program_object(program, run->act->buffer, 0);
        act_step(run, step, false);
    }
}

static void after_a_race_contents_are_left_out(void **state)
{
    (void)state;
    Act *act = act_new(2, races_blindly, true);
    Outcome *outcome = act_enumerate(act, true);
    assert_true(outcome->complete);
    assert_int_equal(outcome->findings->len, 2);        /* two pairs of sites, and no word on different results */
    assert_int_equal(outcome->states, 6);
    act_free(act, outcome);
}

static void keeps_what_it_saw(Run *run)
{
    if (run->core == 1)
        act_tell(run, act_id(run, 0, 0));
    if (run->core == 0) {
        int64_t seen = act_look(run, act_id(run, 0, 0), 7);
        act_store(run, run->act->buffer, seen);
    }
}

static void results_may_not_depend_on_the_schedule(void **state)
{
    (void)state;
    Act *act = act_new(2, keeps_what_it_saw, true);
    Outcome *outcome = act_enumerate(act, true);
    assert_true(outcome->complete);
    only(outcome, FAULT_DIVERGENCE);
    act_free(act, outcome);
}

static bool is_as_expected(Machine *machine, const Expectation *expectation, uint32_t device, char **message)
{
    Program *program = machine_program(machine);
    const Contents *contents = machine_contents(machine, program_object(program, expectation->decl[0], device));
    bool holds = device == 0 || contents->bytes[0] == *(const int *)expectation->closure;
    if (!holds)
        *message = g_strdup("not as expected");
    return holds;
}

static void expectations_are_judged_at_the_end(void **state)
{
    (void)state;
    static const int value[2] = {3, 4};
    for (int wrong = 0; wrong < 2; wrong++) {
        Act *act = act_new(2, passes_on, true);
        Expectation *expectation = store_push(&act->script->program->expectations, 1);
        *expectation = (Expectation){.holds = is_as_expected, .closure = &value[wrong], .decls = 1, .decl = {act->more},
                                     .site = program_site(act->script->program, "act", "act", 9, 0)};
        Outcome *outcome = act_enumerate(act, true);
        assert_true(outcome->complete);
        if (wrong)
            assert_string_equal(only(outcome, FAULT_ASSERT)->message, "not as expected");
        else
            assert_int_equal(outcome->findings->len, 0);
        act_free(act, outcome);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_poll_is_one_node),
        cmocka_unit_test(a_poll_without_fingerprint_is_a_guess),
        cmocka_unit_test(nobody_is_left_to_change_it),
        cmocka_unit_test(nobody_is_stuck_in_a_loop_that_was_guessed),
        cmocka_unit_test(a_schedule_goes_through_no_loop_again),
        cmocka_unit_test(a_core_that_counts_its_polls_is_no_loop),
        cmocka_unit_test(whoever_may_leave_its_loop_may_end_that_of_others),
        cmocka_unit_test(a_sweep_is_refused_where_a_core_polls),
        cmocka_unit_test(what_matters_late_finds_room_for_all_that_is_known),
        cmocka_unit_test(what_polling_makes_finds_room),
        cmocka_unit_test(copies_carry_what_they_read),
        cmocka_unit_test(a_race_has_two_outcomes),
        cmocka_unit_test(after_a_race_contents_are_left_out),
        cmocka_unit_test(results_may_not_depend_on_the_schedule),
        cmocka_unit_test(expectations_are_judged_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
