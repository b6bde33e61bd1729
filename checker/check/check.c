/* check.c - the parent's side of a check.
 *
 * If the child died, that is the only finding. A finding that its replay does not show is a bug of heddle, and the check ends with an
 * error, never with a verdict.
 */
#include "check.h"
#include <string.h>
#include <sys/resource.h>
#include "../../model/racing.h"
#include "../classes/classes.h"
#include "../facts/fits.h"
#include "../facts/outcome.h"
#include "../proof/prove.h"
#include "../run/entry_barriers.h"
#include "check_parts.h"
#include "child_death.h"
#include "inputs.h"
#include "interrupt.h"
#include "race_marks.h"
#include "search.h"
#include "variants.h"
#include "worker.h"

const char *verdict_name(Verdict verdict)
{
    static const char *const NAME[] = { "verified", "faulty", "error", "bounded", "not applicable" };
    return NAME[verdict];
}

void check_fail(CheckResult *result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_free(result->error);
    result->error = g_strdup_vprintf(format, arguments);
    result->verdict = VERDICT_ERROR;
    va_end(arguments);
}

int64_t check_until(const CheckResult *result)
{
    return result->spec->whatif ? result->spec->until : result->deadline.at;
}

bool check_is_over(const CheckResult *result)
{
    return deadline_over(&(Deadline){ .at = check_until(result) }) || interrupt_requested() || limits_told();
}

const char *check_module(const CheckSpec *spec)
{
    return spec->source ? spec->source : "the kernel's module";
}

void check_stop(CheckResult *result, const WorkerShared *shared, ChildEnd end)
{
    const CheckSpec *spec = result->spec;
    const char *stop = progress_stop(&shared->control.progress);
    if (!shared->as_given) {                    /* else it holds the finding to replay */
        outcome_free(result->outcome);
        result->outcome = outcome_new();
    }
    outcome_add_limit(result->outcome, end == CHILD_TIMED_OUT && stop ? stop : "memory");
    outcome_add_limit(result->outcome, shared->control.phase < PHASE_SEARCH ? "unrun" : "unanswered");
    result->outcome->stopped = child_tell_limit(&shared->control, end, check_module(spec), spec->program, result->deadline.seconds);
    result->verdict = VERDICT_BOUNDED;
}

void check_add_advice(CheckResult *result, AdviceId id, const char *message, const Place *place)
{
    Advice *advice = g_new0(Advice, 1);
    advice->id = id, advice->message = g_strdup(message);
    if (place != NULL)
        advice->place[advice->places++] = *place;
    g_ptr_array_add(result->advice, advice);
}

static void free_advice(gpointer data)
{
    Advice *advice = data;
    g_free(advice->message);
    g_free(advice);
}

static void gather_advice(CheckResult *result)
{
    const Record *record = result->record;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (size_t i = 0; i < record->advised.count; i++) {
        const Advised *advised = &STORE(Advised, &record->advised, i);
        if (advised->advice >= ADVICE_COUNT || advised->site >= result->program->sites.count
            || !g_hash_table_add(seen, GUINT_TO_POINTER(advised->site * ADVICE_COUNT + advised->advice + 1)))
            continue;
        const Place place = { .core = advised->core, .position = advised->position, .copy = NONE, .kind = STEP_WAIT, .site = advised->site,
                              .object = NONE, .region = NONE };
        check_add_advice(result, (AdviceId)advised->advice, advice_meaning((AdviceId)advised->advice), &place);
    }
    if (!result->results_checked && result->program->expectations.count == 0 && result->verdict != VERDICT_ERROR)
        check_add_advice(result, ADVICE_NO_EXPECTATION, advice_meaning(ADVICE_NO_EXPECTATION), NULL);
    check_note_unused_exemptions(result);
    check_note_steering(result);
}

static unsigned count_faults(const CheckResult *result)
{
    unsigned faults = 0;
    for (guint i = 0; i < result->outcome->findings->len; i++)
        faults += finding_exemption(result->program, g_ptr_array_index(result->outcome->findings, i)) == NULL;
    return faults;
}

/* exempt_too: count exempted races as well. */
static bool has_race(const CheckResult *result, bool exempt_too)
{
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(result->outcome->findings, i);
        if (finding->id == FAULT_RACE && (exempt_too || finding_exemption(result->program, finding) == NULL))
            return true;
    }
    return false;
}

