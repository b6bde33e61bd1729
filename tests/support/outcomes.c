/* outcomes.c - numbers first, then findings with their schedules, then how it ends. */
#include "outcomes.h"
#include <string.h>

static bool same_moves(const GArray *one, const GArray *other)
{
    if (one == NULL || other == NULL)
        return one == other;
    bool same = one->len == other->len;
    for (guint i = 0; same && i < one->len; i++) {
        const Move a = g_array_index(one, Move, i), b = g_array_index(other, Move, i);
        same = a.core == b.core && a.copy == b.copy && a.moment == b.moment;
    }
    return same;
}

static bool same_ends(const GArray *one, const GArray *other)
{
    return one->len == other->len && (one->len == 0 || memcmp(one->data, other->data, one->len * sizeof(uint64_t)) == 0);
}

char *outcomes_differ(const Outcome *one, const Outcome *expected, const char *what)
{
    bool same = one->findings->len == expected->findings->len;
    for (guint i = 0; same && i < one->findings->len; i++) {
        const Finding *a = g_ptr_array_index(one->findings, i), *b = g_ptr_array_index(expected->findings, i);
        same = finding_compare(a, b) == 0 && a->count == b->count && same_moves(a->moves, b->moves);
    }
    const struct { const char *name; uint64_t one, expected; } number[] = {
        { "states", one->states, expected->states }, { "transitions", one->transitions, expected->transitions },
        { "classes", one->classes, expected->classes }, { "redundant classes", one->redundant, expected->redundant },
        { "steps", one->steps, expected->steps }, { "conflicts", one->conflicts, expected->conflicts },
        { "complete", one->complete, expected->complete }, { "limits", one->limits->len, expected->limits->len },
        { "findings as they were", same, true },
        { "end states as they were", same_ends(one->end_states, expected->end_states), true },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(number); i++)
        if (number[i].one != number[i].expected)
            return g_strdup_printf("%s: %s: %" G_GUINT64_FORMAT " in place of %" G_GUINT64_FORMAT "\n", what, number[i].name, number[i].one,
                                   number[i].expected);
    return NULL;
}
