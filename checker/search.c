/* search.c - from the options of a check to the options of one search, with the defaults of each. */
#include "search.h"
#include "classes/classes.h"
#include "enumerate/enumerate.h"
#include "outcome_io.h"
#include "run/unroll.h"
#include "sample.h"

static const uint64_t RUNS_MAX = 100;           /* of sampling, unless told otherwise */
static const uint64_t STATES_MAX = 20000000;    /* of an enumeration, unless told otherwise */
static const uint64_t CLASSES_MAX = 2000000;
enum { PCT_DEPTH = 3 };

static void enumerate(WorkerShared *shared)
{
    const CheckSpec *spec = shared->spec;
    Program *program = shared->program;
    EnumerateOptions options = { .states_max = spec->states_max ? spec->states_max : STATES_MAX, .seconds_max = spec->seconds_max,
                                 .memory_max = spec->memory_max, .first = worker_stops_at_first(shared),
                                 .contents = program->knobs.data == DATA_REAL
                                     && (program->expectations.count > 0 || record_looks_at_order(shared->record)) };
    Unroller *unroller = unroller_new(program);
    Outcome *outcome = enumerate_run(unroller_source(unroller), &options);
    if (!options.contents && unroller_needs_contents(unroller)) {
        outcome_free(outcome);
        unroller_free(unroller);
        unroller = unroller_new(program);
        options.contents = true;
        outcome = enumerate_run(unroller_source(unroller), &options);
    }
    outcome_save(outcome, &shared->outcome);
    outcome_free(outcome);
    unroller_free(unroller);
    shared->error = program->usage_error;
}

static bool has_real_data(const Program *program)
{
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        if (decl->space != SPACE_SEMAPHORE && !decl->opaque)
            return true;
    }
    return false;
}

static void explore_classes(WorkerShared *shared)
{
    const CheckSpec *spec = shared->spec;
    Program *program = shared->program;
    const ClassesOptions options = { .runs_max = spec->runs_max ? spec->runs_max : CLASSES_MAX, .memory_max = spec->memory_max,
                                     .seconds_max = spec->seconds_max * 0.9, .first = worker_stops_at_first(shared),
                                     .no_end_states = true,
                                     .contents = program->knobs.data == DATA_REAL && has_real_data(program),
                                     .values_observed = shared->record->values_observed };
    Unroller *unroller = unroller_new(program);
    unroller_watch(unroller, &shared->control.pulse.operations);
    Outcome *outcome = classes_run(unroller_source(unroller), &options);
    outcome_save(outcome, &shared->outcome);
    outcome_free(outcome);
    unroller_free(unroller);
    shared->error = program->usage_error;
}

static void sample(WorkerShared *shared)
{
    const CheckSpec *spec = shared->spec;
    const SampleOptions options = { .strategy = (StrategyKind)(spec->search - SEARCH_RANDOM), .seed = spec->seed,
                                    .runs = spec->runs_max ? spec->runs_max : RUNS_MAX, .depth = spec->depth ? spec->depth : PCT_DEPTH,
                                    .seconds_max = spec->seconds_max, .memory_max = spec->memory_max,
                                    .first = worker_stops_at_first(shared), .pulse = &shared->control.pulse };
    uint64_t steps = shared->record->steps.count + 2 * shared->record->copies.count;
    Record *record = record_new(shared->program);
    Execution *execution = execution_new(shared->program, record);
    child_watch_stacks(execution_stacks(execution));
    Outcome *outcome = sample_run(execution, record, steps, &options);
    child_watch_stacks(execution_stacks(shared->execution));
    outcome_save(outcome, &shared->outcome);
    outcome_free(outcome);
    execution_free(execution);
    record_free(record);
}

void search_run(WorkerShared *shared)
{
    Search kind = shared->spec->search;
    if (kind == SEARCH_ENUMERATE)
        enumerate(shared);
    else if (kind >= SEARCH_RANDOM)
        sample(shared);
    bool conflicts = kind == SEARCH_AUTO && classes_needed(shared->record);
    if (conflicts)
        explore_classes(shared);
    shared->searched = kind == SEARCH_ENUMERATE || kind >= SEARCH_RANDOM || conflicts;
}
