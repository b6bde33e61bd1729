/* classes.c - the search from end to end: again from the start for each object that turned out to be contended, until none does. */
#include "classes.h"
#include "saved.h"
#include "units.h"

static bool copies_are_coarse(const Units *units)
{
    for (uint32_t s = 0; s < units->usage.uses.count; s++)
        if (usage_of(&units->usage, s)->coarse && usage_of(&units->usage, s)->contention.looked_at)
            return true;
    return false;
}

static Outcome *conclude(Units *units)
{
    Sum *sum = &units->sum;
    sum_settle(sum, units->program);
    Outcome *outcome = g_steal_pointer(&sum->outcome);
    outcome->executions = outcome->classes = sum->runs;
    outcome->redundant = sum->redundant;
    if (units->course.guessed)
        outcome_add_limit(outcome, "polls");
    if (sum->limit != NULL) {
        outcome_add_limit(outcome, sum->limit);
        outcome->estimate = units_estimate(units);
    }
    if (copies_are_coarse(units))
        outcome_add_limit(outcome, "fluid-look");
    outcome->complete &= !sum->done;
    return outcome;
}

bool classes_needed(const Record *record)
{
    Usage usage;
    usage_init(&usage, record->program);
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->kind != STEP_SIGNAL && step_on_counter(step->kind))
            usage_note(&usage, step, NULL);
    }
    for (size_t i = 0; i < record->ends.count; i++) {
        const CoreState *end = &STORE(CoreState, &record->ends, i);
        if (end->end == CORE_BLOCKED && step_on_counter(end->pending.kind))
            usage_note(&usage, &end->pending, NULL);
    }
    usage_clear(&usage);
    return usage.grew;
}

static void search_anew(Units *units)
{
    units_forget(units);
    course_adopt(&units->course);
    units_search(units);
}

Outcome *classes_run(UnrollSource *source, const ClassesOptions *options, char **error)
{
    Units *units = units_new(source, options);
    progress_begin(options->progress, PROGRESS_CLASSES, 0);
    if (options->resumed == NULL) {
        search_anew(units);
    } else if (saved_read(units, options->resumed)) {
        units_search(units);
    } else {
        *error = g_strdup("the checkpoint does not fit this program, or is of another version of heddle: begin anew, without --resume");
        units_free(units);
        return NULL;
    }
    while (units->usage.grew && units->sum.limit == NULL)
        search_anew(units);
    Outcome *outcome = conclude(units);
    units_free(units);
    return outcome;
}
