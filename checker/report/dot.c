/* dot.c - the order of the steps that lead to a fault, for Graphviz: a cluster for each core, edges along cores and copies, edges from
 * signals to the waits that took them, and a dashed line between the two steps that nothing orders.
 */
#include "describe.h"
#include "message.h"
#include "output.h"
#include "text.h"
#include "timeline.h"

enum { NODES_MAX = 400 };                       /* the last ones before the fault; dot cannot lay out more */

typedef struct Dot { GString *body, *text; unsigned graphs; } Dot;

static void *dot_begin(const OutputSettings *settings)
{
    (void)settings;
    Dot *dot = g_new0(Dot, 1);
    *dot = (Dot){ g_string_new(NULL), g_string_new(NULL), 0 };
    return dot;
}

/* A quoted string of DOT escapes only quotes and backslashes. */
static void append_quoted(GString *out, const char *text)
{
    g_autoptr(GString) quoted = g_string_new(text);
    g_string_replace(quoted, "\\", "\\\\", 0);
    g_string_replace(quoted, "\"", "\\\"", 0);
    g_string_append_printf(out, "\"%s\"", quoted->str);
}

static void append_label(GString *out, const Timeline *timeline, const TimelineEvent *event)
{
    g_autofree char *words = event_words(timeline, event), *where = program_describe_site(timeline->record->program, event->site);
    g_autofree char *label = g_strdup_printf("%s (%s)", words, where);
    append_quoted(out, label);
}

typedef struct Graph { GString *out; unsigned number; const Timeline *timeline; const GByteArray *past; } Graph;

static void append_clusters(const Graph *graph)
{
    const Timeline *timeline = graph->timeline;
    const Program *program = timeline->record->program;
    for (uint32_t core = 0; core < program->cores; core++) {
        g_autofree char *name = program_describe_core(program, core);
        g_string_append_printf(graph->out, "    subgraph cluster_%u_%u {\n      label=", graph->number, core);
        append_quoted(graph->out, name);
        g_string_append(graph->out, ";\n");
        for (guint i = 0; i < timeline->events->len; i++) {
            const TimelineEvent *event = &g_array_index(timeline->events, TimelineEvent, i);
            if (!graph->past->data[i] || event->core != core)
                continue;
            g_string_append_printf(graph->out, "      g%u_%u [label=", graph->number, i);
            append_label(graph->out, timeline, event);
            g_string_append(graph->out, event_is_moment(event) ? ", shape=ellipse];\n" : "];\n");
        }
        g_string_append(graph->out, "    }\n");
    }
}

/* An edge to a node from the step before it on the same core, or on the same copy. */
static void append_agent_edge(const Graph *graph, const TimelineEvent *event, guint node)
{
    const Timeline *timeline = graph->timeline;
    bool moment = event_is_moment(event);
    for (guint i = MIN(node, timeline->events->len); i-- > 0;) {
        const TimelineEvent *before = &g_array_index(timeline->events, TimelineEvent, i);
        bool own = moment ? event->copy != NONE && before->copy == event->copy
                          : !event_is_moment(before) && (before->core == event->core || before->members > 1);
        if (own && graph->past->data[i])
            g_string_append_printf(graph->out, "    g%u_%u -> g%u_%u;\n", graph->number, i, graph->number, node);
        if (own)
            return;
    }
}

static void append_edges(const Graph *graph)
{
    const Timeline *timeline = graph->timeline;
    for (guint i = 0; i < timeline->events->len; i++)
        if (graph->past->data[i])
            append_agent_edge(graph, &g_array_index(timeline->events, TimelineEvent, i), i);
    for (guint i = 0; i < timeline->links->len; i++) {
        const Link *link = &g_array_index(timeline->links, Link, i);
        if (graph->past->data[link->from] && graph->past->data[link->to])
            g_string_append_printf(graph->out, "    g%u_%u -> g%u_%u [color=darkgreen, label=\"%" G_GINT64_FORMAT "\"];\n", graph->number,
                                   link->from, graph->number, link->to, link->amount);
    }
}

static void append_pair(const Graph *graph, const Finding *finding)
{
    const Timeline *timeline = graph->timeline;
    guint node = timeline->events->len;
    unsigned next = 0;
    TimelineEvent event;
    for (unsigned p = 0; p < finding->places; p++) {
        if (!timeline_next_of(timeline, &finding->place[p], &event))
            continue;
        g_string_append_printf(graph->out, "    g%u_%u [color=red, penwidth=2, label=", graph->number, node + next);
        append_label(graph->out, timeline, &event);
        g_string_append(graph->out, "];\n");
        append_agent_edge(graph, &event, node + next);
        next++;
    }
    if (next == 2)
        g_string_append_printf(graph->out, "    g%u_%u -> g%u_%u [color=red, style=dashed, dir=none, constraint=false];\n", graph->number,
                               node, graph->number, node + 1);
}

static void keep_last(GByteArray *past)
{
    unsigned kept = 0;
    for (guint i = past->len; i-- > 0;)
        if (past->data[i] && ++kept > NODES_MAX)
            past->data[i] = 0;
}

static void add_graph(Dot *dot, const CheckResult *result, const Finding *finding, const Record *record)
{
    Timeline *timeline = timeline_new(record, UINT32_MAX);
    GByteArray *past = timeline_past(timeline, finding);
    g_autofree char *title = text_title(result), *message = message_text(result, finding);
    g_autofree char *label = g_strdup_printf("%s, %s: %s", title, fault_name(finding->id), message);
    keep_last(past);
    g_string_append_printf(dot->body, "  subgraph cluster_%u {\n    label=", dot->graphs);
    append_quoted(dot->body, label);
    g_string_append(dot->body, ";\n");
    const Graph graph = { dot->body, dot->graphs, timeline, past };
    append_clusters(&graph);
    append_edges(&graph);
    append_pair(&graph, finding);
    g_string_append(dot->body, "  }\n");
    dot->graphs++;
    g_byte_array_unref(past);
    timeline_free(timeline);
}

static void dot_add(void *document, const CheckResult *result, const GPtrArray *schedules)
{
    (void)schedules;
    for (guint i = 0; result->verdict == VERDICT_FAULTY && i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        Record *record = finding_exemption(result->program, finding) ? NULL : timeline_record(result, finding);
        if (record)
            add_graph(document, result, finding, record);
        record_free(record);
    }
}

static void dot_add_error(void *document, const char *message)
{
    (void)document, (void)message;              /* an error has no steps */
}

static const GString *dot_text(void *document)
{
    Dot *dot = document;
    g_string_printf(dot->text, "digraph heddle {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n%s}\n",
                    dot->body->str);
    return dot->text;
}

static void dot_clear(void *document)
{
    Dot *dot = document;
    g_string_free(dot->body, TRUE);
    g_string_free(dot->text, TRUE);
    g_free(dot);
}

const OutputFormat dot_format = { dot_begin, dot_add, dot_add_error, dot_text, dot_clear, false };
