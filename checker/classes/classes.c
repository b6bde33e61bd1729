/* classes.c - the search from end to end; it restarts whenever more objects turn out to be contended. */
#include "classes.h"
#include "saved.h"
#include "units.h"

static bool copies_are_coarse(const Units *units)
{
    for (uint32_t s = 0; s < units->shared.usage.uses.count; s++)
        if (usage_of(&units->shared.usage, s)->coarse && usage_of(&units->shared.usage, s)->contention.looked_at)
            return true;
    return false;
}

static Outcome *conclude(Units *units)
{
    Totals *totals = &units->totals;
    totals_settle(totals, units->shared.program);
    Outcome *outcome = g_steal_pointer(&totals->outcome);
    outcome->executions = outcome->classes = totals->runs;
    outcome->redundant = totals->redundant;
    if (units->shared.unrolled.guessed)
        outcome_add_limit(outcome, "polls");
    if (totals->limit != NULL) {
        outcome_add_limit(outcome, totals->limit);
        outcome->estimate = units_estimate(units);
    }
    if (copies_are_coarse(units))
        outcome_add_limit(outcome, "fluid-look");
    outcome->complete &= !totals->done;
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

static bool is_over(const Units *units)
{
    return units->live->len == 0 || units->shared.usage.grew || units->totals.limit != NULL || units->totals.done;
}

static void search(Units *units)
{
    Totals *totals = &units->totals;
    const ClassesOptions *options = units->shared.options;
    if (units->rounds == 0 && units->live->len == 0)
        explore_begin(units_add(units));
    while (!is_over(units)) {
        if (options->limits.runs != 0 && totals->runs >= options->limits.runs) {
            totals->limit = "runs";
            return;
        }
        Round round = units_plan_round(units);
        /* Rounds that a limit makes smaller are gone through again, whole, by whoever resumes with a larger limit. */
        if (options->checkpoint != NULL && !units->cut && (units->rounds == 0 || round.cut || checkpoint_due(options->checkpoint)))
            saved_write(units, options->checkpoint);
        units_run_round(units, &round);
    }
    if (options->checkpoint != NULL && units->live->len == 0 && !units->shared.usage.grew)
        saved_write(units, options->checkpoint);
}

static void search_anew(Units *units)
{
    units_forget(units);
    usage_adopt(&units->shared.usage);
    search(units);
}

Outcome *classes_run(UnrollSource *source, const ClassesOptions *options, char **error)
{
    Units *units = units_new(source, options);
    progress_begin(options->progress, PROGRESS_CLASSES, 0);
    bool fits = options->resumed == NULL || saved_read(units, options->resumed);
    if (options->resumed == NULL)
        search_anew(units);
    else if (fits)
        search(units);
    while (fits && units->shared.usage.grew && units->totals.limit == NULL)
        search_anew(units);
    bool nothing = units->totals.limit == NULL && units->totals.runs == 0;      /* every program has a class */
    fits &= !nothing && g_strcmp0(units->totals.limit, CLASSES_UNFIT) != 0;
    if (!fits)
        *error = g_strdup(CHECKPOINT_UNFIT);
    Outcome *outcome = fits ? conclude(units) : NULL;
    units_free(units);
    return outcome;
}
