/* course.c - growing a core's stages: the source runs the core once more with one more observation, and its steps become a chain.
 *
 * A fresh chain that ends at the observing step of an earlier stage, with the core in the same state, and left no trace on the way, is a
 * poll that came back to where it was: its end is that earlier stage.
 */
#include "course.h"
#include <string.h>

#define STAGES_MAX ((size_t)1 << 28)
enum { COPIES_MAX = 1 << 24 };

typedef struct Done { uint32_t before; bool observed_data; Step step; Copy copy; } Done;       /* without gaps that are not zero */

void course_init(Course *course, UnrollSource *source, Usage *usage, bool contents)
{
    *course = (Course){ .source = source, .usage = usage, .contents = contents };
    store_init_own(&course->stages, sizeof(Stage), STAGES_MAX);
    store_init_own(&course->steps, sizeof(UnrollStep), STAGES_MAX);
    store_init_own(&course->polling, sizeof(uint8_t), 1 << 28);
    intern_init_own(&course->copies, COPIES_MAX, COPIES_MAX * 2 * sizeof(uint32_t));
    intern_init_own(&course->done, STAGES_MAX, STAGES_MAX * sizeof(Done));
    course->start = g_new0(uint32_t, source->program->cores);
    g_mutex_init(&course->lock);
}

void course_clear(Course *course)
{
    store_clear(&course->stages);
    store_clear(&course->steps);
    store_clear(&course->polling);
    intern_clear(&course->copies);
    intern_clear(&course->done);
    g_free(course->start);
    g_mutex_clear(&course->lock);
}

void course_adopt(Course *course)
{
    for (size_t site = 0; site < course->polling.count; site++)
        if (STORE(uint8_t, &course->polling, site) == POLLING_TO_BE)
            STORE(uint8_t, &course->polling, site) = POLLING_YES;
    usage_adopt(course->usage);
}

const char *course_keep_text(Course *course, const char *text)
{
    g_mutex_lock(&course->lock);
    Program *program = course->source->program;
    const char *kept = program_text(program, program_string(program, text));
    g_mutex_unlock(&course->lock);
    return kept;
}

static GArray *observations_before(const Course *course, uint32_t stage)
{
    GArray *all = g_array_new(FALSE, TRUE, sizeof(Observation));
    for (; stage != NONE; stage = course_stage(course, stage)->parent) {
        const Stage *at = course_stage(course, stage);
        if (!at->observed)
            continue;
        Observation one = { .value = at->seen };
        uint8_t kind = course_stage(course, at->parent)->step.kind;
        if (kind == STEP_LOAD || kind == STEP_SWAP)
            one.tile = course->tile(course->owner, at->seen);
        g_array_append_val(all, one);
    }
    observations_reverse(all);
    return all;
}

/* The steps up to the one of this stage, as a record has them. */
static uint32_t steps_after(Course *course, const Stage *stage)
{
    const UnrollStep *from = &STORE(UnrollStep, &course->steps, stage->unrolled);
    Done done;
    memset(&done, 0, sizeof done);
    done.before = stage->steps, done.observed_data = from->observed_data, done.step = from->step;
    if (from->step.kind == STEP_COPY_START && from->step.object != NONE)
        done.copy = from->copy;
    return intern_add(&course->done, &done, sizeof done);
}

static uint32_t add_stage(Course *course, uint32_t core, uint32_t parent, int64_t seen, bool observed)
{
    uint32_t id = (uint32_t)course->stages.count;
    Stage *stage = store_push(&course->stages, 1);
    *stage = (Stage){ .step.core = core, .unrolled = NONE, .parent = parent, .child = NONE, .sibling = NONE, .same = id, .steps = NONE,
                      .seen = seen, .observed = observed };
    if (parent != NONE) {
        stage->position = course_stage(course, parent)->position + 1;
        stage->steps = steps_after(course, course_stage(course, parent));
    }
    return id;
}

/* From now on others find it. */
static void link_stage(Course *course, uint32_t id)
{
    Stage *stage = course_stage(course, id), *before = course_stage(course, stage->parent);
    stage->sibling = before->child;
    g_atomic_int_set((gint *)&before->child, (gint)id);
}

/* Fills `stage` and the stages after it; returns the last. */
static uint32_t add_chain(Course *course, uint32_t stage, const GArray *steps, UnrollEnd end)
{
    uint32_t core = course_stage(course, stage)->step.core;
    for (guint i = 0; i < steps->len; i++) {
        const UnrollStep *step = &g_array_index(steps, UnrollStep, i);
        *(UnrollStep *)store_push(&course->steps, 1) = *step;
        Stage *at = course_stage(course, stage);
        at->step = step->step;
        at->unrolled = (uint32_t)(course->steps.count - 1);
        usage_note(course->usage, &step->step, step->step.kind == STEP_COPY_START && step->step.object != NONE ? &step->copy : NULL);
        course->raises |= step->fault != FAULT_COUNT && step->step.kind != STEP_STOP;
        at->observes = i + 1 == steps->len && end == UNROLL_OBSERVES;
        if (step->step.kind == STEP_COPY_START && step->step.object != NONE) {
            const uint32_t key[2] = { core, step->copy.ordinal };
            at->copy = intern_add(&course->copies, key, sizeof key);
        }
        if (!at->observes) {
            stage = add_stage(course, core, stage, 0, false);
            link_stage(course, stage);
        }
    }
    if (end != UNROLL_OBSERVES)
        course_stage(course, stage)->end = end == UNROLL_FINISHED ? STAGE_FINISHED : STAGE_STOPPED;
    return stage;
}

