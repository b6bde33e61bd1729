/* walkthrough.c - the state at a step is made anew from the steps before it, so that walking back is as good as walking on. */
#include "walkthrough.h"
#include "timeline.h"
#include "words.h"

struct Walk {
    const CheckResult *result;
    const Finding *finding;
    const Program *program;
    Timeline *timeline;
    Source *source;
    unsigned position;
};

Walk *walk_new(const CheckResult *result, const Finding *finding, const Record *record, Source *source)
{
    Walk *walk = g_new0(Walk, 1);
    *walk = (Walk){ result, finding, result->program, timeline_new(record, UINT32_MAX), source, 0 };
    return walk;
}

void walk_free(Walk *walk)
{
    timeline_free(walk->timeline);
    g_free(walk);
}

unsigned walk_steps(const Walk *walk)
{
    return walk->timeline->frames->len;
}

unsigned walk_position(const Walk *walk)
{
    return walk->position;
}

void walk_to(Walk *walk, unsigned position)
{
    walk->position = MIN(position, walk_steps(walk));
}

static const Frame *frame_at(const Walk *walk, unsigned i)
{
    return &g_array_index(walk->timeline->frames, Frame, i);
}

static bool has_part(const Walk *walk, const Frame *frame, uint32_t core)
{
    if (frame->members < 2)
        return frame->core == core;
    for (uint32_t m = 0; m < frame->members; m++)
        if (STORE(Step, &walk->timeline->record->steps, frame->step + m).core == core)
            return true;
    return false;
}

static bool is_of_device(const Walk *walk, const Frame *frame, uint32_t device)
{
    for (uint32_t core = device * walk->program->cores_per_device; core < (device + 1) * walk->program->cores_per_device; core++)
        if (has_part(walk, frame, core))
            return true;
    return false;
}

bool walk_next_of_device(Walk *walk, uint32_t device, bool back)
{
    for (unsigned p = walk->position; back ? p > 1 : p < walk_steps(walk);) {
        p = back ? p - 1 : p + 1;
        if (is_of_device(walk, frame_at(walk, p - 1), device)) {
            walk->position = p;
            return true;
        }
    }
    return false;
}

static void append_source(const Walk *walk, GString *out, uint32_t site_id)
{
    const Site *site = program_get_site(walk->program, site_id);
    const char *file = program_text(walk->program, site->file), *line = source_line(walk->source, file, site->line);
    g_string_append_printf(out, "    %s:%u", file, site->line);
    g_string_append_printf(out, line ? " | %s\n" : "\n", line);
}

/* At the end: the steps that the fault is about, which are next. */
static void append_end(const Walk *walk, GString *out)
{
    Frame next;
    for (unsigned p = 0; walk->finding && p < walk->finding->places; p++) {
        if (!timeline_next_of(walk->timeline, &walk->finding->place[p], &next))
            continue;
        g_autofree char *words = frame_words(walk->timeline, &next);
        g_string_append_printf(out, "  %s, next: %s\n", fault_name(walk->finding->id), words);
        append_source(walk, out, next.site);
    }
}

static void append_givers(const Walk *walk, GString *out)
{
    const GArray *links = walk->timeline->links;
    for (guint i = 0; i < links->len; i++) {
        const Link *link = &g_array_index(links, Link, i);
        if (link->to + 1 != walk->position)
            continue;
        g_autofree char *giver = frame_words(walk->timeline, frame_at(walk, link->from));
        g_string_append_printf(out, "    by step %u: %s\n", link->from + 1, giver);
    }
}

void walk_step(const Walk *walk, GString *out)
{
    unsigned steps = walk_steps(walk);
    if (walk->position == 0) {
        g_string_append_printf(out, "before the first of %u steps\n", steps);
    } else {
        const Frame *frame = frame_at(walk, walk->position - 1);
        g_autofree char *words = frame_words(walk->timeline, frame);
        g_string_append_printf(out, "step %u of %u: %s\n", walk->position, steps, words);
        append_source(walk, out, frame->site);
        if (frame->semaphore != NONE) {
            g_autofree char *name = program_describe_semaphore(walk->program, frame->semaphore);
            g_string_append_printf(out, "    %s: %" G_GINT64_FORMAT " -> %" G_GINT64_FORMAT "\n", name, frame->before, frame->after);
        }
        append_givers(walk, out);
    }
    if (walk->position == steps)
        append_end(walk, out);
}

