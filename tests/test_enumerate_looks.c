/* test_enumerate_looks.c - the enumeration of cores that look: at counts, in loops; at data, with contents in the state.
 *
 * Programs are small functions that are run again from the start with each longer list of observations, as kernels are.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../checker/enumerate/enumerate.h"
#include "../model/machine.h"
#include "script.h"

/* One run of a core: hands out steps, and feeds it what it observed. */
typedef struct Run {
    const struct Act *act;
    uint32_t core;
    const Observation *observed;
    size_t count, used;
    bool contents, over;
    UnrollEnd end;
    uint32_t position, line, state;             /* for its fingerprint: where it is, and what it would keep in a variable */
    uint64_t fingerprint;
    GArray *out;
} Run;

typedef struct Act {                            /* a program: what each core does */
    Script *script;
    void (*core)(Run *run);
    UnrollSource source;
    uint32_t semaphore, buffer, more;           /* decls */
    uint32_t rounds;                            /* what a test chooses */
} Act;

static bool hand_out(Run *run, UnrollStep step, bool observes)
{
    if (run->over)
        return false;
    step.step.core = run->core;
    step.step.site = program_site(run->act->script->program, "act", "act", run->core * 1000 + run->position + 1, 0);
    step.copy.site = step.step.site, step.copy.position = run->position++;
    bool fresh = run->used == run->count;
    if (fresh)
        g_array_append_val(run->out, step);
    if (fresh && observes)
        run->end = UNROLL_OBSERVES, run->over = true;
    return !run->over;
}

static int64_t observe(Run *run)
{
    const Observation *seen = &run->observed[run->used++];
    int64_t value = seen->tile ? dtype_read_int(seen->tile->dtype, seen->tile->bytes) : seen->value;
    if (run->used == run->count)
        run->fingerprint = 1 + run->line * 1000000u + run->state * 1000u + (uint64_t)value;
    return value;
}

/* The same line each time: a loop's step. */
static int64_t look(Run *run, uint32_t semaphore, unsigned line)
{
    uint32_t position = run->position;
    run->position = run->line = line;
    bool more = hand_out(run, (UnrollStep){.step = {.kind = STEP_SEMAPHORE_READ, .object = semaphore}, .fault = FAULT_COUNT}, true);
    run->position = position;
    return more ? observe(run) : 0;
}

static void tell(Run *run, uint32_t semaphore)
{
    hand_out(run, (UnrollStep){.step = {.kind = STEP_SIGNAL, .object = semaphore, .value = 1}, .fault = FAULT_COUNT}, false);
}

static void wait_for(Run *run, uint32_t semaphore, uint32_t value)
{
    Step step = {.kind = STEP_WAIT, .object = semaphore, .value = value, .extra = NONE};
    hand_out(run, (UnrollStep){.step = step, .fault = FAULT_COUNT}, false);
}

static UnrollStep access_of(const Run *run, StepKind kind, uint32_t decl)
{
    Program *program = run->act->script->program;
    uint32_t view = program_decl(program, decl)->view;
    Step step = {.kind = (uint8_t)kind, .object = program_object(program, decl, run->core), .value = program_view_region(program, view)};
    return (UnrollStep){.step = step, .view = view, .fault = FAULT_COUNT};
}

static void stop(Run *run, FaultId fault)
{
    if (hand_out(run, (UnrollStep){.step = {.kind = STEP_STOP}, .fault = fault, .message = "no"}, false) && run->used == run->count)
        run->end = UNROLL_STOPPED, run->over = true;
}

/* Loads, and looks at what it got. */
static int64_t load(Run *run, uint32_t decl)
{
    if (!hand_out(run, access_of(run, STEP_LOAD, decl), run->contents))
        return 0;
    if (run->contents)
        return observe(run);
    stop(run, FAULT_COUNT);
    return 0;
}