/* A search that a limit ended may have missed the race because of which two runs differ, but the proof finds it in any record. */
static bool proof_sees_race(const Record *record)
{
    Outcome *outcome = prove_record(record, &(ProveOptions){ 0 });
    bool race = false;
    for (guint i = 0; i < outcome->findings->len; i++)
        race |= ((const Finding *)g_ptr_array_index(outcome->findings, i))->id == FAULT_RACE;
    outcome_free(outcome);
    return race;
}

static bool races_or_conflicts(const CheckResult *result)
{
    const Outcome *outcome = result->outcome;
    if (has_race(result, true) || (!outcome->complete && proof_sees_race(result->record)))
        return true;
    return outcome->conflicts != UINT64_MAX && outcome->conflicts > 0;
}

static void want_all_shown(CheckResult *result)
{
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(result->outcome->findings, i);
        if (finding->shown)
            continue;
        g_autofree char *line = finding->places ? g_strdup_printf(":%u", program_get_site(result->program, finding->place[0].site)->line)
            : g_strdup("");
        const Site *site = finding->places ? program_get_site(result->program, finding->place[0].site) : NULL;
        if (result->spec->resume != NULL)
            check_fail(result, "%s resumes from %s, which claims a fault that does not show (%s%s%s%s): start again, without --resume",
                       result->spec->program, result->spec->resume, fault_name(finding->id), site ? " at " : "",
                       site ? program_text(result->program, site->file) : "", line);
        else
            check_fail(result, CHECK_CONTRADICTION "the search found %s%s%s%s, but replaying its schedule did not show it. This is "
                   "a bug of heddle: please report it",
                       fault_name(finding->id), site ? " at " : "", site ? program_text(result->program, site->file) : "", line);
        return;
    }
}

/* The child died in a requested replay: is that the fault of the schedule? */
static void take_death(CheckResult *result, const WorkerShared *shared)
{
    Finding *finding = g_ptr_array_index(result->outcome->findings, 0);
    finding->shown = child_death_is_shown(result, shared, finding);
    if (!finding->shown)
        outcome_add_limit(result->outcome, "the kernel died");
}

/* Replays all findings of the check, in one request to the child. */
static void replay(CheckResult *result, WorkerShared *shared, Child *child)
{
    if (result->outcome->findings->len == 0)
        return;
    outcome_save(result->outcome, &shared->outcome);
    if (child == NULL) {
        worker_serve(&shared->control, shared, WORKER_REPLAY);
    } else {
        child_ask(child, WORKER_REPLAY);
        ChildEnd end = check_wait(result, child);
        if (end == CHILD_TIMED_OUT || end == CHILD_OUT_OF_MEMORY) {
            check_stop(result, shared, end);
            return;
        }
        if (end != CHILD_DONE && shared->as_given) {
            take_death(result, shared);
            return;
        }
        if (end != CHILD_DONE) {
            check_fail(result, CHECK_CONTRADICTION "the replay of the findings died (%s)", child_describe_signal(shared->control.signal));
            return;
        }
    }
    Outcome *seen = outcome_load(&shared->outcome);
    if (seen == NULL) {
        check_fail(result, CHECK_CONTRADICTION "the replay of the findings left a damaged answer");
        return;
    }
    outcome_free(result->outcome);
    result->outcome = seen;
    if (shared->marked && racing_reached(result->program, REACH_CONTROL, ELEMENT_MARKS))
        outcome_drop_unreached(seen);
    seen->unjudged_after_race |= shared->marked && race_marks_drop_unjudged(seen) && has_race(result, false);
    want_all_shown(result);
}

/* For --first, when the search could not stop at its first fault. */
static void keep_first(CheckResult *result)
{
    GPtrArray *findings = result->outcome->findings;
    bool reported = false;
    for (guint i = 0; i < findings->len;) {
        bool exempt = finding_exemption(result->program, g_ptr_array_index(findings, i)) != NULL;
        if (!exempt && reported)
            g_ptr_array_remove_index(findings, i);
        else
            i++;
        reported |= !exempt;
    }
}

