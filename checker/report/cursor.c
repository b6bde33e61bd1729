/* cursor.c - computes the state at a position from all steps before it, so that moving back is as simple as moving on. */
#include "cursor.h"
#include "../../model/moment.h"
#include "describe.h"
#include "timeline.h"

struct Cursor {
    const CheckResult *result;
    const Finding *finding;
    const Program *program;
    Timeline *timeline;
    Source *source;
    unsigned position;
};

Cursor *cursor_new(const CheckResult *result, const Finding *finding, const Record *record, Source *source)
{
    Cursor *cursor = g_new0(Cursor, 1);
    *cursor = (Cursor){ result, finding, result->program, timeline_new(record, UINT32_MAX), source, 0 };
    return cursor;
}

void cursor_free(Cursor *cursor)
{
    timeline_free(cursor->timeline);
    g_free(cursor);
}

unsigned cursor_steps(const Cursor *cursor)
{
    return cursor->timeline->events->len;
}

unsigned cursor_position(const Cursor *cursor)
{
    return cursor->position;
}

void cursor_to(Cursor *cursor, unsigned position)
{
    cursor->position = MIN(position, cursor_steps(cursor));
}

static const TimelineEvent *event_at(const Cursor *cursor, unsigned i)
{
    return &g_array_index(cursor->timeline->events, TimelineEvent, i);
}

static bool has_part(const Cursor *cursor, const TimelineEvent *event, uint32_t core)
{
    if (event->members < 2)
        return event->core == core;
    for (uint32_t m = 0; m < event->members; m++)
        if (STORE(Step, &cursor->timeline->record->steps, event->step + m).core == core)
            return true;
    return false;
}

static bool is_of_device(const Cursor *cursor, const TimelineEvent *event, uint32_t device)
{
    for (uint32_t core = device * cursor->program->cores_per_device; core < (device + 1) * cursor->program->cores_per_device; core++)
        if (has_part(cursor, event, core))
            return true;
    return false;
}

bool cursor_next_of_device(Cursor *cursor, uint32_t device, bool back)
{
    for (unsigned p = cursor->position; back ? p > 1 : p < cursor_steps(cursor);) {
        p = back ? p - 1 : p + 1;
        if (is_of_device(cursor, event_at(cursor, p - 1), device)) {
            cursor->position = p;
            return true;
        }
    }
    return false;
}

static void append_source(const Cursor *cursor, GString *out, uint32_t site_id)
{
    const Site *site = program_get_site(cursor->program, site_id);
    const char *file = program_text(cursor->program, site->file), *line = source_line(cursor->source, file, site->line);
    g_string_append_printf(out, "    %s:%u", file, site->line);
    g_string_append_printf(out, line ? " | %s\n" : "\n", line);
}

/* At the end: the steps of the fault, which would be next. */
static void append_end(const Cursor *cursor, GString *out)
{
    TimelineEvent next;
    for (unsigned p = 0; cursor->finding && p < cursor->finding->places; p++) {
        if (!timeline_next_of(cursor->timeline, &cursor->finding->place[p], &next))
            continue;
        g_autofree char *words = event_words(cursor->timeline, &next);
        g_string_append_printf(out, "  %s, next: %s\n", fault_name(cursor->finding->id), words);
        append_source(cursor, out, next.site);
    }
}

static void append_givers(const Cursor *cursor, GString *out)
{
    const GArray *links = cursor->timeline->links;
    for (guint i = 0; i < links->len; i++) {
        const Link *link = &g_array_index(links, Link, i);
        if (link->to + 1 != cursor->position)
            continue;
        g_autofree char *giver = event_words(cursor->timeline, event_at(cursor, link->from));
        g_string_append_printf(out, "    by step %u: %s\n", link->from + 1, giver);
    }
}

void cursor_show_step(const Cursor *cursor, GString *out)
{
    unsigned steps = cursor_steps(cursor);
    if (cursor->position == 0) {
        g_string_append_printf(out, "before the first of %u steps\n", steps);
    } else {
        const TimelineEvent *event = event_at(cursor, cursor->position - 1);
        g_autofree char *words = event_words(cursor->timeline, event);
        g_string_append_printf(out, "step %u of %u: %s\n", cursor->position, steps, words);
        append_source(cursor, out, event->site);
        if (event->semaphore != NONE) {
            g_autofree char *name = program_describe_semaphore(cursor->program, event->semaphore);
            g_string_append_printf(out, "    %s: %" G_GINT64_FORMAT " -> %" G_GINT64_FORMAT "\n", name, event->before, event->after);
        }
        append_givers(cursor, out);
    }
    if (cursor->position == steps)
        append_end(cursor, out);
}

