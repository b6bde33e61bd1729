/* replays.c - makes the schedules of a check's findings short, and replays them with the real kernels. */
#include "replays.h"
#include "../explain/adapt.h"
#include "../explain/ancestry.h"
#include "../explain/critical.h"
#include "../explain/delay.h"
#include "../explain/minimise.h"
#include "../explain/no_return.h"
#include "../facts/outcome.h"
#include "../proof/prove.h"
#include "../run/judge.h"
#include "../run/lookahead.h"
#include "../run/move_log.h"
#include "../run/recording.h"
#include "../sample/strategy.h"
#include "orders.h"
#include <string.h>
#include "../../model/moment.h"

enum { DIVERGENCE_RUNS = 1000, DIVERGENCE_STEPS = 100000 };
static const uint64_t DELAY_STEPS_MAX = 20000;          /* in a longer program delays are not searched for */
static const uint64_t MINIMISE_EFFORT = 3000000;        /* moves spent on making schedules short, for all findings together */

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

/* The fault that the core raised there: of several, the first with the same message, or else the first. */
static void refresh_raised(const Record *record, const Finding *finding, Place *place)
{
    unsigned fits = 0;
    for (size_t i = 0; i < record->raised.count; i++) {
        const Raised *raised = &STORE(Raised, &record->raised, i);
        unsigned so = finding->message && raised->message && g_str_has_prefix(raised->message, finding->message) ? 2 : 1;
        if (raised->fault != finding->id || raised->core != place->core || raised->position != place->position || so <= fits)
            continue;
        place->site = raised->site;
        fits = so;
    }
}

/* Updates a place from the current state: the agent's next step, or the copy. */
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

/* A search does not foresee what would follow a deadlock; the replay does, and its explanation replaces the first. */
static void explain_deadlock(Execution *execution, Finding *finding)
{
    execution_end(execution);
    lookahead_run(execution);
    Outcome *outcome = prove_record(execution_record(execution), &(ProveOptions){ 0 });
    for (guint i = 0; i < outcome->findings->len; i++) {
        Finding *same = g_ptr_array_index(outcome->findings, i);
        if (same->id != FAULT_DEADLOCK)
            continue;
        g_free(finding->why);
        finding->why = g_steal_pointer(&same->why);
        finding->cause = same->cause;
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
    g_autofree char *device = program_describe_device(program, program_object_device(program, object));
    return g_strdup_printf("element %zu of %s on %s ends as %.9g here, and as %.9g in another schedule", element,
                           program_text(program, decl->name), device, dtype_read_double(decl->dtype, here),
                           dtype_read_double(decl->dtype, there));
}

/* Runs the recorded order again, and describes the first element that ends differently. */
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
    return g_strdup("an element is written here, but not in another schedule");
}

static bool ends_elsewhere(const WorkerShared *shared, Execution *execution)
{
    for (uint32_t c = 0; c < shared->program->cores; c++)
        if (execution_pending(execution, c) != NULL)
            return false;
    return machine_hash_results(execution_machine(execution)) != shared->record->result_hash;
}

static void begin_schedule(WorkerShared *shared, Finding *finding, const ExecutionOptions *options)
{
    g_array_set_size(finding->moves, 0);
    g_ptr_array_set_size(finding->lines, 0);
    execution_begin(shared->execution, options);
}

static bool add_move(WorkerShared *shared, Finding *finding, Move move)
{
    g_autofree char *line = line_of_move(shared->execution, shared->program, move);
    if (!execution_do(shared->execution, move))
        return false;
    g_array_append_val(finding->moves, move);
    g_ptr_array_add(finding->lines, g_steal_pointer(&line));
    return true;
}

/* With the rest of each copy right behind its early bytes: copies that land as a whole are easier to follow. False: it ends otherwise. */
static bool try_whole_copies(WorkerShared *shared, Finding *finding, const ExecutionOptions *options)
{
    g_autoptr(GArray) given = g_array_copy(finding->moves);
    begin_schedule(shared, finding, options);
    for (guint i = 0; i < given->len; i++) {
        Move move = g_array_index(given, Move, i);
        bool early = move.copy != NONE && moment_is_early(move.moment);
        if (execution_is_enabled(shared->execution, move))
            add_move(shared, finding, move);
        for (move.moment = STEP_EARLY_SEND; early && move.moment <= STEP_WRITE; move.moment++)
            if (execution_is_enabled(shared->execution, move))
                add_move(shared, finding, move);
    }
    return ends_elsewhere(shared, shared->execution);
}

static void prefer_whole_copies(WorkerShared *shared, Finding *finding, const ExecutionOptions *options)
{
    g_autoptr(GArray) given = g_array_copy(finding->moves);
    if (try_whole_copies(shared, finding, options))
        return;
    begin_schedule(shared, finding, options);
    for (guint i = 0; i < given->len; i++)
        add_move(shared, finding, g_array_index(given, Move, i));
}

/* The schedule may end with the same results as the recorded run: then random schedules are tried until one differs. */
static bool show_divergence(WorkerShared *shared, Finding *finding, const ExecutionOptions *options)
{
    Execution *execution = shared->execution;
    bool shown = ends_elsewhere(shared, execution);
    Strategy *strategy = strategy_new(STRATEGY_RANDOM, shared->spec->seed, 1);
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (uint64_t run = 0; run < DIVERGENCE_RUNS && !shown; run++) {
        begin_schedule(shared, finding, options);
        strategy_begin(strategy, run, 1);
        for (execution_enabled(execution, moves); moves->len > 0 && finding->moves->len < DIVERGENCE_STEPS;
             execution_enabled(execution, moves))
            add_move(shared, finding, g_array_index(moves, Move, strategy_choose(strategy, execution, moves)));
        shown = ends_elsewhere(shared, execution);
    }
    strategy_free(strategy);
    if (shown && !shared->as_given) {
        prefer_whole_copies(shared, finding, options);
        g_clear_pointer(&finding->message, g_free);             /* the search saw other values */
    }
    if (shown && finding->message == NULL)
        finding->message = first_difference(shared);
    return shown;
}

