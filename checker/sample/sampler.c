/* sampler.c - the loop of one sampled run. */
#include "sampler.h"
#include "../proof/prove.h"
#include "../run/child.h"
#include "../run/entry_barriers.h"
#include "../run/move_log.h"

enum { STEPS_FACTOR = 20, STEPS_FLOOR = 20000 };        /* a run is cut off after steps_expected * FACTOR + FLOOR */

struct Sampler {
    const SampleOptions *options;
    ExecutionPulse *pulse;
    Store *move_log;
    Record *record;
    Execution *execution;
    Strategy *strategy;
    GArray *moves, *chosen;                     /* of Move: enabled now; done in this run */
    uint64_t steps_expected;
};

Sampler *sampler_new(Record *record, uint64_t steps_expected, const SampleOptions *options, ExecutionPulse *pulse, Store *move_log)
{
    Sampler *sampler = g_new(Sampler, 1);
    *sampler = (Sampler){ options, pulse, move_log, record, execution_new(record->program, record),
                          strategy_new(options->strategy, options->seed, options->depth), g_array_new(FALSE, FALSE, sizeof(Move)),
                          g_array_new(FALSE, FALSE, sizeof(Move)), steps_expected };
    child_watch_stacks(execution_stacks(sampler->execution));
    return sampler;
}

void sampler_free(Sampler *sampler)
{
    g_array_unref(sampler->moves);
    g_array_unref(sampler->chosen);
    strategy_free(sampler->strategy);
    execution_free(sampler->execution);
    g_free(sampler);
}

bool sample_explains_divergence(const Program *program, const Outcome *outcome)
{
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        if (finding->id == FAULT_RACE || (finding->id != FAULT_DIVERGENCE && finding_exemption(program, finding) == NULL))
            return true;
    }
    return false;
}

/* In a run that was cut off no core is stuck. */
static void mark_as_running(Record *record)
{
    for (size_t i = 0; i < record->ends.count; i++) {
        CoreState *state = &STORE(CoreState, &record->ends, i);
        if (state->end == CORE_BLOCKED)
            state->end = CORE_RUNNING;
    }
}

/* A run without faults whose results differ from the recorded run is a divergence. */
static void compare_results(const Sampler *sampler, Outcome *one)
{
    const uint64_t *expected = sampler->options->result_hash;
    if (expected == NULL || sample_explains_divergence(sampler->record->program, one) || !record_all_finished(sampler->record)
        || machine_hash_results(execution_machine(sampler->execution)) == *expected)
        return;
    Finding *finding = finding_new(FAULT_DIVERGENCE);
    finding->object = NONE, finding->count = 1;
    finding->moves = g_array_copy(sampler->chosen);
    g_ptr_array_add(one->findings, finding);
}

Outcome *sampler_run(Sampler *sampler, uint64_t run, bool *cut_off)
{
    Execution *execution = sampler->execution;
    const ExecutionOptions options = { .pulse = sampler->pulse };
    uint64_t steps = 0, steps_max = sampler->steps_expected * STEPS_FACTOR + STEPS_FLOOR;
    if (sampler->move_log != NULL)
        store_reset(sampler->move_log);
    execution_begin(execution, &options);
    strategy_begin(sampler->strategy, run, sampler->steps_expected);
    g_array_set_size(sampler->chosen, 0);
    for (; steps < steps_max; steps++) {
        execution_enabled(execution, sampler->moves);
        if (sampler->moves->len == 0)
            break;
        const Move move = g_array_index(sampler->moves, Move, strategy_choose(sampler->strategy, execution, sampler->moves));
        g_array_append_val(sampler->chosen, move);
        if (sampler->move_log != NULL)
            move_log_note(sampler->move_log, execution, move);
        execution_do(execution, move);
    }
    *cut_off = steps == steps_max;
    execution_end(execution);
    if (*cut_off)
        mark_as_running(sampler->record);
    else
        entry_barriers_note_stuck(execution);
    if (!*cut_off && sampler->record->complete)
        execution_check_results(execution);
    Outcome *one = prove_record(sampler->record, &(ProveOptions){ .first = sampler->options->first,
                                                                  .limits = { .memory = sampler->options->limits.memory } });
    compare_results(sampler, one);
    return one;
}