/* The count of a semaphore at this position, from its last change. */
static int64_t count_of(const Cursor *cursor, uint32_t semaphore)
{
    for (unsigned i = cursor->position; i-- > 0;)
        if (event_at(cursor, i)->semaphore == semaphore)
            return event_at(cursor, i)->after;
    return program_decl(cursor->program, program_semaphore_decl(cursor->program, semaphore))->initial;
}

void cursor_show_counts(const Cursor *cursor, GString *out)
{
    g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);
    unsigned lines = 0;
    for (unsigned i = 0; i < cursor->position; i++) {
        uint32_t semaphore = event_at(cursor, i)->semaphore;
        if (semaphore == NONE || !g_hash_table_add(told, GUINT_TO_POINTER(semaphore + 1)))
            continue;
        int64_t count = count_of(cursor, semaphore);
        g_autofree char *name = program_describe_semaphore(cursor->program, semaphore);
        if (count != 0)
            g_string_append_printf(out, "    %s: %" G_GINT64_FORMAT "\n", name, count);
        lines += count != 0;
    }
    if (lines == 0)
        g_string_append(out, "    all counts are zero\n");
}

void cursor_show_buffers(const Cursor *cursor, GString *out)
{
    g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = cursor->position; i-- > 0;) {
        const TimelineEvent *event = event_at(cursor, i);
        if (event->object == NONE || (event->kind != STEP_STORE && event->kind != STEP_SWAP && event->kind != STEP_WRITE))
            continue;
        const Place place = event_place(cursor->timeline, event);
        g_autofree char *agent = describe_agent(cursor->program, &place);
        char *region = program_describe_region(cursor->program, event->object, event->region);
        if (g_hash_table_contains(told, region)) {
            g_free(region);
            continue;
        }
        g_string_append_printf(out, "    %s: written by %s in step %u\n", region, agent, i + 1);
        g_hash_table_add(told, region);
    }
    if (g_hash_table_size(told) == 0)
        g_string_append(out, "    nothing is written yet\n");
}

static void append_lack(const Cursor *cursor, GString *out, uint8_t kind, uint32_t semaphore, uint32_t value)
{
    if (!step_is_semaphore_wait(kind))
        return;
    int64_t count = count_of(cursor, semaphore);
    g_string_append_printf(out, count >= (int64_t)value ? ", and can go on (the count is %" G_GINT64_FORMAT ")"
                                                        : ", and waits: the count is %" G_GINT64_FORMAT, count);
}

/* The core's next step in this run, or the one at which it is stuck; false: none. */
static bool append_next(const Cursor *cursor, GString *out, uint32_t core)
{
    for (unsigned i = cursor->position; i < cursor_steps(cursor); i++) {
        const TimelineEvent *event = event_at(cursor, i);
        if (event_is_moment(event) || !has_part(cursor, event, core))
            continue;
        g_autofree char *words = event_words(cursor->timeline, event);
        g_string_append_printf(out, "next, in step %u: %s", i + 1, words);
        append_lack(cursor, out, event->kind, event->semaphore, event->value);
        return true;
    }
    const CoreState *state = core < cursor->timeline->record->ends.count ? &STORE(CoreState, &cursor->timeline->record->ends, core) : NULL;
    if (state == NULL || state->end != CORE_BLOCKED || state->pending.site >= cursor->program->sites.count)
        return false;
    const Step *step = &state->pending;
    bool memory = step_has_region(step->kind);
    const Place place = { .core = core, .copy = NONE, .kind = step->kind, .site = step->site, .object = step->object,
                          .region = memory ? step->value : NONE, .launch = step->launch };
    g_autofree char *words = describe_action(cursor->program, &place), *where = program_describe_site(cursor->program, step->site);
    g_string_append_printf(out, "stands before: %s at %s", words, where);
    append_lack(cursor, out, step->kind, step->object, step->value);
    return true;
}

void cursor_show_waits(const Cursor *cursor, GString *out)
{
    for (uint32_t core = 0; core < cursor->program->cores; core++) {
        g_autofree char *name = program_describe_core(cursor->program, core);
        g_string_append_printf(out, "    %s: ", name);
        if (!append_next(cursor, out, core))
            g_string_append(out, "does no more");
        g_string_append_c(out, '\n');
    }
}
