/* child_death.c - the finding names the last operation and the schedule up to it; a second child confirms it. */
#include "child_death.h"
#include "../run/move_log.h"
#include "../run/recording.h"
#include "worker.h"

enum { SAMPLED_RUNS = 1000 };

/* The core's last step. */
static Place last_place(const Record *record, uint32_t core)
{
    Place place = { .core = core, .copy = NONE, .object = NONE, .region = NONE, .kind = STEP_ENTER };
    uint32_t position = 0;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->core != core || step->kind >= STEP_EARLY_SEND || step->site >= record->program->sites.count)
            continue;
        place = place_of_step(step, position++);
    }
    return place;
}

static char *describe_end(const ChildControl *control, ChildEnd end)
{
    switch (end) {
    case CHILD_CRASHED:
        return g_strdup_printf("the kernel crashed after this operation: %s", child_describe_signal(control->signal));
    case CHILD_OVERFLOWED:
        return g_strdup("the kernel overflowed its stack after this operation (256 KiB a core): endless recursion, or a large local array");
    case CHILD_EXITED:
        return g_strdup("the kernel called exit after this operation");
    case CHILD_SPINS:
        return g_strdup("the kernel loops for ever after this operation, without another one");
    case CHILD_DONE: case CHILD_OUT_OF_MEMORY: case CHILD_TIMED_OUT: case CHILD_NOT_ALONE:
        break;
    }
    g_assert_not_reached();
}

/* In a run with chosen moves, or else in the recorded run. */
static Place place_of_death(const CheckResult *result, const WorkerShared *shared, uint32_t core)
{
    Place place;
    return move_log_last(&shared->move_log, core, &place) ? place : last_place(result->record, core);
}

static void tell_not_alone(CheckResult *result, const WorkerShared *shared)
{
    const Place place = place_of_death(result, shared, shared->control.core);
    bool known = shared->control.core < result->program->cores && place.site < result->program->sites.count;
    g_autofree char *where = known ? program_describe_site(result->program, place.site) : NULL;
    g_autofree char *who = where ? g_strdup_printf("the kernel, at %s,", where)
        : shared->control.core < result->program->cores ? g_strdup("the kernel")
        : child_name_phase(&shared->control, check_module(result->spec), result->spec->program);
    check_fail(result, "%s: %s " CHILD_MAY_NOT_START, result->spec->program, who);
}

static void report_death(CheckResult *result, const WorkerShared *shared, ChildEnd end)
{
    const ChildControl *control = &shared->control;
    if (end == CHILD_OUT_OF_MEMORY || end == CHILD_TIMED_OUT) {
        check_stop(result, shared, end);
        return;
    }
    if (end == CHILD_NOT_ALONE) {
        tell_not_alone(result, shared);
        return;
    }
    if (control->core >= result->program->cores || result->record->steps.count == 0) {
        g_autofree char *what = end == CHILD_EXITED ? g_strdup("called exit")
            : g_strdup_printf("died (%s)", child_describe_signal(control->signal));
        check_fail(result, "%s: the program %s outside of any kernel: in PROGRAM, or in a function of expected results",
                   result->spec->program, what);
        return;
    }
    Finding *finding = finding_new(end == CHILD_SPINS ? FAULT_NO_PROGRESS : FAULT_CRASH);
    finding->places = 1, finding->place[0] = place_of_death(result, shared, control->core);
    finding->spins = end == CHILD_SPINS;
    finding->message = describe_end(control, end);
    finding->lines = g_ptr_array_new_with_free_func(g_free);
    finding->moves = shared->move_log.count > 0 ? move_log_moves(&shared->move_log, result->program, finding->lines)
        : schedule_of_record(result->record, finding->lines);
    if (shared->move_log.count > 0 && result->spec->recording)
        finding->recording = recording_save(shared->replayed);
    finding->shown = true;                      /* dies_again confirms it */
    result->outcome = outcome_new();
    result->outcome->complete = false;
    g_ptr_array_add(result->outcome->findings, finding);
    result->verdict = VERDICT_FAULTY;
}

/* Does a second child die the same way in the same core? It follows these moves; NULL: it repeats the whole search. A limit that ends it
 * also ends the check.
 */
