/* html.c - one self-contained page: page.html with its data as JSON, one story for each fault and each other check, and with it the run.
 *
 * The data is the text of an element, escaped by libxml2, so that no name can end it. Long runs are cut, and the page says so.
 */
#include <libxml/entities.h>
#include <string.h>
#include "../../model/moment.h"
#include "../facts/members.h"
#include "describe.h"
#include "diff.h"
#include "input_words.h"
#include "output.h"
#include "places.h"
#include "source.h"
#include "telling.h"
#include "text.h"
#include "timeline.h"

static const char PAGE[] =
#include "page.inc"
    ;

enum { EVENTS_MAX = 6000, VERIFIED_EVENTS_MAX = 1500, RUNS_MAX = 50, STORIES_MAX = 1000, PLACES_MAX = 4, CONTEXT = 2 };

typedef struct Html {
    Source *source;
    GPtrArray *stories;                         /* of JsonNode* */
    unsigned runs, left_out;                    /* stories with a run; those that are not told */
    GString *text;
} Html;

typedef struct PageRun {                        /* the story being added */
    JsonBuilder *builder;
    Html *html;
    const CheckResult *result;
    const Timeline *timeline;                   /* NULL: it has no run */
    const Program *program;
    GPtrArray *names;                           /* of char*: semaphores and regions, by number */
    GHashTable *numbers;                        /* name -> number + 1; looked up only */
    GArray *lane_of_core, *lane_of_copy;        /* of uint32_t */
    GPtrArray *quoted, *lines;                  /* of char*: "file:line" met so far, and these lines */
    GHashTable *seen;                           /* the same "file:line", looked up only */
    guint told;                                 /* items of this part */
} PageRun;

static void *html_begin(const OutputSettings *settings)
{
    (void)settings;
    Html *html = g_new0(Html, 1);
    *html = (Html){ source_new(), g_ptr_array_new_with_free_func((GDestroyNotify)json_node_unref), 0, 0, g_string_new(NULL) };
    return html;
}

/* The number of a name; takes the name. */
static int64_t number_of(PageRun *run, char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(run->numbers, name));
    if (number == 0) {
        g_ptr_array_add(run->names, name);
        number = run->names->len;
        g_hash_table_insert(run->numbers, name, GUINT_TO_POINTER(number));
    } else {
        g_free(name);
    }
    return number - 1;
}

static const char *class_of(StepKind kind)
{
    if (step_on_memory(kind))
        return "memory";
    if (step_has(kind, STEP_ON_FLAG))
        return "flag";
    if (step_has(kind, STEP_ON_SEMAPHORE))
        return kind == STEP_SIGNAL ? "signal" : "wait";
    return kind == STEP_COPY_START ? "copystart" : moment_is(kind) ? "moment" : kind == STEP_STOP ? "stop" : "life";
}

static void quote(PageRun *run, const char *file, unsigned line)
{
    g_autofree char *where = g_strdup_printf("%s:%u", file, line);
    const char *text = source_line(run->html->source, file, line);
    if (line == 0 || line > source_count(run->html->source, file) || !g_hash_table_add(run->seen, g_strdup(where)))
        return;
    g_ptr_array_add(run->quoted, g_steal_pointer(&where));
    g_ptr_array_add(run->lines, g_strdup(text ? text : ""));
}

static void quote_site(PageRun *run, uint32_t site, unsigned around)
{
    const Site *place = program_get_site(run->program, site);
    for (unsigned line = place->line > around ? place->line - around : 1; line <= place->line + around; line++)
        quote(run, program_text(run->program, place->file), line);
}

/* Quotes the lines that an explanation names. */
static void quote_cited(PageRun *run, const char *words)
{
    for (const char *at = words; *at; at = places_next_word(at)) {
        unsigned line = 0;
        size_t length = places_cited(at, &line);
        g_autofree char *file = g_strndup(at, length);
        if (length > 0)
            quote(run, file, line);
    }
}

