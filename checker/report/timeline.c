/* timeline.c - recomputes counts from the record. A wait takes the oldest signals first, as a reader expects; the semantics has no such
 * order.
 */
#include "timeline.h"
#include "../../model/counter.h"
#include "../../model/label.h"
#include "../../model/moment.h"
#include "../run/film.h"
#include "describe.h"

typedef struct Gift { uint32_t frame; int64_t left; } Gift;

typedef struct Counter {
    int64_t count;
    GArray *gifts;                              /* of Gift, oldest first */
    guint first;                                /* of those not yet taken */
} Counter;

typedef struct Maker {
    const Program *program;
    Timeline *timeline;
    GHashTable *counters;                       /* semaphore -> Counter; looked up only */
    uint32_t *position;                         /* by core */
    uint32_t frames_max;
} Maker;

static void free_counter(gpointer data)
{
    Counter *counter = data;
    g_array_unref(counter->gifts);
    g_free(counter);
}

static Counter *counter_of(Maker *maker, uint32_t semaphore)
{
    Counter *counter = g_hash_table_lookup(maker->counters, GUINT_TO_POINTER(semaphore + 1));
    if (counter == NULL) {
        counter = g_new0(Counter, 1);
        counter->gifts = g_array_new(FALSE, FALSE, sizeof(Gift));
        counter->count = program_decl(maker->program, program_semaphore_decl(maker->program, semaphore))->initial;
        g_hash_table_insert(maker->counters, GUINT_TO_POINTER(semaphore + 1), counter);
    }
    return counter;
}

bool frame_is_moment(const Frame *frame)
{
    return moment_is(frame->kind);
}

static void add_frame(Maker *maker, const Frame *frame)
{
    if (maker->timeline->frames->len < maker->frames_max)
        g_array_append_val(maker->timeline->frames, *frame);
}

static uint32_t next_frame(const Maker *maker)
{
    return maker->timeline->frames->len;
}

static void give(Maker *maker, Frame *frame, uint32_t semaphore, int64_t amount)
{
    Counter *counter = counter_of(maker, semaphore);
    frame->semaphore = semaphore, frame->before = counter->count;
    frame->after = counter->count += amount;
    if (amount > 0)
        g_array_append_val(counter->gifts, ((Gift){ next_frame(maker), amount }));
}

static void link_from(Maker *maker, uint32_t frame, int64_t amount)
{
    g_array_append_val(maker->timeline->links, ((Link){ frame, next_frame(maker), amount }));
}

static void take(Maker *maker, Frame *frame, bool keep)
{
    Counter *counter = counter_of(maker, frame->semaphore);
    int64_t need = frame->value;
    frame->before = counter->count;
    for (guint i = counter->first; i < counter->gifts->len && need > 0; i++) {
        Gift *gift = &g_array_index(counter->gifts, Gift, i);
        int64_t part = MIN(need, gift->left);
        link_from(maker, gift->frame, part);
        need -= part;
        if (keep)
            continue;
        gift->left -= part;
        counter->first += gift->left == 0;
    }
    if (!keep)
        counter->count -= frame->value;
    frame->after = counter->count;
}

/* Readers and waiters of a flag saw its last writer. */
static void do_flag(Maker *maker, Frame *frame)
{
    Counter *word = counter_of(maker, frame->semaphore);
    const Step step = { .kind = frame->kind, .value = frame->value, .extra = frame->extra };
    bool finds_other = frame->kind == STEP_FLAG_CAS && !counter_swaps(&step, word->count);
    frame->before = word->count;
    if (word->gifts->len > 0 && frame->kind != STEP_FLAG_STORE)
        link_from(maker, g_array_index(word->gifts, Gift, word->gifts->len - 1).frame, 0);
    word->count = counter_after(&step, word->count);
    if (counter_writes_flag(frame->kind) && !finds_other)
        g_array_append_val(word->gifts, ((Gift){ next_frame(maker), 0 }));
    frame->after = word->count;
}

static void add_moment(Maker *maker, uint32_t index, StepKind moment, bool fluid, uint32_t step)
{
    const Copy *copy = &STORE(Copy, &maker->timeline->record->copies, index);
    bool source = moment_at_source(moment);
    uint32_t semaphore = moment_semaphore(copy, moment);
    Frame frame = { .core = copy->core, .members = 1, .copy = index, .kind = (uint8_t)moment, .site = copy->site,
                    .position = copy->position, .object = source ? copy->source : copy->target,
                    .region = source ? copy->source_region : copy->target_region, .semaphore = NONE, .step = step };
    if (moment_is_early(moment))
        frame.object = frame.region = NONE;
    if (semaphore != NONE)
        give(maker, &frame, semaphore, moment_gives(fluid, copy, moment));
    add_frame(maker, &frame);
}

