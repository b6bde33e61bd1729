/* test_enumerate_looks.c - the enumeration of cores that look: at counts, in loops; at data, with contents in the state. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/enumerate/enumerate.h"
#include "../../model/expectation.h"
#include "../support/script.h"

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

typedef struct Act { Script *script; UnrollSource source; } Act;     /* a program, and how its steps are asked for */

static uint32_t rounds;                         /* what a test chooses */

/* Where a core looked last, and what it saw: all that matters later for a core that does not count. */
static uint64_t fingerprint(void *self, uint32_t core, const Observation *observed, size_t count, bool contents)
{
    if (count == 0)
        return 0;
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(UnrollStep));
    UnrollSource *source = unroller_source(self);
    source->extend(self, core, observed, count - 1, contents, out);
    const Observation *last = &observed[count - 1];
    int64_t seen = last->tile ? dtype_read_int(last->tile->dtype, last->tile->bytes) : last->value;
    return 1 + (uint64_t)seen + 1000 * (uint64_t)g_array_index(out, UnrollStep, out->len - 1).step.site;
}

static uint64_t fingerprint_of_counter(void *self, uint32_t core, const Observation *observed, size_t count, bool contents)
{
    return count ? fingerprint(self, core, observed, count, contents) * 1000 + count : 0;
}

static uint64_t fingerprint_of_core_0(void *self, uint32_t core, const Observation *observed, size_t count, bool contents)
{
    return core == 0 ? fingerprint(self, core, observed, count, contents) : 0;
}

typedef uint64_t (*Fingerprint)(void *self, uint32_t core, const Observation *observed, size_t count, bool contents);

static Act *act_new(uint32_t devices, void (*body)(Core *, const Launch *), Fingerprint print)
{
    Act *act = g_new0(Act, 1);
    act->script = script_of(devices, 1, body);
    act->source = *script_source(act->script);
    act->source.fingerprint = print, act->source.same = NULL;
    return act;
}

static Outcome *act_enumerate(Act *act, bool contents)
{
    const EnumerateOptions options = {.contents = contents, .limits.states = 100000};
    return enumerate_run(&act->source, &options);
}

static void act_free(Act *act, Outcome *outcome)
{
    outcome_free(outcome);
    script_free(act->script);
    g_free(act);
}

static int64_t look(Core *core, unsigned line, unsigned element)
{
    return core_semaphore_read(core, script_line(core, line), script_at(script_now->semaphore, element));
}

static void tell(Core *core, uint32_t device, unsigned element)
{
    core_signal(core, script_line(core, 1), script_at(script_now->semaphore, element), 1, script_on(device));
}

static void wait_to_be_told(Core *core)
{
    core_wait(core, script_line(core, 2), script_at(script_now->semaphore, 0), 1, true);
}

/* ---- loops that look ---- */

SCRIPT_BODY(polls_until_told)
{
    if (core->device == 1)
        tell(core, 0, 0);
    while (core->device == 0 && look(core, 7, 0) < 1)
        continue;
}

static void a_poll_is_one_node(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_until_told, fingerprint);
    Outcome *outcome = act_enumerate(act, false);
    assert_true(outcome->complete);
    assert_int_equal(outcome->findings->len, 0);
    assert_int_equal(outcome->states, 6);       /* not looked, looked in vain, done; each signalled or not: done only if signalled */
    assert_int_equal(outcome->end_states->len, 2);
    act_free(act, outcome);
}

static void a_poll_without_fingerprint_is_a_guess(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_until_told, NULL);
    Outcome *outcome = act_enumerate(act, false);
    assert_false(outcome->complete);
    assert_true(has_limit(outcome, "polls"));
    assert_int_equal(outcome->findings->len, 0);
    act_free(act, outcome);
}

SCRIPT_BODY(polls_in_vain)
{
    while (core->device == 0 && look(core, 7, 0) < 1)
        if (look(core, 8, 1) >= 1)
            break;
    if (core->device == 1)
        wait_to_be_told(core);
}