static void add_where(PageRun *run, uint32_t site)
{
    g_autofree char *where = program_describe_site(run->program, site);
    member_text(run->builder, "where", where);
    quote_site(run, site, 0);
}

/* What a blocking step waits for: a verb phrase, the semaphore and the count it needs. */
static void add_need(PageRun *run, uint8_t kind, uint32_t semaphore, uint32_t value, uint32_t launch)
{
    JsonBuilder *builder = run->builder;
    if (step_is_wait(kind)) {
        char *name = program_describe_semaphore(run->program, semaphore);
        g_autofree char *waits = g_strdup_printf("waits on %s", name);
        member_text(builder, "waits", waits);
        member_int(builder, "sem", number_of(run, name));
        if (kind != STEP_FLAG_WAIT)
            member_int(builder, "need", value);
    } else if (step_is_join(kind)) {
        g_autofree char *name = describe_launch(run->program, launch);
        g_autofree char *waits = kind == STEP_CORE_BARRIER
            ? g_strdup("waits at a core barrier") : g_strdup_printf("waits to %s %s", kind == STEP_ENTER ? "enter" : "leave", name);
        member_text(builder, "waits", waits);
    }
}

static void add_touched(PageRun *run, const TimelineEvent *event)
{
    JsonBuilder *builder = run->builder;
    if (event->semaphore != NONE) {
        if (!step_blocks(event->kind))
            member_int(builder, "sem", number_of(run, program_describe_semaphore(run->program, event->semaphore)));
        member_int(builder, "before", event->before);
        member_int(builder, "after", event->after);
    }
    if (event->object != NONE && step_has_region(event->kind)) {
        member_int(builder, "memory", number_of(run, program_describe_region(run->program, event->object, event->region)));
        if (event->kind == STEP_STORE || event->kind == STEP_SWAP || event->kind == STEP_WRITE)
            member_bool(builder, "write", true);
    }
}

static void add_members(PageRun *run, const TimelineEvent *event)
{
    if (event->members < 2)
        return;
    const Record *record = run->timeline->record;
    member_array(run->builder, "lanes");
    for (uint32_t i = 0; i < event->members; i++) {
        const Step *step = &STORE(Step, &record->steps, event->step + i);
        json_builder_add_int_value(run->builder, g_array_index(run->lane_of_core, uint32_t, step->core));
    }
    json_builder_end_array(run->builder);
}

static void add_event(PageRun *run, const TimelineEvent *event, bool past, bool next)
{
    JsonBuilder *builder = run->builder;
    const Place place = event_place(run->timeline, event);
    g_autofree char *words = event_words(run->timeline, event), *agent = describe_agent(run->program, &place);
    json_builder_begin_object(builder);
    member_int(builder, "lane", g_array_index(run->lane_of_core, uint32_t, event->core));
    add_members(run, event);
    if (event->copy != NONE)
        member_int(builder, "copy", g_array_index(run->lane_of_copy, uint32_t, event->copy));
    if (event_is_moment(event))
        member_bool(builder, "moment", true);
    member_text(builder, "class", class_of(event->kind));
    member_text(builder, "text", words);
    member_text(builder, "agent", agent);
    add_where(run, event->site);
    add_need(run, event->kind, event->semaphore, event->value, event->launch);
    add_touched(run, event);
    if (past)
        member_bool(builder, "past", true);
    if (next)
        member_bool(builder, "next", true);
    json_builder_end_object(builder);
}

static bool copy_is_done(const PageRun *run, uint32_t copy)
{
    for (guint i = run->timeline->events->len; i-- > 0;) {
        const TimelineEvent *event = &g_array_index(run->timeline->events, TimelineEvent, i);
        if (event->copy == copy && event->kind == STEP_WRITE)
            return true;
    }
    return false;
}