static bool same_step(const Step *a, const Step *b)
{
    return a->kind == b->kind && a->site == b->site && a->object == b->object && a->value == b->value && a->extra == b->extra;
}

/* Runs explored before this was known did not ask whether that look turned something off: the search begins anew. */
static void note_poll(Course *course, uint32_t site)
{
    if (site >= course->polling.count)
        store_push(&course->polling, site + 1 - course->polling.count);
    uint8_t *polling = &STORE(uint8_t, &course->polling, site);
    if (*polling != POLLING_YES)
        *polling = POLLING_TO_BE, course->usage->grew = true;
}

/* Whether the object lives at the first look in vain may matter: then that look is a step of its own, though later ones are not. Only of a
 * sibling's scope, and where scopes are strict, may a core look at what is not open yet. */
static bool first_look_counts(const Course *course, uint32_t stage)
{
    const Program *program = course->source->program;
    const Step *step = &course_stage(course, stage)->step;
    if (!step_on_counter(step->kind) || program->knobs.scopes != SCOPES_STRICT
        || program_semaphore_core(program, step->object) == step->core
        || program_decl(program, program_semaphore_decl(program, step->object))->life != LIFE_SCOPE)
        return false;
    const Stage *at = course_stage(course, stage);
    return !at->observed || !same_step(&course_stage(course, at->parent)->step, step);
}

enum { COMPARED_MAX = 4, LOOKS_MAX = 1000 };   /* earlier looks that states are compared with; looks in vain before a loop is guessed */

/* A core that has looked in vain very often without coming back to a state that it was in (it counts its looks, say) is taken for one that
 * has: the search ends, and is not complete. */
static uint32_t find_same(Course *course, uint32_t last)
{
    UnrollSource *source = course->source;
    uint32_t stage = last, before, looks = 0, nearest = last;
    while ((before = course_stage(course, stage)->parent) != NONE
           && step_leaves_no_trace(&course_stage(course, before)->step, course_stage(course, stage)->seen)) {
        const Stage *earlier = course_stage(course, before);
        bool direct = course_stage(course, last)->parent == before;
        if (earlier->observes && same_step(&earlier->step, &course_stage(course, last)->step)
            && !(direct && first_look_counts(course, before))) {
            nearest = looks++ == 0 ? before : nearest;
            if (looks == LOOKS_MAX) {
                course->guessed = course_stage(course, nearest)->guessed = true;
                note_poll(course, earlier->step.site);
                return nearest;
            }
            if (looks > COMPARED_MAX) {
                stage = before;
                continue;
            }
            g_autoptr(GArray) a = observations_before(course, before), b = observations_before(course, last);
            if (source->same(source->self, earlier->step.core, a, b, course->contents)) {
                note_poll(course, earlier->step.site);
                return before;
            }
        }
        stage = before;
    }
    return last;
}

static uint32_t extend(Course *course, uint32_t core, uint32_t parent, int64_t seen)
{
    uint32_t first = add_stage(course, core, parent, seen, parent != NONE);
    UnrollSource *source = course->source;
    GArray *observed = observations_before(course, first), *steps = g_array_new(FALSE, TRUE, sizeof(UnrollStep));
    const Observation *all = (const Observation *)(const void *)observed->data;
    UnrollEnd end = source->extend(source->self, core, all, observed->len, course->contents, steps);
    uint32_t last = add_chain(course, first, steps, end);
    if (end == UNROLL_OBSERVES && source->same != NULL)
        course_stage(course, last)->same = find_same(course, last);
    g_array_free(steps, TRUE);
    g_array_free(observed, TRUE);
    return first;
}

void course_begin(Course *course)
{
    for (uint32_t core = 0; core < course->source->program->cores; core++)
        course->start[core] = extend(course, core, NONE, 0);
}

static uint32_t add_child(Course *course, uint32_t id, int64_t seen)
{
    const Stage *stage = course_stage(course, id);
    uint32_t child;
    if (stage->step.kind == STEP_EXPECT_COUNT) {
        child = add_stage(course, stage->step.core, id, COURSE_FAILED, false);
        course_stage(course, child)->end = STAGE_STOPPED;
    } else {
        g_assert(stage->observes);
        child = extend(course, stage->step.core, id, seen);
    }
    link_stage(course, child);
    return child;
}

bool course_can_follow(const Course *course, uint32_t id)
{
    return course_stage(course, id)->observes || course_stage(course, id)->step.kind == STEP_EXPECT_COUNT;
}

uint32_t course_extend(Course *course, uint32_t id, int64_t seen)
{
    g_mutex_lock(&course->lock);
    uint32_t child = course_find_child(course, course_stage(course, id), seen);
    child = child == NONE ? add_child(course, id, seen) : child;
    g_mutex_unlock(&course->lock);
    return course_stage(course, child)->same;
}
