/* json.c - builds one check at a time with json-glib and joins the texts, so that the document is complete after each check, in linear
 * time.
 */
#include "json.h"
#include <json-glib/json-glib.h>
#include <string.h>
#include "../facts/members.h"
#include "describe.h"
#include "entry.h"
#include "fingerprint.h"
#include "input_words.h"
#include "message.h"
#include "narrative.h"
#include "output.h"
#include "paths.h"
#include "places.h"

enum { SITES_MAX = 1024 };                      /* of one finding */

/* null if it does not apply. */
static void add_count(JsonBuilder *builder, const char *name, uint64_t count)
{
    json_builder_set_member_name(builder, name);
    if (count == UINT64_MAX)
        json_builder_add_null_value(builder);
    else
        json_builder_add_int_value(builder, MIN(count, (uint64_t)INT64_MAX));
}

static char *agent_name(const Place *place)
{
    static const char *const moment[STEP_KIND_COUNT] = {
        [STEP_EARLY_SEND] = "early send", [STEP_READ] = "read", [STEP_EARLY_RECEIVE] = "early receive", [STEP_WRITE] = "write",
    };
    if (place->copy == NONE)
        return g_strdup("core");
    return g_strdup_printf("dma %u %s", place->copy, place->kind < STEP_KIND_COUNT && moment[place->kind] ? moment[place->kind] : "start");
}

/* Innermost first. */
static void add_chain(JsonBuilder *builder, const Program *program, uint32_t site)
{
    member_array(builder, "chain");
    for (uint32_t call = program_caller(program, site); call != NONE; call = program_caller(program, call)) {
        g_autofree char *words = describe_call(program, call);
        member_element(builder, words);
    }
    json_builder_end_array(builder);
}

static void add_grid(JsonBuilder *builder, const CheckResult *result, const Place *place)
{
    const Program *program = result->program;
    member_array(builder, "grid");
    if (result->record && place->launch < program->launches.count) {
        const int64_t *grid = record_grid(result->record, place->core, place->position);
        for (uint32_t d = 0; grid && d < program_launch(program, place->launch)->grid_dims; d++)
            json_builder_add_int_value(builder, grid[d]);
    }
    json_builder_end_array(builder);
}

/* The object without its device, which is a separate member. */
static void add_object(JsonBuilder *builder, const Program *program, const Place *place)
{
    char *object = describe_object(program, place);
    bool semaphore = step_on_counter(place->kind);
    char *end = object ? g_strrstr(object, semaphore ? " of device " : " on device ") : NULL;
    if (end)
        *end = 0;
    if (object)
        member_text(builder, semaphore ? "semaphore" : "region", object);
    if (object && !semaphore)
        member_int(builder, "region_device", program_object_device(program, place->object));
    if (object && semaphore)
        member_int(builder, "semaphore_device", program_semaphore_core(program, place->object) / program->cores_per_device);
    g_free(object);
}

static void add_place(JsonBuilder *builder, const CheckResult *result, const Place *place)
{
    const Program *program = result->program;
    const Site *site = program_get_site(program, place->site);
    json_builder_begin_object(builder);
    member_text(builder, "file", program_text(program, site->file));
    member_int(builder, "line", site->line);
    member_text(builder, "function", program_text(program, site->function));
    add_chain(builder, program, place->site);
    member_int(builder, "launch", place->launch);
    add_grid(builder, result, place);
    member_int(builder, "device", place->core / program->cores_per_device);
    member_int(builder, "core", place->core % program->cores_per_device);
    char *agent = agent_name(place);
    member_text(builder, "agent", agent);
    g_free(agent);
    member_text(builder, "step", step_kind_name(place->kind));
    add_object(builder, program, place);
    json_builder_end_object(builder);
}

static void add_places(JsonBuilder *builder, const CheckResult *result, const Place *place, unsigned places)
{
    member_array(builder, "sites");
    for (unsigned i = 0; i < places; i++)
        add_place(builder, result, &place[i]);
    json_builder_end_array(builder);
}

