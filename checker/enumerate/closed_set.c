/* closed_set.c - by the one successor after the other of transition.c, which shares little with how states are expanded in a search. */
#include "closed_set.h"
#include <string.h>
#include "frontier.h"
#include "repack.h"
#include "symmetry.h"

enum { LOOKED_AT_MAX = 4096 };

typedef struct ClosedSet {
    Walk *walk;
    Table ahead;                                /* the states of the level to come */
    uint64_t states, stride;                    /* passed so far; how many for one that is looked at */
    uint32_t *id;
    bool good;
} ClosedSet;

static bool is_known(const Walk *walk, const uint32_t *id)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    for (unsigned f = 0; f < walk->layout.fields; f++)
        if (!layout_fits(&walk->layout, f, id[f]))
            return false;
    layout_pack(&walk->layout, id, key);
    if (walk->symmetry != NULL)
        symmetry_canonical(walk->symmetry, &walk->layout, key);
    return table_has(&walk->worker[repack_owner(walk, &walk->layout, key)].table, key);
}

static bool see_successor(void *data, uint32_t core, uint32_t transition, const uint32_t *after)
{
    ClosedSet *closed = data;
    (void)core, (void)transition;
    closed->good &= is_known(closed->walk, after);
    return closed->good;
}

static void see_state(void *data, const uint64_t *key)
{
    ClosedSet *closed = data;
    if (!closed->good || closed->states++ % closed->stride != 0 || table_has(&closed->ahead, key))
        return;
    layout_unpack(&closed->walk->layout, key, closed->id);
    walk_each(closed->walk, closed->id, see_successor, closed);
}

static bool gather_ahead(ClosedSet *closed)
{
    const Walk *walk = closed->walk;
    Table *ahead = &closed->ahead;
    bool room = table_init(ahead, (KeyShape){.words = walk->layout.words, .bits = walk->layout.bits}, 8);
    for (unsigned i = 0; room && i < walk->workers; i++) {
        const Queue *queue = &walk->worker[i].queue;
        for (uint64_t at = queue->head; room && at < queue->tail; at++) {
            room = ahead->count < ahead->grow_at || table_grow(ahead);
            if (room)
                table_add(ahead, queue->key + at * walk->layout.words);
        }
    }
    return room;
}

bool closed_set_check(Walk *walk)
{
    if (walk_sweeps(walk) || walk->hashed || walk->merges)
        return true;
    ClosedSet closed = {.walk = walk, .good = true, .id = g_new(uint32_t, walk->layout.fields)};
    uint64_t states = 0;
    for (unsigned i = 0; i < walk->workers; i++)
        states += walk->worker[i].table.count;
    closed.stride = states / LOOKED_AT_MAX + 1;
    for (unsigned f = 0; f < walk->layout.fields; f++)
        closed.id[f] = 1;
    closed.good = is_known(walk, closed.id);
    if (gather_ahead(&closed))
        for (unsigned i = 0; i < walk->workers; i++)
            table_each(&walk->worker[i].table, see_state, &closed);
    table_clear(&closed.ahead);
    g_free(closed.id);
    return closed.good;
}
