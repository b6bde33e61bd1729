/* columns.c - pads each column except the last to its widest word. */
#include "columns.h"

void columns_init(Columns *columns, unsigned count)
{
    columns->count = count;
    columns->words = g_ptr_array_new_with_free_func(g_free);
}

void columns_clear(Columns *columns)
{
    g_ptr_array_unref(columns->words);
}

void columns_add(Columns *columns, const char *word)
{
    g_ptr_array_add(columns->words, g_strdup(word));
}

void columns_append_to(const Columns *columns, GString *out, const char *indent)
{
    glong *width = g_new0(glong, columns->count);
    g_assert(columns->words->len % columns->count == 0);
    for (guint i = 0; i < columns->words->len; i++)
        width[i % columns->count] = MAX(width[i % columns->count], g_utf8_strlen(columns->words->pdata[i], -1));
    for (guint i = 0; i < columns->words->len; i++) {
        guint column = i % columns->count;
        const char *word = columns->words->pdata[i];
        g_string_append_printf(out, "%s%s", column ? "  " : indent, word);
        if (column + 1 < columns->count) {
            g_string_append_printf(out, "%*s", (int)(width[column] - g_utf8_strlen(word, -1)), "");
            continue;
        }
        while (out->len && out->str[out->len - 1] == ' ')
            g_string_truncate(out, out->len - 1);
        g_string_append_c(out, '\n');
    }
    g_free(width);
}