/* The recorded run assumes that a poll is endless after very many failed reads. Only searches over classes or states decide it. */
static void doubt_endless_polls(Outcome *outcome)
{
    for (guint i = outcome->findings->len; i-- > 0;)
        if (((const Finding *)g_ptr_array_index(outcome->findings, i))->id == FAULT_NO_PROGRESS) {
            g_ptr_array_remove_index(outcome->findings, i);
            outcome_add_limit(outcome, "polls");
        }
}

static bool want_record(CheckResult *result)
{
    const char *damage;
    bool fine = record_check(result->record, &damage);
    if (!fine)
        check_fail(result, "%s: %s", result->spec->program, damage);
    return fine;
}

static void tell_phase(const char *what, const void *watch)
{
    child_tell_phase(watch, what);
}

/* The search's outcome, or that of the proof of the record. False: neither. */
static bool take_outcome(CheckResult *result, WorkerShared *shared)
{
    const CheckSpec *spec = result->spec;
    outcome_free(result->outcome);
    result->outcome = NULL;
    if (!want_record(result))
        return false;
    if (shared->searched) {
        result->outcome = outcome_load(&shared->outcome);
    } else {
        const ProveOptions options = { .first = worker_stops_at_first(shared), .limits = worker_limits(shared), .phase = tell_phase,
                                       .phase_data = spec->watch };
        result->outcome = prove_record(result->record, &options);
        doubt_endless_polls(result->outcome);
    }
    if (result->outcome == NULL) {
        check_fail(result, "%s: the search left a damaged answer: the kernel writes outside its own memory", spec->program);
        return false;
    }
    return true;
}

/* If races were found, repeats run and search with racing values marked, to see what those values reach. False: no outcome. */
static bool mark_racing(CheckResult *result, WorkerShared *shared, Child *child)
{
    if (race_marks_due(result->outcome, result->program) == 0 || result->program->knobs.data != DATA_REAL || shared->steps_reached)
        return true;
    bool proved_alike = !shared->searched && result->record->raised.count == 0;        /* marks only remove findings */
    outcome_save(result->outcome, &shared->outcome);
    ChildEnd end = CHILD_DONE;
    if (child == NULL) {
        worker_serve(&shared->control, shared, WORKER_MARK);
    } else {
        child_ask(child, WORKER_MARK);
        end = check_wait(result, child);
    }
    if (end != CHILD_DONE) {
        outcome_free(result->outcome);
        result->outcome = NULL;
        child_death_conclude(result, shared, end, check_run);
        return false;
    }
    if (shared->error != NULL) {
        check_fail(result, "%s", shared->error);
        return false;
    }
    return proved_alike && !shared->searched ? want_record(result) : take_outcome(result, shared);
}

/* An enumeration ignores contents after the first reported race, so findings about values are added from the recorded run. */
static void add_recorded_values(CheckResult *result)
{
    Outcome *outcome = result->outcome, *one = prove_record(result->record, &(ProveOptions){ 0 });
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < outcome->findings->len; i++)
        g_hash_table_add(known, finding_key(result->program, g_ptr_array_index(outcome->findings, i)));
    for (guint i = one->findings->len; i-- > 0;) {
        g_autofree char *key = finding_key(result->program, g_ptr_array_index(one->findings, i));
        if (race_marks_matter_to(g_ptr_array_index(one->findings, i)) && !g_hash_table_contains(known, key))
            g_ptr_array_add(outcome->findings, g_ptr_array_steal_index(one->findings, i));
    }
    outcome_free(one);
    outcome_settle(outcome, result->program);
}

/* What racing values, and those from outside buffers, may have reached, and so is not judged. */
static void judge_reach(CheckResult *result, const WorkerShared *shared)
{
    Outcome *outcome = result->outcome;
    const Program *program = result->program;
    bool by_states = outcome->states != UINT64_MAX;
    if (!shared->marked) {                      /* no race, but perhaps a load out of bounds */
        outcome->unjudged_after_race = racing_reached_any(program, ELEMENT_RACING);
        return;
    }
    if (!by_states && search_is(result->spec->search, SEARCH_BY_RECORD))
        outcome->incomplete_after_race = racing_reached(program, REACH_CONTROL, ELEMENT_RACING);
    outcome->incomplete_after_race &= has_race(result, false);
    bool left_out = by_states && has_race(result, false) && program->expectations.count > 0;
    if (left_out && result->record->raised.count > 0)
        add_recorded_values(result);
    outcome->unjudged_after_race = racing_reached(program, REACH_EXPECTATION, ELEMENT_RACING)
        || (left_out && classes_needed(result->record));
    if (racing_reached_any(program, ELEMENT_EXEMPT))
        outcome_add_limit(outcome, "exempted-race");
}