/* "core 0.0 @3 wait kernel.c:12". Line 0 means that the line is no longer in the file: then only the operation is compared. */
static bool same_operation(const char *expected, const char *found)
{
    const char *end = strrchr(found, ' ');
    return strcmp(expected, found) == 0
        || (g_str_has_suffix(expected, ":0") && end != NULL && strncmp(expected, found, (size_t)(end - found)) == 0);
}

/* Does the moves; false: one is not possible, or is not the operation in `expected` (NULL: any). */
static bool follow(WorkerShared *shared, Finding *finding, const ExecutionOptions *options, const GPtrArray *expected)
{
    Execution *execution = shared->execution;
    store_reset(&shared->move_log);
    execution_begin(execution, options);
    for (guint i = 0; finding->moves != NULL && i < finding->moves->len; i++) {
        Move move = g_array_index(finding->moves, Move, i);
        char *found = line_of_move(execution, shared->program, move);
        g_ptr_array_add(finding->lines, found);
        bool same = expected == NULL || same_operation(g_ptr_array_index(expected, i), found);
        move_log_note(&shared->move_log, execution, move);
        if (same && execution_do(execution, move))
            continue;
        if (expected != NULL)
            finding->departure = g_strdup_printf(same ? "move %u, \"%s\", is not possible there" : "move %u was \"%s\", and is now \"%s\"",
                                                 i + 1, (char *)g_ptr_array_index(expected, i), found);
        return false;
    }
    return true;
}

/* Replays the moves, rewrites their lines and sets `shown`. The program must have run once. */
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
        } else if (finding->place[p].site == NONE) {        /* from a file: the place names the agent, the state its step */
            minimise_shows(execution, finding); /* faults of results are raised when they are judged */
            refresh_place(execution, finding, &finding->place[p]);
        }
    finding->shown = finding->id == FAULT_DIVERGENCE ? show_divergence(shared, finding, &options) : minimise_shows(execution, finding);
    if (finding->shown && shared->spec->in_process)
        execution_stands_at_fault(execution);
    bool unforeseen = finding->why == NULL || (!shared->as_given && (shared->searched || shared->record->lookahead.count == 0));
    if (finding->shown && finding->id == FAULT_DEADLOCK && unforeseen)
        explain_deadlock(execution, finding);
    if (finding->shown && finding->id == FAULT_UNINITIALISED && finding->why == NULL && finding->message != NULL)
        finding->why = ancestry_of_unwritten(execution, finding);
    if (finding->shown && finding->id == FAULT_ASSERT && finding->why == NULL)
        finding->why = ancestry_of_result(execution, finding);
    return finding->shown;
}

/* Reports use the record of the run, so replays have their own. */
static void replay_on_own_record(WorkerShared *shared)
{
    if (shared->replays)
        return;
    execution_free(shared->execution);
    shared->execution = execution_new(shared->program, shared->replayed);
    shared->replays = true;
    child_watch_stacks(execution_stacks(shared->execution));
}

/* The short schedule is found without contents. If it does not show the fault, the schedule of the search is used. */
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

/* Runs the moves once more, because the replay may have ended with another run, for comparison. */
static void take_recording(WorkerShared *shared, Finding *finding)
{
    const ExecutionOptions options = { .fill = 0x5b, .pulse = &shared->control.pulse };
    execution_begin(shared->execution, &options);
    for (guint i = 0; i < finding->moves->len && execution_do(shared->execution, g_array_index(finding->moves, Move, i)); i++)
        ;
    execution_end(shared->execution);
    g_bytes_unref(finding->recording);
    finding->recording = recording_save(execution_record(shared->execution));
}

/* Only for programs that are short enough for a few more runs. */
static void find_delays(WorkerShared *shared, Finding *finding)
{
    const Record *record = shared->record;
    const ExecutionOptions options = { .fill = 0x5b, .pulse = &shared->control.pulse, .without_contents = !record->values_observed };
    if (record->steps.count + 3 * record->copies.count >= DELAY_STEPS_MAX)
        return;
    delay_find(shared->execution, &options, finding);
    if (!record->values_observed && !shared->as_given)
        no_return_find(shared->execution, &options, finding);
}

void replays_make(WorkerShared *shared)
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
        if (finding->delays != NULL)            /* from a saved schedule: found again below */
            g_array_free(g_steal_pointer(&finding->delays), TRUE);
        if (finding->shown && wanted)
            find_delays(shared, finding);
        if (finding->shown && wanted && !shared->as_given)
            critical_find(shared->execution, &(ExecutionOptions){ .fill = 0x5b, .pulse = &shared->control.pulse },
                          shared->record->result_hash, finding);
        if (finding->shown && !shared->as_given && shared->spec->edits == NULL && !shared->spec->whatif)
            orders_try(shared->execution, &(ExecutionOptions){ .fill = 0x5b, .pulse = &shared->control.pulse }, finding);
        if (finding->moves != NULL && shared->spec->recording)
            take_recording(shared, finding);
    }
    outcome_save(outcome, &shared->outcome);
    outcome_free(outcome);
}
