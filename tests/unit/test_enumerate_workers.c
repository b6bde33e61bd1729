/* test_enumerate_workers.c - several workers see what one sees, where states hold flags and contents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include "../support/act.h"

static uint32_t after(const Run *run)
{
    return (run->core + 1) % run->act->script->program->devices;
}

static void raise_flag(Run *run, uint32_t core)
{
    Step step = {.kind = STEP_FLAG_ADD, .object = script_semaphore_id(run->act->script, run->act->flag, core, 0), .value = 1};
    act_step(run, (UnrollStep){.step = step, .fault = FAULT_COUNT}, false);
}

/* Kind: FLAG_LOAD, or FLAG_CAS from 1 to 2. */
static int64_t see_flag(Run *run, StepKind kind, uint32_t core, unsigned line)
{
    uint32_t position = run->position;
    Step step = {.kind = (uint8_t)kind, .object = script_semaphore_id(run->act->script, run->act->flag, core, 0), .value = 2, .extra = 1};
    run->position = run->line = line;
    bool more = act_step(run, (UnrollStep){.step = step, .fault = FAULT_COUNT}, true);
    run->position = position;
    return more ? act_observe(run) : 0;
}

static void raises_and_sees(Run *run)
{
    uint32_t next = after(run);
    raise_flag(run, next);
    if (see_flag(run, STEP_FLAG_LOAD, run->core, 10) == 1)
        act_tell(run, act_id(run, next, 0));
    see_flag(run, STEP_FLAG_CAS, next, 20);
    act_tell(run, act_id(run, next, 1));
    act_wait(run, act_id(run, run->core, 1), 1);
}

static void expects_and_raises(Run *run)
{
    if (run->core == 2 && see_flag(run, STEP_FLAG_LOAD, 2, 5) == 0)
        act_stop(run, FAULT_ASSERT);
    raises_and_sees(run);
}

static void polls_its_flag(Run *run)
{
    raise_flag(run, after(run));
    while (!run->over && see_flag(run, STEP_FLAG_LOAD, run->core, 10) < 1)
        ;
    act_tell(run, act_id(run, after(run), 1));
    act_wait(run, act_id(run, run->core, 1), 1);
}

static void polls_on(Run *run)
{
    polls_its_flag(run);
    while (run->core == 2 && !run->over && see_flag(run, STEP_FLAG_LOAD, 2, 50) != 2)
        ;
}

static void passes_round(Run *run)
{
    act_store(run, run->act->buffer, run->core % 4);
    act_copy(run, run->act->buffer, run->act->more, after(run), act_id(run, after(run), 1));
    if (run->core % 2)
        act_wait(run, act_id(run, run->core, 1), 1);
    if (run->core % 2 && act_load(run, run->act->more) != (run->core - 1) % 4)
        act_stop(run, FAULT_ASSERT);
}

static void passes_too_early(Run *run)
{
    passes_round(run);
    if (run->core == 2 && act_load(run, run->act->more) != 1)
        act_stop(run, FAULT_ASSERT);
}

static void want_the_same(const Outcome *one, const Outcome *other)
{
    assert_true(other->complete);
    assert_int_equal(other->states, one->states);
    assert_int_equal(other->transitions, one->transitions);
    assert_int_equal(other->findings->len, one->findings->len);
    for (guint i = 0; i < one->findings->len; i++) {
        const Finding *a = g_ptr_array_index(one->findings, i), *b = g_ptr_array_index(other->findings, i);
        assert_int_equal(finding_compare(a, b), 0);
        assert_int_equal(a->moves->len, b->moves->len);
        assert_memory_equal(a->moves->data, b->moves->data, a->moves->len * sizeof(Move));
    }
    assert_int_equal(other->end_states->len, one->end_states->len);
    assert_memory_equal(other->end_states->data, one->end_states->data, one->end_states->len * sizeof(uint64_t));
}

static void workers_see_what_one_sees(void **state)
{
    (void)state;
    static const struct { void (*core)(Run *run); uint32_t devices; bool contents; guint findings; } CASES[] = {
        {raises_and_sees, 5, false, 0}, {expects_and_raises, 5, false, 1}, {polls_its_flag, 6, false, 0}, {polls_on, 6, false, 1},
        {passes_round, 7, true, 0}, {passes_too_early, 7, true, 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        Act *act = act_new(CASES[i].devices, CASES[i].core, true);
        EnumerateOptions options = {.contents = CASES[i].contents};
        Outcome *one = enumerate_run(&act->source, &options);
        assert_true(one->complete);
        assert_int_equal(one->findings->len, CASES[i].findings);
        assert_true(one->states > 50000);       /* levels are wide enough for threads */
        for (options.workers = 2; options.workers <= 4; options.workers++) {
            Outcome *other = enumerate_run(&act->source, &options);
            want_the_same(one, other);
            outcome_free(other);
        }
        act_free(act, one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(workers_see_what_one_sees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