/* Takes the lines; NULL: none. */
static void add_lines(JsonBuilder *builder, const char *name, GPtrArray *lines)
{
    member_array(builder, name);
    for (guint i = 0; lines && i < lines->len; i++)
        member_element(builder, lines->pdata[i]);
    json_builder_end_array(builder);
    if (lines)
        g_ptr_array_unref(lines);
}

/* The step that is to blame, if the proof knows. */
static void add_cause(JsonBuilder *builder, const Program *program, const Cause *cause)
{
    if (cause->kind == CAUSE_UNKNOWN)
        return;
    member_object(builder, "cause");
    member_text(builder, "kind", cause_name((CauseKind)cause->kind));
    if (cause->site != NONE) {
        const Site *site = program_get_site(program, cause->site);
        member_text(builder, "file", program_text(program, site->file));
        member_int(builder, "line", site->line);
    }
    if (cause->semaphore != NONE) {
        const Decl *decl = program_decl(program, program_semaphore_decl(program, cause->semaphore));
        member_text(builder, "semaphore", program_text(program, decl->name));
    }
    json_builder_end_object(builder);
}

void json_add_orders(JsonBuilder *builder, const char *name, uint8_t orders)
{
    member_array(builder, name);
    for (DmaOrder order = DMA_ORDER_UNORDERED; order <= DMA_ORDER_ISSUE_ORDER; order++) {
        g_autofree char *word = describe_knob_value(&(const Knobs){ .dma_order = order }, KNOB_DMA_ORDER);
        if (orders >> order & 1)
            json_builder_add_string_value(builder, word);
    }
    json_builder_end_array(builder);
}

static void add_finding(JsonBuilder *builder, Source *source, const CheckResult *result, const Finding *finding, guint entry,
                        const char *schedule)
{
    g_autofree char *fingerprint = fingerprint_finding(source, result, finding);
    g_autoptr(GArray) places = places_shown(result, finding, SITES_MAX);
    const char *reason = finding_exemption(result->program, finding);
    char *message = message_text(result, finding), *why = message_why(result, finding);
    json_builder_begin_object(builder);
    member_text(builder, "id", fault_name(finding->id));
    member_text(builder, "fingerprint", fingerprint);
    if (finding->known)
        member_bool(builder, "known", true);
    member_int(builder, "count", finding->count);
    member_bool(builder, "count_is_upper_bound", finding->at_most);
    member_text(builder, "message", message);
    member_text(builder, "why", why ? why : "");
    if (reason)
        member_text(builder, "reason", reason);
    else
        member_int(builder, "entry", entry);
    add_cause(builder, result->program, &finding->cause);
    add_places(builder, result, (const Place *)(void *)places->data, places->len);
    member_text_or_null(builder, "schedule", schedule);
    member_int(builder, "switches", message_switches(finding));
    json_add_orders(builder, "holds_under", finding->holds);
    json_add_orders(builder, "undecided_under", finding->open);
    add_lines(builder, "story", narrative_lines(result, finding));
    add_lines(builder, "delays", message_delays(result->program, finding));
    json_builder_end_object(builder);
    g_free(why);
    g_free(message);
}

/* In the order of the report: entry by entry, of each the one first that is told in full. */
static void add_faults(JsonBuilder *builder, const CheckResult *result, const GPtrArray *schedules)
{
    Source *source = source_new();
    g_autoptr(GPtrArray) entries = entries_new(result);
    member_array(builder, "faults");
    for (guint e = 0; e < entries->len; e++) {
        const Entry *entry = entries->pdata[e];
        for (guint i = 0; i < entry->findings->len; i++) {
            guint place = g_array_index(entry->findings, guint, i);
            add_finding(builder, source, result, entry_finding(result, entry, i), e + 1, schedules ? schedules->pdata[place] : NULL);
        }
    }
    json_builder_end_array(builder);
    source_free(source);
}

