/* members.h - one call for each member of a JSON object, for all reports in JSON.
 *
 * Ownership:   the builder belongs to the caller; texts are copied and made valid UTF-8.
 */
#pragma once
#include <json-glib/json-glib.h>
#include <stdbool.h>
#include <stdint.h>

static inline void member_name(JsonBuilder *builder, const char *name)
{
    char *valid = g_utf8_make_valid(name, -1);
    json_builder_set_member_name(builder, valid);
    g_free(valid);
}

static inline void member_text(JsonBuilder *builder, const char *name, const char *text)
{
    char *valid = g_utf8_make_valid(text ? text : "", -1);
    member_name(builder, name);
    json_builder_add_string_value(builder, valid);
    g_free(valid);
}

static inline void member_text_or_null(JsonBuilder *builder, const char *name, const char *text)
{
    if (text) {
        member_text(builder, name, text);
        return;
    }
    member_name(builder, name);
    json_builder_add_null_value(builder);
}

/* An element of an array. */
static inline void member_element(JsonBuilder *builder, const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    json_builder_add_string_value(builder, valid);
    g_free(valid);
}

static inline void member_int(JsonBuilder *builder, const char *name, int64_t value)
{
    member_name(builder, name);
    json_builder_add_int_value(builder, value);
}

static inline void member_bool(JsonBuilder *builder, const char *name, bool value)
{
    member_name(builder, name);
    json_builder_add_boolean_value(builder, value);
}

static inline void member_object(JsonBuilder *builder, const char *name)
{
    member_name(builder, name);
    json_builder_begin_object(builder);
}

static inline void member_array(JsonBuilder *builder, const char *name)
{
    member_name(builder, name);
    json_builder_begin_array(builder);
}

/* Ends the outermost object and returns its text; frees the builder. */
static inline char *members_finish(JsonBuilder *builder, bool pretty)
{
    json_builder_end_object(builder);
    JsonNode *node = json_builder_get_root(builder);
    char *text = json_to_string(node, pretty);
    json_node_unref(node);
    g_object_unref(builder);
    return text;
}
