/* sarif.c - SARIF 2.1.0 (OASIS), with the parts that code scanning services read: one run, rules with help, at least one location,
 * fingerprints, the run as a code flow. An entry is one result, at several sizes, too; its symptoms are related locations, its repairs
 * fixes. Results are objects until the text is requested.
 */
#include <string.h>
#include "../facts/members.h"
#include "describe.h"
#include "diff.h"
#include "fingerprint.h"
#include "input_words.h"
#include "json.h"
#include "message.h"
#include "output.h"
#include "paths.h"
#include "places.h"
#include "telling.h"
#include "text.h"
#include "timeline.h"

enum { LOCATIONS_MAX = 16 };                    /* of one result */

typedef struct Sarif {
    const OutputSettings *settings;
    char *root;                                 /* absolute, canonical */
    Source *source;
    GHashTable *seen;                           /* fingerprints; looked up only */
    GPtrArray *results;                         /* of JsonNode* */
    GPtrArray *notes;                           /* of char*: what could not be decided, or was but in words */
    GPtrArray *remarks;                         /* of char*: how many inputs a verdict is about */
    bool failed;
    GString *text;
} Sarif;

static void *sarif_begin(const OutputSettings *settings)
{
    Sarif *sarif = g_new0(Sarif, 1);
    sarif->settings = settings;
    sarif->root = paths_root(settings->source_root);
    sarif->source = source_new();
    sarif->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    sarif->results = g_ptr_array_new_with_free_func((GDestroyNotify)json_node_unref);
    sarif->notes = g_ptr_array_new_with_free_func(g_free);
    sarif->remarks = g_ptr_array_new_with_free_func(g_free);
    sarif->text = g_string_new(NULL);
    return sarif;
}

static void add_artifact(JsonBuilder *builder, const Sarif *sarif, const char *file)
{
    bool inside;
    g_autofree char *path = paths_shown(sarif->root, file, &inside), *escaped = g_uri_escape_string(path, "/", FALSE);
    g_autofree char *uri = inside ? g_strdup(escaped) : g_strdup_printf("file://%s", escaped);
    member_object(builder, "artifactLocation");
    member_text(builder, "uri", uri);
    if (inside)
        member_text(builder, "uriBaseId", "SRCROOT");
    json_builder_end_object(builder);
}

static void add_physical(JsonBuilder *builder, Sarif *sarif, const char *file, unsigned line)
{
    const char *code = source_line(sarif->source, file, line);
    member_object(builder, "physicalLocation");
    add_artifact(builder, sarif, file);
    member_object(builder, "region");
    member_int(builder, "startLine", MAX(line, 1));
    if (code) {
        member_object(builder, "snippet");
        member_text(builder, "text", code);
        json_builder_end_object(builder);
    }
    json_builder_end_object(builder);
    json_builder_end_object(builder);
}

static void add_text_object(JsonBuilder *builder, const char *name, const char *text)
{
    member_object(builder, name);
    member_text(builder, "text", text);
    json_builder_end_object(builder);
}

static void add_message(JsonBuilder *builder, const char *text)
{
    add_text_object(builder, "message", text);
}

static void add_location(JsonBuilder *builder, Sarif *sarif, const Program *program, uint32_t site_id, const char *message)
{
    const Site *site = program_get_site(program, site_id);
    const char *function = program_text(program, site->function);
    add_physical(builder, sarif, program_text(program, site->file), site->line);
    if (*function) {
        member_array(builder, "logicalLocations");
        json_builder_begin_object(builder);
        member_text(builder, "name", function);
        member_text(builder, "kind", "function");
        json_builder_end_object(builder);
        json_builder_end_array(builder);
    }
    g_autofree char *told = message ? paths_in_text(sarif->root, message) : NULL;
    if (told)
        add_message(builder, told);
}

