/* search.c - from the options of a check to the options of one search, with the defaults of each. */
#include "search.h"
#include "../../model/moment.h"
#include "../classes/classes.h"
#include "../enumerate/enumerate.h"
#include "../facts/outcome.h"
#include "../run/unroll.h"
#include "../sample/sample.h"
#include "identity.h"

static const uint64_t RUNS_MAX = 100;           /* of sampling, unless told otherwise */
static const uint64_t STATES_MAX = 20000000;    /* of an enumeration, unless told otherwise */
static const uint64_t STATES_BESIDE_MAX = 300000;      /* of one beside another search */
static const uint64_t CLASSES_MAX = 2000000;
enum { PCT_DEPTH = 3 };

/* What a long search goes on from, and what it writes so that another can go on from it. */
typedef struct Files {
    Checkpoint *checkpoint;                     /* NULL: none is asked for */
    GBytes *resumed;                            /* NULL: it begins anew */
} Files;

/* Sets shared->error where it cannot be done. */
static Files open_files(WorkerShared *shared)
{
    const CheckSpec *spec = shared->spec;
    Files files = { NULL, NULL };
    char *error = NULL;
    if ((spec->checkpoint == NULL && spec->resume == NULL) || shared->marked)
        return files;
    g_autofree char *identity = identity_of_check(spec, shared->program, shared->record, shared->facts);
    if (spec->resume != NULL && !shared->again)
        files.resumed = checkpoint_read(spec->resume, identity, &error);
    if (error == NULL)
        files.checkpoint = checkpoint_new(spec->checkpoint ? spec->checkpoint : spec->resume, identity, &error);
    if (error != NULL)
        shared->error = worker_keep(shared, error);
    g_free(error);
    return files;
}

static void close_files(WorkerShared *shared, Files *files)
{
    const char *failure = files->checkpoint ? checkpoint_failure(files->checkpoint) : NULL;
    if (failure != NULL)
        shared->warning = worker_keep(shared, failure);
    checkpoint_free(files->checkpoint);
    g_bytes_unref(files->resumed);
}

static Outcome *enumerate_with(WorkerShared *shared, const EnumerateOptions *options, bool *needs_contents)
{
    Unroller *unroller = unroller_new(shared->program);
    unroller_watch(unroller, &shared->control.pulse);
    Outcome *outcome = enumerate_run(unroller_source(unroller), options);
    *needs_contents = !options->contents && unroller_needs_contents(unroller);
    unroller_free(unroller);
    return outcome;
}

static EnumerateOptions enumerate_options(WorkerShared *shared, const Files *files)
{
    const CheckSpec *spec = shared->spec;
    const Program *program = shared->program;
    return (EnumerateOptions){ .states_max = spec->states_max ? spec->states_max : STATES_MAX, .seconds_max = worker_seconds_left(shared),
                                 .memory_max = spec->memory_max, .first = worker_stops_at_first(shared), .modes = spec->modes,
                                 .workers = MAX(spec->workers, 1), .progress = &shared->control.progress,
                                 .checkpoint = files->checkpoint, .resumed = files->resumed,
                                 .contents = program->knobs.data == DATA_REAL
                                     && (program->expectations.count > 0 || classes_needed(shared->record)) };
}

static void enumerate(WorkerShared *shared)
{
    const Program *program = shared->program;
    Files files = open_files(shared);
    EnumerateOptions options = enumerate_options(shared, &files);
    if (shared->error == NULL) {
        bool needs_contents;
        Outcome *outcome = enumerate_with(shared, &options, &needs_contents);
        if (needs_contents) {
            outcome_free(outcome);
            options.contents = true, options.resumed = NULL;
            outcome = enumerate_with(shared, &options, &needs_contents);
        }
        outcome_save(outcome, &shared->outcome);
        shared->error = outcome->refused ? worker_keep(shared, outcome->refused) : program->usage_error;
        outcome_free(outcome);
    }
    close_files(shared, &files);
}

static bool any_fault(const Program *program, const Outcome *outcome)
{
    bool any = false;
    for (guint i = 0; i < outcome->findings->len; i++)
        any |= finding_exemption(program, g_ptr_array_index(outcome->findings, i)) == NULL;
    return any;
}

