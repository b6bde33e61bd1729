/* worker.c - the child's side of a check.
 *
 * The recorded run is eager. A second run takes the cores in reverse order, with other stack addresses and other initial memory. A kernel
 * that is a function of what it observes does the same steps again; any other kernel is refused here. If the results of steps depend on the
 * order (reads of counts, flags), the second run keeps the order, and only stacks and memory differ.
 */
#include "worker.h"
#include "../../model/input.h"
#include "../../model/racing.h"
#include "../../model/rewind.h"
#include "../classes/classes.h"
#include "../facts/outcome.h"
#include "../run/checkpoint.h"
#include "../run/edit.h"
#include "../run/entry_barriers.h"
#include "../run/globals.h"
#include "../run/lookahead.h"
#include "../run/move_log.h"
#include "identity.h"
#include "race_marks.h"
#include "replays.h"
#include "results.h"
#include "search.h"
#include "unreached.h"
#include <string.h>

/* Of one run: a record of 10 GB; of a changed program, which may never end: a hundred times the largest that is changed. */
static const uint64_t STEPS_MAX = 400000000, STEPS_MAX_CHANGED = 600000;

static uint64_t steps_max(const WorkerShared *shared)
{
    return shared->spec->whatif ? STEPS_MAX_CHANGED : STEPS_MAX;
}

WorkerShared *worker_shared_new(const CheckSpec *spec, Deadline deadline)
{
    Store home;
    store_init(&home, sizeof(WorkerShared), 1);
    WorkerShared *shared = store_push(&home, 1);
    shared->home = home, shared->spec = spec, shared->deadline = deadline;
    store_init(&shared->outcome, 1, (size_t)1 << 34);
    store_init(&shared->text, 1, (size_t)1 << 24);
    store_init(&shared->results, 1, (size_t)1 << 36);
    store_init(&shared->move_log, sizeof(LoggedMove), (size_t)1 << 30);
    shared->program = program_new(&spec->mesh, spec->cores, &spec->knobs);
    shared->record = record_new(shared->program);
    shared->replayed = record_new(shared->program);
    return shared;
}

void worker_begin_again(WorkerShared *shared)
{
    program_start_over(shared->program);
    record_reset(shared->record);
    record_reset(shared->replayed);
    store_reset(&shared->text);
    store_reset(&shared->results);
    shared->error = shared->warning = shared->not_applicable = shared->not_deterministic = NULL;
    shared->ran = shared->searched = shared->steps_reached = shared->marked = false;
    shared->enumerated = shared->again = shared->data_only = false;
}

void worker_shared_free(WorkerShared *shared)
{
    store_clear(&shared->outcome);
    store_clear(&shared->text);
    store_clear(&shared->results);
    store_clear(&shared->move_log);
    record_free(shared->replayed);
    Store home = shared->home;
    store_clear(&home);
}

const char *worker_keep(WorkerShared *shared, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(store_push(&shared->text, bytes), text, bytes);
}

static const ProgramEntry *find_entry(const ProgramModule *module, const char *name)
{
    for (size_t i = 0; i < module->entries; i++)
        if (strcmp(module->entry[i].name, name) == 0)
            return &module->entry[i];
    return NULL;
}

/* Before the first run, each launch that may have an entry barrier is assumed to have one; run/entry_barriers.h corrects this. */
static void guess_entry_barriers(Program *program)
{
    for (uint32_t l = 0; l < program->launches.count; l++) {
        Launch *launch = program_launch(program, l);
        launch->entry_barrier = !launch->host && !launch->skip_device_barrier
            && (launch->collective_id < 0 || launch->allow_unused_collective_id);
    }
}

static void build_entry(WorkerShared *shared, const ProgramEntry *entry)
{
    Program *program = shared->program;
    const CheckSpec *spec = shared->spec;
    program->name = program_text(program, program_string(program, entry->name));
    program->summary = program_text(program, program_string(program, entry->summary));
    program->source = program_text(program, program_string(program, spec->source ? spec->source : entry->source));
    program->seed = spec->seed;
    for (size_t i = 0; i < spec->overrides; i++)
        *(Parameter *)store_push(&program->overrides, 1) = (Parameter){ .name = program_string(program, spec->override[i].name),
                                                                        .value = spec->override[i].value };
    if (shared->many != NULL)
        shared->give(shared);
    else if (spec->input_values > 0)
        memcpy(store_push(&program->input, spec->input_values), spec->input, spec->input_values * sizeof *spec->input);
    entry->build(program, entry);
}

