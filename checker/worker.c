/* worker.c - the child's side of a check.
 *
 * The recorded run is eager. It is done again from the last core to the first, on other stack addresses, over memory filled otherwise: a
 * kernel that is a function of what it observes does the same steps again, any other is found out here. Where results of steps depend on
 * the order (looks at counts, flags), the second run keeps the order and only the stacks differ.
 */
#include "worker.h"
#include "../model/racing.h"
#include "classes/classes.h"
#include "identity.h"
#include "marks.h"
#include "outcome_io.h"
#include "proof/prove.h"
#include "results.h"
#include "run/adapt.h"
#include "run/ancestry.h"
#include "run/blackbox.h"
#include "run/checkpoint.h"
#include "run/delay.h"
#include "run/edit.h"
#include "run/fate.h"
#include "run/film.h"
#include "run/foresee.h"
#include "run/globals.h"
#include "run/judge.h"
#include "run/minimise.h"
#include "run/settle.h"
#include "run/strategy.h"
#include "search.h"
#include "unreached.h"
#include <string.h>

static const uint64_t STEPS_MAX = 400000000;    /* of one run: a record of 10 GB */
enum { DIVERGENCE_RUNS = 1000, DIVERGENCE_STEPS = 100000 };
static const uint64_t DELAY_STEPS_MAX = 20000;          /* of a program whose delays are looked for */
static const uint64_t MINIMISE_EFFORT = 3000000;        /* moves done for shorter schedules, for all findings of a check */

WorkerShared *worker_shared_new(const CheckSpec *spec)
{
    Store home;
    store_init(&home, sizeof(WorkerShared), 1);
    WorkerShared *shared = store_push(&home, 1);
    shared->home = home, shared->spec = spec;
    store_init(&shared->outcome, 1, (size_t)1 << 34);
    store_init(&shared->text, 1, (size_t)1 << 24);
    store_init(&shared->results, 1, (size_t)1 << 36);
    store_init(&shared->box, sizeof(Noted), (size_t)1 << 30);
    return shared;
}