static void nobody_is_left_to_change_it(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_in_vain, fingerprint);
    Outcome *outcome = act_enumerate(act, false);
    assert_true(outcome->complete);
    assert_int_equal(outcome->states, 3);
    assert_int_equal(only(outcome, FAULT_NO_PROGRESS)->place[0].core, 0);
    act_free(act, outcome);
}

enum { PATIENCE = 300 };                        /* looks: more than a loop is fed before it is taken for one without an end */

SCRIPT_BODY(loses_patience)
{
    for (unsigned looks = 0; core->device == 0 && looks < PATIENCE; looks++)
        look(core, 7, 0);
}

static void nobody_is_stuck_in_a_loop_that_was_guessed(void **state)
{
    (void)state;
    for (int patient = 0; patient < 2; patient++) {
        Act *act = act_new(2, patient ? loses_patience : polls_in_vain, NULL);
        Outcome *outcome = act_enumerate(act, false);
        assert_false(outcome->complete);
        assert_true(has_limit(outcome, "polls"));
        assert_int_equal(outcome->findings->len, 0);
        act_free(act, outcome);
    }
}

SCRIPT_BODY(fails_in_its_second_round)
{
    if (core->device == 1)
        tell(core, 0, 0);
    for (unsigned round = 0; core->device == 0 && round < PATIENCE; round++) {
        if (look(core, 7, 0) >= 1) {
            if (round == 1)
                core_stop(core, script_line(core, 9), FAULT_ASSERT, "no");
            return;
        }
        look(core, 8, 1);
    }
}

/* Where a core counts its rounds, a third one is not the second. */
static void a_schedule_goes_through_no_loop_again(void **state)
{
    (void)state;
    static const unsigned MODES[] = { 0, ENUMERATE_HASH_COMPACT };      /* schedules are found backwards, and forwards */
    for (size_t m = 0; m < G_N_ELEMENTS(MODES); m++) {
        const EnumerateOptions options = {.modes = MODES[m], .limits.states = 100000};
        Act *act = act_new(2, fails_in_its_second_round, NULL);
        Outcome *outcome = enumerate_run(&act->source, &options);
        const GArray *moves = only(outcome, FAULT_ASSERT)->moves;
        unsigned of_core_0 = 0;
        for (guint i = 0; i < moves->len; i++)
            of_core_0 += g_array_index(moves, Move, i).core == 0;
        assert_int_equal(of_core_0, 4);         /* three looks, and the end */
        act_free(act, outcome);
    }
}

SCRIPT_BODY(gives_up)
{
    if (core->device == 1)
        tell(core, 0, 0);
    for (unsigned looks = 0; core->device == 0 && looks < 5; looks++)
        if (look(core, 7, 0) >= 1)
            return;
    if (core->device == 0)
        tell(core, 0, 1);
}

static void a_core_that_counts_its_polls_is_no_loop(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        Act *act = act_new(2, gives_up, with ? fingerprint_of_counter : NULL);
        Outcome *outcome = act_enumerate(act, false);
        assert_true(outcome->complete);
        assert_int_equal(outcome->findings->len, 0);
        assert_int_equal(outcome->end_states->len, 6);  /* signalled before look 1, 2, 3, 4, 5, or too late */
        act_free(act, outcome);
    }
}

SCRIPT_BODY(polls_until_the_patient_tells)
{
    unsigned looks = 0;
    while ((core->device == 0 || looks++ < PATIENCE) && look(core, 7, 0) < 1)
        continue;
    if (core->device == 1)
        tell(core, 0, 0);
}

static void whoever_may_leave_its_loop_may_end_that_of_others(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_until_the_patient_tells, fingerprint_of_core_0);
    Outcome *outcome = act_enumerate(act, false);
    assert_false(outcome->complete);
    assert_true(has_limit(outcome, "polls"));
    assert_int_equal(outcome->findings->len, 0);
    act_free(act, outcome);
}

