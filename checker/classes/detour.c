/* detour.c - what can be done without some picks of a run, found by doing it.
 *
 * A second world walks along the run. Before each pick q from which something can be turned round, it does all that the run did after q,
 * save what is left out and what cannot be done then, in rounds until nothing more is possible; conflict steps keep the order that the run
 * chose on their objects. Steps never disable each other as long as that order is kept, so what gets done is the most that can be.
 */
#include "explore.h"
#include <string.h>

typedef struct Detour {
    Explorer *x;
    uint32_t first;
    uint64_t *done;                             /* bits of picks */
} Detour;

/* The picks that must come before i on its object, from `first` on, are done. */
static bool order_allows(const Detour *detour, uint32_t i)
{
    const Path *path = &detour->x->path;
    const Pick *pick = &path->pick[i];
    if (pick->of_agent != 0 && pick->of_agent - 1 >= detour->first && !path_bit(detour->done, pick->of_agent - 1))
        return false;
    for (uint32_t at = path_group(path, pick->on_object, (Manner)pick->manner); at != 0; at = path_group_next(path, at))
        if (at - 1 >= detour->first && !path_bit(detour->done, at - 1))
            return false;
    return true;
}

static bool try_pick(Detour *detour, uint32_t i)
{
    Explorer *x = detour->x;
    const Pick *pick = &x->path.pick[i];
    Pending pending;
    if (!order_allows(detour, i) || !world_pending(x->shadow, pick->agent, &pending) || !pending.enabled || pending.stage != pick->stage)
        return false;
    Sleeper step = { pick->agent, pending.object, pending.manner };
    steps_add(&x->sequence, &step);
    world_do(x->shadow, pick->agent);
    path_set(detour->done, i);
    return true;
}

/* Into x->sequence. */
static void do_without(Detour *detour, const uint64_t *without)
{
    Explorer *x = detour->x;
    memset(detour->done, 0, x->path.words * sizeof *detour->done);
    x->sequence.count = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = detour->first + 1; i < x->path.picks; i++)
            if (!path_bit(detour->done, i) && !(without != NULL && path_bit(without, i)))
                moved |= try_pick(detour, i);
    }
}

static void try_reversal(Detour *detour, const Reversal *reversal)
{
    Explorer *x = detour->x;
    Pending pending;
    if (!world_pending(x->shadow, reversal->agent, &pending) || !pending.enabled || pending.stage != reversal->stage)
        return;
    steps_copy(&x->turned, &x->sequence);
    steps_add(&x->turned, &(Sleeper){ reversal->agent, pending.object, pending.manner });
    turn_insert(x, reversal->first, &x->turned);
}

static gint compare_reversals(gconstpointer left, gconstpointer right)
{
    const Reversal *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    uint32_t x = a->without + 1, y = b->without + 1;            /* NONE first */
    return x < y ? -1 : x > y;
}

void detour_run(Explorer *x)
{
    if (x->reversals->len == 0)
        return;
    if (x->shadow == NULL)
        x->shadow = world_new(x->shared);
    g_array_sort(x->reversals, compare_reversals);
    Detour detour = { .x = x, .done = g_new0(uint64_t, x->path.words) };
    world_begin(x->shadow);
    for (guint r = 0; r < x->reversals->len;) {
        const Reversal *reversal = &g_array_index(x->reversals, Reversal, r);
        for (; detour.first < reversal->first; detour.first++)
            world_do(x->shadow, x->path.pick[detour.first].agent);
        size_t mark = x->shadow->deeds;
        uint32_t without = reversal->without;
        do_without(&detour, without == NONE ? NULL : &g_array_index(x->rows, uint64_t, without));
        for (; r < x->reversals->len; r++) {
            const Reversal *next = &g_array_index(x->reversals, Reversal, r);
            if (next->first != detour.first || next->without != without)
                break;
            try_reversal(&detour, next);
        }
        world_undo(x->shadow, mark);
    }
    world_undo(x->shadow, 0);
    g_free(detour.done);
}
