/* classes.c - the search from end to end: again from the start for each object that turned out to be contended, until none does. */
#include "classes.h"
#include "explore.h"

static void begin(Explorer *x)
{
    x->world = world_new(&x->course, x->tiles);
    path_init(&x->path);
    x->reversals = g_array_new(FALSE, FALSE, sizeof(Reversal));
    x->rows = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    x->sequence = g_array_new(FALSE, FALSE, sizeof(Sleeper));
    x->outcome = outcome_new();
    x->outcome->conflicts = x->outcome->steps = 0;
    x->digest = digest_new(x);
    x->runs = x->redundant = x->picks = 0;
    x->usage.grew = false;
}

static void end(Explorer *x)
{
    world_free(x->world);
    if (x->shadow != NULL)
        world_free(x->shadow);
    x->shadow = NULL;
    path_clear(&x->path);
    wake_pool_clear(&x->pool);
    g_clear_pointer(&x->frame, g_free);
    g_clear_pointer(&x->sleep, g_free);
    x->frames_max = x->sleepers_max = 0;
    g_array_free(x->reversals, TRUE);
    g_array_free(x->rows, TRUE);
    g_array_free(x->sequence, TRUE);
    digest_free(x->digest);
}

static bool copies_are_coarse(const Explorer *x)
{
    for (uint32_t s = 0; s < x->usage.uses.count; s++)
        if (usage_of(&x->usage, s)->coarse && usage_of(&x->usage, s)->looked_at)
            return true;
    return false;
}

static Outcome *conclude(Explorer *x)
{
    Outcome *outcome = x->outcome;
    digest_settle(x);
    outcome->executions = outcome->classes = x->runs;
    outcome->redundant = x->redundant;
    if (x->limit != NULL)
        outcome_add_limit(outcome, x->limit);
    if (copies_are_coarse(x))
        outcome_add_limit(outcome, "fluid-look");
    outcome->complete &= !x->done;
    return outcome;
}

bool classes_needed(const Record *record)
{
    Usage usage;
    usage_init(&usage, record->program);
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->kind != STEP_SIGNAL && usage_touches(step))
            usage_note(&usage, step, NULL);
    }
    for (size_t i = 0; i < record->ends.count; i++) {
        const CoreState *end = &STORE(CoreState, &record->ends, i);
        if (end->end == CORE_BLOCKED && usage_touches(&end->pending))
            usage_note(&usage, &end->pending, NULL);
    }
    usage_clear(&usage);
    return usage.grew;
}

Outcome *classes_run(UnrollSource *source, const ClassesOptions *options)
{
    Explorer *x = g_new0(Explorer, 1);
    x->options = options, x->program = source->program;
    if (options->seconds_max > 0)
        x->deadline = g_get_monotonic_time() + (gint64)(options->seconds_max * 1e6);
    usage_init(&x->usage, x->program);
    course_init(&x->course, source, &x->usage, options->contents);
    x->tiles = tiles_new();
    x->course.tile = tiles_get, x->course.owner = x->tiles;
    course_begin(&x->course);
    begin(x);
    explore_classes(x);
    while (x->usage.grew && x->limit == NULL) {
        outcome_free(x->outcome);
        end(x);
        begin(x);
        explore_classes(x);
    }
    Outcome *outcome = conclude(x);
    end(x);
    course_clear(&x->course);
    usage_clear(&x->usage);
    tiles_free(x->tiles);
    g_free(x);
    return outcome;
}
