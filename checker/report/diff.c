/* diff.c - hunks with a line or two of context; changes that share context are one hunk. */
#include "diff.h"
#include <string.h>

enum { CONTEXT = 2 };

static gint by_place(gconstpointer a, gconstpointer b)
{
    const RepairLine *one = *(RepairLine *const *)a, *two = *(RepairLine *const *)b;
    int files = strcmp(one->file, two->file);
    if (files != 0 || one->line != two->line)
        return files != 0 ? files : one->line < two->line ? -1 : 1;
    return (one->old != NULL) - (two->old != NULL);         /* what is put in before a line, then the line */
}

static void append_context(GString *out, Source *source, const char *file, unsigned from, unsigned until)
{
    for (unsigned line = from; line < until; line++) {
        const char *text = source_line(source, file, line);
        g_string_append_printf(out, " %s\n", text ? text : "");
    }
}

/* The changes lines[first..end), which share context. *shift: by how many lines the new file is longer so far. */
static void append_hunk(GString *out, Source *source, const GPtrArray *lines, guint first, guint end, int *shift)
{
    const RepairLine *head = lines->pdata[first], *tail = lines->pdata[end - 1];
    unsigned known = source_count(source, head->file), from = head->line > CONTEXT ? head->line - CONTEXT : 1;
    unsigned until = MAX(MIN(tail->line + CONTEXT + (tail->old != NULL), known), tail->line + (tail->old != NULL)), next = from;
    g_autoptr(GString) body = g_string_new(NULL);
    int added = 0;
    for (guint i = first; i < end; i++) {
        const RepairLine *line = lines->pdata[i];
        append_context(body, source, line->file, next, line->line);
        if (line->old != NULL)
            g_string_append_printf(body, "-%s\n", line->old);
        if (line->new != NULL)
            g_string_append_printf(body, "+%s\n", line->new);
        added += (line->new != NULL) - (line->old != NULL);
        next = line->line + (line->old != NULL);
    }
    append_context(body, source, head->file, next, until);
    g_string_append_printf(out, "@@ -%u,%u +%d,%d @@\n%s", from, until - from, (int)from + *shift, (int)(until - from) + added, body->str);
    *shift += added;
}

static void append_file(GString *out, Source *source, const GPtrArray *lines, guint first, guint end)
{
    const RepairLine *head = lines->pdata[first];
    int shift = 0;
    g_string_append_printf(out, "--- %s\n+++ %s\n", head->file, head->file);
    for (guint from = first, until; from < end; from = until) {
        for (until = from + 1; until < end; until++) {
            const RepairLine *before = lines->pdata[until - 1], *line = lines->pdata[until];
            if (line->line > before->line + 2 * CONTEXT)
                break;
        }
        append_hunk(out, source, lines, from, until, &shift);
    }
}

GPtrArray *diff_lines(const Repair *repair)
{
    GPtrArray *lines = g_ptr_array_copy(repair->lines, NULL, NULL);
    g_ptr_array_set_free_func(lines, NULL);
    g_ptr_array_sort(lines, by_place);
    return lines;
}

char *diff_text(const Repair *repair, Source *source)
{
    if (repair->lines->len == 0)
        return NULL;
    g_autoptr(GPtrArray) lines = diff_lines(repair);
    GString *out = g_string_new(NULL);
    for (guint first = 0, end; first < lines->len; first = end) {
        const RepairLine *head = lines->pdata[first];
        for (end = first + 1; end < lines->len && strcmp(((RepairLine *)lines->pdata[end])->file, head->file) == 0; end++)
            ;
        append_file(out, source, lines, first, end);
    }
    return g_string_free(out, FALSE);
}
