/* alternative.c - what is possible without some choices of a run (notdep in the literature), found by execution.
 *
 * A second world follows the run. Before each choice q with a reversal, it does all that the run did after q, except the choices to leave
 * out and those that are not possible without them, in rounds until nothing more is possible; conflicting steps keep the order that the
 * run chose on their objects. Steps never disable each other while that order is kept, so the result is maximal.
 */
#include "explore.h"
#include <string.h>

typedef struct Alternative {
    Explorer *x;
    uint32_t first;
    uint64_t *done;                             /* bits of choices */
} Alternative;

/* Are the choices from `first` on that precede i in program order or on its object done? */
static bool order_allows(const Alternative *alternative, uint32_t i)
{
    const Path *path = &alternative->x->path;
    const PathChoice *choice = &path->choice[i];
    if (choice->of_agent != 0 && choice->of_agent - 1 >= alternative->first && !path_bit(alternative->done, choice->of_agent - 1))
        return false;
    for (uint32_t at = path_group(path, choice->on_object, (Manner)choice->manner); at != 0; at = path_group_next(path, at))
        if (at - 1 >= alternative->first && !path_bit(alternative->done, at - 1))
            return false;
    return true;
}

static bool try_choice(Alternative *alternative, uint32_t i)
{
    Explorer *x = alternative->x;
    const PathChoice *choice = &x->path.choice[i];
    Pending pending;
    if (!order_allows(alternative, i) || !world_pending(x->shadow, choice->agent, &pending) || !pending.enabled
        || pending.stage != choice->stage)
        return false;
    Sleeper step = { choice->agent, pending.object, pending.manner };
    steps_add(&x->sequence, &step);
    world_do(x->shadow, choice->agent);
    path_set(alternative->done, i);
    return true;
}

/* Into x->sequence. */
static void do_without(Alternative *alternative, const uint64_t *without)
{
    Explorer *x = alternative->x;
    memset(alternative->done, 0, x->path.words * sizeof *alternative->done);
    x->sequence.count = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = alternative->first + 1; i < x->path.choices; i++)
            if (!path_bit(alternative->done, i) && !(without != NULL && path_bit(without, i)))
                moved |= try_choice(alternative, i);
    }
}

static void try_reversal(Alternative *alternative, const Reversal *reversal)
{
    Explorer *x = alternative->x;
    Pending pending;
    if (!world_pending(x->shadow, reversal->agent, &pending) || !pending.enabled || pending.stage != reversal->stage)
        return;
    steps_copy(&x->reversed, &x->sequence);
    steps_add(&x->reversed, &(Sleeper){ reversal->agent, pending.object, pending.manner });
    insertion_add(x, reversal->first, &x->reversed);
}

static gint compare_reversals(gconstpointer left, gconstpointer right)
{
    const Reversal *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    uint32_t x = a->without + 1, y = b->without + 1;    /* NONE first */
    return x < y ? -1 : x > y;
}

void alternative_run(Explorer *x)
{
    if (x->reversals->len == 0)
        return;
    if (x->shadow == NULL)
        x->shadow = world_new(x->shared);
    g_array_sort(x->reversals, compare_reversals);
    Alternative alternative = { .x = x, .done = g_new0(uint64_t, x->path.words) };
    world_begin(x->shadow);
    for (guint r = 0; r < x->reversals->len;) {
        const Reversal *reversal = &g_array_index(x->reversals, Reversal, r);
        for (; alternative.first < reversal->first; alternative.first++)
            world_do(x->shadow, x->path.choice[alternative.first].agent);
        size_t mark = x->shadow->events;
        uint32_t without = reversal->without;
        do_without(&alternative, without == NONE ? NULL : &g_array_index(x->rows, uint64_t, without));
        for (; r < x->reversals->len; r++) {
            const Reversal *next = &g_array_index(x->reversals, Reversal, r);
            if (next->first != alternative.first || next->without != without)
                break;
            try_reversal(&alternative, next);
        }
        world_undo(x->shadow, mark);
    }
    world_undo(x->shadow, 0);
    g_free(alternative.done);
}
