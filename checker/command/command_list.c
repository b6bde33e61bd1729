/* command_list.c - `heddle list`: the programs by group, as a table, as names or as JSON. */
#include <string.h>
#include "../report/columns.h"
#include "../report/json.h"
#include "selection.h"

static void list_expectation(GString *out, const CatalogueEntry *entry)
{
    if (!entry->expected_faults)
        return;
    g_string_append(out, " [wrong:");
    for (unsigned id = 0; id < FAULT_COUNT; id++)
        if (entry->expected_faults & (1u << id))
            g_string_append_printf(out, " %s", fault_name(id));
    g_string_append_printf(out, " from %u devices]", entry->expected_from);
}

static void list_parameters(GString *out, const CatalogueEntry *entry)
{
    for (guint i = 0; i < entry->parameters->len; i++) {
        const CatalogueParameter *parameter = &g_array_index(entry->parameters, CatalogueParameter, i);
        g_string_append_printf(out, "%s%s=%" G_GINT64_FORMAT " (%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT ")", i ? ", " : "; -D ",
                               parameter->name, parameter->value, parameter->least, parameter->greatest);
    }
}

static void list_table(Session *session, const GPtrArray *entries)
{
    const char *group = NULL;
    Columns table;
    columns_init(&table, 2);
    for (guint i = 0; i < entries->len; i++) {
        const CatalogueEntry *entry = entries->pdata[i];
        if (!group || strcmp(group, entry->group)) {
            columns_append_to(&table, session->text.out, "  ");
            g_ptr_array_set_size(table.words, 0);
            text_colored(&session->text, TEXT_STRONG, "%s", entry->group);
            g_string_append_c(session->text.out, '\n');
            group = entry->group;
        }
        GString *what = g_string_new(entry->summary);
        list_expectation(what, entry);
        if (session->options->verbose)
            list_parameters(what, entry);
        columns_add(&table, entry->name);
        columns_add(&table, what->str);
        g_string_free(what, TRUE);
    }
    columns_append_to(&table, session->text.out, "  ");
    columns_clear(&table);
}

static gint compare_entries(gconstpointer a, gconstpointer b)
{
    const CatalogueEntry *left = *(const CatalogueEntry *const *)a, *right = *(const CatalogueEntry *const *)b;
    int by_group = strcmp(left->group, right->group);
    return by_group ? by_group : strcmp(left->name, right->name);
}

int command_list(Session *session)
{
    Selection selection;
    char *error = NULL;
    GPtrArray *entries = g_ptr_array_new();
    if (!selection_read(&selection, session, &error))
        session_fail(session, error);
    for (guint i = 0; !error && i < selection.programs->len; i++)
        g_ptr_array_add(entries, (void *)g_array_index(selection.programs, Selected, i).entry);
    g_ptr_array_sort(entries, compare_entries);
    if (!error && session->options->json_list) {
        char *json = json_catalogue(entries);
        g_string_append_printf(session->text.out, "%s\n", json);
        g_free(json);
    } else if (!error && session->options->names_only) {
        for (guint i = 0; i < entries->len; i++)
            g_string_append_printf(session->text.out, "%s\n", ((CatalogueEntry *)entries->pdata[i])->name);
    } else {
        list_table(session, entries);
    }
    g_ptr_array_unref(entries);
    selection_clear(&selection);
    return session_end(session);
}