/* The count of a semaphore after the steps done so far; its last change tells. */
static int64_t count_of(const Walk *walk, uint32_t semaphore)
{
    for (unsigned i = walk->position; i-- > 0;)
        if (frame_at(walk, i)->semaphore == semaphore)
            return frame_at(walk, i)->after;
    return program_decl(walk->program, program_semaphore_decl(walk->program, semaphore))->initial;
}

void walk_counts(const Walk *walk, GString *out)
{
    g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);
    unsigned lines = 0;
    for (unsigned i = 0; i < walk->position; i++) {
        uint32_t semaphore = frame_at(walk, i)->semaphore;
        if (semaphore == NONE || !g_hash_table_add(told, GUINT_TO_POINTER(semaphore + 1)))
            continue;
        int64_t count = count_of(walk, semaphore);
        g_autofree char *name = program_describe_semaphore(walk->program, semaphore);
        if (count != 0)
            g_string_append_printf(out, "    %s: %" G_GINT64_FORMAT "\n", name, count);
        lines += count != 0;
    }
    if (lines == 0)
        g_string_append(out, "    all counts are zero\n");
}

void walk_buffers(const Walk *walk, GString *out)
{
    g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = walk->position; i-- > 0;) {
        const Frame *frame = frame_at(walk, i);
        if (frame->object == NONE || (frame->kind != STEP_STORE && frame->kind != STEP_SWAP && frame->kind != STEP_WRITE))
            continue;
        const Place place = frame_place(walk->timeline, frame);
        g_autofree char *agent = words_agent(walk->program, &place);
        char *region = program_describe_region(walk->program, frame->object, frame->region);
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

static void append_lack(const Walk *walk, GString *out, uint8_t kind, uint32_t semaphore, uint32_t value)
{
    if (!step_is_semaphore_wait(kind))
        return;
    int64_t count = count_of(walk, semaphore);
    g_string_append_printf(out, count >= (int64_t)value ? ", and can go on (the count is %" G_GINT64_FORMAT ")"
                                                        : ", and waits: the count is %" G_GINT64_FORMAT, count);
}

/* What the core does next in this run, or where it stands in the end; false: nothing. */
static bool append_next(const Walk *walk, GString *out, uint32_t core)
{
    for (unsigned i = walk->position; i < walk_steps(walk); i++) {
        const Frame *frame = frame_at(walk, i);
        if (frame_is_moment(frame) || !has_part(walk, frame, core))
            continue;
        g_autofree char *words = frame_words(walk->timeline, frame);
        g_string_append_printf(out, "next, in step %u: %s", i + 1, words);
        append_lack(walk, out, frame->kind, frame->semaphore, frame->value);
        return true;
    }
    const CoreState *state = core < walk->timeline->record->ends.count ? &STORE(CoreState, &walk->timeline->record->ends, core) : NULL;
    if (state == NULL || state->end != CORE_BLOCKED || state->pending.site >= walk->program->sites.count)
        return false;
    const Step *step = &state->pending;
    bool memory = words_on_memory(step->kind);
    const Place place = { .core = core, .copy = NONE, .kind = step->kind, .site = step->site, .object = step->object,
                          .region = memory ? step->value : NONE, .launch = step->launch };
    g_autofree char *words = words_action(walk->program, &place), *where = program_describe_site(walk->program, step->site);
    g_string_append_printf(out, "stands before: %s at %s", words, where);
    append_lack(walk, out, step->kind, step->object, step->value);
    return true;
}

void walk_waits(const Walk *walk, GString *out)
{
    for (uint32_t core = 0; core < walk->program->cores; core++) {
        g_autofree char *name = words_core(walk->program, core);
        g_string_append_printf(out, "    %s: ", name);
        if (!append_next(walk, out, core))
            g_string_append(out, "does no more");
        g_string_append_c(out, '\n');
    }
}