static bool dies_again(CheckResult *result, ChildEnd end, uint32_t core, const GArray *moves)
{
    WorkerShared *shared = worker_shared_new(result->spec, result->deadline);
    shared->follow = moves;
    Child child;
    char *error = NULL;
    bool same = false;
    if (child_start(&child, &shared->control, worker_serve, shared, &error)) {
        ChildEnd other = check_wait(result, &child);
        same = other == end && shared->control.core == core;
        g_free(child_end(&child));
        if (other == CHILD_TIMED_OUT || other == CHILD_OUT_OF_MEMORY)
            check_stop(result, shared, other);
    }
    g_free(error);
    record_free(shared->record);
    program_free(shared->program);
    worker_shared_free(shared);
    return same;
}

/* A search over states has no schedule for the order in which the kernel died, but a sampled run that dies alike does: its result replaces
 * this one. false: none died.
 */
static bool sample_death(CheckResult *result, ChildDeathSample *sample)
{
    const Finding *met = g_ptr_array_index(result->outcome->findings, 0);
    CheckSpec spec = *result->spec;
    spec.limits.seconds = deadline_left(&result->deadline);
    spec.search = SEARCH_RANDOM, spec.limits.runs = SAMPLED_RUNS, spec.checkpoint = spec.resume = NULL;
    CheckResult *sampled = sample(&spec);
    bool alike = false;
    for (guint i = 0; sampled->verdict == VERDICT_FAULTY && i < sampled->outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(sampled->outcome->findings, i);
        alike |= finding->id == met->id && finding->place[0].core == met->place[0].core;
    }
    if (alike) {
        outcome_free(result->outcome);
        record_free(result->record);
        program_free(result->program);
        result->outcome = sampled->outcome, result->record = sampled->record, result->program = sampled->program;
        sampled->outcome = NULL, sampled->record = NULL, sampled->program = NULL;
    }
    check_result_free(sampled);
    return alike;
}

/* The order in which it died is not known, only the core. */
static void forget_schedule(Finding *finding)
{
    g_array_unref(finding->moves);
    g_ptr_array_unref(finding->lines);
    finding->moves = NULL, finding->lines = NULL;
    finding->why = g_strdup_printf("The search died twice in this core; up to %d sampled runs did not reproduce it. So there is no "
                                   "schedule, and the operation shown is the core's last one in another order.", SAMPLED_RUNS);
}

/* A checkpoint may claim observations that no execution has, so a death in a resumed search says nothing about the kernel. */
static bool is_of_checkpoint(const CheckResult *result, const WorkerShared *shared, ChildEnd end)
{
    bool died = end == CHILD_CRASHED || end == CHILD_OVERFLOWED || end == CHILD_EXITED || end == CHILD_SPINS;
    return died && result->spec->resume != NULL && shared->ran && shared->move_log.count == 0;
}

void child_death_conclude(CheckResult *result, const WorkerShared *shared, ChildEnd end, ChildDeathSample *sample)
{
    if (is_of_checkpoint(result, shared, end)) {
        check_fail(result, "%s: the search resumed from %s died: start again without --resume to see whether the kernel dies",
                   result->spec->program, result->spec->resume);
        return;
    }
    report_death(result, shared, end);
    if (result->verdict != VERDICT_FAULTY)
        return;
    Finding *finding = g_ptr_array_index(result->outcome->findings, 0);
    bool again = dies_again(result, end, shared->control.core, shared->move_log.count > 0 ? finding->moves : NULL);
    if (result->outcome->stopped != NULL)
        return;
    if (!again)
        check_fail(result, "%s: the kernel died in one run and not in another: it is not a function of what it observes",
                   result->spec->program);
    else if (shared->ran && shared->move_log.count == 0 && !sample_death(result, sample))
        forget_schedule(finding);
}

bool child_death_is_shown(const CheckResult *result, const WorkerShared *shared, Finding *finding)
{
    if ((finding->id != FAULT_CRASH && finding->id != FAULT_NO_PROGRESS) || shared->control.core != finding->place[0].core)
        return false;
    finding->place[0] = place_of_death(result, shared, finding->place[0].core);
    if (shared->move_log.count > 0 && result->spec->recording)
        finding->recording = recording_save(shared->replayed);
    return true;
}