static void decide(CheckResult *result, WorkerShared *shared, Child *child)
{
    const CheckSpec *spec = result->spec;
    if (!take_outcome(result, shared) || !mark_racing(result, shared, child))
        return;
    judge_reach(result, shared);
    if (shared->steps_reached)
        outcome_add_limit(result->outcome, "steps");
    if (shared->not_deterministic != NULL && !races_or_conflicts(result)) {
        check_fail(result, "%s: %s", spec->program, shared->not_deterministic);
        return;
    }
    replay(result, shared, child);
    if (result->verdict == VERDICT_ERROR || result->outcome->stopped != NULL)
        return;
    /* Two runs with different steps are explained by a racing value that decides a step, if the search found that race. */
    bool explained = shared->enumerated || (shared->data_only ? has_race(result, false)
                                                              : shared->marked
                                                                  && racing_reached(result->program, REACH_CONTROL, ELEMENT_MARKS));
    if (shared->not_deterministic != NULL && !explained) {
        outcome_add_limit(result->outcome, "determinism");
        result->outcome->incomplete_after_race = true;
    }
    result->results_checked = result->record->results_checked && !has_race(result, false)
        && !racing_reached(result->program, REACH_EXPECTATION, ELEMENT_MARKS);
    if (spec->first)
        keep_first(result);
    result->verdict = count_faults(result) > 0 ? VERDICT_FAULTY : result->outcome->complete ? VERDICT_VERIFIED : VERDICT_BOUNDED;
}

static void conclude(CheckResult *result, WorkerShared *shared, Child *child, ChildEnd end)
{
    if (end != CHILD_DONE) {
        child_death_conclude(result, shared, end, check_run);
    } else if (shared->not_applicable != NULL) {
        result->verdict = VERDICT_NOT_APPLICABLE;
        result->error = g_strdup(shared->not_applicable);
    } else if (shared->error != NULL) {
        check_fail(result, "%s", shared->error);
    } else {
        decide(result, shared, child);
    }
}

static size_t peak_bytes(void)
{
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return (size_t)MAX(self.ru_maxrss, children.ru_maxrss) * 1024;
}

CheckResult *check_begin(const CheckSpec *spec, WorkerShared **shared)
{
    CheckResult *result = g_new0(CheckResult, 1);
    result->spec = spec;
    result->deadline = deadline_in(spec->limits.seconds);
    if (spec->until != 0 && spec->until < result->deadline.at)
        result->deadline.at = spec->until;
    result->advice = g_ptr_array_new_with_free_func(free_advice);
    *shared = worker_shared_new(spec, result->deadline);
    result->program = (*shared)->program;
    result->record = (*shared)->record;
    return result;
}

ChildEnd check_wait(const CheckResult *result, Child *child)
{
    const CheckSpec *spec = result->spec;
    ChildWatch watch = spec->watch ? *spec->watch : (ChildWatch){ 0 };
    watch.seconds_max = deadline_left(&result->deadline);
    watch.interrupted = interrupt_requested;
    interrupt_postpone();
    ChildEnd end = child_wait(child, &watch);
    interrupt_postpone_no_more();
    return end;
}

/* Called when the child has answered the first request, or died. */
typedef void (*Conclude)(CheckResult *result, WorkerShared *shared, Child *child, ChildEnd end);

static void run_and_conclude(CheckResult *result, WorkerShared *shared, Conclude conclude_with)
{
    const CheckSpec *spec = result->spec;
    Child child;
    gint64 start = g_get_monotonic_time();
    if (spec->in_process) {
        worker_serve(&shared->control, shared, WORKER_RUN);
        conclude_with(result, shared, NULL, CHILD_DONE);
        execution_free(shared->execution);
    } else if (!child_start(&child, &shared->control, worker_serve, shared, &result->error)) {
        result->verdict = VERDICT_ERROR;
    } else {
        ChildEnd end = check_wait(result, &child);
        conclude_with(result, shared, &child, end);
        result->captured = child_end(&child);
    }
    result->warning = g_strdup(shared->warning);
    if (spec->results && shared->ran && result->verdict != VERDICT_ERROR)
        result->results = g_bytes_new(shared->results.base, shared->results.count);
    result->seconds = (double)(g_get_monotonic_time() - start) / 1e6;
    result->peak_bytes = peak_bytes();
}