static void add_place(JsonBuilder *builder, Sarif *sarif, const CheckResult *result, const Place *place, guint id)
{
    g_autofree char *action = describe_action(result->program, place);
    json_builder_begin_object(builder);
    if (id > 0)
        member_int(builder, "id", id);
    add_location(builder, sarif, result->program, place->site, action);
    json_builder_end_object(builder);
}

/* Where a symptom shows, with what it is. False: nowhere. */
static bool add_symptom(JsonBuilder *builder, Sarif *sarif, const CheckResult *result, const Finding *finding, guint id)
{
    g_autoptr(GArray) places = places_shown(result, finding, 1);
    if (places->len == 0)
        return false;
    g_autofree char *what = message_text(result, finding), *words = g_strdup_printf("%s: %s", fault_name(finding->id), what);
    json_builder_begin_object(builder);
    member_int(builder, "id", id);
    add_location(builder, sarif, result->program, g_array_index(places, Place, 0).site, words);
    json_builder_end_object(builder);
    return true;
}

/* The other places, then its symptoms, each with the number that the message links to. */
static void add_related(JsonBuilder *builder, Sarif *sarif, const CheckResult *result, const Entry *entry, const GArray *places)
{
    guint id = MAX(places->len, 1);
    member_array(builder, "relatedLocations");
    for (guint i = 1; i < places->len; i++)
        add_place(builder, sarif, result, &g_array_index(places, Place, i), i);
    for (guint i = 1; i < MIN(entry->findings->len, LOCATIONS_MAX); i++)
        id += add_symptom(builder, sarif, result, entry_finding(result, entry, i), id);
    json_builder_end_array(builder);
}

