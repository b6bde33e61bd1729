/* narrative.c - turns the replayed run into lines with weights, and folds neighbouring light lines until the list is short enough.
 *
 * Weights: 0 bookkeeping, omitted; 1 routine (entries, copies that complete at once, waits for own copies); 2 effects on another device;
 * 3 steps of the fault's agents.
 */
#include "narrative.h"
#include "../../model/label.h"
#include "describe.h"
#include "timeline.h"

enum { EVENTS_MAX = 20000, BODY_MAX = NARRATIVE_LINES_MAX - 5, GIVERS_MAX = 3, STUCK_MAX = 3 };

typedef struct NarrativeLine {
    char *text;
    uint32_t core, site, event;
    unsigned weight;
} NarrativeLine;

typedef struct Narrator {
    const Program *program;
    const Finding *finding;
    const Timeline *timeline;
    GArray *lines;                              /* of NarrativeLine */
    bool *has_part;                             /* by core: it does more than enter */
} Narrator;

static const TimelineEvent *event_at(const Narrator *t, guint i)
{
    return &g_array_index(t->timeline->events, TimelineEvent, i);
}

static const Copy *copy_of(const Narrator *t, const TimelineEvent *event)
{
    return &STORE(Copy, &t->timeline->record->copies, event->copy);
}

static bool in_fault(const Narrator *t, uint32_t core)
{
    for (unsigned p = 0; p < t->finding->places; p++)
        if (t->finding->place[p].core == core)
            return true;
    return false;
}

static void add_line(Narrator *t, const TimelineEvent *event, unsigned weight, char *text)
{
    NarrativeLine line = { text, event->core, event->site, (uint32_t)(event - event_at(t, 0)), weight };
    if (weight == 0)
        g_free(text);
    else
        g_array_append_val(t->lines, line);
}

static char *copy_name(const Narrator *t, const TimelineEvent *event)
{
    g_autofree char *core = program_describe_core(t->program, event->core);
    return label_describe_copy(t->program, core, copy_of(t, event)->ordinal, copy_of(t, event)->label);
}

/* Consecutive moments of one copy, as bits; *events: how many. */
static unsigned moments_from(const Narrator *t, guint first, uint32_t copy, guint *events)
{
    unsigned bits = 0;
    guint i = first;
    for (; i < t->timeline->events->len && event_is_moment(event_at(t, i)) && event_at(t, i)->copy == copy; i++)
        bits |= 1u << event_at(t, i)->kind;
    *events = i - first;
    return bits;
}

static guint narrate_start(Narrator *t, guint i)
{
    const TimelineEvent *event = event_at(t, i);
    g_autofree char *words = event_words(t->timeline, event);
    guint more = 0;
    bool completes = event->copy != NONE && (moments_from(t, i + 1, event->copy, &more) & 1u << STEP_WRITE) != 0;
    add_line(t, event, completes || event->copy == NONE ? 1 : 2, g_strdup_printf("%s%s", words, completes ? "; it completes" : ""));
    return completes ? more + 1 : 1;
}

/* Does a core meet the early bytes of the copy, before it has landed? `from`: the events behind them. */
static bool meets_early(const Narrator *t, guint from, const Copy *copy, uint32_t index)
{
    for (guint i = from; i < t->timeline->events->len; i++) {
        const TimelineEvent *event = event_at(t, i);
        if (event_is_moment(event) && event->copy == index && event->kind == STEP_WRITE)
            return false;
        if (step_on_counter(event->kind) && event->semaphore == copy->receive_semaphore)
            return true;
    }
    const FaultId id = t->finding->id;
    return id != FAULT_RACE && id != FAULT_LIFETIME && id != FAULT_IN_FLIGHT;
}

static guint narrate_moments(Narrator *t, guint i)
{
    const TimelineEvent *event = event_at(t, i);
    const Copy *copy = copy_of(t, event);
    guint events;
    unsigned bits = moments_from(t, i, event->copy, &events);
    g_autofree char *name = copy_name(t, event), *to = program_describe_region(t->program, copy->target, copy->target_region);
    g_autofree char *semaphore = program_describe_semaphore(t->program, copy->receive_semaphore);
    if (bits & 1u << STEP_WRITE)
        add_line(t, event, 2, g_strdup_printf("%s lands: %s is written", name, to));
    else if ((bits & 1u << STEP_EARLY_RECEIVE) && meets_early(t, i + events, copy, event->copy))
        add_line(t, event, 3, g_strdup_printf("%s has signalled all but one byte on %s; its data is not written yet", name, semaphore));
    else if (bits & 1u << STEP_READ)
        add_line(t, event, 1, g_strdup_printf("%s has read its source; its data is not written yet", name));
    return events;
}

static bool gives_before(const Narrator *t, guint link, guint from)
{
    const TimelineEvent *giver = event_at(t, g_array_index(t->timeline->links, Link, link).from);
    for (guint l = from; l < link; l++) {
        const TimelineEvent *other = event_at(t, g_array_index(t->timeline->links, Link, l).from);
        if (other->core == giver->core && other->copy == giver->copy)
            return true;
    }
    return false;
}

