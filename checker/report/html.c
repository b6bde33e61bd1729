/* html.c - one self-contained page: page.html with its data as JSON, one run for each fault and each verified check.
 *
 * The data is the text of an element, escaped by libxml2, so that no name can end it. Long runs are cut, and the page says so.
 */
#include <libxml/entities.h>
#include <string.h>
#include "../../model/moment.h"
#include "../facts/members.h"
#include "describe.h"
#include "message.h"
#include "output.h"
#include "source.h"
#include "text.h"
#include "timeline.h"

static const char PAGE[] =
#include "page.inc"
    ;

enum { EVENTS_MAX = 6000, VERIFIED_EVENTS_MAX = 1500, RUNS_MAX = 50 };

typedef struct Html {
    Source *source;
    GPtrArray *runs;                            /* of JsonNode* */
    unsigned left_out;
    GString *text;
} Html;

typedef struct PageRun {                           /* the run being added */
    JsonBuilder *builder;
    Html *html;
    const CheckResult *result;
    const Timeline *timeline;
    const Program *program;
    GPtrArray *names;                           /* of char*: semaphores and regions, by number */
    GHashTable *numbers;                        /* name -> number + 1; looked up only */
    GArray *lane_of_core, *lane_of_copy;        /* of uint32_t */
    GPtrArray *places;                          /* of char*: "file:line" met so far */
    GHashTable *seen;                           /* their "file:line", looked up only */
} PageRun;

static void *html_begin(const OutputSettings *settings)
{
    (void)settings;
    Html *html = g_new0(Html, 1);
    *html = (Html){ source_new(), g_ptr_array_new_with_free_func((GDestroyNotify)json_node_unref), 0, g_string_new(NULL) };
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

static void add_where(PageRun *run, uint32_t site)
{
    char *where = program_describe_site(run->program, site);
    member_text(run->builder, "where", where);
    if (g_hash_table_add(run->seen, where))
        g_ptr_array_add(run->places, GUINT_TO_POINTER(site));
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
        g_autofree char *name = describe_core(run->program, core);
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

static void add_words(PageRun *run)
{
    member_array(run->builder, "names");
    for (guint i = 0; i < run->names->len; i++)
        member_element(run->builder, g_ptr_array_index(run->names, i));
    json_builder_end_array(run->builder);
    member_object(run->builder, "code");
    for (guint i = 0; i < run->places->len; i++) {
        const Site *site = program_get_site(run->program, GPOINTER_TO_UINT(g_ptr_array_index(run->places, i)));
        const char *file = program_text(run->program, site->file), *line = source_line(run->html->source, file, site->line);
        g_autofree char *where = program_describe_site(run->program, GPOINTER_TO_UINT(g_ptr_array_index(run->places, i)));
        if (line)
            member_text(run->builder, where, line);
    }
    json_builder_end_object(run->builder);
}

static void add_head(PageRun *run, const Finding *finding)
{
    g_autofree char *title = text_title(run->result), *message = finding ? message_text(run->result, finding) : NULL;
    g_autofree char *why = finding ? message_why(run->result, finding) : NULL;
    member_text(run->builder, "title", title);
    member_text(run->builder, "verdict", verdict_name(run->result->verdict));
    member_text(run->builder, "fault", finding ? fault_name(finding->id) : "");
    member_text(run->builder, "message", message ? message : "Every order was covered; this is the one that was run.");
    member_text(run->builder, "why", why);
    member_array(run->builder, "tried");
    for (guint i = 0; run->result->tried && i < run->result->tried->len; i++) {
        g_autofree char *words = repair_text(run->result->tried->pdata[i]);
        member_element(run->builder, words);
    }
    json_builder_end_array(run->builder);
    GPtrArray *delays = finding ? message_delays(run->program, finding) : NULL;
    if (delays == NULL)
        return;
    g_ptr_array_add(delays, NULL);
    g_autofree char *lines = g_strjoinv("; ", (char **)delays->pdata);
    member_text(run->builder, "delays", lines);
    g_ptr_array_unref(delays);
}

static void add_run(Html *html, const CheckResult *result, const Finding *finding, const Record *record, uint32_t events_max)
{
    Timeline *timeline = timeline_new(record, events_max);
    PageRun run = { json_builder_new(), html, result, timeline, result->program, g_ptr_array_new_with_free_func(g_free),
                  g_hash_table_new(g_str_hash, g_str_equal), g_array_new(FALSE, TRUE, sizeof(uint32_t)),
                  g_array_new(FALSE, TRUE, sizeof(uint32_t)), g_ptr_array_new(),
                  g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
    json_builder_begin_object(run.builder);
    add_head(&run, finding);
    if (timeline->events->len == events_max)
        member_text(run.builder, "note", "The run is long: only its beginning is drawn.");
    add_lanes(&run);
    add_events(&run, finding);
    add_links(&run);
    if (finding && finding->id == FAULT_DEADLOCK)
        add_stuck(&run);
    add_words(&run);
    json_builder_end_object(run.builder);
    g_ptr_array_add(html->runs, json_builder_get_root(run.builder));
    g_object_unref(run.builder);
    g_ptr_array_unref(run.names);
    g_hash_table_unref(run.numbers);
    g_array_unref(run.lane_of_core);
    g_array_unref(run.lane_of_copy);
    g_ptr_array_unref(run.places);
    g_hash_table_unref(run.seen);
    timeline_free(timeline);
}

static void html_add(void *document, const CheckResult *result, const GPtrArray *schedules)
{
    (void)schedules;
    Html *html = document;
    for (guint i = 0; result->verdict == VERDICT_FAULTY && i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        Record *record = finding_exemption(result->program, finding) ? NULL : timeline_record(result, finding);
        if (record && html->runs->len < RUNS_MAX)
            add_run(html, result, finding, record, EVENTS_MAX);
        else
            html->left_out += record != NULL;
        record_free(record);
    }
    if (result->verdict == VERDICT_VERIFIED && result->record && html->runs->len < RUNS_MAX)
        add_run(html, result, NULL, result->record, VERIFIED_EVENTS_MAX);
}

static void html_add_error(void *document, const char *message)
{
    (void)document, (void)message;              /* an error has no run to show */
}

static const GString *html_text(void *document)
{
    Html *html = document;
    JsonBuilder *builder = json_builder_new();
    json_builder_begin_object(builder);
    member_int(builder, "left_out", html->left_out);
    member_array(builder, "stories");
    for (guint i = 0; i < html->runs->len; i++)
        json_builder_add_value(builder, json_node_copy(g_ptr_array_index(html->runs, i)));
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
    g_ptr_array_unref(html->runs);
    g_string_free(html->text, TRUE);
    g_free(html);
}

const OutputFormat html_format = { html_begin, html_add, html_add_error, html_text, html_clear, false };
