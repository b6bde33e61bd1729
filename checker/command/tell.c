/* tell.c - the commands that only tell: list, explain, compile. */
#include <string.h>
#include "../report/columns.h"
#include "../report/json.h"
#include "../report/suggest.h"
#include "glossary.h"
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

static void explain_fault(Session *session, FaultId id)
{
    text_colored(&session->text, TEXT_BAD, "%s", fault_name(id));
    text_wrapped(&session->text, 0, ": ", fault_meaning(id));
    g_string_append_printf(session->text.out, "\nFor example:\n\n%s\nWhat usually helps:\n\n%s", fault_example(id), fault_repairs(id));
}

static void explain_line(Session *session, int width, const char *name, const char *meaning)
{
    g_autofree char *lead = g_strdup_printf("%-*s ", width, name);
    text_wrapped(&session->text, 2, lead, meaning);
}

static void explain_all(Session *session)
{
    g_string_append(session->text.out, "Faults:\n");
    for (unsigned id = 0; id < FAULT_COUNT; id++)
        explain_line(session, 14, fault_name(id), fault_meaning(id));
    g_string_append(session->text.out, "Advice, never a fault on its own:\n");
    for (unsigned id = 0; id < ADVICE_COUNT; id++)
        explain_line(session, 21, advice_name(id), advice_meaning(id));
    g_string_append(session->text.out, "Words:\n");
    for (const GlossaryWord *word = glossary; word->name; word++)
        explain_line(session, 12, word->name, word->meaning);
}

int command_explain(Session *session)
{
    const char *name = session->options->operands->len ? session->options->operands->pdata[0] : NULL;
    GPtrArray *names = g_ptr_array_new();
    FaultId fault;
    unsigned advice = 0;
    for (unsigned id = 0; id < FAULT_COUNT; id++)
        g_ptr_array_add(names, (char *)fault_name(id));
    for (unsigned id = 0; id < ADVICE_COUNT; id++)
        g_ptr_array_add(names, (char *)advice_name(id));
    for (const GlossaryWord *word = glossary; word->name; word++)
        g_ptr_array_add(names, (char *)word->name);
    while (name && advice < ADVICE_COUNT && strcmp(name, advice_name(advice)))
        advice++;
    if (session->options->names_only) {
        for (guint i = 0; i < names->len; i++)
            g_string_append_printf(session->text.out, "%s\n", (char *)names->pdata[i]);
    } else if (!name) {
        explain_all(session);
    } else if (fault_from_name(name, &fault)) {
        explain_fault(session, fault);
    } else if (advice < ADVICE_COUNT) {
        text_wrapped(&session->text, 0, "", advice_meaning(advice));
    } else if (glossary_meaning(name)) {
        text_wrapped(&session->text, 0, "", glossary_meaning(name));
    } else {
        const char *near = suggest_nearest(names, name);
        session_fail(session, near ? g_strdup_printf("no fault or word is called %s; did you mean %s?", name, near)
                                   : g_strdup_printf("no fault or word is called %s; heddle explain lists them", name));
    }
    g_ptr_array_unref(names);
    return session_end(session);
}

int command_compile(Session *session)
{
    const Options *options = session->options;
    const char *source = options->operands->pdata[0];
    CompileOptions compile = selection_compile_options(options);
    char *error = NULL, *base = g_path_get_basename(source), *output = NULL, *command = NULL, *module = NULL;
    if (!g_str_has_suffix(source, ".c")) {
        error = g_strdup_printf("%s: heddle compile needs a .c file", source);
    } else {
        base[strlen(base) - 2] = 0;
        output = options->output ? g_strdup(options->output) : g_strdup_printf("%s.so", base);
        command = compile_command(source, output, &compile, &error);
    }
    if (command) {
        g_string_append_printf(session->text.out, "%s\n", command);
        session_print(session);
        module = compile_module(source, output, &compile, &error);
    }
    if (error)
        session_fail(session, error);
    g_free(module);
    g_free(command);
    g_free(output);
    g_free(base);
    return session_end(session);
}