static void a_sweep_is_refused_where_a_core_polls(void **state)
{
    (void)state;
    const EnumerateOptions options = {.modes = ENUMERATE_SWEEP, .limits.states = 100000};
    Act *act = act_new(2, polls_until_told, fingerprint);
    Outcome *outcome = enumerate_run(&act->source, &options);
    assert_non_null(outcome->refused);
    assert_non_null(strstr(outcome->refused, "polls"));
    act_free(act, outcome);
    act = act_new(2, gives_up, fingerprint_of_counter);           /* looks five times at most: each look is a level */
    Outcome *plain = act_enumerate(act, false);
    outcome = enumerate_run(&act->source, &options);
    assert_null(outcome->refused);
    assert_int_equal(outcome->states, plain->states);
    outcome_free(plain);
    act_free(act, outcome);
}

/* ---- ids that outgrow their fields ---- */

enum { ROUNDS = 40 };                           /* more components than the fields of ten cores hold at first */

SCRIPT_BODY(goes_on_to_something_new)
{
    if (core->device > 0)
        return;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        tell(core, 0, 0);
        wait_to_be_told(core);
    }
    look(core, 7, 1);
    if (rounds == 0)
        look(core, 8, 2);
    else
        core_flag_store(core, script_line(core, 9), script_ref(script_now->flag), SCRIPT_OWN, 1);
}

/* The search restarts, and what was unrolled is kept. */
static void what_matters_late_finds_room_for_all_that_is_known(void **state)
{
    (void)state;
    for (uint32_t word = 0; word < 2; word++) {
        const EnumerateOptions options = {.modes = word ? 0 : ENUMERATE_MERGE_LOCAL, .limits.states = 100000};
        rounds = word;
        Act *act = act_new(10, goes_on_to_something_new, fingerprint);
        Outcome *outcome = enumerate_run(&act->source, &options);
        assert_true(outcome->complete);
        assert_int_equal(outcome->findings->len, 0);
        assert_int_equal(outcome->states, 2 * ROUNDS + 3);      /* one after the other */
        assert_int_equal(outcome->end_states->len, 1);
        act_free(act, outcome);
    }
}

/* Polls between loads; at first with a copy under way. */
SCRIPT_BODY(polls_late)
{
    Tile tile;
    if (core->device > 0)
        return;
    for (uint32_t i = 0; i < rounds; i++)
        tell(core, 1, 0);
    script_copy_all(core, 3, script_now->buffer, script_now->scratch, 1);
    while (look(core, 200, 0) < 1)
        for (unsigned i = 0; i < 4; i++)
            core_load(core, script_line(core, 201 + i), script_ref(script_now->buffer), NULL, &tile);
}

