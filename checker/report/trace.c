/* trace.c - Chrome trace events, for Perfetto and about:tracing: a process for each device, a thread for each core and copy, a wait as long
 * as its core waited, a flow from each signal to the wait that took it. A step lasts 10 us.
 */
#include <string.h>
#include "../facts/members.h"
#include "describe.h"
#include "output.h"
#include "text.h"
#include "timeline.h"

enum { STEP_TICKS = 10, EVENTS_MAX = 100000 };

typedef struct Trace {
    GPtrArray *events;                          /* of char*: JSON of each run's events, joined by commas */
    unsigned processes;                         /* used so far */
    int64_t flows;
    GString *text;
} Trace;

typedef struct TraceRun {
    JsonBuilder *builder;
    Trace *trace;
    const Timeline *timeline;
    const Program *program;
    unsigned first_process;
} TraceRun;

static void *trace_begin(const OutputSettings *settings)
{
    (void)settings;
    Trace *trace = g_new0(Trace, 1);
    *trace = (Trace){ g_ptr_array_new_with_free_func(g_free), 0, 0, g_string_new(NULL) };
    return trace;
}

/* Threads of a device: its cores, then its copies. */
static int64_t thread_of(const TraceRun *run, const TimelineEvent *event)
{
    uint32_t per = run->program->cores_per_device;
    return event_is_moment(event) && event->copy != NONE ? (int64_t)per + event->copy : event->core % per;
}

static void begin_event(const TraceRun *run, const char *phase, const char *name, uint32_t device, int64_t thread, int64_t ticks)
{
    json_builder_begin_object(run->builder);
    member_text(run->builder, "ph", phase);
    member_text(run->builder, "name", name);
    member_int(run->builder, "pid", run->first_process + device);
    member_int(run->builder, "tid", thread);
    member_int(run->builder, "ts", ticks);
}

static void name_thread(const TraceRun *run, const char *what, uint32_t device, int64_t thread, const char *name)
{
    begin_event(run, "M", what, device, thread, 0);
    member_object(run->builder, "args");
    member_text(run->builder, "name", name);
    json_builder_end_object(run->builder);
    json_builder_end_object(run->builder);
}

static void name_all(const TraceRun *run, const char *title)
{
    uint32_t per = run->program->cores_per_device;
    const Record *record = run->timeline->record;
    for (uint32_t core = 0; core < run->program->cores; core++) {
        g_autofree char *name = program_describe_core(run->program, core), *own = program_describe_device(run->program, core / per);
        g_autofree char *device = g_strdup_printf("%s, %s", own, title);
        if (core % per == 0)
            name_thread(run, "process_name", core / per, 0, device);
        name_thread(run, "thread_name", core / per, core % per, name);
    }
    for (uint32_t i = 0; i < record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &record->copies, i);
        g_autofree char *name = timeline_copy_name(run->timeline, i);
        name_thread(run, "thread_name", copy->core / per, (int64_t)per + i, name);
    }
}

static void add_slice(const TraceRun *run, const TimelineEvent *event, int64_t from, int64_t until, const char *category)
{
    g_autofree char *words = event_words(run->timeline, event), *where = program_describe_site(run->program, event->site);
    begin_event(run, "X", words, event->core / run->program->cores_per_device, thread_of(run, event), from);
    member_int(run->builder, "dur", until - from);
    member_text(run->builder, "cat", category);
    member_object(run->builder, "args");
    member_text(run->builder, "source", where);
    if (event->semaphore != NONE) {
        g_autofree char *name = program_describe_semaphore(run->program, event->semaphore);
        member_text(run->builder, "semaphore", name);
        member_int(run->builder, "count before", event->before);
        member_int(run->builder, "count after", event->after);
    }
    json_builder_end_object(run->builder);
    json_builder_end_object(run->builder);
}

