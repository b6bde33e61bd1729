/* baseline.c - reads only what it needs from the report, any part of which may be missing. */
#include "baseline.h"
#include <json-glib/json-glib.h>
#include <string.h>
#include "../run/infile.h"
#include "describe.h"
#include "fingerprint.h"

typedef struct Known {
    char *fingerprint, *check, *words;          /* check: from check_key; words: for people */
    bool checked, covered, seen;                /* by the current checks; covered: by a complete one */
} Known;

struct Baseline {
    GPtrArray *known;                           /* of Known*, in the order of the report */
    GHashTable *by_fingerprint;                 /* looked up only */
    Source *source;
};

static void free_known(gpointer data)
{
    Known *known = data;
    g_free(known->fingerprint);
    g_free(known->check);
    g_free(known->words);
    g_free(known);
}

static JsonObject *object_member(JsonObject *object, const char *name)
{
    JsonNode *node = object ? json_object_get_member(object, name) : NULL;
    return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static const char *text_member(JsonObject *object, const char *name)
{
    JsonNode *node = object ? json_object_get_member(object, name) : NULL;
    return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node) : NULL;
}

static int64_t int_member(JsonObject *object, const char *name)
{
    JsonNode *node = object ? json_object_get_member(object, name) : NULL;
    return node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_int(node) : 0;
}