/* Neither the generated input nor the least one fits. */
static void refuse_inputs(WorkerShared *shared)
{
    Program *program = shared->program;
    if (program->not_applicable == NULL)
        return;
    g_autofree char *text = g_strdup_printf("no input that the program takes was found (\"%s\"); --inputs N looks for one",
                                            program->not_applicable);
    program->not_applicable = worker_keep(shared, text);
}

bool worker_build(WorkerShared *shared, const ProgramModule *module)
{
    const CheckSpec *spec = shared->spec;
    Program *program = shared->program;
    const ProgramEntry *entry = find_entry(module, spec->program);
    if (entry == NULL) {
        const char *place = spec->source ? spec->source : spec->module ? spec->module : "the built-in kernels";
        g_autofree char *text = g_strdup_printf("no program %s in %s", spec->program, place);
        shared->error = worker_keep(shared, text);
        return false;
    }
    build_entry(shared, entry);
    if (input_try_least(program)) {
        build_entry(shared, entry);
        refuse_inputs(shared);
    }
    shared->error = program->usage_error, shared->not_applicable = program->not_applicable;
    guess_entry_barriers(program);
    if (spec->edits != NULL && shared->error == NULL && shared->not_applicable == NULL && !edit_prepare(program, spec->edits))
        shared->error = "the change does not fit the program";
    return shared->error == NULL && shared->not_applicable == NULL;
}

/* The n-th step of a core, other than moments; NULL: it has fewer. */
static const Step *nth_step(const Record *record, uint32_t core, uint32_t position)
{
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->core == core && position-- == 0)
            return step;
    }
    return NULL;
}

static char *describe_step(const Program *program, const Step *step)
{
    if (step == NULL)
        return g_strdup("nothing more");
    g_autofree char *where = program_describe_site(program, step->site);
    return g_strdup_printf("%s at %s", step_kind_name(step->kind), where);
}

static void tell_first_difference(WorkerShared *shared, const Record *again, const uint64_t *hash, const uint64_t *hash_again)
{
    const Program *program = shared->program;
    for (uint32_t c = 0; c < program->cores; c++) {
        if (hash[c] == hash_again[c])
            continue;
        for (uint32_t p = 0;; p++) {
            const Step *a = nth_step(shared->record, c, p), *b = nth_step(again, c, p);
            if (a != NULL && b != NULL && a->site == b->site && record_same_step(shared->record, a, again, b))
                continue;
            g_autofree char *first = describe_step(program, a), *second = describe_step(program, b);
            bool alike = strcmp(first, second) == 0;
            g_autofree char *core = program_describe_core(program, c);
            g_autofree char *text = g_strdup_printf("the kernel is not deterministic: step %u of %s was %s in one run and %s in another; a "
                "kernel must be a function of what it observes (no uninitialised locals, no addresses)", p, core, first,
                alike ? "the same with other values" : second);
            shared->not_deterministic = worker_keep(shared, text);
            return;
        }
    }
    shared->data_only = true;
    shared->not_deterministic = worker_keep(shared, "the kernel is not deterministic: two runs did the same steps but computed different "
                                                    "data; a kernel must be a function of what it observes (no uninitialised "
                                                    "locals, no addresses)");
}