static void add_copy_lane(PageRun *run, uint32_t index, uint32_t lane)
{
    const Copy *copy = &STORE(Copy, &run->timeline->record->copies, index);
    guint at = g_array_index(run->timeline->starts, uint32_t, index);
    const TimelineEvent *start = &g_array_index(run->timeline->events, TimelineEvent, at);
    g_autofree char *name = timeline_copy_name(run->timeline, index), *full = event_words(run->timeline, start);
    json_builder_begin_object(run->builder);
    member_text(run->builder, "name", name);
    member_text(run->builder, "full", full);
    member_text(run->builder, "kind", "copy");
    member_int(run->builder, "device", copy->core / run->program->cores_per_device);
    member_int(run->builder, "core", g_array_index(run->lane_of_core, uint32_t, copy->core));
    member_int(run->builder, "start", g_array_index(run->timeline->starts, uint32_t, index));
    if (!copy_is_done(run, index))
        member_bool(run->builder, "open", true);
    json_builder_end_object(run->builder);
    g_array_index(run->lane_of_copy, uint32_t, index) = lane;
}

/* A lane for each core, and below it one for each of its copies, in order of start. */
static void add_lanes(PageRun *run)
{
    const Record *record = run->timeline->record;
    uint32_t lane = 0;
    member_array(run->builder, "lanes");
    g_array_set_size(run->lane_of_core, run->program->cores);
    g_array_set_size(run->lane_of_copy, (guint)record->copies.count);
    for (uint32_t core = 0; core < run->program->cores; core++) {
        g_autofree char *name = program_describe_core(run->program, core);
        json_builder_begin_object(run->builder);
        member_text(run->builder, "name", name);
        member_text(run->builder, "kind", "core");
        member_int(run->builder, "device", core / run->program->cores_per_device);
        json_builder_end_object(run->builder);
        g_array_index(run->lane_of_core, uint32_t, core) = lane++;
        for (uint32_t i = 0; i < record->copies.count; i++)
            if (STORE(Copy, &record->copies, i).core == core
                && g_array_index(run->timeline->starts, uint32_t, i) < run->timeline->events->len)
                add_copy_lane(run, i, lane++);
    }
    json_builder_end_array(run->builder);
}

static void add_events(PageRun *run, const Finding *finding)
{
    GByteArray *past = timeline_past(run->timeline, finding);
    unsigned next = 0;
    TimelineEvent event;
    member_array(run->builder, "frames");
    for (guint i = 0; i < run->timeline->events->len; i++)
        add_event(run, &g_array_index(run->timeline->events, TimelineEvent, i), past->data[i], false);
    for (unsigned p = 0; finding && p < finding->places; p++)
        if (timeline_next_of(run->timeline, &finding->place[p], &event)) {
            add_event(run, &event, true, true);
            next++;
        }
    json_builder_end_array(run->builder);
    member_array(run->builder, "pair");
    for (unsigned i = 0; i < next; i++)
        json_builder_add_int_value(run->builder, run->timeline->events->len + i);
    json_builder_end_array(run->builder);
    g_byte_array_unref(past);
}

static void add_links(PageRun *run)
{
    member_array(run->builder, "links");
    for (guint i = 0; i < run->timeline->links->len; i++) {
        const Link *link = &g_array_index(run->timeline->links, Link, i);
        if (link->to >= run->timeline->events->len)
            continue;
        json_builder_begin_array(run->builder);
        json_builder_add_int_value(run->builder, link->from);
        json_builder_add_int_value(run->builder, link->to);
        json_builder_add_int_value(run->builder, link->amount);
        json_builder_end_array(run->builder);
    }
    json_builder_end_array(run->builder);
}