static void add_step(Maker *maker, size_t index)
{
    const Record *record = maker->timeline->record;
    const Step *step = &STORE(Step, &record->steps, index);
    uint32_t position = maker->position[step->core]++;
    Frame frame = { .core = step->core, .members = 1, .copy = NONE, .kind = step->kind, .site = step->site, .position = position,
                    .launch = step->launch, .object = NONE, .region = NONE, .semaphore = NONE, .value = step->value, .extra = step->extra,
                    .step = (uint32_t)index };
    if (step_has_region(step->kind))
        frame.object = step->object, frame.region = step->value;
    if (step_on_counter(step->kind))
        frame.semaphore = step->object;
    if (step->kind == STEP_SIGNAL)
        give(maker, &frame, step->object, step->value);
    else if (step_is_semaphore_wait(step->kind))
        take(maker, &frame, step->kind == STEP_WAIT_KEEP);
    else if (step_has(step->kind, STEP_ON_FLAG))
        do_flag(maker, &frame);
    else if (frame.semaphore != NONE)
        frame.before = frame.after = counter_of(maker, frame.semaphore)->count;
    if (step->kind == STEP_COPY_START && step->object != NONE) {
        frame.copy = step->object;
        g_array_index(maker->timeline->starts, uint32_t, step->object) = next_frame(maker);
    }
    add_frame(maker, &frame);
    if (record->eager && frame.copy != NONE) {
        add_moment(maker, frame.copy, STEP_READ, false, (uint32_t)index);
        add_moment(maker, frame.copy, STEP_WRITE, false, (uint32_t)index);
    }
}

/* The members of a join are consecutive in a record. */
static bool joins_last(const Maker *maker, size_t index)
{
    const Program *program = maker->program;
    const Step *step = &STORE(Step, &maker->timeline->record->steps, index), *last = step - 1;
    if (index == 0 || !step_is_join(step->kind) || last->kind != step->kind || last->object != step->object)
        return false;
    bool all = step->kind == STEP_ENTER && program_launch(program, step->object)->entry_barrier;
    return all || last->core / program->cores_per_device == step->core / program->cores_per_device;
}

Timeline *timeline_new(const Record *record, uint32_t frames_max)
{
    Timeline *timeline = g_new0(Timeline, 1);
    const uint32_t none = NONE;
    Maker maker = { .program = record->program, .timeline = timeline, .frames_max = frames_max,
                    .counters = g_hash_table_new_full(NULL, NULL, NULL, free_counter),
                    .position = g_new0(uint32_t, record->program->cores) };
    *timeline = (Timeline){ record, g_array_new(FALSE, FALSE, sizeof(Frame)), g_array_new(FALSE, FALSE, sizeof(Link)),
                            g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
    for (size_t i = 0; i < record->copies.count; i++)
        g_array_append_val(timeline->starts, none);
    bool fluid = moment_is_fluid(&record->program->knobs);
    for (size_t i = 0; i < record->steps.count && timeline->frames->len < frames_max; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (moment_is(step->kind)) {
            add_moment(&maker, step->object, step->kind, fluid, (uint32_t)i);
        } else if (joins_last(&maker, i)) {
            maker.position[step->core]++;
            g_array_index(timeline->frames, Frame, timeline->frames->len - 1).members++;
        } else {
            add_step(&maker, i);
        }
    }
    g_hash_table_unref(maker.counters);
    g_free(maker.position);
    return timeline;
}

void timeline_free(Timeline *timeline)
{
    g_array_unref(timeline->frames);
    g_array_unref(timeline->links);
    g_array_unref(timeline->starts);
    g_free(timeline);
}

Place frame_place(const Timeline *timeline, const Frame *frame)
{
    bool moment = frame_is_moment(frame);
    bool memory = step_has_region(frame->kind) && frame->object != NONE;
    const Copy *copy = frame->copy != NONE ? &STORE(Copy, &timeline->record->copies, frame->copy) : NULL;
    Place place = { .core = frame->core, .position = frame->position, .copy = moment && copy ? copy->ordinal : NONE, .kind = frame->kind,
                    .site = frame->site, .object = memory ? frame->object : NONE, .region = memory ? frame->region : NONE,
                    .launch = frame->launch, .label = moment && copy ? copy->label : 0 };
    if (step_on_counter(frame->kind))
        place.object = frame->semaphore;
    if (frame->kind == STEP_EARLY_SEND && copy)
        place.object = copy->source, place.region = copy->source_region;
    if (frame->kind == STEP_EARLY_RECEIVE && copy)
        place.object = copy->target, place.region = copy->target_region;
    return place;
}

char *timeline_copy_name(const Timeline *timeline, uint32_t index)
{
    const Copy *copy = &STORE(Copy, &timeline->record->copies, index);
    return copy->label != 0 ? label_describe(timeline->record->program, copy->label) : g_strdup_printf("copy %u", copy->ordinal);
}

char *frame_words(const Timeline *timeline, const Frame *frame)
{
    const Program *program = timeline->record->program;
    const Place place = frame_place(timeline, frame);
    char *action = describe_action(program, &place);
    if (frame->kind == STEP_COPY_START && frame->copy != NONE) {
        const Copy *copy = &STORE(Copy, &timeline->record->copies, frame->copy);
        g_autofree char *from = program_describe_region(program, copy->source, copy->source_region);
        g_autofree char *to = program_describe_region(program, copy->target, copy->target_region);
        g_autofree char *core = describe_core(program, frame->core);
        g_free(action);
        g_autofree char *name = timeline_copy_name(timeline, frame->copy);
        return g_strdup_printf("%s starts %s, from %s to %s", core, name, from, to);
    }
    if (frame->members > 1) {
        char *joined = g_strdup_printf("%s, and %u more with it", action, frame->members - 1);
        g_free(action);
        return joined;
    }
    if (step_is_semaphore_wait(frame->kind) || frame->kind == STEP_SIGNAL) {
        char *counted = g_strdup_printf(frame->kind == STEP_SIGNAL ? "%s, %u more" : "%s for %u", action, frame->value);
        g_free(action);
        return counted;
    }
    return action;
}

bool timeline_next_of(const Timeline *timeline, const Place *place, Frame *frame)
{
    *frame = (Frame){ .core = place->core, .members = 1, .copy = NONE, .kind = place->kind, .site = place->site, .object = NONE,
                      .region = NONE, .semaphore = NONE, .position = place->position, .launch = place->launch };
    if (step_has_region(place->kind))
        frame->object = place->object, frame->region = place->region;
    if (step_on_counter(place->kind))
        frame->semaphore = place->object;
    for (size_t i = 0; place->copy != NONE && i < timeline->record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &timeline->record->copies, i);
        if (copy->core == place->core && copy->ordinal == place->copy)
            frame->copy = (uint32_t)i;
    }
    for (guint i = 0; i < timeline->frames->len; i++) {
        const Frame *done = &g_array_index(timeline->frames, Frame, i);
        bool same_agent = place->copy == NONE ? !frame_is_moment(done) && done->core == place->core && done->position == place->position
                                              : frame_is_moment(done) && done->copy == frame->copy && done->kind == place->kind;
        if (same_agent)
            return false;
    }
    return true;
}