/* A judge goes through states of polling ahead of the search, and what it makes there may be the first to outgrow a field. */
static void what_polling_makes_finds_room(void **state)
{
    (void)state;
    uint64_t states = 0;
    for (uint32_t count = 0; count < 60; count++) {
        rounds = count;
        Act *act = act_new(10, polls_late, fingerprint);
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

static void take(Core *core)
{
    CopyDesc copy = script_describe_copy(script_now->buffer, script_now->scratch, 0);
    core_copy_wait(core, script_line(core, 3), &copy, COPY_WAIT_RECEIVE, false);
}

SCRIPT_BODY(passes_on)
{
    if (core->device == 0) {
        script_store(core, 1, script_now->buffer, 3);
        script_copy_all(core, 2, script_now->buffer, script_now->scratch, 1);
    } else {
        take(core);
        if (script_load(core, 4, script_now->scratch) != 3)
            core_stop(core, script_line(core, 5), FAULT_ASSERT, "no");
    }
}

static void copies_carry_what_they_read(void **state)
{
    (void)state;
    Act *act = act_new(2, passes_on, fingerprint);
    Outcome *outcome = act_enumerate(act, true);
    assert_true(outcome->complete);
    assert_int_equal(outcome->findings->len, 0);
    assert_int_equal(outcome->end_states->len, 1);
    act_free(act, outcome);
}

SCRIPT_BODY(takes_too_early)
{
    if (core->device == 0) {
        script_copy_all(core, 2, script_now->buffer, script_now->scratch, 1);
        script_store(core, 1, script_now->buffer, 3);
    } else {
        take(core);
        if (script_load(core, 4, script_now->scratch) == 3)
            core_stop(core, script_line(core, 5), FAULT_ASSERT, "no");
    }
}

static void a_race_has_two_outcomes(void **state)
{
    (void)state;
    Act *act = act_new(2, takes_too_early, fingerprint);
    Outcome *outcome = act_enumerate(act, true);
    assert_true(outcome->complete);
    assert_true(outcome->incomplete_after_race);
    assert_int_equal(outcome->findings->len, 2);
    assert_int_equal(((Finding *)g_ptr_array_index(outcome->findings, 0))->id, FAULT_RACE);
    assert_int_equal(((Finding *)g_ptr_array_index(outcome->findings, 1))->id, FAULT_ASSERT);
    act_free(act, outcome);
    act = act_new(2, takes_too_early, fingerprint);
    outcome = act_enumerate(act, false);            /* without contents it is not decided */
    assert_false(outcome->complete);
    assert_int_equal(outcome->limits->len, 0);
    act_free(act, outcome);
}

SCRIPT_BODY(races_blindly)
{
    for (int64_t i = 0; core->device == 0 && i < 2; i++)
        script_store(core, 1 + (unsigned)i, script_now->buffer, i);
    if (core->device == 1)
        script_copy_all(core, 3, script_now->buffer, script_now->buffer, 0);
}

static void after_a_race_contents_are_left_out(void **state)
{
    (void)state;
    Act *act = act_new(2, races_blindly, fingerprint);
    Outcome *outcome = act_enumerate(act, true);
    assert_true(outcome->complete);
    assert_int_equal(outcome->findings->len, 2);        /* two pairs of sites, and no word on different results */
    assert_int_equal(outcome->states, 3 * 4);           /* of two stores, and of a copy to there */
    act_free(act, outcome);
}

SCRIPT_BODY(keeps_what_it_saw)
{
    if (core->device == 1)
        tell(core, 0, 0);
    if (core->device == 0)
        script_store(core, 8, script_now->buffer, look(core, 7, 0));
}

static void results_may_not_depend_on_the_schedule(void **state)
{
    (void)state;
    Act *act = act_new(2, keeps_what_it_saw, fingerprint);
    Outcome *outcome = act_enumerate(act, true);
    assert_true(outcome->complete);
    only(outcome, FAULT_DIVERGENCE);
    act_free(act, outcome);
}

static bool is_as_expected(Machine *machine, const Expectation *expectation, uint32_t device, Unexpected *unexpected)
{
    Program *program = machine_program(machine);
    const Contents *contents = machine_contents(machine, program_object(program, expectation->decl[0], device));
    bool holds = device == 0 || dtype_read_int(DTYPE_I32, contents->bytes) == *(const int *)expectation->closure;
    if (!holds)
        unexpected->message = g_strdup("not as expected");
    return holds;
}

static void expectations_are_judged_at_the_end(void **state)
{
    (void)state;
    static const int value[2] = {3, 4};
    for (int wrong = 0; wrong < 2; wrong++) {
        Act *act = act_new(2, passes_on, fingerprint);
        Expectation *expectation = store_push(&act->script->program->expectations, 1);
        *expectation = (Expectation){.holds = is_as_expected, .closure = &value[wrong], .decls = 1, .decl = {act->script->scratch},
                                     .site = program_site(act->script->program, "test", "body", 9, 0)};
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