/* In a deadlock: the stuck cores. */
static void add_stuck(PageRun *run)
{
    const Record *record = run->timeline->record;
    member_array(run->builder, "stuck");
    for (uint32_t core = 0; core < record->ends.count; core++) {
        const CoreState *state = &STORE(CoreState, &record->ends, core);
        const Step *step = &state->pending;
        if (state->end != CORE_BLOCKED || step->site >= run->program->sites.count)
            continue;
        const Place place = { .core = core, .copy = NONE, .kind = step->kind, .site = step->site, .object = step->object, .region = NONE,
                              .launch = step->launch };
        g_autofree char *words = describe_action(run->program, &place);
        json_builder_begin_object(run->builder);
        member_int(run->builder, "lane", g_array_index(run->lane_of_core, uint32_t, core));
        member_text(run->builder, "text", words);
        add_where(run, step->site);
        add_need(run, step->kind, step->object, step->value, step->launch);
        json_builder_end_object(run->builder);
    }
    json_builder_end_array(run->builder);
}

static void add_names(PageRun *run)
{
    member_array(run->builder, "names");
    for (guint i = 0; i < run->names->len; i++)
        member_element(run->builder, g_ptr_array_index(run->names, i));
    json_builder_end_array(run->builder);
}

static void add_code(PageRun *run)
{
    member_object(run->builder, "code");
    for (guint i = 0; i < run->quoted->len; i++)
        member_text(run->builder, run->quoted->pdata[i], run->lines->pdata[i]);
    json_builder_end_object(run->builder);
}

/* Words in a list of their own, or as a member. */
static const char *const MEMBER[TELLING_PARTS] = {
    [TELLING_HEADLINE] = "message", [TELLING_PLACES] = "places", [TELLING_CAUSE] = "why", [TELLING_HOLDS] = "holds",
    [TELLING_REPAIRS] = "repairs", [TELLING_COMMAND] = "see", [TELLING_DELAYS] = "delays", [TELLING_TRIED] = "tried",
    [TELLING_HELPS] = "helps", [TELLING_STORY] = "tale",
};

static bool is_list(TellingPart part)
{
    return part != TELLING_HEADLINE && part != TELLING_CAUSE && part != TELLING_HOLDS && part != TELLING_COMMAND;
}

static void begin_part(void *to, TellingPart part, guint items)
{
    PageRun *run = to;
    run->told = 0;
    if (part == TELLING_PLACES)
        member_int(run->builder, "more_places", items - MIN(items, PLACES_MAX));
    if (is_list(part))
        member_array(run->builder, MEMBER[part]);
}

static void end_part(void *to, TellingPart part)
{
    if (is_list(part))
        json_builder_end_array(((PageRun *)to)->builder);
}

static void add_words(void *to, TellingPart part, const char *words)
{
    PageRun *run = to;
    if (is_list(part))
        member_element(run->builder, words);
    else
        member_text(run->builder, MEMBER[part], words);
    if (part == TELLING_CAUSE)
        quote_cited(run, words);
}

static void add_place(void *to, const Place *place)
{
    PageRun *run = to;
    if (run->told++ >= PLACES_MAX)
        return;
    g_autofree char *action = describe_action(run->program, place), *inside = places_inside(run->result, place);
    json_builder_begin_object(run->builder);
    member_text(run->builder, "text", action);
    add_where(run, place->site);
    quote_site(run, place->site, CONTEXT);
    member_text(run->builder, "inside", inside);
    member_array(run->builder, "calls");
    for (uint32_t call = program_caller(run->program, place->site); call != NONE; call = program_caller(run->program, call)) {
        g_autofree char *words = describe_call(run->program, call);
        member_element(run->builder, words);
    }
    json_builder_end_array(run->builder);
    json_builder_end_object(run->builder);
}

static void add_repair(void *to, TellingPart part, const Repair *repair, const char *words)
{
    PageRun *run = to;
    g_autofree char *diff = diff_text(repair, run->html->source);
    (void)part;
    json_builder_begin_object(run->builder);
    member_text(run->builder, "kind", repair_kind_name(repair->kind));
    member_text(run->builder, "words", words);
    if (diff)
        member_text(run->builder, "diff", diff);
    json_builder_end_object(run->builder);
}

