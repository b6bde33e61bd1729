/* line_map.c - of several lines with the same text, the one nearest to the old line number. */
#include "line_map.h"
#include "../facts/schedule.h"
#include "source.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The place at the end of a move's line, after the kind of its step; *line: its line number. NULL: none. */
static const char *place_of(const char *text, unsigned *line)
{
    const char *number = strpbrk(text, "@#"), *kind = number ? strchr(number, ' ') : NULL, *colon = strrchr(text, ':');
    size_t longest = 0;
    for (StepKind k = 0; kind != NULL && k < STEP_KIND_COUNT; k++)
        if (g_str_has_prefix(kind + 1, step_kind_name(k)) && kind[1 + strlen(step_kind_name(k))] == ' ')
            longest = MAX(longest, strlen(step_kind_name(k)));
    const char *place = longest > 0 ? kind + longest + 2 : NULL;
    if (place == NULL || colon == NULL || colon < place || !g_ascii_isdigit(colon[1]))
        return NULL;
    *line = (unsigned)strtoul(colon + 1, NULL, 10);
    return place;
}

GPtrArray *line_map_fields(const GPtrArray *lines)
{
    GPtrArray *code = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
    Source *source = source_new();
    for (guint i = 0; lines != NULL && i < lines->len; i++) {
        unsigned line;
        const char *place = place_of(g_ptr_array_index(lines, i), &line);
        if (place == NULL || !g_hash_table_add(told, (gpointer)place))
            continue;
        g_autofree char *file = g_strndup(place, (gsize)(strrchr(place, ':') - place));
        const char *text = source_line(source, file, line);
        g_autofree char *stripped = text ? g_strstrip(g_strdup(text)) : NULL;
        if (stripped != NULL)
            g_ptr_array_add(code, g_strdup_printf("%s %s", place, stripped));
    }
    source_free(source);
    return code;
}

static bool has_text(Source *source, const char *file, unsigned line, const char *text)
{
    const char *here = line >= 1 ? source_line(source, file, line) : NULL;
    g_autofree char *stripped = here ? g_strstrip(g_strdup(here)) : NULL;
    return stripped != NULL && strcmp(stripped, text) == 0;
}

/* 0: not found. */
static unsigned find_text(Source *source, const char *file, unsigned was, const char *text)
{
    unsigned last = source_count(source, file);
    was = MIN(was, last);
    for (unsigned away = 0; away < last; away++) {
        if (was > away && has_text(source, file, was - away, text))
            return was - away;
        if (has_text(source, file, was + away, text))
            return was + away;
    }
    return 0;
}

static const char *text_of(const GPtrArray *code, const char *place)
{
    size_t length = strlen(place);
    for (guint i = 0; i < code->len; i++) {
        const char *field = g_ptr_array_index(code, i);
        if (strncmp(field, place, length) == 0 && field[length] == ' ')
            return field + length + 1;
    }
    return NULL;
}

void line_map_apply(GPtrArray *lines, const GPtrArray *code)
{
    Source *source = source_new();
    g_autoptr(GHashTable) now = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < lines->len; i++) {
        char *text = g_ptr_array_index(lines, i);
        unsigned line;
        const char *place = place_of(text, &line), *known = place ? text_of(code, place) : NULL;
        if (place == NULL)
            continue;
        g_autofree char *file = g_strndup(place, (gsize)(strrchr(place, ':') - place));
        if (!g_file_test(file, G_FILE_TEST_IS_REGULAR))
            continue;
        gpointer found;
        if (!g_hash_table_lookup_extended(now, place, NULL, &found)) {
            found = GUINT_TO_POINTER(known ? find_text(source, file, line, known) : 0);
            g_hash_table_insert(now, g_strdup(place), found);
        }
        g_ptr_array_index(lines, i) = g_strdup_printf("%.*s%s:%u", (int)(place - text), text, file, GPOINTER_TO_UINT(found));
        g_free(text);
    }
    source_free(source);
}