void search_states(WorkerShared *shared)
{
    const Files none = { NULL, NULL };
    EnumerateOptions options = enumerate_options(shared, &none);
    options.contents = true;
    if (shared->spec->states_max == 0)
        options.states_max = STATES_BESIDE_MAX;
    bool needs_contents;
    Outcome *outcome = enumerate_with(shared, &options, &needs_contents);
    shared->error = shared->program->usage_error;
    if (outcome->refused == NULL && (outcome->complete || any_fault(shared->program, outcome))) {
        outcome_save(outcome, &shared->outcome);
        shared->searched = shared->enumerated = true;
    }
    outcome_free(outcome);
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

static void explore_classes_with(WorkerShared *shared, const ClassesOptions *options)
{
    Unroller *unroller = unroller_new(shared->program);
    unroller_watch(unroller, &shared->control.pulse);
    char *error = NULL;
    Outcome *outcome = classes_run(unroller_source(unroller), options, &error);
    shared->error = outcome != NULL ? shared->program->usage_error : worker_keep(shared, error);
    g_free(error);
    if (outcome != NULL) {
        shared->record->values_observed |= outcome->values_observed;
        outcome_save(outcome, &shared->outcome);
    }
    outcome_free(outcome);
    unroller_free(unroller);
}

static void explore_classes(WorkerShared *shared)
{
    const CheckSpec *spec = shared->spec;
    Files files = open_files(shared);
    const ClassesOptions options = { .runs_max = spec->runs_max ? spec->runs_max : CLASSES_MAX, .memory_max = spec->memory_max,
                                     .seconds_max = worker_seconds_left(shared) * 0.9, .first = worker_stops_at_first(shared),
                                     .no_end_states = true,
                                     .contents = shared->program->knobs.data == DATA_REAL && has_real_data(shared->program),
                                     .workers = spec->in_process ? 1 : spec->workers, .progress = &shared->control.progress,
                                     .checkpoint = files.checkpoint, .resumed = files.resumed };
    if (shared->error == NULL)
        explore_classes_with(shared, &options);
    close_files(shared, &files);
}

/* Each copy is read and written, and under fluid progress counts early at both ends. */
static uint64_t steps_at_most(const Record *record)
{
    unsigned moments = moment_is_fluid(&record->program->knobs) ? MOMENT_COUNT : MOMENT_COUNT / 2;
    return record->steps.count + moments * record->copies.count;
}

static void sample_with(WorkerShared *shared, SampleOptions *options)
{
    char *error = NULL;
    Outcome *outcome = sample_run(shared->program, steps_at_most(shared->record), options, &error);
    child_watch_stacks(execution_stacks(shared->execution));
    store_reset(&shared->box);                  /* no run of somebody's choice is in hand any more */
    if (outcome == NULL) {
        shared->error = worker_keep(shared, error);
        g_free(error);
        return;
    }
    outcome_save(outcome, &shared->outcome);
    outcome_free(outcome);
    shared->error = shared->program->usage_error;
}

static void sample(WorkerShared *shared)
{
    const CheckSpec *spec = shared->spec;
    Files files = open_files(shared);
    SampleOptions options = { .strategy = (StrategyKind)(spec->search - SEARCH_RANDOM), .seed = spec->seed,
                              .runs = spec->runs_max ? spec->runs_max : RUNS_MAX, .depth = spec->depth ? spec->depth : PCT_DEPTH,
                              .agents = shared->program->cores + shared->record->copies.count,
                              .seconds_max = worker_seconds_left(shared), .memory_max = spec->memory_max,
                              .first = worker_stops_at_first(shared), .workers = spec->in_process ? 0 : MAX(spec->workers, 1),
                              .pulse = &shared->control.pulse,
                              .box = &shared->box, .record = shared->replayed, .progress = &shared->control.progress,
                              .checkpoint = files.checkpoint,
                              .resumed = files.resumed };
    if (shared->program->knobs.data == DATA_REAL && record_all_finished(shared->record))
        options.result_hash = &shared->record->result_hash;
    if (shared->error == NULL)
        sample_with(shared, &options);
    close_files(shared, &files);
}

/* As the run that died did them; returns if this one does not. */
static void follow(WorkerShared *shared)
{
    Record *record = record_new(shared->program);
    Execution *execution = execution_new(shared->program, record);
    child_watch_stacks(execution_stacks(execution));
    execution_begin(execution, &(ExecutionOptions){ .pulse = &shared->control.pulse });
    for (guint i = 0; i < shared->follow->len && execution_do(execution, g_array_index(shared->follow, Move, i)); i++)
        ;
    execution_end(execution);
    child_watch_stacks(execution_stacks(shared->execution));
    execution_free(execution);
    record_free(record);
}

void search_run(WorkerShared *shared)
{
    if (shared->follow != NULL) {
        follow(shared);
        return;
    }
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