static void add_step(void *to, const NarrativeStep *step)
{
    PageRun *run = to;
    json_builder_begin_object(run->builder);
    member_text(run->builder, "text", step->text);
    if (step->site != NONE)
        add_where(run, step->site);
    if (step->event != NONE)
        member_int(run->builder, "frame", step->event);
    if (step->of_fault)
        member_bool(run->builder, "fault", true);
    json_builder_end_object(run->builder);
}

/* All but the symptoms, which are stories of their own. */
static const Teller teller = { .parts = TELLING_ALL & ~(1u << TELLING_SYMPTOMS), .begin = begin_part, .words = add_words,
                               .place = add_place, .repair = add_repair, .step = add_step, .end = end_part };

/* "race at kernel.c:18 and kernel.c:20", or the verdict. */
static void add_name(PageRun *run, const Finding *finding)
{
    g_autofree char *title = text_title(run->result);
    g_autofree char *name = finding ? places_name(run->result, finding) : g_strdup(verdict_name(run->result->verdict));
    member_text(run->builder, "title", title);
    member_text(run->builder, "name", name);
    member_text(run->builder, "verdict", verdict_name(run->result->verdict));
    if (finding)
        member_text(run->builder, "fault", fault_name(finding->id));
}

static void add_run(PageRun *run, const Finding *finding, unsigned events_max)
{
    if (run->timeline->events->len == events_max)
        member_text(run->builder, "note", "The run is long: only its beginning is drawn.");
    add_lanes(run);
    add_events(run, finding);
    add_links(run);
    if (finding && finding->id == FAULT_DEADLOCK)
        add_stuck(run);
    add_names(run);
}

/* "bounded: ...", and what was not covered. */
static char *bounded_words(const CheckResult *result)
{
    g_autofree char *bounded = describe_bounded(result->outcome);
    GString *words = g_string_new(bounded);
    for (guint i = 0; result->program && i < result->outcome->limits->len; i++) {
        g_autofree char *limit = describe_limit(result->program, result->outcome->limits->pdata[i]);
        g_string_append_printf(words, "%s%s", i ? "; " : ". Not covered: ", limit);
    }
    return g_string_free(words, FALSE);
}

static void page_run_clear(PageRun *run)
{
    g_object_unref(run->builder);
    g_ptr_array_unref(run->names);
    g_hash_table_unref(run->numbers);
    g_array_unref(run->lane_of_core);
    g_array_unref(run->lane_of_copy);
    g_ptr_array_unref(run->quoted);
    g_ptr_array_unref(run->lines);
    g_hash_table_unref(run->seen);
}