/* At its places, or else at the beginning of the source. Services show only the first location and the related ones. */
static void add_locations(JsonBuilder *builder, Sarif *sarif, const CheckResult *result, const Entry *entry)
{
    g_autoptr(GArray) places = places_shown(result, entry_finding(result, entry, 0), LOCATIONS_MAX);
    member_array(builder, "locations");
    for (guint i = 0; i < places->len; i++)
        add_place(builder, sarif, result, &g_array_index(places, Place, i), 0);
    if (places->len == 0) {
        json_builder_begin_object(builder);
        add_physical(builder, sarif, result->spec->source ? result->spec->source : result->program->source, 1);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
    add_related(builder, sarif, result, entry, places);
}

/* Of places in a function with a marked call. */
static void add_stack(JsonBuilder *builder, Sarif *sarif, const Program *program, const Place *place, const char *action)
{
    json_builder_begin_object(builder);
    add_message(builder, action);
    member_array(builder, "frames");
    for (uint32_t site = place->site; site != NONE; site = program_caller(program, site)) {
        json_builder_begin_object(builder);
        member_object(builder, "location");
        add_location(builder, sarif, program, site, NULL);
        json_builder_end_object(builder);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
    json_builder_end_object(builder);
}

static void add_stacks(JsonBuilder *builder, Sarif *sarif, const CheckResult *result, const Entry *entry)
{
    g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);     /* looked up only: each stack once */
    member_array(builder, "stacks");
    for (guint f = 0; f < entry->findings->len; f++) {
        const Finding *finding = entry_finding(result, entry, f);
        for (unsigned i = 0; i < finding->places; i++) {
            const Place *place = &finding->place[i];
            char *action = describe_action(result->program, place), *key = g_strdup_printf("%u %s", place->site, action);
            if (g_hash_table_add(told, key) && program_caller(result->program, place->site) != NONE)
                add_stack(builder, sarif, result->program, place, action);
            g_free(action);
        }
    }
    json_builder_end_array(builder);
}

static void add_flow_step(JsonBuilder *builder, Sarif *sarif, const Program *program, const NarrativeStep *step, const char *before,
                          unsigned order)
{
    g_autofree char *message = before ? g_strdup_printf("(%s; heddle replay shows them all) %s", before, step->text) : g_strdup(step->text);
    json_builder_begin_object(builder);
    member_object(builder, "location");
    add_location(builder, sarif, program, step->site, message);
    json_builder_end_object(builder);
    member_int(builder, "executionOrder", order);
    member_text(builder, "importance", step->of_fault ? "essential" : "important");
    json_builder_end_object(builder);
}

/* The narrative of the text report: at most NARRATIVE_LINES_MAX steps. A line without a place is joined to the next line with one. */
static void add_flow(JsonBuilder *builder, Sarif *sarif, const Program *program, const GArray *steps)
{
    const char *before = NULL;
    unsigned order = 0;
    for (guint i = 0; i < steps->len; i++) {
        const NarrativeStep *step = &g_array_index(steps, NarrativeStep, i);
        if (step->site == NONE) {
            before = step->text;
            continue;
        }
        add_flow_step(builder, sarif, program, step, before, ++order);
        before = NULL;
    }
}

static void add_code_flows(JsonBuilder *builder, Sarif *sarif, const CheckResult *result, const Finding *finding)
{
    g_autoptr(GArray) steps = narrative_steps(result, finding);
    if (!steps)
        return;
    member_array(builder, "codeFlows");
    json_builder_begin_object(builder);
    add_message(builder, "One schedule that shows it.");
    member_array(builder, "threadFlows");
    json_builder_begin_object(builder);
    member_array(builder, "locations");
    add_flow(builder, sarif, result->program, steps);
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    json_builder_end_array(builder);
}

static void append_escaped(GString *out, const char *text)
{
    g_autoptr(GString) escaped = g_string_new(text);
    g_string_replace(escaped, "\\", "\\\\", 0);         /* brackets would make links */
    g_string_replace(escaped, "[", "\\[", 0);
    g_string_replace(escaped, "]", "\\]", 0);
    g_string_append(out, escaped->str);
}

static void append_link(GString *message, const char *lead, const char *words, guint id)
{
    g_string_append_printf(message, " %s[", lead);
    append_escaped(message, words);
    g_string_append_printf(message, "](%u).", id);
}

/* Services show a related location if the message links to it. Returns the number for the next link. */
static guint append_places(GString *message, const CheckResult *result, const Finding *finding)
{
    g_autoptr(GArray) places = places_shown(result, finding, LOCATIONS_MAX);
    for (guint i = 1; i < places->len; i++) {
        g_autofree char *where = program_describe_site(result->program, g_array_index(places, Place, i).site);
        append_link(message, i == 1 && places->len == 2 ? "The other place: " : "Another place: ", where, i);
    }
    return MAX(places->len, 1);
}

static void append_symptoms(GString *message, const CheckResult *result, const Entry *entry, guint id)
{
    for (guint i = 1; i < MIN(entry->findings->len, LOCATIONS_MAX); i++) {
        g_autofree char *name = places_name(result, entry_finding(result, entry, i));
        g_autoptr(GArray) shown = places_shown(result, entry_finding(result, entry, i), 1);
        if (shown->len > 0)
            append_link(message, "Also of this cause: ", name, id++);
    }
}

static char *message_of(const Sarif *sarif, const CheckResult *result, const Entry *entry, const char *schedule)
{
    const Finding *finding = entry_finding(result, entry, 0);
    g_autofree char *title = text_title(result), *what = message_text(result, finding), *why = message_why(result, finding);
    g_autofree char *input = input_remark(result);
    g_autofree char *see = schedule ? g_strdup_printf(" See it happen: heddle replay %s", schedule) : NULL;
    g_autoptr(GString) message = g_string_new(NULL);
    append_escaped(message, title);
    g_string_append(message, ": ");
    append_escaped(message, what);
    g_string_append(message, ".");
    if (input)
        g_string_append(message, " With the ");
    append_escaped(message, input ? input : "");
    g_string_append(message, input ? "." : "");
    guint id = append_places(message, result, finding);
    if (why)
        g_string_append(message, " ");
    append_escaped(message, why ? why : "");
    append_symptoms(message, result, entry, id);
    for (guint i = 0; result->tried && i < result->tried->len; i++) {
        const Repair *repair = result->tried->pdata[i];
        g_autofree char *words = repair_text(repair);
        g_string_append(message, repair->kind == REPAIR_MENDS ? " Repair: " : " Tried: ");
        append_escaped(message, words);
        g_string_append_c(message, '.');
    }
    g_autofree char *told = paths_in_text(sarif->root, message->str);
    g_string_assign(message, told);
    append_escaped(message, see ? see : "");
    return g_strdup(message->str);
}

/* A line, with its end: replaced, put in before, or left out. */
static void add_replacement(JsonBuilder *builder, const RepairLine *line)
{
    g_autofree char *with = line->new ? g_strconcat(line->new, "\n", NULL) : NULL;
    json_builder_begin_object(builder);
    member_object(builder, "deletedRegion");
    member_int(builder, "startLine", line->line);
    member_int(builder, "startColumn", 1);
    member_int(builder, "endLine", line->line + (line->old != NULL));
    member_int(builder, "endColumn", 1);
    json_builder_end_object(builder);
    if (with)
        add_text_object(builder, "insertedContent", with);
    json_builder_end_object(builder);
}

static void add_change(JsonBuilder *builder, const Sarif *sarif, const GPtrArray *lines, guint *at)
{
    const char *file = ((RepairLine *)lines->pdata[*at])->file;
    json_builder_begin_object(builder);
    add_artifact(builder, sarif, file);
    member_array(builder, "replacements");
    for (; *at < lines->len && !strcmp(((RepairLine *)lines->pdata[*at])->file, file); ++*at)
        add_replacement(builder, lines->pdata[*at]);
    json_builder_end_array(builder);
    json_builder_end_object(builder);
}

/* The repairs whose lines are known. */
static void add_fixes(JsonBuilder *builder, const Sarif *sarif, const CheckResult *result, bool alone)
{
    member_array(builder, "fixes");
    for (guint i = 0; result->tried && i < result->tried->len; i++) {
        const Repair *repair = result->tried->pdata[i];
        g_autoptr(GPtrArray) lines = diff_lines(repair);
        if (!telling_is_repair(repair, alone) || lines->len == 0)
            continue;
        g_autofree char *words = repair_text(repair), *told = paths_in_text(sarif->root, words);
        json_builder_begin_object(builder);
        add_text_object(builder, "description", told);
        member_array(builder, "artifactChanges");
        for (guint at = 0; at < lines->len;)
            add_change(builder, sarif, lines, &at);
        json_builder_end_array(builder);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
}

static const char *baseline_state(const CheckResult *result, const Entry *entry)
{
    guint known = 0;
    for (guint i = 0; i < entry->findings->len; i++)
        known += entry_finding(result, entry, i)->known;
    return known == 0 ? "new" : known == entry->findings->len ? "unchanged" : "updated";
}

static void add_result(Sarif *sarif, const CheckResult *result, const Entry *entry, bool alone, const char *schedule)
{
    const Finding *finding = entry_finding(result, entry, 0);
    char *fingerprint = fingerprint_finding(sarif->source, result, finding);
    g_autofree char *message = message_of(sarif, result, entry, schedule);
    if (!g_hash_table_add(sarif->seen, fingerprint))
        return;
    JsonBuilder *builder = json_builder_new();
    json_builder_begin_object(builder);
    member_text(builder, "ruleId", fault_name(finding->id));
    member_int(builder, "ruleIndex", finding->id);
    member_text(builder, "level", "error");
    add_message(builder, message);
    add_locations(builder, sarif, result, entry);
    add_stacks(builder, sarif, result, entry);
    member_object(builder, "partialFingerprints");
    member_text(builder, "heddleFault/v1", fingerprint);
    g_autofree char *numbered = g_strconcat(fingerprint, ":1", NULL);
    member_text(builder, "primaryLocationLineHash", numbered);      /* used by GitHub: different sizes and moved lines are the same alert */
    json_builder_end_object(builder);
    if (sarif->settings->baseline)
        member_text(builder, "baselineState", baseline_state(result, entry));
    add_code_flows(builder, sarif, result, finding);
    add_fixes(builder, sarif, result, alone);
    member_object(builder, "properties");
    member_text(builder, "program", result->spec->program);
    member_int(builder, "devices", mesh_devices(&result->spec->mesh));
    json_add_orders(builder, "holds_under", finding->holds);
    json_add_orders(builder, "undecided_under", finding->open);
    json_builder_end_object(builder);
    json_builder_end_object(builder);
    g_ptr_array_add(sarif->results, json_builder_get_root(builder));
    g_object_unref(builder);
}

/* Notes a verdict that covers less than it seems to. */
static void note_idle(Sarif *sarif, const CheckResult *result, const char *title)
{
    for (guint i = 0; result->advice && i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        if (!advice_narrows(advice->id))
            continue;
        g_autofree char *where = program_describe_site(result->program, advice->place[0].site);
        g_ptr_array_add(sarif->notes, g_strdup_printf("%s, %s: %s: %s", title, where, advice_name(advice->id), advice->message));
    }
}

static void sarif_add(void *document, const CheckResult *result, const GPtrArray *schedules)
{
    Sarif *sarif = document;
    g_autofree char *title = text_title(result);
    if (result->verdict == VERDICT_BOUNDED) {
        g_autofree char *bounded = describe_bounded(result->outcome);
        g_ptr_array_add(sarif->notes, g_strdup_printf("%s: %s", title, bounded));
    }
    note_idle(sarif, result, title);
    g_autofree char *remark = input_remark(result);
    if (remark && result->verdict != VERDICT_FAULTY)
        g_ptr_array_add(sarif->remarks, g_strdup_printf("%s: %s", title, remark));
    g_autoptr(GPtrArray) entries = result->verdict == VERDICT_FAULTY ? entries_new(result) : NULL;
    for (guint i = 0; entries && i < entries->len; i++) {
        const Entry *entry = entries->pdata[i];
        guint first = g_array_index(entry->findings, guint, 0);
        add_result(sarif, result, entry, entries->len == 1, schedules ? schedules->pdata[first] : NULL);
    }
}

static void sarif_add_error(void *document, const char *message)
{
    Sarif *sarif = document;
    sarif->failed = true;
    g_ptr_array_add(sarif->notes, g_strdup(message));
}

/* "in-flight" -> "InFlight". */
static char *rule_name(const char *id)
{
    GString *name = g_string_new(NULL);
    for (bool first = true; *id; id++) {
        if (*id != '-')
            g_string_append_c(name, first ? g_ascii_toupper(*id) : *id);
        first = *id == '-';
    }
    return g_string_free(name, FALSE);
}

static void add_rule(JsonBuilder *builder, FaultId id)
{
    g_autofree char *name = rule_name(fault_name(id));
    g_autofree char *help = g_strdup_printf("%s\n\nFor example:\n\n%s\nWhat usually helps:\n\n%s", fault_meaning(id), fault_example(id),
                                            fault_repairs(id));
    g_autofree char *markdown = g_strdup_printf("%s\n\nFor example:\n\n```c\n%s```\n\nWhat usually helps:\n\n%s", fault_meaning(id),
                                                fault_example(id), fault_repairs(id));
    json_builder_begin_object(builder);
    member_text(builder, "id", fault_name(id));
    member_text(builder, "name", name);
    add_text_object(builder, "shortDescription", fault_meaning(id));
    add_text_object(builder, "fullDescription", fault_meaning(id));
    member_object(builder, "help");
    member_text(builder, "text", help);
    member_text(builder, "markdown", markdown);
    json_builder_end_object(builder);
    member_object(builder, "defaultConfiguration");
    member_text(builder, "level", "error");
    json_builder_end_object(builder);
    member_object(builder, "properties");
    member_array(builder, "tags");
    json_builder_add_string_value(builder, "correctness");
    json_builder_add_string_value(builder, "concurrency");
    json_builder_end_array(builder);
    member_text(builder, "precision", "very-high");
    member_text(builder, "problem.severity", "error");
    json_builder_end_object(builder);
    json_builder_end_object(builder);
}

static void add_tool(JsonBuilder *builder, const Sarif *sarif)
{
    member_object(builder, "tool");
    member_object(builder, "driver");
    member_text(builder, "name", "Heddle");
    member_text(builder, "version", sarif->settings->version);
    member_text(builder, "semanticVersion", sarif->settings->version);
    member_array(builder, "rules");
    for (FaultId id = 0; id < FAULT_COUNT; id++)
        add_rule(builder, id);
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    json_builder_end_object(builder);
}

static void add_notifications(JsonBuilder *builder, const GPtrArray *texts, const char *level)
{
    for (guint i = 0; i < texts->len; i++) {
        json_builder_begin_object(builder);
        member_text(builder, "level", level);
        add_message(builder, g_ptr_array_index(texts, i));
        json_builder_end_object(builder);
    }
}

static void add_invocation(JsonBuilder *builder, const Sarif *sarif)
{
    member_array(builder, "invocations");
    json_builder_begin_object(builder);
    member_bool(builder, "executionSuccessful", !sarif->failed);
    member_array(builder, "toolExecutionNotifications");
    add_notifications(builder, sarif->notes, sarif->failed ? "error" : "warning");
    add_notifications(builder, sarif->remarks, "note");
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    json_builder_end_array(builder);
}

static void add_run(JsonBuilder *builder, const Sarif *sarif)
{
    g_autofree char *root = g_uri_escape_string(sarif->root, "/", FALSE);
    g_autofree char *base = g_strdup_printf("file://%s%s", root, g_str_has_suffix(root, "/") ? "" : "/");
    json_builder_begin_object(builder);
    add_tool(builder, sarif);
    add_invocation(builder, sarif);
    member_object(builder, "originalUriBaseIds");
    member_object(builder, "SRCROOT");
    member_text(builder, "uri", base);
    json_builder_end_object(builder);
    json_builder_end_object(builder);
    member_text(builder, "columnKind", "utf16CodeUnits");
    member_array(builder, "results");
    for (guint i = 0; i < sarif->results->len; i++)
        json_builder_add_value(builder, json_node_copy(g_ptr_array_index(sarif->results, i)));
    json_builder_end_array(builder);
    json_builder_end_object(builder);
}

static const GString *sarif_text(void *document)
{
    Sarif *sarif = document;
    JsonBuilder *builder = json_builder_new();
    json_builder_begin_object(builder);
    member_text(builder, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    member_text(builder, "version", "2.1.0");
    member_array(builder, "runs");
    add_run(builder, sarif);
    json_builder_end_array(builder);
    g_autofree char *text = members_finish(builder, true);
    g_string_assign(sarif->text, text);
    g_string_append_c(sarif->text, '\n');
    return sarif->text;
}

static void sarif_clear(void *document)
{
    Sarif *sarif = document;
    g_free(sarif->root);
    source_free(sarif->source);
    g_hash_table_unref(sarif->seen);
    g_ptr_array_unref(sarif->results);
    g_ptr_array_unref(sarif->notes);
    g_ptr_array_unref(sarif->remarks);
    g_string_free(sarif->text, TRUE);
    g_free(sarif);
}

const OutputFormat sarif_format = { sarif_begin, sarif_add, sarif_add_error, sarif_text, sarif_clear, false };