static void narrate_wait(Narrator *t, guint i)
{
    const TimelineEvent *event = event_at(t, i);
    g_autofree char *core = program_describe_core(t->program, event->core);
    g_autofree char *semaphore = program_describe_semaphore(t->program, event->semaphore);
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s passes its wait on %s", core, semaphore);
    guint first = 0, links = t->timeline->links->len, givers = 0;
    while (first < links && g_array_index(t->timeline->links, Link, first).to < i)
        first++;
    bool outside = false;
    for (guint l = first; l < links && g_array_index(t->timeline->links, Link, l).to == i; l++) {
        const TimelineEvent *giver = event_at(t, g_array_index(t->timeline->links, Link, l).from);
        if (gives_before(t, l, first))
            continue;
        bool copy = event_is_moment(giver);
        g_autofree char *name = copy ? copy_name(t, giver) : program_describe_core(t->program, giver->core);
        if (givers++ < GIVERS_MAX)
            g_string_append_printf(text, "%s %s", givers == 1 ? ", counted by" : " and", name);
        outside |= giver->core != event->core;
    }
    add_line(t, event, !outside ? 1 : in_fault(t, event->core) ? 3 : 2, g_string_free(g_steal_pointer(&text), FALSE));
}

static void narrate_step(Narrator *t, guint i)
{
    const TimelineEvent *event = event_at(t, i);
    bool quiet = event->kind == STEP_ALLOC || event->kind == STEP_FREE;
    bool outward = event->kind == STEP_SIGNAL || event->kind == STEP_EXIT || event->kind == STEP_SEMAPHORE_READ
        || (step_has(event->kind, STEP_ON_FLAG) && event->kind != STEP_FLAG_LOAD);
    if (event->kind == STEP_ENTER && event->members == t->program->cores) {
        g_autofree char *launch = describe_launch(t->program, event->launch);
        add_line(t, event, 1, g_strdup_printf("all devices enter %s", launch));
        return;
    }
    bool matters = outward || in_fault(t, event->core);
    add_line(t, event, !quiet && event->kind != STEP_ENTER && matters ? 2 : 1, event_words(t->timeline, event));
}

static void narrate_events(Narrator *t)
{
    for (guint i = 0; i < t->timeline->events->len;) {
        const TimelineEvent *event = event_at(t, i);
        if (event->kind != STEP_ENTER)
            t->has_part[event->core] = true;
        if (event_is_moment(event)) {
            i += narrate_moments(t, i);
        } else if (event->kind == STEP_COPY_START) {
            i += narrate_start(t, i);
        } else {
            if (step_is_semaphore_wait(event->kind))
                narrate_wait(t, i);
            else
                narrate_step(t, i);
            i++;
        }
    }
}

/* Joins consecutive lines of one core of at most this weight. */
static void fold(Narrator *t, unsigned weight)
{
    GArray *folded = g_array_new(FALSE, FALSE, sizeof(NarrativeLine));
    for (guint i = 0; i < t->lines->len;) {
        NarrativeLine first = g_array_index(t->lines, NarrativeLine, i);
        guint end = i + 1;
        while (end < t->lines->len && g_array_index(t->lines, NarrativeLine, end).core == first.core && first.weight <= weight
               && g_array_index(t->lines, NarrativeLine, end).weight <= weight)
            end++;
        if (end > i + 1) {
            g_autofree char *core = program_describe_core(t->program, first.core);
            first.site = g_array_index(t->lines, NarrativeLine, end - 1).site;
            for (guint j = i; j < end; j++)
                g_free(g_array_index(t->lines, NarrativeLine, j).text);
            first.text = g_strdup_printf("%s continues", core);
        }
        bool beside = (folded->len > 0 && g_array_index(folded, NarrativeLine, folded->len - 1).core == first.core)
            || (end < t->lines->len && g_array_index(t->lines, NarrativeLine, end).core == first.core);
        if (end == i + 1 && first.weight <= weight && weight == 1 && beside)
            g_free(first.text);                 /* a neighbour already speaks of that core */
        else
            g_array_append_val(folded, first);
        i = end;
    }
    g_array_unref(t->lines);
    t->lines = folded;
}

/* Takes the text. */
static void add_step(GArray *out, char *text, uint32_t site, uint32_t event, bool of_fault)
{
    const NarrativeStep step = { text, site, event, of_fault };
    g_array_append_val(out, step);
}

