/* timeline.c - recomputes counts from the record. A wait takes the oldest signals first, as a reader expects; the semantics has no such
 * order.
 */
#include "timeline.h"
#include "../../model/counter.h"
#include "../../model/join.h"
#include "../../model/label.h"
#include "../../model/moment.h"
#include "../run/recording.h"
#include "describe.h"

typedef struct Gift { uint32_t event; int64_t left; } Gift;

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
    uint32_t events_max;
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

bool event_is_moment(const TimelineEvent *event)
{
    return moment_is(event->kind);
}

static void add_event(Maker *maker, const TimelineEvent *event)
{
    if (maker->timeline->events->len < maker->events_max)
        g_array_append_val(maker->timeline->events, *event);
}

static uint32_t next_event(const Maker *maker)
{
    return maker->timeline->events->len;
}

static void give(Maker *maker, TimelineEvent *event, uint32_t semaphore, int64_t amount)
{
    Counter *counter = counter_of(maker, semaphore);
    event->semaphore = semaphore, event->before = counter->count;
    event->after = counter->count += amount;
    if (amount > 0)
        g_array_append_val(counter->gifts, ((Gift){ next_event(maker), amount }));
}

static void link_from(Maker *maker, uint32_t event, int64_t amount)
{
    g_array_append_val(maker->timeline->links, ((Link){ event, next_event(maker), amount }));
}

static void take(Maker *maker, TimelineEvent *event, bool keep)
{
    Counter *counter = counter_of(maker, event->semaphore);
    int64_t need = event->value;
    event->before = counter->count;
    for (guint i = counter->first; i < counter->gifts->len && need > 0; i++) {
        Gift *gift = &g_array_index(counter->gifts, Gift, i);
        int64_t part = MIN(need, gift->left);
        link_from(maker, gift->event, part);
        need -= part;
        if (keep)
            continue;
        gift->left -= part;
        counter->first += gift->left == 0;
    }
    if (!keep)
        counter->count -= event->value;
    event->after = counter->count;
}

/* Readers and waiters of a flag saw its last writer. */
static void do_flag(Maker *maker, TimelineEvent *event)
{
    Counter *word = counter_of(maker, event->semaphore);
    const Step step = { .kind = event->kind, .value = event->value, .extra = event->extra };
    bool writes = counter_writes(&step, word->count);
    event->before = word->count;
    if (word->gifts->len > 0 && event->kind != STEP_FLAG_STORE)
        link_from(maker, g_array_index(word->gifts, Gift, word->gifts->len - 1).event, 0);
    word->count = counter_after(&step, word->count);
    if (writes)
        g_array_append_val(word->gifts, ((Gift){ next_event(maker), 0 }));
    event->after = word->count;
}

static void add_moment(Maker *maker, uint32_t index, StepKind moment, bool fluid, uint32_t step)
{
    const Copy *copy = &STORE(Copy, &maker->timeline->record->copies, index);
    bool source = moment_at_source(moment);
    uint32_t semaphore = moment_semaphore(copy, moment);
    TimelineEvent event = { .core = copy->core, .members = 1, .copy = index, .kind = (uint8_t)moment, .site = copy->site,
                    .position = copy->position, .object = source ? copy->source : copy->target,
                    .region = source ? copy->source_region : copy->target_region, .semaphore = NONE, .step = step };
    if (moment_is_early(moment))
        event.object = event.region = NONE;
    if (semaphore != NONE)
        give(maker, &event, semaphore, moment_gives(fluid, copy, moment));
    add_event(maker, &event);
}

static void add_step(Maker *maker, size_t index)
{
    const Record *record = maker->timeline->record;
    const Step *step = &STORE(Step, &record->steps, index);
    uint32_t position = maker->position[step->core]++;
    TimelineEvent event = { .core = step->core, .members = 1, .copy = NONE, .kind = step->kind, .site = step->site, .position = position,
                    .launch = step->launch, .object = NONE, .region = NONE, .semaphore = NONE, .value = step->value, .extra = step->extra,
                    .step = (uint32_t)index };
    if (step_has_region(step->kind))
        event.object = step->object, event.region = step->value;
    if (step_on_counter(step->kind))
        event.semaphore = step->object;
    if (step->kind == STEP_SIGNAL)
        give(maker, &event, step->object, step->value);
    else if (step_is_semaphore_wait(step->kind))
        take(maker, &event, step->kind == STEP_WAIT_KEEP);
    else if (step_has(step->kind, STEP_ON_FLAG))
        do_flag(maker, &event);
    else if (event.semaphore != NONE)
        event.before = event.after = counter_of(maker, event.semaphore)->count;
    if (step->kind == STEP_COPY_START && step->object != NONE) {
        event.copy = step->object;
        g_array_index(maker->timeline->starts, uint32_t, step->object) = next_event(maker);
    }
    add_event(maker, &event);
    if (record->eager && event.copy != NONE) {
        add_moment(maker, event.copy, STEP_READ, false, (uint32_t)index);
        add_moment(maker, event.copy, STEP_WRITE, false, (uint32_t)index);
    }
}