static void add_slices(const TraceRun *run, const Finding *finding)
{
    const GArray *events = run->timeline->events;
    g_autofree int64_t *until = g_new0(int64_t, run->program->cores);           /* the end of each core's last step */
    TimelineEvent next;
    for (guint i = 0; i < events->len; i++) {
        const TimelineEvent *event = &g_array_index(events, TimelineEvent, i);
        int64_t now = (int64_t)i * STEP_TICKS, from = now;
        if (!event_is_moment(event)) {
            if (step_blocks(event->kind) && event->members == 1)
                from = until[event->core];
            for (uint32_t m = 0; m < event->members; m++)
                until[STORE(Step, &run->timeline->record->steps, event->step + m).core] = now + STEP_TICKS;
        }
        add_slice(run, event, from, now + STEP_TICKS - 1, step_kind_name(event->kind));
    }
    for (unsigned p = 0; finding && p < finding->places; p++)
        if (timeline_next_of(run->timeline, &finding->place[p], &next))
            add_slice(run, &next, (int64_t)events->len * STEP_TICKS, (int64_t)(events->len + 1) * STEP_TICKS, fault_name(finding->id));
}

static void add_flow(const TraceRun *run, const Link *link)
{
    const TimelineEvent *end[] = { &g_array_index(run->timeline->events, TimelineEvent, link->from),
                           &g_array_index(run->timeline->events, TimelineEvent, link->to) };
    int64_t ticks[] = { (int64_t)link->from * STEP_TICKS + 1, (int64_t)link->to * STEP_TICKS + 2 };
    for (unsigned i = 0; i < 2; i++) {
        begin_event(run, i ? "f" : "s", "signal", end[i]->core / run->program->cores_per_device, thread_of(run, end[i]), ticks[i]);
        member_text(run->builder, "cat", "signal");
        member_int(run->builder, "id", run->trace->flows);
        if (i)
            member_text(run->builder, "bp", "e");
        json_builder_end_object(run->builder);
    }
    run->trace->flows++;
}

static void add_run(Trace *trace, const CheckResult *result, const Finding *finding, const Record *record)
{
    Timeline *timeline = timeline_new(record, EVENTS_MAX);
    TraceRun run = { json_builder_new(), trace, timeline, result->program, trace->processes };
    g_autofree char *title = text_title(result);
    g_autofree char *named = finding ? g_strdup_printf("%s: %s", title, fault_name(finding->id)) : g_strdup(title);
    json_builder_begin_array(run.builder);
    name_all(&run, named);
    add_slices(&run, finding);
    for (guint i = 0; i < timeline->links->len; i++)
        if (g_array_index(timeline->links, Link, i).to < timeline->events->len)
            add_flow(&run, &g_array_index(timeline->links, Link, i));
    json_builder_end_array(run.builder);
    JsonNode *node = json_builder_get_root(run.builder);
    g_autofree char *events = json_to_string(node, FALSE);
    events[strlen(events) - 1] = '\0';          /* without brackets, which the document adds */
    g_ptr_array_add(trace->events, g_strdup(events + 1));
    json_node_unref(node);
    g_object_unref(run.builder);
    trace->processes += result->program->devices;
    timeline_free(timeline);
}

static void trace_add(void *document, const CheckResult *result, const GPtrArray *schedules)
{
    (void)schedules;
    for (guint i = 0; result->verdict == VERDICT_FAULTY && i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        Record *record = finding_exemption(result->program, finding) ? NULL : timeline_record(result, finding);
        if (record)
            add_run(document, result, finding, record);
        record_free(record);
    }
    if (result->verdict == VERDICT_VERIFIED && result->record)
        add_run(document, result, NULL, result->record);
}

static void trace_add_error(void *document, const char *message)
{
    (void)document, (void)message;              /* an error has no run */
}

static const GString *trace_text(void *document)
{
    Trace *trace = document;
    g_string_assign(trace->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (guint i = 0; i < trace->events->len; i++)
        g_string_append_printf(trace->text, "%s\n%s", i ? "," : "", (char *)g_ptr_array_index(trace->events, i));
    g_string_append(trace->text, "\n]}\n");
    return trace->text;
}

static void trace_clear(void *document)
{
    Trace *trace = document;
    g_ptr_array_unref(trace->events);
    g_string_free(trace->text, TRUE);
    g_free(trace);
}

const OutputFormat trace_format = { trace_begin, trace_add, trace_add_error, trace_text, trace_clear, false };