static void store(Run *run, uint32_t decl, int64_t value)
{
    static unsigned char bytes[4];
    static uint8_t written[4] = {1, 1, 1, 1};
    static uint64_t origin[4];
    static Tile tiles[4];                       /* of elements 0 to 3: a step's tile must last */
    Tile *tile = &tiles[value];
    bytes[value] = (unsigned char)value;
    *tile = (Tile){.dtype = DTYPE_U8, .ndim = 1, .size = {1}, .elements = 1, .bytes = &bytes[value], .written = &written[value],
                   .origin = &origin[value]};
    UnrollStep step = access_of(run, STEP_STORE, decl);
    step.tile = tile;
    hand_out(run, step, false);
}

static void copy_to(Run *run, uint32_t from, uint32_t to, uint32_t core, uint32_t semaphore)
{
    Program *program = run->act->script->program;
    UnrollStep step = {.step = {.kind = STEP_COPY_START, .object = 0}, .fault = FAULT_COUNT};
    step.copy = (Copy){.core = run->core, .source = program_object(program, from, run->core), .target = program_object(program, to, core),
                       .source_view = program_decl(program, from)->view, .target_view = program_decl(program, to)->view, .bytes = 1,
                       .send_semaphore = NONE, .receive_semaphore = semaphore, .receive_count = 1, .target_device = core};
    step.copy.source_region = program_view_region(program, step.copy.source_view);
    step.copy.target_region = program_view_region(program, step.copy.target_view);
    hand_out(run, step, false);
}

static Run run_core(const Act *act, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out)
{
    Run run = {.act = act, .core = core, .observed = observed, .count = count, .contents = contents, .out = out, .end = UNROLL_FINISHED};
    act->core(&run);
    return run;
}

static UnrollEnd extend(void *self, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out)
{
    return run_core(self, core, observed, count, contents, out).end;
}

static uint64_t fingerprint(void *self, uint32_t core, const Observation *observed, size_t count, bool contents)
{
    GArray *unused = g_array_new(FALSE, FALSE, sizeof(UnrollStep));
    Run run = run_core(self, core, observed, count, contents, unused);
    g_array_free(unused, TRUE);
    return run.fingerprint;
}

static uint64_t fingerprint_of_core_0(void *self, uint32_t core, const Observation *observed, size_t count, bool contents)
{
    return core == 0 ? fingerprint(self, core, observed, count, contents) : 0;
}

static uint32_t id_of(const Run *run, uint32_t core, uint32_t element)
{
    return script_semaphore_id(run->act->script, run->act->semaphore, core, element);
}

static Act *act_new(uint32_t devices, void (*core)(Run *run), bool with_fingerprint)
{
    Act *act = g_new0(Act, 1);
    act->script = script_new(devices, 1, &(Knobs){.dma_progress = DMA_PROGRESS_WHOLE});
    act->core = core;
    act->semaphore = script_semaphore(act->script, SEMAPHORE_REGULAR, 2, "semaphore");
    DeclSpec spec = {.space = SPACE_HBM, .dtype = DTYPE_U8, .life = LIFE_ALWAYS, .ndim = 1, .size = {1}, .input = true, .collective_id = -1,
                     .name = "buffer"};
    act->buffer = program_add_decl(act->script->program, &spec);
    spec.name = "more";
    act->more = program_add_decl(act->script->program, &spec);
    act->source = (UnrollSource){.program = act->script->program, .self = act, .extend = extend,
                                 .fingerprint = with_fingerprint ? fingerprint : NULL};
    return act;
}

static Outcome *enumerate(Act *act, bool contents)
{
    EnumerateOptions options = {.contents = contents, .states_max = 100000};
    return enumerate_run(&act->source, &options);
}

static void act_free(Act *act, Outcome *outcome)
{
    outcome_free(outcome);
    script_free(act->script);
    g_free(act);
}

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
        tell(run, id_of(run, 0, 0));
    while (run->core == 0 && !run->over && look(run, id_of(run, 0, 0), 7) < 1)
        ;
}