/* The members of a join are consecutive in a record. */
static bool joins_last(const Maker *maker, size_t index)
{
    const Step *step = &STORE(Step, &maker->timeline->record->steps, index);
    return index > 0 && join_is_same(maker->program, step - 1, step);
}

Timeline *timeline_new(const Record *record, uint32_t events_max)
{
    Timeline *timeline = g_new0(Timeline, 1);
    const uint32_t none = NONE;
    Maker maker = { .program = record->program, .timeline = timeline, .events_max = events_max,
                    .counters = g_hash_table_new_full(NULL, NULL, NULL, free_counter),
                    .position = g_new0(uint32_t, record->program->cores) };
    *timeline = (Timeline){ record, g_array_new(FALSE, FALSE, sizeof(TimelineEvent)), g_array_new(FALSE, FALSE, sizeof(Link)),
                            g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
    for (size_t i = 0; i < record->copies.count; i++)
        g_array_append_val(timeline->starts, none);
    bool fluid = moment_is_fluid(&record->program->knobs);
    for (size_t i = 0; i < record->steps.count && timeline->events->len < events_max; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (moment_is(step->kind)) {
            add_moment(&maker, step->object, step->kind, fluid, (uint32_t)i);
        } else if (joins_last(&maker, i)) {
            maker.position[step->core]++;
            g_array_index(timeline->events, TimelineEvent, timeline->events->len - 1).members++;
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
    g_array_unref(timeline->events);
    g_array_unref(timeline->links);
    g_array_unref(timeline->starts);
    g_free(timeline);
}

Place event_place(const Timeline *timeline, const TimelineEvent *event)
{
    bool moment = event_is_moment(event);
    bool memory = step_has_region(event->kind) && event->object != NONE;
    const Copy *copy = event->copy != NONE ? &STORE(Copy, &timeline->record->copies, event->copy) : NULL;
    Place place = { .core = event->core, .position = event->position, .copy = moment && copy ? copy->ordinal : NONE, .kind = event->kind,
                    .site = event->site, .object = memory ? event->object : NONE, .region = memory ? event->region : NONE,
                    .launch = event->launch, .label = moment && copy ? copy->label : 0,
                    .described = moment && copy ? copy->described : NONE };
    if (step_on_counter(event->kind))
        place.object = event->semaphore;
    if (event->kind == STEP_EARLY_SEND && copy)
        place.object = copy->source, place.region = copy->source_region;
    if (event->kind == STEP_EARLY_RECEIVE && copy)
        place.object = copy->target, place.region = copy->target_region;
    return place;
}

char *timeline_copy_name(const Timeline *timeline, uint32_t index)
{
    const Copy *copy = &STORE(Copy, &timeline->record->copies, index);
    return copy->label != 0 ? label_describe(timeline->record->program, copy->label) : g_strdup_printf("copy %u", copy->ordinal);
}

/* Who wrote the value that an event finds in a word; "its initial value" if nobody did. */
static char *writer_words(const Timeline *timeline, const TimelineEvent *event)
{
    const GArray *links = timeline->links;
    guint self = (guint)(event - &g_array_index(timeline->events, TimelineEvent, 0));
    for (guint l = 0; l < links->len; l++)
        if (g_array_index(links, Link, l).to == self) {
            const TimelineEvent *from = &g_array_index(timeline->events, TimelineEvent, g_array_index(links, Link, l).from);
            g_autofree char *core = program_describe_core(timeline->record->program, from->core);
            return g_strdup_printf("by %s", core);
        }
    return g_strdup("its initial value");
}

/* A step on a flag word, or a look at a count, with its values. */
static char *value_words(const Timeline *timeline, const TimelineEvent *event)
{
    const Program *program = timeline->record->program;
    g_autofree char *core = program_describe_core(program, event->core), *name = program_describe_semaphore(program, event->semaphore);
    g_autofree char *writer = writer_words(timeline, event);
    const int32_t value = (int32_t)event->value, expected = (int32_t)event->extra;
    switch ((unsigned)event->kind) {
    case STEP_FLAG_STORE:
        return g_strdup_printf("%s stores %d to %s", core, value, name);
    case STEP_FLAG_ADD:
        return g_strdup_printf("%s adds %d to %s: it is %" G_GINT64_FORMAT, core, value, name, event->after);
    case STEP_FLAG_WAIT:
        return g_strdup_printf("%s passes its wait until %s %s %d: it is %" G_GINT64_FORMAT ", %s", core, name,
                               compare_words((Compare)event->extra), value, event->before, writer);
    case STEP_FLAG_CAS:
        if (event->before == expected)
            return g_strdup_printf("%s swaps %d into %s, which was %d, %s", core, value, name, expected, writer);
        return g_strdup_printf("%s swaps nothing into %s, which is not %d but %" G_GINT64_FORMAT ", %s", core, name, expected,
                               event->before, writer);
    case STEP_FLAG_LOAD:
        return g_strdup_printf("%s loads %s: it is %" G_GINT64_FORMAT ", %s", core, name, event->before, writer);
    default:
        return g_strdup_printf("%s looks at %s: it is %" G_GINT64_FORMAT, core, name, event->before);
    }
}

static bool has_value_words(const TimelineEvent *event)
{
    return event->step != NONE && (step_has(event->kind, STEP_ON_FLAG) || event->kind == STEP_SEMAPHORE_READ);
}

char *event_words(const Timeline *timeline, const TimelineEvent *event)
{
    if (has_value_words(event))
        return value_words(timeline, event);
    const Program *program = timeline->record->program;
    const Place place = event_place(timeline, event);
    char *action = describe_action(program, &place);
    if (event->kind == STEP_COPY_START && event->copy != NONE) {
        const Copy *copy = &STORE(Copy, &timeline->record->copies, event->copy);
        g_autofree char *from = program_describe_region(program, copy->source, copy->source_region);
        g_autofree char *to = program_describe_region(program, copy->target, copy->target_region);
        g_autofree char *core = program_describe_core(program, event->core);
        g_free(action);
        g_autofree char *name = timeline_copy_name(timeline, event->copy);
        return g_strdup_printf("%s starts %s, from %s to %s", core, name, from, to);
    }
    if (event->members > 1) {
        char *joined = g_strdup_printf("%s, and %u more with it", action, event->members - 1);
        g_free(action);
        return joined;
    }
    if (step_is_semaphore_wait(event->kind) || event->kind == STEP_SIGNAL) {
        char *counted = g_strdup_printf(event->kind == STEP_SIGNAL ? "%s, %u more" : "%s for %u", action, event->value);
        g_free(action);
        return counted;
    }
    return action;
}

bool timeline_next_of(const Timeline *timeline, const Place *place, TimelineEvent *event)
{
    *event = (TimelineEvent){ .core = place->core, .members = 1, .copy = NONE, .kind = place->kind, .site = place->site, .object = NONE,
                      .region = NONE, .semaphore = NONE, .position = place->position, .launch = place->launch, .step = NONE };
    if (step_has_region(place->kind))
        event->object = place->object, event->region = place->region;
    if (step_on_counter(place->kind))
        event->semaphore = place->object;
    for (size_t i = 0; place->copy != NONE && i < timeline->record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &timeline->record->copies, i);
        if (copy->core == place->core && copy->ordinal == place->copy)
            event->copy = (uint32_t)i;
    }
    for (guint i = 0; i < timeline->events->len; i++) {
        const TimelineEvent *done = &g_array_index(timeline->events, TimelineEvent, i);
        bool same_agent = place->copy == NONE ? !event_is_moment(done) && done->core == place->core && done->position == place->position
                                              : event_is_moment(done) && done->copy == event->copy && done->kind == place->kind;
        if (same_agent)
            return false;
    }
    return true;
}

/* Marks the predecessors by its own agent: the step before it on its core, or the copy's start and earlier moments. */
static void mark_agent(const Timeline *timeline, const TimelineEvent *event, guint before, GByteArray *past)
{
    bool moment = event_is_moment(event);
    for (guint i = MIN(before, timeline->events->len); i-- > 0;) {
        const TimelineEvent *other = &g_array_index(timeline->events, TimelineEvent, i);
        bool own = moment ? event->copy != NONE && other->copy == event->copy
                          : !event_is_moment(other) && (other->core == event->core || other->members > 1);
        if (own) {
            past->data[i] = 1;
            if (!moment || !event_is_moment(other))
                return;
        }
    }
}

GByteArray *timeline_past(const Timeline *timeline, const Finding *finding)
{
    guint events = timeline->events->len, link = timeline->links->len;
    GByteArray *past = g_byte_array_sized_new(events);
    g_byte_array_set_size(past, events);
    for (guint i = 0; i < events; i++)
        past->data[i] = finding == NULL || finding->places == 0;
    for (unsigned p = 0; finding != NULL && p < finding->places; p++) {
        TimelineEvent event;
        timeline_next_of(timeline, &finding->place[p], &event);
        mark_agent(timeline, &event, events, past);
    }
    for (guint i = events; i-- > 0;) {
        while (link > 0 && g_array_index(timeline->links, Link, link - 1).to > i)
            link--;
        if (!past->data[i])
            continue;
        mark_agent(timeline, &g_array_index(timeline->events, TimelineEvent, i), i, past);
        for (; link > 0 && g_array_index(timeline->links, Link, link - 1).to == i; link--)
            past->data[g_array_index(timeline->links, Link, link - 1).from] = 1;
    }
    return past;
}

Record *timeline_record(const CheckResult *result, const Finding *finding)
{
    bool died = finding->recording == NULL && (finding->id == FAULT_CRASH || finding->id == FAULT_NO_PROGRESS);
    if (result->program == NULL || (!died && finding->recording == NULL))
        return NULL;
    g_autoptr(GBytes) recording = died ? recording_save(result->record) : g_bytes_ref(finding->recording);
    return recording_load(result->program, recording);
}