/* "devices 1, 3 to 5 are not involved": those that only entered. NULL: none. */
static char *bystanders(const Narrator *t)
{
    GString *text = g_string_new(NULL);
    uint32_t per = t->program->cores_per_device, count = 0;
    for (uint32_t d = 0; d < t->program->devices;) {
        uint32_t end = d;
        for (bool idle = true; idle && end < t->program->devices; end += idle)
            for (uint32_t c = end * per; c < (end + 1) * per; c++)
                idle &= !t->has_part[c] && !in_fault(t, c);
        if (end > d)
            g_string_append_printf(text, end > d + 1 ? "%s%u to %u" : "%s%u", count ? ", " : "", d, end - 1);
        count += end - d;
        d = MAX(end, d + 1);
    }
    if (count > 0)
        g_string_prepend(text, count == 1 ? "device " : "devices ");
    if (count > 0)
        g_string_append(text, count == 1 ? " is not involved" : " are not involved");
    return g_string_free(text, count == 0);
}

static void narrate_stuck(const Narrator *t, GArray *out)
{
    const Store *ends = &t->timeline->record->ends;
    unsigned stuck = 0;
    for (uint32_t core = 0; core < ends->count; core++) {
        const CoreState *state = &STORE(CoreState, ends, core);
        if (state->end != CORE_BLOCKED || stuck++ >= STUCK_MAX)
            continue;
        Place place = { .core = core, .copy = NONE, .kind = state->pending.kind, .object = state->pending.object, .region = NONE,
                        .launch = state->pending.launch, .site = state->pending.site };
        g_autofree char *action = describe_action(t->program, &place);
        add_step(out, g_strdup_printf("%s, for ever", action), place.site, NONE, true);
    }
    if (stuck > STUCK_MAX)
        add_step(out, g_strdup_printf("and %u more in the same way", stuck - STUCK_MAX), NONE, NONE, true);
}

static void narrate_end(const Narrator *t, GArray *out)
{
    static const char *const LEAD[] = { "now ", "and at the same time " };
    if (t->finding->id == FAULT_DEADLOCK)
        narrate_stuck(t, out);
    bool happened = fault_stops_core(t->finding->id) || t->finding->id == FAULT_OVERFLOW || t->finding->id == FAULT_DIVERGENCE;
    for (unsigned p = 0; p < t->finding->places && !happened; p++) {
        bool copy_in_flight = t->finding->id == FAULT_IN_FLIGHT && p == 0, promised = t->finding->id == FAULT_MISMATCH && p == 1;
        const Place *place = &t->finding->place[p];
        g_autofree char *action = describe_action(t->program, place), *agent = describe_agent(t->program, place);
        char *text = copy_in_flight || promised ? g_strdup_printf("now %s is still under way", agent)
                                                : g_strdup_printf("%s%s", LEAD[t->finding->id == FAULT_RACE ? p : 0], action);
        add_step(out, text, place->site, NONE, true);
    }
}

static void clear_step(gpointer data)
{
    g_free(((NarrativeStep *)data)->text);
}

static GArray *gather(Narrator *t)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(NarrativeStep));
    g_array_set_clear_func(out, clear_step);
    fold(t, 1);
    if (t->lines->len > BODY_MAX)
        fold(t, 2);
    guint skipped = t->lines->len > BODY_MAX ? t->lines->len - BODY_MAX + 1 : 0;
    if (skipped > 0)
        add_step(out, g_strdup_printf("%u lines like the following are omitted", skipped), NONE, NONE, false);
    for (guint i = skipped; i < t->lines->len; i++) {
        const NarrativeLine *line = &g_array_index(t->lines, NarrativeLine, i);
        add_step(out, g_strdup(line->text), line->site, line->event, false);
    }
    narrate_end(t, out);
    char *others = t->finding->id == FAULT_DEADLOCK ? NULL : bystanders(t);
    if (others != NULL)
        add_step(out, others, NONE, NONE, false);
    g_assert(out->len <= NARRATIVE_LINES_MAX);
    return out;
}

GArray *narrative_steps(const CheckResult *result, const Finding *finding)
{
    Record *record = finding->moves != NULL ? timeline_record(result, finding) : NULL;
    if (record == NULL)
        return NULL;
    Timeline *timeline = timeline_new(record, EVENTS_MAX);
    Narrator t = { result->program, finding, timeline, g_array_new(FALSE, FALSE, sizeof(NarrativeLine)),
                   g_new0(bool, result->program->cores) };
    narrate_events(&t);
    GArray *out = gather(&t);
    for (guint i = 0; i < t.lines->len; i++)
        g_free(g_array_index(t.lines, NarrativeLine, i).text);
    g_array_unref(t.lines);
    g_free(t.has_part);
    timeline_free(timeline);
    record_free(record);
    return out;
}

char *narrative_words(const CheckResult *result, const NarrativeStep *step)
{
    g_autofree char *where = step->site == NONE ? NULL : program_describe_site(result->program, step->site);
    return where ? g_strdup_printf("%s (%s)", step->text, where) : g_strdup(step->text);
}

GPtrArray *narrative_lines(const CheckResult *result, const Finding *finding)
{
    g_autoptr(GArray) steps = narrative_steps(result, finding);
    if (steps == NULL)
        return NULL;
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < steps->len; i++) {
        const NarrativeStep *step = &g_array_index(steps, NarrativeStep, i);
        g_ptr_array_add(out, narrative_words(result, step));
    }
    return out;
}