static void add_exempted(JsonBuilder *builder, const CheckResult *result, const GPtrArray *schedules)
{
    Source *source = source_new();
    member_array(builder, "exempted");
    for (guint i = 0; result->outcome && result->program && i < result->outcome->findings->len; i++)
        if (finding_exemption(result->program, result->outcome->findings->pdata[i]))
            add_finding(builder, source, result, result->outcome->findings->pdata[i], 0, schedules ? schedules->pdata[i] : NULL);
    json_builder_end_array(builder);
    source_free(source);
}

static void add_advice(JsonBuilder *builder, const CheckResult *result, bool unreached)
{
    member_array(builder, unreached ? "unreached" : "advice");
    for (guint i = 0; result->advice && i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        if ((advice->id == ADVICE_UNREACHED) != unreached)
            continue;
        json_builder_begin_object(builder);
        member_text(builder, "id", advice_name(advice->id));
        member_text(builder, "message", advice->message ? advice->message : advice_meaning(advice->id));
        add_places(builder, result, advice->place, advice->places);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
}

static void add_edits(JsonBuilder *builder, const Repair *repair)
{
    member_array(builder, "edits");
    for (guint i = 0; i < repair->edits->len; i++) {
        const RepairEdit *edit = repair->edits->pdata[i];
        json_builder_begin_object(builder);
        member_text(builder, "edit", repair_edit_name((EditKind)edit->kind));
        member_text_or_null(builder, "file", edit->file);
        member_int(builder, "line", edit->line);
        if (edit->kind != EDIT_ENTRY_BARRIER)
            member_text(builder, "at", edit->at == EDIT_ANY_STEP ? "any" : step_kind_name(edit->at));
        if (edit->kind == EDIT_BEFORE || edit->kind == EDIT_AFTER)
            member_text(builder, "step", step_kind_name(edit->step));
        member_text_or_null(builder, "semaphore", edit->semaphore);
        member_int(builder, "value", edit->value);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
}

static void add_diff(JsonBuilder *builder, const Repair *repair)
{
    member_array(builder, "diff");
    for (guint i = 0; i < repair->lines->len; i++) {
        const RepairLine *line = repair->lines->pdata[i];
        json_builder_begin_object(builder);
        member_text(builder, "file", line->file);
        member_int(builder, "line", line->line);
        member_text_or_null(builder, "old", line->old);
        member_text_or_null(builder, "new", line->new);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
}

/* The fingerprints of the faults that it removes. */
static void add_removed(JsonBuilder *builder, Source *source, const CheckResult *result, const Repair *repair)
{
    member_array(builder, "removes");
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        g_autofree char *key = finding_key(result->program, finding), *fingerprint = fingerprint_finding(source, result, finding);
        if (g_ptr_array_find_with_equal_func(repair->keys, key, g_str_equal, NULL))
            json_builder_add_string_value(builder, fingerprint);
    }
    json_builder_end_array(builder);
}

static void add_repair(JsonBuilder *builder, Source *source, const CheckResult *result, const Repair *repair)
{
    json_builder_begin_object(builder);
    member_text(builder, "kind", repair_kind_name(repair->kind));
    member_text(builder, "words", repair->words);
    add_edits(builder, repair);
    add_diff(builder, repair);
    add_removed(builder, source, result, repair);
    member_int(builder, "changed_lines", repair->changed);
    member_bool(builder, "data_checked", repair->data_checked);
    json_builder_end_object(builder);
}

/* As sentences, and those that make the program right once more as what they are. */
static void add_tried(JsonBuilder *builder, const CheckResult *result)
{
    guint count = result->tried ? result->tried->len : 0;
    member_array(builder, "tried");
    for (guint i = 0; i < count; i++) {
        g_autofree char *words = repair_text(result->tried->pdata[i]);
        member_element(builder, words);
    }
    json_builder_end_array(builder);
    Source *source = source_new();
    member_array(builder, "repairs");
    for (guint i = 0; i < count; i++) {
        const Repair *repair = result->tried->pdata[i];
        if (repair->kind == REPAIR_MENDS || repair->kind == REPAIR_MASKS)
            add_repair(builder, source, result, repair);
    }
    json_builder_end_array(builder);
    source_free(source);
}

static void add_estimate(JsonBuilder *builder, const Estimate *estimate)
{
    member_object(builder, "classes_estimate");
    member_int(builder, "all", (int64_t)MIN(estimate->all, 1e18));
    member_int(builder, "least", (int64_t)MIN(estimate->least, 1e18));
    member_int(builder, "most", (int64_t)MIN(estimate->most, 1e18));
    json_builder_end_object(builder);
}

static void add_covered(JsonBuilder *builder, const CheckResult *result)
{
    const Outcome *outcome = result->outcome;
    member_object(builder, "covered");
    add_count(builder, "executions", outcome ? outcome->executions : UINT64_MAX);
    add_count(builder, "classes", outcome ? outcome->classes : UINT64_MAX);
    add_count(builder, "states", outcome ? outcome->states : UINT64_MAX);
    if (outcome && outcome->rotated != UINT64_MAX)
        add_count(builder, "rotated_states", outcome->rotated);
    add_count(builder, "transitions", outcome ? outcome->transitions : UINT64_MAX);
    add_count(builder, "steps", outcome ? outcome->steps : UINT64_MAX);
    add_count(builder, "conflicts", outcome ? outcome->conflicts : UINT64_MAX);
    member_array(builder, "limits");
    for (guint i = 0; outcome && i < outcome->limits->len; i++)
        json_builder_add_string_value(builder, outcome->limits->pdata[i]);
    json_builder_end_array(builder);
    member_array(builder, "not_covered");
    for (guint i = 0; outcome && result->program && i < outcome->limits->len; i++) {
        g_autofree char *words = describe_limit(result->program, outcome->limits->pdata[i]);
        member_element(builder, words);
    }
    json_builder_end_array(builder);
    if (outcome && outcome->estimate.all > 0)
        add_estimate(builder, &outcome->estimate);
    if (outcome && outcome->stopped)
        member_text(builder, "stopped", outcome->stopped);
    if (outcome && outcome->promise)
        member_text(builder, "promise", outcome->promise);
    member_array(builder, "modes");
    for (unsigned bit = 0; describe_mode(bit); bit++)
        if (outcome && (outcome->modes & 1u << bit))
            json_builder_add_string_value(builder, describe_mode(bit));
    json_builder_end_array(builder);
    add_advice(builder, result, true);
    member_bool(builder, "incomplete_after_race", outcome && outcome->incomplete_after_race);
    member_bool(builder, "unjudged_after_race", outcome && outcome->unjudged_after_race);
    json_builder_end_object(builder);
}

static void add_size(JsonBuilder *builder, const CheckResult *result)
{
    const CheckSpec *spec = result->spec;
    member_int(builder, "devices", mesh_devices(&spec->mesh));
    member_int(builder, "cores", spec->cores);
    member_object(builder, "mesh");
    for (unsigned axis = 0; axis < spec->mesh.axes; axis++)
        member_int(builder, spec->mesh.name[axis], spec->mesh.size[axis]);
    json_builder_end_object(builder);
    member_object(builder, "parameters");
    for (size_t i = 0; result->program && i < result->program->parameters.count; i++) {
        const Parameter *parameter = &STORE(Parameter, &result->program->parameters, i);
        member_int(builder, program_text(result->program, parameter->name), parameter->value);
    }
    json_builder_end_object(builder);
}

static void add_knobs(JsonBuilder *builder, const Knobs *knobs)
{
    member_object(builder, "knobs");
    for (Knob knob = 0; knob < KNOB_COUNT; knob++) {
        char *name = g_strdelimit(g_strdup(describe_knob_name(knob)), "-", '_'), *value = describe_knob_value(knobs, knob);
        member_text(builder, name, value);
        g_free(value);
        g_free(name);
    }
    json_builder_end_object(builder);
}

static JsonNode *check_node(const CheckResult *result, const GPtrArray *schedules)
{
    JsonBuilder *builder = json_builder_new();
    json_builder_begin_object(builder);
    member_text(builder, "program", result->spec->program);
    member_text_or_null(builder, "source", result->spec->source ? result->spec->source : result->program ? result->program->source : "");
    add_size(builder, result);
    member_text(builder, "verdict", verdict_name(result->verdict));
    if (result->verdict == VERDICT_NOT_APPLICABLE)
        member_text(builder, "reason", result->error);
    /* What decided, which for auto may be the proof, classes (steps conflict), or states (there is an exempted race). */
    bool explored = result->outcome && result->outcome->redundant != UINT64_MAX;
    bool walked = result->outcome && result->outcome->states != UINT64_MAX;
    Search search = walked ? SEARCH_ENUMERATE : result->spec->search == SEARCH_AUTO ? SEARCH_PROVE : result->spec->search;
    member_text(builder, "search", explored ? "classes" : search_name(search));
    add_knobs(builder, &result->spec->knobs);
    member_bool(builder, "results_checked", result->results_checked);
    add_covered(builder, result);
    input_json(builder, result);
    member_object(builder, "measured");
    json_builder_set_member_name(builder, "seconds");
    json_builder_add_double_value(builder, result->seconds);
    member_int(builder, "peak_bytes", result->peak_bytes);
    json_builder_end_object(builder);
    add_faults(builder, result, schedules);
    add_exempted(builder, result, schedules);
    add_advice(builder, result, false);
    add_tried(builder, result);
    json_builder_end_object(builder);
    JsonNode *node = json_builder_get_root(builder);
    g_object_unref(builder);
    return node;
}

typedef struct JsonDocument {
    GString *text;                              /* the whole document so far */
    size_t open;                                /* bytes of it without the closing brackets */
    unsigned checks;
    char *root;                                 /* files are told relative to it */
    GPtrArray *errors;                          /* of char*: one line each, for what could not be checked */
} JsonDocument;

static void close_document(JsonDocument *document)
{
    g_string_append(document->text, document->checks ? "\n  ],\n  \"errors\" : [" : "],\n  \"errors\" : [");
    for (guint i = 0; i < document->errors->len; i++) {
        JsonNode *node = json_node_init_string(json_node_alloc(), document->errors->pdata[i]);
        char *text = json_to_string(node, FALSE);
        g_string_append_printf(document->text, "%s%s", i ? ", " : "", text);
        g_free(text);
        json_node_unref(node);
    }
    g_string_append(document->text, "]\n}\n");
}

static void tell_paths(JsonNode *node, const char *root);

static void tell_member(JsonObject *object, const char *name, const char *root)
{
    JsonNode *member = json_object_get_member(object, name);
    if (!strcmp(name, "schedule"))              /* as heddle replay can open it from this folder */
        return;
    bool file = !strcmp(name, "file") || !strcmp(name, "source"), relative;
    if (!file || json_node_get_value_type(member) != G_TYPE_STRING) {
        tell_paths(member, root);
        return;
    }
    g_autofree char *told = paths_shown(root, json_node_get_string(member), &relative);
    json_node_set_string(member, told);
}

/* Makes paths relative in members that name a file, and in sentences. */
static void tell_paths(JsonNode *node, const char *root)
{
    if (JSON_NODE_HOLDS_ARRAY(node)) {
        JsonArray *array = json_node_get_array(node);
        for (guint i = 0; i < json_array_get_length(array); i++)
            tell_paths(json_array_get_element(array, i), root);
    } else if (JSON_NODE_HOLDS_OBJECT(node)) {
        JsonObject *object = json_node_get_object(node);
        g_autoptr(GList) members = json_object_get_members(object);
        for (GList *at = members; at; at = at->next)
            tell_member(object, at->data, root);
    } else if (json_node_get_value_type(node) == G_TYPE_STRING) {
        g_autofree char *told = paths_in_text(root, json_node_get_string(node));
        json_node_set_string(node, told);
    }
}

static void *json_begin(const OutputSettings *settings)
{
    JsonDocument *document = g_new0(JsonDocument, 1);
    document->root = paths_root(settings->source_root);
    document->text = g_string_new(NULL);
    g_string_append_printf(document->text, "{\n  \"format\" : \"heddle-report\",\n  \"version\" : 1,\n  \"heddle\" : \"%s\",\n",
                           settings->version);
    g_string_append(document->text, "  \"checks\" : [");
    document->open = document->text->len;
    document->errors = g_ptr_array_new_with_free_func(g_free);
    close_document(document);
    return document;
}

/* Results without a verdict (ERROR) are no checks but errors. */
static void json_add(void *to, const CheckResult *result, const GPtrArray *schedules)
{
    JsonDocument *document = to;
    JsonNode *node = check_node(result, schedules);
    tell_paths(node, document->root);
    char *check = json_to_string(node, TRUE), **line = g_strsplit(check, "\n", -1), *shifted = g_strjoinv("\n    ", line);
    g_string_truncate(document->text, document->open);
    g_string_append_printf(document->text, "%s\n    %s", document->checks++ ? "," : "", shifted);
    document->open = document->text->len;
    close_document(document);
    g_free(shifted);
    g_strfreev(line);
    g_free(check);
    json_node_unref(node);
}

static void json_add_error(void *to, const char *message)
{
    JsonDocument *document = to;
    g_ptr_array_add(document->errors, g_utf8_make_valid(message, -1));
    g_string_truncate(document->text, document->open);
    close_document(document);
}

static const GString *json_text(void *document)
{
    return ((JsonDocument *)document)->text;
}

static void json_clear(void *of)
{
    JsonDocument *document = of;
    g_string_free(document->text, TRUE);
    g_ptr_array_unref(document->errors);
    g_free(document->root);
    g_free(document);
}

const OutputFormat json_format = { json_begin, json_add, json_add_error, json_text, json_clear, true };

static void add_entry(JsonBuilder *builder, const CatalogueEntry *entry)
{
    json_builder_begin_object(builder);
    member_text(builder, "name", entry->name);
    member_text(builder, "group", entry->group);
    member_text(builder, "summary", entry->summary);
    member_text(builder, "source", entry->source);
    member_object(builder, "parameters");
    for (guint i = 0; i < entry->parameters->len; i++) {
        const CatalogueParameter *parameter = &g_array_index(entry->parameters, CatalogueParameter, i);
        member_object(builder, parameter->name);
        member_int(builder, "default", parameter->value);
        member_int(builder, "least", parameter->least);
        member_int(builder, "greatest", parameter->greatest);
        json_builder_end_object(builder);
    }
    json_builder_end_object(builder);
    add_count(builder, "devices_min", entry->devices_min ? entry->devices_min : UINT64_MAX);
    member_object(builder, "expected");
    member_text(builder, "verdict", verdict_name(entry->expected_faults ? VERDICT_FAULTY : VERDICT_VERIFIED));
    if (entry->expected_faults) {
        member_array(builder, "faults");
        for (unsigned id = 0; id < FAULT_COUNT; id++)
            if (entry->expected_faults & (1u << id))
                json_builder_add_string_value(builder, fault_name(id));
        json_builder_end_array(builder);
        member_int(builder, "from", entry->expected_from);
    }
    json_builder_end_object(builder);
    json_builder_end_object(builder);
}

char *json_catalogue(const GPtrArray *catalogue)
{
    JsonBuilder *builder = json_builder_new();
    json_builder_begin_object(builder);
    member_array(builder, "programs");
    for (guint i = 0; i < catalogue->len; i++)
        add_entry(builder, catalogue->pdata[i]);
    json_builder_end_array(builder);
    return members_finish(builder, true);
}