static void a_poll_is_one_node(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_until_told, true);
    Outcome *outcome = enumerate(act, false);
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
    Outcome *outcome = enumerate(act, false);
    assert_false(outcome->complete);
    assert_true(has_limit(outcome, "polls"));
    assert_int_equal(outcome->findings->len, 0);
    act_free(act, outcome);
}

static void polls_in_vain(Run *run)
{
    while (run->core == 0 && !run->over && look(run, id_of(run, 0, 0), 7) < 1)
        if (look(run, id_of(run, 0, 1), 8) >= 1)
            break;
    if (run->core == 1)
        wait_for(run, id_of(run, 1, 0), 1);
}

static void nobody_is_left_to_change_it(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_in_vain, true);
    Outcome *outcome = enumerate(act, false);
    assert_true(outcome->complete);
    assert_int_equal(outcome->states, 3);
    assert_int_equal(only(outcome, FAULT_NO_PROGRESS)->place[0].core, 0);
    act_free(act, outcome);
}

enum { PATIENCE = 300 };                        /* looks: more than a loop is fed before it is taken for one without an end */

static void loses_patience(Run *run)
{
    for (unsigned looks = 0; run->core == 0 && !run->over && looks < PATIENCE; looks++)
        look(run, id_of(run, 0, 0), 7);
}

static void nobody_is_stuck_in_a_loop_that_was_guessed(void **state)
{
    (void)state;
    for (int patient = 0; patient < 2; patient++) {
        Act *act = act_new(2, patient ? loses_patience : polls_in_vain, false);
        Outcome *outcome = enumerate(act, false);
        assert_false(outcome->complete);
        assert_true(has_limit(outcome, "polls"));
        assert_int_equal(outcome->findings->len, 0);
        act_free(act, outcome);
    }
}

static void fails_in_its_second_round(Run *run)
{
    if (run->core == 1)
        tell(run, id_of(run, 0, 0));
    for (unsigned round = 0; run->core == 0 && !run->over && round < PATIENCE; round++) {
        if (look(run, id_of(run, 0, 0), 7) >= 1) {
            if (round == 1)
                stop(run, FAULT_ASSERT);
            return;
        }
        look(run, id_of(run, 0, 1), 8);
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
        tell(run, id_of(run, 0, 0));
    for (run->state = 0; run->core == 0 && !run->over && run->state < 5; run->state++)
        if (look(run, id_of(run, 0, 0), 7) >= 1)
            return;
    if (run->core == 0)
        tell(run, id_of(run, 0, 1));
}

static void a_core_that_counts_its_polls_is_no_loop(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        Act *act = act_new(2, gives_up, with);
        Outcome *outcome = enumerate(act, false);
        assert_true(outcome->complete);
        assert_int_equal(outcome->findings->len, 0);
        assert_int_equal(outcome->end_states->len, 6);  /* told before look 1, 2, 3, 4, 5, or too late */
        act_free(act, outcome);
    }
}

static void polls_until_the_patient_tells(Run *run)
{
    unsigned looks = 0;
    while (!run->over && (run->core == 0 || looks++ < PATIENCE) && look(run, id_of(run, run->core, 0), 7) < 1)
        ;
    if (run->core == 1)
        tell(run, id_of(run, 0, 0));
}

static void whoever_may_leave_its_loop_may_end_that_of_others(void **state)
{
    (void)state;
    Act *act = act_new(2, polls_until_the_patient_tells, true);
    act->source.fingerprint = fingerprint_of_core_0;
    Outcome *outcome = enumerate(act, false);
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
    Outcome *plain = enumerate(act, false);
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
        tell(run, id_of(run, 0, 0));
        wait_for(run, id_of(run, 0, 0), 1);
    }
    if (run->core == 0)
        look(run, id_of(run, 0, 1), 7);
    if (run->core == 0 && run->act->rounds == 0)
        look(run, id_of(run, 1, 0), 8);
    else if (run->core == 0)
        hand_out(run, (UnrollStep){.step = store, .fault = FAULT_COUNT}, false);
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
        tell(run, id_of(run, 1, 0));
    copy_to(run, run->act->buffer, run->act->more, 1, id_of(run, 1, 1));
    while (!run->over && look(run, id_of(run, 0, 0), 200) < 1)
        for (unsigned i = 0; i < 4; i++)
            hand_out(run, access_of(run, STEP_LOAD, run->act->buffer), false);
}