static void run_again(WorkerShared *shared, const uint64_t *hash)
{
    Program *program = shared->program;
    g_autofree uint64_t *hash_again = g_new0(uint64_t, program->cores);
    shared->control.phase = PHASE_AGAIN;
    Record *again = record_new_own(program);
    Execution *execution = execution_new(program, again);
    child_watch_stacks(execution_stacks(execution));
    ExecutionOptions options = { .reversed = !classes_needed(shared->record), .shift = 16 * 517, .fill = 0xa7,
                                 .pulse = &shared->control.pulse,
                                 .discard = true, .steps_max = steps_max(shared), .core_hash = hash_again };
    execution_run_eager(execution, &options);
    bool same = memcmp(hash, hash_again, program->cores * sizeof *hash) == 0 && again->final_hash == shared->record->final_hash;
    if (!same) {
        options.discard = false;
        execution_run_eager(execution, &options);
        tell_first_difference(shared, again, hash, hash_again);
    }
    execution_free(execution);
    record_free(again);
    child_watch_stacks(execution_stacks(shared->execution));
}

/* twice: also runs it again, in another order. */
static void run(WorkerShared *shared, bool twice)
{
    Program *program = shared->program;
    g_autofree uint64_t *hash = g_new0(uint64_t, program->cores);
    const ExecutionOptions options = { .fill = 0x5b, .pulse = &shared->control.pulse, .steps_max = steps_max(shared), .core_hash = hash };
    shared->control.phase = PHASE_RUN;
    shared->ran = shared->searched = false;
    if (twice)
        shared->data_only = false, shared->not_deterministic = NULL;
    execution_free(shared->execution);
    shared->execution = execution_new(program, shared->record);
    child_watch_stacks(execution_stacks(shared->execution));
    g_autofree bool *idle = unreached_expectations(execution_machine(shared->execution));
    store_reset(&program->steered);
    program->note_steering = shared->many == NULL;
    entry_barriers_run(shared->execution, &options);
    program->note_steering = false;
    shared->steps_reached = execution_limit_reached(shared->execution);
    shared->error = program->usage_error;
    if (shared->error != NULL)
        return;
    if (program->knobs.data == DATA_REAL && !shared->steps_reached) {
        execution_check_results(shared->execution);
        unreached_note_expectations(idle, shared->record);
    }
    shared->error = program->usage_error;       /* by a function of expected values, or an expectation of opaque data */
    if (shared->error != NULL)
        return;
    store_reset(&shared->results);
    if (shared->spec->results && !shared->steps_reached)
        results_gather(execution_machine(shared->execution), &shared->results);
    bool stuck = record_any_ended(shared->record, CORE_BLOCKED) && !record_any_ended(shared->record, CORE_STOPPED);
    if (stuck && !shared->steps_reached && shared->spec->edits == NULL && shared->record->lookahead.count == 0)
        lookahead_run(shared->execution);
    if (!shared->steps_reached && twice)
        run_again(shared, hash);
    shared->error = program->usage_error;       /* by the second run of a kernel that is not deterministic */
    shared->ran = true;
}

Limits worker_limits(const WorkerShared *shared)
{
    Limits limits = shared->spec->limits;
    limits.seconds = deadline_left(&shared->deadline);
    return limits;
}

bool worker_stops_at_first(const WorkerShared *shared)
{
    return shared->spec->first && !finding_exemptions_exist(shared->program) && !shared->record->values_observed;
}

/* What is known of launches before the first run: a search that goes on begins as the one did that wrote the file, which another one before
 * it may have shown other entry barriers; so does a replay. */
static char *facts_to_begin_with(const CheckSpec *spec)
{
    char *resumed = spec->resume ? checkpoint_peek(spec->resume, IDENTITY_FACTS) : NULL;
    return resumed ? resumed : g_strdup(spec->facts ? spec->facts : "");
}

/* All that is done from here on follows from the program and these facts alone, so that another process can do it again. */
static void begin(WorkerShared *shared, const char *facts)
{
    shared->facts = worker_keep(shared, facts);
    entry_barriers_add_facts(shared->program, facts);
    if (*facts != '\0')
        entry_barriers_update(shared->program, false);
}

/* Without a search: will the later proof find something? A core that is stuck or stopped is a fault. */
static bool found_something(WorkerShared *shared)
{
    if (!shared->searched)
        return !record_all_finished(shared->record);
    Outcome *outcome = outcome_load(&shared->outcome);
    bool found = outcome != NULL && outcome->findings->len > 0;
    outcome_free(outcome);
    return found;
}

/* A search may reach runs in which a launch does what it did not do in the recorded run, so that its entry barrier changes. Then everything
 * is repeated under the new barriers. */