static JsonArray *array_member(JsonObject *object, const char *name)
{
    JsonNode *node = object ? json_object_get_member(object, name) : NULL;
    return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static void append_members(GString *key, JsonObject *object)
{
    GList *names = object ? json_object_get_members(object) : NULL;             /* in the order of the file */
    for (GList *at = names; at; at = at->next)
        g_string_append_printf(key, " %s=%" G_GINT64_FORMAT, (char *)at->data, int_member(object, at->data));
    g_list_free(names);
}

static char *key_of_check(JsonObject *check)
{
    GString *key = g_string_new(text_member(check, "program"));
    JsonObject *knobs = object_member(check, "knobs");
    g_string_append_printf(key, " %" G_GINT64_FORMAT " cores", int_member(check, "cores"));
    append_members(key, object_member(check, "mesh"));
    append_members(key, object_member(check, "parameters"));
    for (Knob knob = 0; knob < KNOB_COUNT; knob++) {
        g_autofree char *name = g_strdelimit(g_strdup(describe_knob_name(knob)), "-", '_');
        g_autofree char *first = describe_knob_value(&(const Knobs){ 0 }, knob);           /* an older report lacks the knob */
        const char *value = text_member(knobs, name);
        g_string_append_printf(key, " %s", value ? value : first);
    }
    return g_string_free(key, FALSE);
}

static char *key_of_result(const CheckResult *result)
{
    const CheckSpec *spec = result->spec;
    GString *key = g_string_new(spec->program);
    g_string_append_printf(key, " %u cores", spec->cores);
    for (unsigned axis = 0; axis < spec->mesh.axes; axis++)
        g_string_append_printf(key, " %s=%u", spec->mesh.name[axis], spec->mesh.size[axis]);
    for (size_t i = 0; result->program && i < result->program->parameters.count; i++) {
        const Parameter *parameter = &STORE(Parameter, &result->program->parameters, i);
        g_string_append_printf(key, " %s=%" G_GINT64_FORMAT, program_text(result->program, parameter->name), parameter->value);
    }
    for (Knob knob = 0; knob < KNOB_COUNT; knob++) {
        g_autofree char *value = describe_knob_value(&spec->knobs, knob);
        g_string_append_printf(key, " %s", value);
    }
    return g_string_free(key, FALSE);
}

static bool add_known(Baseline *baseline, JsonObject *check, JsonObject *fault)
{
    const char *fingerprint = text_member(fault, "fingerprint"), *id = text_member(fault, "id"), *message = text_member(fault, "message");
    if (!fingerprint || !id)
        return false;
    Known *known = g_new0(Known, 1);
    known->fingerprint = g_strdup(fingerprint), known->check = key_of_check(check);
    known->words = g_strdup_printf("%s, %" G_GINT64_FORMAT " devices: %s: %s", text_member(check, "program"), int_member(check, "devices"),
                                   id, message ? message : "");
    g_ptr_array_add(baseline->known, known);
    g_hash_table_add(baseline->by_fingerprint, known->fingerprint);
    return true;
}

static bool read_checks(Baseline *baseline, JsonArray *checks)
{
    for (guint i = 0; i < json_array_get_length(checks); i++) {
        JsonNode *node = json_array_get_element(checks, i);
        JsonObject *check = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
        JsonArray *faults = array_member(check, "faults");
        if (!faults || !text_member(check, "program"))
            return false;
        for (guint f = 0; f < json_array_get_length(faults); f++) {
            JsonNode *fault = json_array_get_element(faults, f);
            if (!JSON_NODE_HOLDS_OBJECT(fault) || !add_known(baseline, check, json_node_get_object(fault)))
                return false;
        }
    }
    return true;
}

Baseline *baseline_read(const char *path, char **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(JsonParser) parser = json_parser_new();
    gsize bytes;
    g_autofree char *why = NULL, *text = infile_read(path, &bytes, &why);
    if (text == NULL || !json_parser_load_from_data(parser, text, (gssize)bytes, &problem)) {
        *error = g_strdup_printf("cannot read the baseline %s: %s", path, text == NULL ? why : problem->message);
        return NULL;
    }
    JsonNode *root = json_parser_get_root(parser);
    JsonObject *report = root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
    JsonArray *checks = array_member(report, "checks");
    Baseline *baseline = g_new0(Baseline, 1);
    baseline->known = g_ptr_array_new_with_free_func(free_known);
    baseline->by_fingerprint = g_hash_table_new(g_str_hash, g_str_equal);
    baseline->source = source_new();
    if (checks && !g_strcmp0(text_member(report, "format"), "heddle-report") && int_member(report, "version") == 1
        && read_checks(baseline, checks))
        return baseline;
    *error = g_strdup_printf("%s is not a baseline: it must be a report of heddle check --json, with fingerprints", path);
    baseline_free(baseline);
    return NULL;
}

void baseline_free(Baseline *baseline)
{
    if (!baseline)
        return;
    g_hash_table_unref(baseline->by_fingerprint);
    g_ptr_array_unref(baseline->known);
    source_free(baseline->source);
    g_free(baseline);
}

BaselineCount baseline_mark(Baseline *baseline, CheckResult *result)
{
    BaselineCount count = { 0, 0 };
    g_autofree char *key = key_of_result(result);
    for (guint i = 0; result->verdict == VERDICT_FAULTY && i < result->outcome->findings->len; i++) {
        Finding *finding = g_ptr_array_index(result->outcome->findings, i);
        g_autofree char *fingerprint = fingerprint_finding(baseline->source, result, finding);
        finding->known = g_hash_table_contains(baseline->by_fingerprint, fingerprint);
        for (guint k = 0; finding->known && k < baseline->known->len; k++) {
            Known *known = g_ptr_array_index(baseline->known, k);
            known->seen |= !strcmp(known->fingerprint, fingerprint);
        }
        if (finding_exemption(result->program, finding))
            continue;
        count.known += finding->known;
        count.fresh += !finding->known;
    }
    for (guint k = 0; k < baseline->known->len; k++) {
        Known *known = g_ptr_array_index(baseline->known, k);
        known->checked |= !strcmp(known->check, key);
    }
    bool whole = result->outcome && result->outcome->complete && !result->outcome->incomplete_after_race
        && !result->outcome->unjudged_after_race;
    for (guint k = 0; whole && k < baseline->known->len; k++) {
        Known *known = g_ptr_array_index(baseline->known, k);
        known->covered |= !strcmp(known->check, key);
    }
    return count;
}

GPtrArray *baseline_vanished(const Baseline *baseline)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    for (guint k = 0; k < baseline->known->len; k++) {
        const Known *known = g_ptr_array_index(baseline->known, k);
        if (known->covered && !known->seen)
            g_ptr_array_add(lines, g_strdup(known->words));
    }
    return lines;
}

char *baseline_unchecked(const Baseline *baseline)
{
    unsigned faults = 0;
    const char *example = NULL;
    for (guint k = 0; k < baseline->known->len; k++) {
        const Known *known = g_ptr_array_index(baseline->known, k);
        if (known->checked || known->seen)
            continue;
        faults++;
        example = example ? example : known->words;
    }
    if (faults == 0)
        return NULL;
    int words = (int)(strchr(example, ':') ? strchr(example, ':') - example : (ptrdiff_t)strlen(example));
    return g_strdup_printf("%u fault%s of the baseline %s looked for: nothing checked %.*s%s this time.", faults, faults == 1 ? "" : "s",
                           faults == 1 ? "was not" : "were not", words, example, faults == 1 ? "" : " (and so on)");
}