/* A judge goes through states of polling ahead of the search, and what it makes there may be the first to outgrow a field. */
static void what_polling_makes_finds_room(void **state)
{
    (void)state;
    uint64_t states = 0;
    for (uint32_t count = 0; count < 60; count++) {
        Act *act = act_new(10, polls_late, true);
        act->rounds = count;
        Outcome *outcome = enumerate(act, false);
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
        store(run, run->act->buffer, 3);
        copy_to(run, run->act->buffer, run->act->more, 1, id_of(run, 1, 0));
    } else {
        wait_for(run, id_of(run, 1, 0), 1);
        if (load(run, run->act->more) != 3)
            stop(run, FAULT_ASSERT);
    }
}

static void copies_carry_what_they_read(void **state)
{
    (void)state;
    Act *act = act_new(2, passes_on, true);
    Outcome *outcome = enumerate(act, true);
    assert_true(outcome->complete);
    assert_int_equal(outcome->findings->len, 0);
    assert_int_equal(outcome->end_states->len, 1);
    act_free(act, outcome);
}

static void takes_too_early(Run *run)
{
    if (run->core == 0) {
        copy_to(run, run->act->buffer, run->act->more, 1, id_of(run, 1, 0));
        store(run, run->act->buffer, 3);
    } else {
        wait_for(run, id_of(run, 1, 0), 1);
        if (load(run, run->act->more) == 3)
            stop(run, FAULT_ASSERT);
    }
}

static void a_race_has_two_outcomes(void **state)
{
    (void)state;
    Act *act = act_new(2, takes_too_early, true);
    Outcome *outcome = enumerate(act, true);
    assert_true(outcome->complete);
    assert_true(outcome->incomplete_after_race);
    assert_int_equal(outcome->findings->len, 2);
    assert_int_equal(((Finding *)g_ptr_array_index(outcome->findings, 0))->id, FAULT_RACE);
    assert_int_equal(((Finding *)g_ptr_array_index(outcome->findings, 1))->id, FAULT_ASSERT);
    act_free(act, outcome);
    act = act_new(2, takes_too_early, true);
    outcome = enumerate(act, false);            /* without contents it is not decided */
    assert_false(outcome->complete);
    assert_int_equal(outcome->limits->len, 0);
    act_free(act, outcome);
}

static void races_blindly(Run *run)
{
    for (int64_t i = 0; run->core == 0 && i < 2; i++)
        store(run, run->act->buffer, i);
    if (run->core == 1) {
        Program *program = run->act->script->program;
        UnrollStep step = access_of(run, STEP_STORE, run->act->buffer);
        step.step.object = program_object(program, run->act->buffer, 0);
        hand_out(run, step, false);
    }
}

static void after_a_race_contents_are_left_out(void **state)
{
    (void)state;
    Act *act = act_new(2, races_blindly, true);
    Outcome *outcome = enumerate(act, true);
    assert_true(outcome->complete);
    assert_int_equal(outcome->findings->len, 2);        /* two pairs of sites, and no word on different results */
    assert_int_equal(outcome->states, 6);
    act_free(act, outcome);
}

static void keeps_what_it_saw(Run *run)
{
    if (run->core == 1)
        tell(run, id_of(run, 0, 0));
    if (run->core == 0) {
        int64_t seen = look(run, id_of(run, 0, 0), 7);
        store(run, run->act->buffer, seen);
    }
}

static void results_may_not_depend_on_the_schedule(void **state)
{
    (void)state;
    Act *act = act_new(2, keeps_what_it_saw, true);
    Outcome *outcome = enumerate(act, true);
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
        Outcome *outcome = enumerate(act, true);
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