void worker_shared_free(WorkerShared *shared)
{
    store_clear(&shared->outcome);
    store_clear(&shared->text);
    store_clear(&shared->results);
    store_clear(&shared->box);
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

/* Cautious guess before anything ran: a barrier can only be dropped afterwards. */
static void guess_entry_barriers(Program *program)
{
    for (uint32_t l = 0; l < program->launches.count; l++) {
        Launch *launch = program_launch(program, l);
        launch->entry_barrier = !launch->host && !launch->skip_device_barrier
            && (launch->collective_id < 0 || launch->allow_unused_collective_id);
    }
}

static bool build(WorkerShared *shared, const ProgramModule *module)
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
    program->name = program_text(program, program_string(program, entry->name));
    program->summary = program_text(program, program_string(program, entry->summary));
    program->source = program_text(program, program_string(program, spec->source ? spec->source : entry->source));
    program->seed = spec->seed;
    for (size_t i = 0; i < spec->overrides; i++)
        *(Parameter *)store_push(&program->overrides, 1) = (Parameter){ .name = program_string(program, spec->override[i].name),
                                                                        .value = spec->override[i].value };
    entry->build(program, entry);
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

static bool same_step(const Record *a, const Step *left, const Record *b, const Step *right)
{
    if (left == NULL || right == NULL)
        return left == right;
    if (left->kind != right->kind || left->site != right->site || left->value != right->value || left->extra != right->extra)
        return false;
    if (left->kind == STEP_STOP)
        return true;
    if (left->kind != STEP_COPY_START || left->object == NONE || right->object == NONE)
        return left->object == right->object;
    return memcmp(&STORE(Copy, &a->copies, left->object), &STORE(Copy, &b->copies, right->object), sizeof(Copy)) == 0;
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
            if (a != NULL && same_step(shared->record, a, again, b))
                continue;
            g_autofree char *first = describe_step(program, a), *second = describe_step(program, b);
            bool alike = strcmp(first, second) == 0;
            g_autofree char *text = g_strdup_printf("the kernel is not deterministic: step %u of device %u core %u was %s in one run and "
                "%s in another; a kernel must be a function of what it observes (no uninitialised locals, no addresses)", p,
                c / program->cores_per_device, c % program->cores_per_device, first, alike ? "the same with other values" : second);
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
    Record *again = record_new(program);
    Execution *execution = execution_new(program, again);
    child_watch_stacks(execution_stacks(execution));
    ExecutionOptions options = { .reversed = !classes_needed(shared->record), .shift = 16 * 517, .fill = 0xa7,
                                 .pulse = &shared->control.pulse,
                                 .discard = true, .steps_max = STEPS_MAX, .core_hash = hash_again };
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

/* twice: again, in another order. */
static void run(WorkerShared *shared, bool twice)
{
    Program *program = shared->program;
    g_autofree uint64_t *hash = g_new0(uint64_t, program->cores);
    const ExecutionOptions options = { .fill = 0x5b, .pulse = &shared->control.pulse, .steps_max = STEPS_MAX, .core_hash = hash };
    shared->ran = shared->searched = false;
    if (twice)
        shared->data_only = false, shared->not_deterministic = NULL;
    execution_free(shared->execution);
    shared->execution = execution_new(program, shared->record);
    child_watch_stacks(execution_stacks(shared->execution));
    g_autofree bool *idle = unreached_expectations(execution_machine(shared->execution));
    settle_run(shared->execution, &options);
    g_autofree char *facts = settle_facts(program);
    shared->facts = worker_keep(shared, facts);
    shared->steps_reached = execution_limit_reached(shared->execution);
    shared->error = program->usage_error;
    if (shared->error != NULL)
        return;
    if (program->knobs.data == DATA_REAL && !shared->steps_reached) {
        execution_check_results(shared->execution);
        unreached_note_expectations(idle, shared->record);
    }
    shared->error = program->usage_error;       /* of a function of expected values, or of an expectation of opaque data */
    if (shared->error != NULL)
        return;
    store_reset(&shared->results);
    if (shared->spec->results && !shared->steps_reached)
        results_gather(execution_machine(shared->execution), &shared->results);
    bool stuck = record_any_ended(shared->record, CORE_BLOCKED) && !record_any_ended(shared->record, CORE_STOPPED);
    if (stuck && !shared->steps_reached && shared->spec->edits == NULL && shared->record->foreseen.count == 0)
        foresee(shared->execution);
    if (!shared->steps_reached && twice)
        run_again(shared, hash);
    shared->error = program->usage_error;       /* of a kernel that is not a function of what it observes */
    shared->ran = true;
}

bool worker_stops_at_first(const WorkerShared *shared)
{
    return shared->spec->first && !finding_exemptions_exist(shared->program) && !shared->record->values_observed;
}

double worker_seconds_left(const WorkerShared *shared)
{
    double all = shared->spec->seconds_max;
    return all > 0 ? MAX(all - (double)(g_get_monotonic_time() - shared->begun) / 1e6, 0.01) : 0;
}

/* A search that goes on does so under the entry barriers that it had, which another one before it may have shown; so does a replay. */
static void learn_facts(WorkerShared *shared)
{
    g_autofree char *resumed = shared->spec->resume ? checkpoint_peek(shared->spec->resume, IDENTITY_FACTS) : NULL;
    const char *facts = resumed ? resumed : shared->spec->facts;
    if (facts == NULL)
        return;
    settle_add_facts(shared->program, facts);
    settle_launches(shared->program, false);
}

/* Of a proof, which comes later: will it? A core that is stuck or stopped is a fault. */
static bool found_something(WorkerShared *shared)
{
    if (!shared->searched)
        return !record_all_finished(shared->record);
    Outcome *outcome = outcome_load(&shared->outcome);
    bool found = outcome != NULL && outcome->findings->len > 0;
    outcome_free(outcome);
    return found;
}

/* A search may come to runs in which a launch does what the recorded run did not: then it has an entry barrier, or has none, and all is
 * done again under the barriers that it turned out to have. */
static bool launches_changed(WorkerShared *shared)
{
    shared->again = shared->ran && !shared->steps_reached && shared->error == NULL
        && ((shared->searched && settle_launches(shared->program, false))
            || (found_something(shared) && settle_presume(shared->program)));
    return shared->again;
}

static void load_and_run(WorkerShared *shared)
{
    char *error = NULL;
    globals_expect();
    ProgramModule *module = shared->spec->open(shared->spec->module, &error);
    if (module == NULL) {
        shared->error = worker_keep(shared, error);
        return;
    }
    globals_opened(module->handle);
    if (!build(shared, module))
        return;
    globals_seal(!shared->spec->in_process);
    learn_facts(shared);
    do {
        run(shared, true);
        if (shared->ran && !shared->steps_reached && shared->error == NULL)
            search_run(shared);
    } while (launches_changed(shared));
    if (shared->ran && shared->error == NULL)
        unreached_note(module, shared->program, shared->record);
}

/* The recorded run, with what was found out about its module beside it. */
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

/* With what is known of races: the recorded run again, and what may have judged values that hang on one. Where an exempt race decides what
 * a core does, or a result, one run or class says little of the others, and states are walked if they are few. */
static void run_marked(WorkerShared *shared)
{
    Outcome *outcome = outcome_load(&shared->outcome);
    g_assert(outcome != NULL);
    marks_set(outcome, shared->program);
    bool searched = shared->searched, whole = outcome->limits->len == 0, automatic = shared->spec->search == SEARCH_AUTO;
    bool exempt = marks_due(outcome, shared->program) & ELEMENT_EXEMPT;
    bool again = searched && whole && shared->spec->search <= SEARCH_ENUMERATE && (exempt || (automatic && outcome->values_observed));
    outcome_free(outcome);
    shared->marked = true;
    do {
        run_again_marked(shared, exempt && shared->not_deterministic != NULL);      /* a race that is reported explains it */
        shared->searched = searched;
        if (shared->error != NULL || !shared->ran)
            return;
        if (again && !(automatic && racing_reached_any(shared->program, ELEMENT_EXEMPT)))
            search_run(shared);
        if (shared->error == NULL && whole && automatic && racing_reached_any(shared->program, ELEMENT_EXEMPT))
            search_states(shared);
    } while (launches_changed(shared));
}

static char *line_of_move(Execution *execution, const Program *program, Move move)
{
    if (move.copy != NONE) {
        uint32_t copy = execution_find_copy(execution, move.core, move.copy);
        const Record *record = execution_record(execution);
        return schedule_line(program, move, 0, move.moment, copy == NONE ? NONE : STORE(Copy, &record->copies, copy).site);
    }
    const Request *request = move.core < program->cores ? execution_pending(execution, move.core) : NULL;
    if (request == NULL)
        return schedule_line(program, move, 0, STEP_KIND_COUNT, NONE);
    return schedule_line(program, move, execution_position(execution, move.core), request->step.kind, request->step.site);
}

/* The fault that the core raised there; of several the first that is worded so, if there is one: searches word them otherwise. */
static void refresh_raised(const Record *record, const Finding *finding, Place *place)
{
    unsigned fits = 0;
    for (size_t i = 0; i < record->raised.count; i++) {
        const Raised *raised = &STORE(Raised, &record->raised, i);
        unsigned so = g_strcmp0(finding->message, raised->message) == 0 ? 2 : 1;
        if (raised->fault != finding->id || raised->core != place->core || raised->position != place->position || so <= fits)
            continue;
        place->site = raised->site;
        fits = so;
    }
}

/* What a place touches, as the state shows it: the agent's next step, or the copy. */
static void refresh_place(Execution *execution, const Finding *finding, Place *place)
{
    const Record *record = execution_record(execution);
    if (place->copy != NONE) {
        uint32_t index = execution_find_copy(execution, place->core, place->copy);
        if (index == NONE)
            return;
        uint32_t launch = place->launch;
        *place = place_of_moment(&STORE(Copy, &record->copies, index), place->kind);
        place->launch = launch;
        return;
    }
    const Request *request = execution_pending(execution, place->core);
    if (request == NULL || execution_position(execution, place->core) != place->position) {
        refresh_raised(record, finding, place);
        return;
    }
    bool memory = request->step.kind == STEP_LOAD || request->step.kind == STEP_STORE || request->step.kind == STEP_SWAP;
    place->site = request->step.site, place->launch = request->step.launch;
    place->object = request->step.object, place->region = memory ? request->step.value : NONE;
}

/* A search that met the deadlock in a run of its own could not foresee what would come after it: the replay can. */
static void explain_deadlock(Execution *execution, Finding *finding)
{
    execution_end(execution);
    foresee(execution);
    Outcome *outcome = prove_record(execution_record(execution), &(ProveOptions){ 0 });
    for (guint i = 0; i < outcome->findings->len; i++) {
        Finding *same = g_ptr_array_index(outcome->findings, i);
        if (same->id != FAULT_DEADLOCK)
            continue;
        g_free(finding->why);
        finding->why = g_steal_pointer(&same->why);
    }
    outcome_free(outcome);
}

static GByteArray *copy_results(WorkerShared *shared)
{
    GByteArray *results = g_byte_array_new();
    for (uint32_t i = 0; i < shared->program->objects; i++) {
        const Decl *decl = program_decl(shared->program, program_object_decl(shared->program, i));
        if (program_decl_is_result(decl))
            g_byte_array_append(results, machine_contents(execution_machine(shared->execution), i)->bytes, (guint)decl->bytes);
    }
    return results;
}

static char *describe_element(const Program *program, uint32_t object, size_t element, const guint8 *here, const guint8 *there)
{
    const Decl *decl = program_decl(program, program_object_decl(program, object));
    return g_strdup_printf("element %zu of %s on device %u ends as %.9g here, and as %.9g in another schedule", element,
                           program_text(program, decl->name), program_object_device(program, object), dtype_read_double(decl->dtype, here),
                           dtype_read_double(decl->dtype, there));
}

/* Runs the recorded order again and tells the first element that ends otherwise. */
static char *first_difference(WorkerShared *shared)
{
    const Program *program = shared->program;
    g_autoptr(GByteArray) here = copy_results(shared);
    execution_run_eager(shared->execution, &(ExecutionOptions){ .fill = 0x5b, .pulse = &shared->control.pulse });
    g_autoptr(GByteArray) there = copy_results(shared);
    size_t at = 0;
    for (uint32_t i = 0; i < program->objects; i++) {
        const Decl *decl = program_decl(program, program_object_decl(program, i));
        size_t item = dtype_size_bytes(decl->dtype), bytes = program_decl_is_result(decl) ? (size_t)decl->bytes : 0;
        for (size_t b = 0; b < bytes; b += item)
            if (memcmp(here->data + at + b, there->data + at + b, item) != 0)
                return describe_element(program, i, b / item, here->data + at + b, there->data + at + b);
        at += bytes;
    }
    return g_strdup("an element is written here, and is not in another schedule");
}

static bool ends_elsewhere(const WorkerShared *shared, Execution *execution)
{
    for (uint32_t c = 0; c < shared->program->cores; c++)
        if (execution_pending(execution, c) != NULL)
            return false;
    return machine_hash_results(execution_machine(execution)) != shared->record->result_hash;
}

/* One of two diverging schedules may end just as the recorded run does: then another that does not is looked for, by chance. */
static bool show_divergence(WorkerShared *shared, Finding *finding, const ExecutionOptions *options)
{
    Execution *execution = shared->execution;
    bool shown = ends_elsewhere(shared, execution);
    Strategy *strategy = strategy_new(STRATEGY_RANDOM, shared->spec->seed, 1);
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (uint64_t run = 0; run < DIVERGENCE_RUNS && !shown; run++) {
        g_array_set_size(finding->moves, 0);
        g_ptr_array_set_size(finding->lines, 0);
        execution_begin(execution, options);
        strategy_begin(strategy, run, 1);
        for (execution_enabled(execution, moves); moves->len > 0 && finding->moves->len < DIVERGENCE_STEPS;
             execution_enabled(execution, moves)) {
            Move move = g_array_index(moves, Move, strategy_choose(strategy, execution, moves));
            g_array_append_val(finding->moves, move);
            g_ptr_array_add(finding->lines, line_of_move(execution, shared->program, move));
            execution_do(execution, move);
        }
        shown = ends_elsewhere(shared, execution);
    }
    strategy_free(strategy);
    if (shown && finding->message == NULL)
        finding->message = first_difference(shared);
    return shown;
}

/* "core 0.0 @3 wait kernel.c:12"; of a line that is no longer in the file the number is 0: then the operation alone. */
static bool same_operation(const char *expected, const char *found)
{
    const char *end = strrchr(found, ' ');
    return strcmp(expected, found) == 0
        || (g_str_has_suffix(expected, ":0") && end != NULL && strncmp(expected, found, (size_t)(end - found)) == 0);
}

/* Does the moves; false: at one of them the kernel stands elsewhere than `expected` says (NULL: nothing), or it is not possible. */
static bool follow(WorkerShared *shared, Finding *finding, const ExecutionOptions *options, const GPtrArray *expected)
{
    Execution *execution = shared->execution;
    store_reset(&shared->box);
    execution_begin(execution, options);
    for (guint i = 0; finding->moves != NULL && i < finding->moves->len; i++) {
        Move move = g_array_index(finding->moves, Move, i);
        char *found = line_of_move(execution, shared->program, move);
        g_ptr_array_add(finding->lines, found);
        bool same = expected == NULL || same_operation(g_ptr_array_index(expected, i), found);
        blackbox_note(&shared->box, execution, move);
        if (same && execution_do(execution, move))
            continue;
        if (expected != NULL)
            finding->departure = g_strdup_printf(same ? "move %u, \"%s\", is not possible there" : "move %u was \"%s\", and is now \"%s\"",
                                                 i + 1, (char *)g_ptr_array_index(expected, i), found);
        return false;
    }
    return true;
}

/* Moves to lines of text and judgement, in this process; the program must have run once. */
static bool replay(WorkerShared *shared, Finding *finding)
{
    const ExecutionOptions options = { .fill = 0x5b, .pulse = &shared->control.pulse };
    Execution *execution = shared->execution;
    g_autoptr(GPtrArray) expected = finding->lines;
    finding->lines = g_ptr_array_new_with_free_func(g_free);
    finding->shown = false;
    if (!follow(shared, finding, &options, shared->as_given ? expected : NULL)) {
        if (!shared->as_given)
            return false;
        adapt_schedule(execution, &options, shared->record, expected, finding);
        g_ptr_array_set_size(finding->lines, 0);
        follow(shared, finding, &options, NULL);
    }
    for (unsigned p = 0; p < finding->places; p++)
        if (finding->place[p].site == NONE && finding->id == FAULT_NO_PROGRESS) {
            judge_find_poll(execution, &finding->place[p]);
        } else if (finding->place[p].site == NONE) {        /* from a file: places say who, the state says what */
            minimise_shows(execution, finding); /* what is wrong with results is raised by judging them */
            refresh_place(execution, finding, &finding->place[p]);
        }
    finding->shown = finding->id == FAULT_DIVERGENCE ? show_divergence(shared, finding, &options) : minimise_shows(execution, finding);
    if (finding->shown && shared->spec->in_process)
        execution_stands_at_fault(execution);
    bool unforeseen = finding->why == NULL || (!shared->as_given && (shared->searched || shared->record->foreseen.count == 0));
    if (finding->shown && finding->id == FAULT_DEADLOCK && unforeseen)
        explain_deadlock(execution, finding);
    if (finding->shown && finding->id == FAULT_UNINITIALISED && finding->why == NULL && finding->message != NULL)
        finding->why = ancestry_of_unwritten(execution, finding);
    return finding->shown;
}

/* Reports look at the record of the run: replays get one of their own. */
static void replay_on_own_record(WorkerShared *shared)
{
    if (shared->replays)
        return;
    execution_free(shared->execution);
    shared->execution = execution_new(shared->program, shared->replayed);
    shared->replays = true;
    child_watch_stacks(execution_stacks(shared->execution));
}

/* A schedule that only the short way of running has shown must not hide the one that the search gave. */
static void replay_shortest(WorkerShared *shared, Finding *finding, uint64_t *effort)
{
    bool data = finding->id == FAULT_ASSERT || finding->id == FAULT_UNINITIALISED || shared->record->values_observed;
    const ExecutionOptions options = { .fill = 0x5b, .pulse = &shared->control.pulse, .without_contents = !data };
    GArray *given = g_array_copy(finding->moves);
    if (finding->id != FAULT_DIVERGENCE)
        minimise(shared->execution, &options, finding, effort);
    if (replay(shared, finding)) {
        g_array_unref(given);
        return;
    }
    g_array_unref(finding->moves);
    finding->moves = given;
    replay(shared, finding);
}

/* The moves are done once more: the replay may have ended with another run, for comparison. */
static void take_film(WorkerShared *shared, Finding *finding)
{
    const ExecutionOptions options = { .fill = 0x5b, .pulse = &shared->control.pulse };
    execution_begin(shared->execution, &options);
    for (guint i = 0; i < finding->moves->len && execution_do(shared->execution, g_array_index(finding->moves, Move, i)); i++)
        ;
    execution_end(shared->execution);
    g_bytes_unref(finding->film);
    finding->film = film_save(execution_record(shared->execution));
}

/* Programs that are too long for a few more runs do without. */
static void find_delays(WorkerShared *shared, Finding *finding)
{
    const Record *record = shared->record;
    const ExecutionOptions options = { .fill = 0x5b, .pulse = &shared->control.pulse, .without_contents = !record->values_observed };
    if (record->steps.count + 3 * record->copies.count >= DELAY_STEPS_MAX)
        return;
    delay_find(shared->execution, &options, finding);
    if (!record->values_observed && !shared->as_given)
        fate_find(shared->execution, &options, finding);
}

static void replay_all(WorkerShared *shared)
{
    replay_on_own_record(shared);
    Outcome *outcome = outcome_load(&shared->outcome);
    g_assert(outcome != NULL);
    uint64_t effort = MINIMISE_EFFORT;
    for (guint i = 0; i < outcome->findings->len; i++) {
        Finding *finding = g_ptr_array_index(outcome->findings, i);
        uint64_t share = effort / (outcome->findings->len - i), left = share;
        if (finding->moves != NULL && !shared->as_given && shared->spec->edits == NULL)
            replay_shortest(shared, finding, &left);
        else if (finding->moves != NULL)
            replay(shared, finding);
        effort -= share - left;
        bool always = finding->id == FAULT_DEADLOCK && (outcome->conflicts == 0 || outcome->conflicts == UINT64_MAX);
        bool wanted = shared->as_given ? finding->delays != NULL : !always && shared->spec->edits == NULL;
        if (finding->delays != NULL)            /* a saved schedule: they are looked for again */
            g_array_free(g_steal_pointer(&finding->delays), TRUE);
        if (finding->shown && wanted)
            find_delays(shared, finding);
        if (finding->moves != NULL && shared->spec->film)
            take_film(shared, finding);
    }
    outcome_save(outcome, &shared->outcome);
    outcome_free(outcome);
}

void worker_serve(ChildControl *control, void *argument, char request)
{
    WorkerShared *shared = argument;
    g_assert(control == &shared->control);
    if (request == WORKER_RUN)
        load_and_run(shared);
    else if (request == WORKER_MARK)
        run_marked(shared);
    else if (shared->execution != NULL)
        replay_all(shared);
}
