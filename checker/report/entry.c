/* entry.c - each finding is an entry of its own. */
#include "entry.h"

static void entry_free(gpointer data)
{
    Entry *entry = data;
    g_array_unref(entry->findings);
    g_free(entry);
}

static Entry *entry_new(void)
{
    Entry *entry = g_new0(Entry, 1);
    entry->findings = g_array_new(FALSE, FALSE, sizeof(guint));
    return entry;
}

const Finding *entry_finding(const CheckResult *result, const Entry *entry, guint i)
{
    return result->outcome->findings->pdata[g_array_index(entry->findings, guint, i)];
}

GPtrArray *entries_new(const CheckResult *result)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func(entry_free);
    for (guint i = 0; result->outcome && i < result->outcome->findings->len; i++) {
        if (finding_exemption(result->program, result->outcome->findings->pdata[i]))
            continue;
        Entry *entry = entry_new();
        g_array_append_val(entry->findings, i);
        g_ptr_array_add(entries, entry);
    }
    return entries;
}

guint entry_number(const GPtrArray *entries, guint finding)
{
    for (guint e = 0; e < entries->len; e++) {
        const Entry *entry = entries->pdata[e];
        for (guint i = 0; i < entry->findings->len; i++)
            if (g_array_index(entry->findings, guint, i) == finding)
                return e + 1;
    }
    return 0;
}