/* Repeats the check with other initial values of locals that may be unset. */
static void compare_variants(CheckResult *result)
{
    const Variants *variants = variants_to_compare(result);
    g_autofree char *facts = variants != NULL ? entry_barriers_facts(result->program) : NULL;
    for (guint i = 0; variants != NULL && i < variants->modules->len && result->verdict != VERDICT_ERROR; i++) {
        const CheckSpec spec = variants_spec(result, g_ptr_array_index(variants->modules, i), facts);
        CheckResult *variant = check_run(&spec);
        variants_compare(result, variants, variant);
        check_result_free(variant);
    }
}

static void check_one(CheckResult *result, WorkerShared *shared)
{
    run_and_conclude(result, shared, conclude);
    compare_variants(result);
    if (result->outcome != NULL && result->verdict != VERDICT_ERROR)
        gather_advice(result);
}

void check_complete(CheckResult *result, WorkerShared *shared)
{
    if (result->spec->inputs > 0)
        inputs_check(result, shared, check_one);
    else
        check_one(result, shared);
}

CheckResult *check_run(const CheckSpec *spec)
{
    WorkerShared *shared;
    CheckResult *result = check_begin(spec, &shared);
    check_complete(result, shared);
    worker_shared_free(shared);
    return result;
}

/* result->outcome already holds the finding, with its moves. */
static void conclude_replay(CheckResult *result, WorkerShared *shared, Child *child, ChildEnd end)
{
    Finding *finding = g_ptr_array_index(result->outcome->findings, 0);
    bool died = end == CHILD_CRASHED || end == CHILD_OVERFLOWED || end == CHILD_EXITED || end == CHILD_SPINS;
    if (end == CHILD_DONE && shared->error == NULL && shared->not_applicable == NULL && !finding_fits(result->program, finding)) {
        check_fail(result, "the schedule does not fit %s: it names something that the program lacks; make a new one with heddle check",
                   result->spec->program);
        return;
    }
    if (end == CHILD_TIMED_OUT || end == CHILD_OUT_OF_MEMORY) {
        check_stop(result, shared, end);
    } else if (died) {
        take_death(result, shared);
    } else if (shared->error != NULL || shared->not_applicable != NULL) {
        check_fail(result, "%s", shared->error ? shared->error : shared->not_applicable);
        return;
    } else {
        replay(result, shared, child);
        if (result->program->usage_error != NULL) {     /* in this schedule, not in the recorded run */
            check_fail(result, "%s", result->program->usage_error);
            return;
        }
    }
    finding = g_ptr_array_index(result->outcome->findings, 0);
    result->verdict = finding->shown ? VERDICT_FAULTY : VERDICT_BOUNDED;
    g_clear_pointer(&result->error, g_free);
}

CheckResult *check_replay(const CheckSpec *spec, Finding *finding)
{
    WorkerShared *shared;
    CheckResult *result = check_begin(spec, &shared);
    result->outcome = outcome_new();
    g_ptr_array_add(result->outcome->findings, finding);
    shared->as_given = true;
    run_and_conclude(result, shared, conclude_replay);
    worker_shared_free(shared);
    return result;
}

void check_forget(CheckResult *result)
{
    g_clear_pointer(&result->error, g_free);
    g_clear_pointer(&result->warning, g_free);
    g_clear_pointer(&result->captured, g_free);
    g_clear_pointer(&result->results, g_bytes_unref);
    outcome_free(result->outcome);
    result->outcome = NULL;
    g_ptr_array_set_size(result->advice, 0);
}

void check_result_free(CheckResult *result)
{
    check_forget(result);
    record_free(result->record);
    program_free(result->program);
    g_ptr_array_free(result->advice, TRUE);
    g_free(result->inputs);
    if (result->owned != NULL)
        g_ptr_array_unref(result->owned);
    if (result->tried != NULL)
        g_ptr_array_unref(result->tried);
    g_free(result);
}
