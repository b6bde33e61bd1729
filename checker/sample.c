/* sample.c - begin, choose until nothing moves, end; prove the record; merge. */
#include "sample.h"
#include "proof/prove.h"

enum { STEPS_FACTOR = 20, STEPS_FLOOR = 20000 };        /* a run may take so many times the eager run's steps before it is cut off */

typedef struct Sampling {
    const SampleOptions *options;
    Execution *execution;
    Record *record;
    Strategy *strategy;
    GArray *moves;
    uint64_t steps_expected;
    bool cut_off;
} Sampling;

static void run_once(Sampling *sampling, uint64_t run)
{
    const ExecutionOptions options = { .pulse = sampling->options->pulse };
    uint64_t steps = 0, steps_max = sampling->steps_expected * STEPS_FACTOR + STEPS_FLOOR;
    execution_begin(sampling->execution, &options);
    strategy_begin(sampling->strategy, run, sampling->steps_expected);
    for (; steps < steps_max; steps++) {
        execution_enabled(sampling->execution, sampling->moves);
        if (sampling->moves->len == 0)
            break;
        guint choice = strategy_choose(sampling->strategy, sampling->execution, sampling->moves);
        execution_do(sampling->execution, g_array_index(sampling->moves, Move, choice));
    }
    sampling->cut_off |= steps == steps_max;
    execution_end(sampling->execution);
    if (sampling->record->complete && steps < steps_max)
        execution_check_results(sampling->execution);
}

static void merge(Outcome *all, Outcome *one, const Program *program)
{
    while (one->findings->len > 0)
        g_ptr_array_add(all->findings, g_ptr_array_steal_index(one->findings, 0));
    outcome_settle(all, program);
    for (guint i = 0; i < one->limits->len; i++)
        outcome_add_limit(all, g_ptr_array_index(one->limits, i));
    all->incomplete_after_race |= one->incomplete_after_race;
    all->conflicts = MAX(all->conflicts, one->conflicts == UINT64_MAX ? 0 : one->conflicts);
    all->steps += one->steps == UINT64_MAX ? 0 : one->steps;
}

Outcome *sample_run(Execution *execution, Record *record, uint64_t steps_expected, const SampleOptions *options)
{
    Sampling sampling = { options, execution, record, strategy_new(options->strategy, options->seed, options->depth),
                          g_array_new(FALSE, FALSE, sizeof(Move)), steps_expected, false };
    Outcome *all = outcome_new();
    all->executions = all->steps = all->conflicts = 0;
    gint64 start = g_get_monotonic_time();
    for (uint64_t run = 0; run < options->runs; run++) {
        if (options->seconds_max > 0 && (double)(g_get_monotonic_time() - start) / 1e6 > options->seconds_max) {
            outcome_add_limit(all, "time");
            break;
        }
        run_once(&sampling, run);
        const ProveOptions prove = { .first = options->first, .memory_max = options->memory_max };
        Outcome *one = prove_record(record, &prove);
        merge(all, one, record->program);
        outcome_free(one);
        all->executions++;
        if (options->first && all->findings->len > 0)
            break;
    }
    if (all->conflicts > 0)
        outcome_add_limit(all, "runs");
    if (sampling.cut_off)
        outcome_add_limit(all, "steps");
    strategy_free(sampling.strategy);
    g_array_free(sampling.moves, TRUE);
    return all;
}
