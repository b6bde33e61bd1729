/* table.c - each column as wide as its widest word, but the last, which nothing follows. */
#include "table.h"

void table_init(Table *table, unsigned columns)
{
    table->columns = columns;
    table->words = g_ptr_array_new_with_free_func(g_free);
}

void table_clear(Table *table)
{
    g_ptr_array_unref(table->words);
}

void table_add(Table *table, const char *word)
{
    g_ptr_array_add(table->words, g_strdup(word));
}

void table_append_to(const Table *table, GString *out, const char *indent)
{
    glong *width = g_new0(glong, table->columns);
    g_assert(table->words->len % table->columns == 0);
    for (guint i = 0; i < table->words->len; i++)
        width[i % table->columns] = MAX(width[i % table->columns], g_utf8_strlen(table->words->pdata[i], -1));
    for (guint i = 0; i < table->words->len; i++) {
        guint column = i % table->columns;
        const char *word = table->words->pdata[i];
        g_string_append_printf(out, "%s%s", column ? "  " : indent, word);
        if (column + 1 < table->columns) {
            g_string_append_printf(out, "%*s", (int)(width[column] - g_utf8_strlen(word, -1)), "");
            continue;
        }
        while (out->len && out->str[out->len - 1] == ' ')
            g_string_truncate(out, out->len - 1);
        g_string_append_c(out, '\n');
    }
    g_free(width);
}