/* Marks the predecessors by its own agent: the step before it on its core, or the copy's start and earlier moments. */
static void mark_agent(const Timeline *timeline, const Frame *frame, guint before, GByteArray *past)
{
    bool moment = frame_is_moment(frame);
    for (guint i = MIN(before, timeline->frames->len); i-- > 0;) {
        const Frame *other = &g_array_index(timeline->frames, Frame, i);
        bool own = moment ? frame->copy != NONE && other->copy == frame->copy
                          : !frame_is_moment(other) && (other->core == frame->core || other->members > 1);
        if (own) {
            past->data[i] = 1;
            if (!moment || !frame_is_moment(other))
                return;
        }
    }
}

GByteArray *timeline_past(const Timeline *timeline, const Finding *finding)
{
    guint frames = timeline->frames->len, link = timeline->links->len;
    GByteArray *past = g_byte_array_sized_new(frames);
    g_byte_array_set_size(past, frames);
    for (guint i = 0; i < frames; i++)
        past->data[i] = finding == NULL || finding->places == 0;
    for (unsigned p = 0; finding != NULL && p < finding->places; p++) {
        Frame frame;
        timeline_next_of(timeline, &finding->place[p], &frame);
        mark_agent(timeline, &frame, frames, past);
    }
    for (guint i = frames; i-- > 0;) {
        while (link > 0 && g_array_index(timeline->links, Link, link - 1).to > i)
            link--;
        if (!past->data[i])
            continue;
        mark_agent(timeline, &g_array_index(timeline->frames, Frame, i), i, past);
        for (; link > 0 && g_array_index(timeline->links, Link, link - 1).to == i; link--)
            past->data[g_array_index(timeline->links, Link, link - 1).from] = 1;
    }
    return past;
}

Record *timeline_record(const CheckResult *result, const Finding *finding)
{
    bool died = finding->film == NULL && (finding->id == FAULT_CRASH || finding->id == FAULT_NO_PROGRESS);
    if (result->program == NULL || (!died && finding->film == NULL))
        return NULL;
    g_autoptr(GBytes) film = died ? film_save(result->record) : g_bytes_ref(finding->film);
    return film_load(result->program, film);
}
