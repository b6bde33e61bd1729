/* closed_set.c - uses transition.c, one successor after the other, which shares little with the search's inner loop. */
#include "closed_set.h"
#include <string.h>
#include "successor.h"
#include "symmetry.h"

enum { LOOKED_AT_MAX = 4096 };

typedef struct ClosedSet {
    StateSpace *space;
    const Frontier *frontier;
    Table ahead;                                /* the states of the next level */
    uint64_t states, stride;                    /* passed so far; one of `stride` is checked */
    uint32_t *id;
    bool good;
} ClosedSet;

static bool is_known(const StateSpace *space, const Frontier *frontier, const uint32_t *id)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    for (unsigned f = 0; f < space->layout.fields; f++)
        if (!layout_fits(&space->layout, f, id[f]))
            return false;
    layout_pack(&space->layout, id, key);
    if (space->symmetry != NULL)
        symmetry_canonical(space->symmetry, &space->layout, key);
    return table_has(&frontier->worker[frontier_owner(frontier, &space->layout, key)].table, key);
}

static bool see_successor(void *data, uint32_t core, uint32_t transition, const uint32_t *after)
{
    ClosedSet *closed = data;
    (void)core, (void)transition;
    closed->good &= is_known(closed->space, closed->frontier, after);
    return closed->good;
}

static void see_state(void *data, const uint64_t *key)
{
    ClosedSet *closed = data;
    if (!closed->good || closed->states++ % closed->stride != 0 || table_has(&closed->ahead, key))
        return;
    layout_unpack(&closed->space->layout, key, closed->id);
    successor_each(closed->space, closed->id, see_successor, closed);
}

static bool gather_ahead(ClosedSet *closed)
{
    const StateSpace *space = closed->space;
    const Frontier *frontier = closed->frontier;
    Table *ahead = &closed->ahead;
    bool room = table_init(ahead, (KeyShape){.words = space->layout.words, .bits = space->layout.bits}, 8);
    for (unsigned i = 0; room && i < frontier->workers; i++) {
        const Queue *queue = &frontier->worker[i].queue;
        for (uint64_t at = queue->head; room && at < queue->tail; at++) {
            room = ahead->count < ahead->grow_at || table_grow(ahead);
            if (room)
                table_add(ahead, queue->key + at * space->layout.words);
        }
    }
    return room;
}

bool closed_set_check(StateSpace *space, const Frontier *frontier)
{
    if (space_sweeps(space) || frontier->hashed || space_merges(space))
        return true;
    ClosedSet closed = {.space = space, .frontier = frontier, .good = true, .id = g_new(uint32_t, space->layout.fields)};
    uint64_t states = 0;
    for (unsigned i = 0; i < frontier->workers; i++)
        states += frontier->worker[i].table.count;
    closed.stride = states / LOOKED_AT_MAX + 1;
    for (unsigned f = 0; f < space->layout.fields; f++)
        closed.id[f] = 1;
    closed.good = is_known(space, frontier, closed.id);
    if (gather_ahead(&closed))
        for (unsigned i = 0; i < frontier->workers; i++)
            table_each(&frontier->worker[i].table, see_state, &closed);
    table_clear(&closed.ahead);
    g_free(closed.id);
    return closed.good;
}