/* A story with the run of that record, if there is room. message: of a check that shows no fault. */
static void add_story(Html *html, const Told *told, guint symptoms, const char *message, const Record *record)
{
    const Finding *finding = told->finding;
    unsigned events_max = finding ? EVENTS_MAX : VERIFIED_EVENTS_MAX;
    Timeline *timeline = record && html->runs < RUNS_MAX ? timeline_new(record, events_max) : NULL;
    PageRun run = { .builder = json_builder_new(), .html = html, .result = told->result, .timeline = timeline,
                    .program = told->result->program, .names = g_ptr_array_new_with_free_func(g_free),
                    .numbers = g_hash_table_new(g_str_hash, g_str_equal), .lane_of_core = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
                    .lane_of_copy = g_array_new(FALSE, TRUE, sizeof(uint32_t)), .quoted = g_ptr_array_new_with_free_func(g_free),
                    .lines = g_ptr_array_new_with_free_func(g_free),
                    .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
    json_builder_begin_object(run.builder);
    add_name(&run, finding);
    g_autofree char *remark = input_remark(told->result);
    if (message)
        member_text(run.builder, "message", message);
    if (remark)
        member_text(run.builder, "input", remark);
    telling(&teller, &run, told);
    member_int(run.builder, "symptoms", symptoms);
    member_bool(run.builder, "symptom", finding && !told->entry);
    if (timeline)
        add_run(&run, finding, events_max);
    add_code(&run);
    json_builder_end_object(run.builder);
    g_ptr_array_add(html->stories, json_builder_get_root(run.builder));
    html->runs += timeline != NULL;
    page_run_clear(&run);
    g_clear_pointer(&timeline, timeline_free);
}

/* Its first finding, then the others as stories of their own. */
static void add_entry(Html *html, const CheckResult *result, const Entry *entry, bool alone, const GPtrArray *schedules)
{
    for (guint i = 0; i < entry->findings->len; i++) {
        const Told told = { result, entry_finding(result, entry, i), i == 0 ? entry : NULL, alone, true,
                            schedules ? schedules->pdata[g_array_index(entry->findings, guint, i)] : NULL };
        if (html->stories->len == STORIES_MAX) {
            html->left_out++;
            continue;
        }
        Record *record = timeline_record(result, told.finding);
        add_story(html, &told, i == 0 ? entry->findings->len - 1 : 0, NULL, record);
        record_free(record);
    }
}

static void add_without_fault(Html *html, const CheckResult *result, const char *message, const Record *record)
{
    if (html->stories->len < STORIES_MAX)
        add_story(html, &(Told){ .result = result, .first = true }, 0, message, record);
    else
        html->left_out++;
}

static void html_add(void *document, const CheckResult *result, const GPtrArray *schedules)
{
    Html *html = document;
    g_autoptr(GPtrArray) entries = result->verdict == VERDICT_FAULTY ? entries_new(result) : NULL;
    for (guint i = 0; entries && i < entries->len; i++)
        add_entry(html, result, entries->pdata[i], entries->len == 1, schedules);
    if (result->verdict == VERDICT_VERIFIED)
        add_without_fault(html, result, "Every order was covered; this is the one that was run.", result->record);
    if (result->verdict == VERDICT_BOUNDED) {
        g_autofree char *words = bounded_words(result);
        add_without_fault(html, result, words, NULL);
    }
}

static void html_add_error(void *document, const char *message)
{
    Html *html = document;
    JsonBuilder *builder = json_builder_new();
    json_builder_begin_object(builder);
    member_text(builder, "title", "heddle");
    member_text(builder, "name", verdict_name(VERDICT_ERROR));
    member_text(builder, "verdict", verdict_name(VERDICT_ERROR));
    member_text(builder, "message", message);
    json_builder_end_object(builder);
    g_ptr_array_add(html->stories, json_builder_get_root(builder));
    g_object_unref(builder);
}

static const GString *html_text(void *document)
{
    Html *html = document;
    JsonBuilder *builder = json_builder_new();
    json_builder_begin_object(builder);
    member_int(builder, "left_out", html->left_out);
    member_array(builder, "stories");
    for (guint i = 0; i < html->stories->len; i++)
        json_builder_add_value(builder, json_node_copy(g_ptr_array_index(html->stories, i)));
    json_builder_end_array(builder);
    g_autofree char *json = members_finish(builder, false);
    xmlChar *escaped = xmlEncodeSpecialChars(NULL, BAD_CAST json);
    const char *hole = strstr(PAGE, "@DATA@");
    g_assert(hole != NULL);
    g_string_truncate(html->text, 0);
    g_string_append_len(html->text, PAGE, hole - PAGE);
    g_string_append(html->text, (const char *)escaped);
    g_string_append(html->text, hole + strlen("@DATA@"));
    xmlFree(escaped);
    return html->text;
}

static void html_clear(void *document)
{
    Html *html = document;
    source_free(html->source);
    g_ptr_array_unref(html->stories);
    g_string_free(html->text, TRUE);
    g_free(html);
}

const OutputFormat html_format = { html_begin, html_add, html_add_error, html_text, html_clear, false };
