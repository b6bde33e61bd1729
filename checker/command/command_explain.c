/* command_explain.c - `heddle explain`: faults, advice and the glossary. */
#include <string.h>
#include "../report/suggest.h"
#include "glossary.h"
#include "session.h"

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
