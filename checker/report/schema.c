/* schema.c - heddle-report.schema.json, in which "@faults" and the like stand for lists of words. */
#include "schema.h"
#include <string.h>
#include "../check/search.h"
#include "describe.h"

static const char SCHEMA[] =
#include "schema.inc"
    ;

/* "|a|b" -> "a", "b" in place of the hole, with its quotes. */
static void fill(GString *text, const char *hole, const char *words)
{
    g_auto(GStrv) word = g_strsplit(words + strspn(words, "|"), "|", -1);
    g_autofree char *joined = g_strjoinv("\", \"", word), *quoted = g_strdup_printf("\"%s\"", joined);
    g_autofree char *at = g_strdup_printf("\"@%s\"", hole);
    guint filled = g_string_replace(text, at, quoted, 0);
    g_assert(filled > 0);
}

void schema_append_to(GString *out)
{
    g_autoptr(GString) text = g_string_new(SCHEMA), faults = g_string_new(NULL), advice = g_string_new(NULL);
    for (FaultId id = 0; id < FAULT_COUNT; id++)
        g_string_append_printf(faults, "|%s", fault_name(id));
    for (AdviceId id = 0; id < ADVICE_COUNT; id++)
        g_string_append_printf(advice, "|%s", advice_name(id));
    fill(text, "faults", faults->str);
    fill(text, "advice", advice->str);
    fill(text, "searches", strchr(search_names(), '|'));        /* auto is told as what it chose */
    for (Knob knob = 0; knob < KNOB_COUNT; knob++)
        fill(text, describe_knob_name(knob), describe_knob_values(knob));
    g_string_append_len(out, text->str, (gssize)text->len);
}