static bool launches_changed(WorkerShared *shared)
{
    shared->again = shared->ran && !shared->steps_reached && shared->error == NULL
        && ((shared->searched && entry_barriers_update(shared->program, false))
            || (found_something(shared) && entry_barriers_presume(shared->program)));
    return shared->again;
}

ProgramModule *worker_open(WorkerShared *shared)
{
    char *error = NULL;
    globals_expect();
    ProgramModule *module = shared->spec->open(shared->spec->module, &error);
    if (module == NULL)
        shared->error = worker_keep(shared, error);
    else
        globals_opened(module->handle);
    return module;
}

void worker_run_built(WorkerShared *shared, void (*search)(WorkerShared *shared))
{
    globals_seal(!shared->spec->in_process);
    const Rewind built = rewind_mark(shared->program);
    g_autofree char *facts = facts_to_begin_with(shared->spec);
    for (;;) {
        begin(shared, facts);
        run(shared, true);
        shared->control.phase = PHASE_SEARCH;
        if (shared->ran && !shared->steps_reached && shared->error == NULL)
            search(shared);
        if (!launches_changed(shared))
            break;
        g_free(facts);
        facts = entry_barriers_known(shared->program);
        rewind_to(shared->program, &built);
    }
}

static void load_and_run(WorkerShared *shared)
{
    ProgramModule *module = worker_open(shared);
    shared->control.phase = PHASE_PROGRAM;
    if (module == NULL || !worker_build(shared, module))
        return;
    worker_run_built(shared, search_run);
    if (shared->ran && shared->error == NULL)
        unreached_note(module, shared->program, shared->record);
}

/* Repeats the recorded run, and keeps the advice about unreached operations. */
static void run_again_marked(WorkerShared *shared, bool twice)
{
    Record *record = shared->record;
    g_autoptr(GArray) unreached = g_array_new(FALSE, FALSE, sizeof(Advised));
    for (size_t i = 0; i < record->advised.count; i++)
        if (STORE(Advised, &record->advised, i).advice == ADVICE_UNREACHED)
            g_array_append_val(unreached, STORE(Advised, &record->advised, i));
    run(shared, twice);
    for (guint i = 0; i < unreached->len; i++)
        *(Advised *)store_push(&record->advised, 1) = g_array_index(unreached, Advised, i);
}

/* With racing values marked: repeats the recorded run, and the search if it may have judged such values. If an exempted race decides a step
 * or a result, one run or class says little about the others, so states are enumerated if they are few. */
static void run_marked(WorkerShared *shared)
{
    Outcome *outcome = outcome_load(&shared->outcome);
    g_assert(outcome != NULL);
    race_marks_set(outcome, shared->program);
    bool searched = shared->searched, whole = outcome->limits->len == 0, automatic = shared->spec->search == SEARCH_AUTO;
    bool exempt = race_marks_due(outcome, shared->program) & ELEMENT_EXEMPT;
    bool again = searched && whole && search_is(shared->spec->search, SEARCH_COVERS) && (exempt || (automatic && outcome->values_observed));
    outcome_free(outcome);
    shared->marked = true;
    do {
        run_again_marked(shared, exempt && shared->not_deterministic != NULL);      /* a reported race explains a difference */
        shared->searched = searched;
        if (shared->error != NULL || !shared->ran)
            return;
        if (again && !(automatic && racing_reached_any(shared->program, ELEMENT_EXEMPT)))
            search_run(shared);
        if (shared->error == NULL && whole && automatic && racing_reached_any(shared->program, ELEMENT_EXEMPT))
            search_states(shared);
    } while (launches_changed(shared));
}

void worker_serve(ChildControl *control, void *argument, char request)
{
    WorkerShared *shared = argument;
    g_assert(control == &shared->control);
    if (shared->many != NULL)
        shared->serve(shared);
    else if (request == WORKER_RUN)
        load_and_run(shared);
    else if (request == WORKER_MARK)
        run_marked(shared);
    else if (shared->execution != NULL) {
        shared->control.phase = PHASE_REPLAY;
        replays_make(shared);
    }
}
