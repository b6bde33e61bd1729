/* search.c - turns the spec of a check into the options of one search, with the defaults of each. */
#include "search.h"
#include "../../model/moment.h"
#include "../../model/rewind.h"
#include "../classes/classes.h"
#include "../enumerate/enumerate.h"
#include "../facts/outcome.h"
#include "../run/unroll.h"
#include "../sample/sample.h"
#include "identity.h"

static const uint64_t STATES_BESIDE_MAX = 300000;      /* of an enumeration beside another search, unless the check sets its own */
enum { PCT_DEPTH = 3 };

/* The checkpoint that a search resumes from, and the one that it writes. */
typedef struct Files {
    Checkpoint *checkpoint;                     /* NULL: none requested */
    GBytes *resumed;                            /* NULL: it starts from the beginning */
} Files;

/* Sets shared->error on failure. */
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

static Limits limits_of(const WorkerShared *shared, const Limits *unless_told)
{
    Limits limits = worker_limits(shared);
    limits.states = limits.states ? limits.states : unless_told->states;
    limits.runs = limits.runs ? limits.runs : unless_told->runs;
    return limits;
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

static EnumerateOptions enumerate_options(WorkerShared *shared, const Limits *unless_told, const Files *files)
{
    const CheckSpec *spec = shared->spec;
    const Program *program = shared->program;
    return (EnumerateOptions){ .limits = limits_of(shared, unless_told), .first = worker_stops_at_first(shared), .modes = spec->modes,
                                 .workers = MAX(spec->workers, 1), .progress = &shared->control.progress,
                                 .checkpoint = files->checkpoint, .resumed = files->resumed,
                                 .contents = program->knobs.data == DATA_REAL
                                     && (program->expectations.count > 0 || classes_needed(shared->record)) };
}

static bool enumerate(WorkerShared *shared, const SearchSpec *search)
{
    const Program *program = shared->program;
    Files files = open_files(shared);
    EnumerateOptions options = enumerate_options(shared, &search->limits, &files);
    options.contents |= files.resumed != NULL && program->knobs.data == DATA_REAL && enumerate_asked_contents(files.resumed);
    if (shared->error == NULL) {
        bool needs_contents;
        const Rewind mark = rewind_mark(program);
        Outcome *outcome = enumerate_with(shared, &options, &needs_contents);
        if (needs_contents) {
            outcome_free(outcome);
            rewind_to(shared->program, &mark);
            options.contents = true, options.resumed = NULL;
            outcome = enumerate_with(shared, &options, &needs_contents);
        }
        outcome_save(outcome, &shared->outcome);
        shared->error = outcome->refused ? worker_keep(shared, outcome->refused) : program->usage_error;
        outcome_free(outcome);
    }
    close_files(shared, &files);
    return true;
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
    EnumerateOptions options = enumerate_options(shared, &(Limits){ .states = STATES_BESIDE_MAX }, &none);
    options.contents = true;
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

static bool explore_classes(WorkerShared *shared, const SearchSpec *search)
{
    const CheckSpec *spec = shared->spec;
    if (!classes_needed(shared->record))
        return false;
    Files files = open_files(shared);
    ClassesOptions options = { .limits = limits_of(shared, &search->limits), .first = worker_stops_at_first(shared), .no_end_states = true,
                               .contents = shared->program->knobs.data == DATA_REAL && has_real_data(shared->program),
                               .workers = spec->in_process ? 1 : spec->workers, .progress = &shared->control.progress,
                               .checkpoint = files.checkpoint, .resumed = files.resumed };
    options.limits.seconds *= 0.9;
    if (shared->error == NULL)
        explore_classes_with(shared, &options);
    close_files(shared, &files);
    return true;
}

/* A copy has a read and a write and, under fluid progress, an early count at both ends. */
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
    store_reset(&shared->move_log);             /* no run with chosen moves is going on */
    if (outcome == NULL) {
        shared->error = worker_keep(shared, error);
        g_free(error);
        return;
    }
    outcome_save(outcome, &shared->outcome);
    outcome_free(outcome);
    shared->error = shared->program->usage_error;
}

static bool sample(WorkerShared *shared, const SearchSpec *search)
{
    const CheckSpec *spec = shared->spec;
    Files files = open_files(shared);
    SampleOptions options = { .strategy = search->strategy, .seed = spec->seed, .depth = spec->depth ? spec->depth : PCT_DEPTH,
                              .limits = limits_of(shared, &search->limits), .agents = shared->program->cores + shared->record->copies.count,
                              .first = worker_stops_at_first(shared), .workers = spec->in_process ? 0 : MAX(spec->workers, 1),
                              .pulse = &shared->control.pulse, .move_log = &shared->move_log, .record = shared->replayed,
                              .progress = &shared->control.progress, .checkpoint = files.checkpoint, .resumed = files.resumed };
    if (shared->program->knobs.data == DATA_REAL && record_all_finished(shared->record))
        options.result_hash = &shared->record->result_hash;
    if (shared->error == NULL)
        sample_with(shared, &options);
    close_files(shared, &files);
    return true;
}

static bool leave_to_proof(WorkerShared *shared, const SearchSpec *search)
{
    (void)shared, (void)search;
    return false;
}

const SearchSpec search_table[] = {
    [SEARCH_AUTO] = { "auto", "prove; where steps conflict, visit each class of orders once", SEARCH_COVERS | SEARCH_BY_RECORD,
                      { .runs = 2000000 }, 0, explore_classes },
    [SEARCH_PROVE] = { "prove", "decide from one run what must come before what in every order", SEARCH_COVERS | SEARCH_BY_RECORD, { 0 }, 0,
                       leave_to_proof },
    [SEARCH_ENUMERATE] = { "enumerate", "visit every state", SEARCH_COVERS | SEARCH_HAS_MODES, { .states = 20000000 }, 0, enumerate },
    [SEARCH_RANDOM] = { "random", "sample: each next step at random", 0, { .runs = 100 }, STRATEGY_RANDOM, sample },
    [SEARCH_PCT] = { "pct", "sample: random priorities that change at a few places (--depth)", 0, { .runs = 100 }, STRATEGY_PCT, sample },
    { "pos", "sample: random scores; a step draws new ones for all that touch its object", 0, { .runs = 100 }, STRATEGY_POS, sample },
    { "starve", "sample: a device, a core or a copy waits for as long as anything else can move", 0, { .runs = 100 }, STRATEGY_STARVE,
      sample },
    { NULL, NULL, 0, { 0 }, 0, NULL },
};

const char *search_name(Search search)
{
    return search_table[search].name;
}

const char *search_names(void)
{
    static char *names;
    if (names == NULL) {
        g_autoptr(GString) text = g_string_new(NULL);
        for (const SearchSpec *spec = search_table; spec->name != NULL; spec++)
            g_string_append_printf(text, "%s%s", text->len > 0 ? "|" : "", spec->name);
        names = g_strdup(text->str);
    }
    return names;
}

/* Repeats the moves of the run that died; returns if this run survives. */
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
    const SearchSpec *search = &search_table[shared->spec->search];
    shared->searched = search->run(shared, search);
}
