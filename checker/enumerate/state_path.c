/* state_path.c - a schedule that reaches a state, at no cost during the search.
 *
 * Without memory: searches backwards over predecessors in the table whose transition was possible. Each visited predecessor was itself
 * reached from the start, so this ends there; only polls can lead in circles, hence no state is tried twice. With memory there are too
 * many ways back, of different lengths: there queues keep all states, and each predecessor is looked for in the previous level.
 */
#include "state_path.h"
#include <string.h>
#include "predecessor.h"
#include "state_path_forward.h"
#include "symmetry.h"
#include "transition.h"

typedef struct Back {                           /* a search backwards */
    StateSpace *space;
    const Frontier *frontier;
    const uint32_t *id;                         /* the current state */
    Table tried;
    GArray *ids;                                /* states from the target on, layout.fields numbers each */
    GArray *moves;                              /* from each to the one before it */
    uint32_t *forward;
    bool found;
} Back;

static bool pack(const StateSpace *space, const uint32_t *id, uint64_t *key)
{
    for (unsigned f = 0; f < space->layout.fields; f++)
        if (!layout_fits(&space->layout, f, id[f]))
            return false;
    layout_pack(&space->layout, id, key);
    return true;
}

static bool add(Table *table, const uint64_t *key)
{
    return (table->count < table->grow_at || table_grow(table)) && table_add(table, key);
}

/* Does the transition lead from `before` to `id`? */
static bool leads(StateSpace *space, const uint32_t *before, uint32_t core, uint32_t transition, const uint32_t *id, uint32_t *forward)
{
    return transition_take(space, before, core, transition, forward) && memcmp(forward, id, space->layout.fields * sizeof *id) == 0;
}

static void add_move(GArray *moves, const StateSpace *space, uint32_t core, uint32_t component, uint32_t transition)
{
    Move move = transition_move(space, core, component, space_transition(space, core, transition));
    g_array_append_val(moves, move);
}

/* Was the state, or a rotation of it, visited? */
static bool was_visited(const StateSpace *space, const Frontier *frontier, const uint64_t *state)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    memcpy(key, state, space->layout.words * sizeof *key);
    if (space->symmetry != NULL)
        symmetry_canonical(space->symmetry, &space->layout, key);
    return table_has(&frontier->worker[frontier_owner(frontier, &space->layout, key)].table, key);
}

static bool step_back(void *data, uint32_t core, uint32_t transition, const uint32_t *before)
{
    Back *back = data;
    StateSpace *space = back->space;
    uint64_t key[LAYOUT_WORDS_MAX];
    if (!pack(space, before, key) || !was_visited(space, back->frontier, key)
        || !leads(space, before, core, transition, back->id, back->forward) || !add(&back->tried, key))
        return true;
    g_array_append_vals(back->ids, before, space->layout.fields);
    add_move(back->moves, space, core, before[core], transition);
    back->found = true;
    return false;
}

/* One step back from the last state; if there is none, drops that state. */
static void advance(Back *back)
{
    unsigned fields = back->space->layout.fields;
    g_autofree uint32_t *id = g_memdup2(&g_array_index(back->ids, uint32_t, back->ids->len - fields), fields * sizeof *id);
    back->id = id, back->found = false;
    predecessor_each(back->space, id, step_back, back);
    if (back->found)
        return;
    g_array_set_size(back->ids, back->ids->len - fields);
    if (back->moves->len)
        g_array_set_size(back->moves, back->moves->len - 1);
}

static bool is_start(const StateSpace *space, const uint32_t *id)
{
    for (unsigned f = 0; f < space->layout.fields; f++)
        if (id[f] != 1)
            return false;
    return true;
}

static void reverse(GArray *moves)
{
    for (guint low = 0, high = moves->len; low + 1 < high; low++, high--) {
        Move swapped = g_array_index(moves, Move, low);
        g_array_index(moves, Move, low) = g_array_index(moves, Move, high - 1);
        g_array_index(moves, Move, high - 1) = swapped;
    }
}

static GArray *find_backwards(StateSpace *space, const Frontier *frontier, const uint32_t *target)
{
    const unsigned fields = space->layout.fields;
    Back back = {.space = space, .frontier = frontier, .ids = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                 .moves = g_array_new(FALSE, FALSE, sizeof(Move)), .forward = g_new(uint32_t, fields)};
    bool found = false;
    uint64_t key[LAYOUT_WORDS_MAX];
    layout_pack(&space->layout, target, key);
    if (table_init(&back.tried, (KeyShape){.words = space->layout.words, .bits = space->layout.bits}, 8) && add(&back.tried, key)) {
        g_array_append_vals(back.ids, target, fields);
        while (back.ids->len && !found) {
            found = is_start(space, &g_array_index(back.ids, uint32_t, back.ids->len - fields));
            if (!found)
                advance(&back);
        }
    }
    table_clear(&back.tried);
    g_array_free(back.ids, TRUE);
    g_free(back.forward);
    if (!found) {
        g_array_free(back.moves, TRUE);
        return NULL;
    }
    reverse(back.moves);
    return back.moves;
}

/* ---- level by level ---- */

typedef struct PathStep { uint32_t core, transition; } PathStep;
typedef struct Ways {                           /* candidate predecessors of a state, packed */
    StateSpace *space;
    GArray *way, *keys;
    Table wanted;
} Ways;

static bool note_way(void *data, uint32_t core, uint32_t transition, const uint32_t *before)
{
    Ways *ways = data;
    uint64_t key[LAYOUT_WORDS_MAX];
    if (!pack(ways->space, before, key))
        return true;
    PathStep way = {.core = core, .transition = transition};
    g_array_append_val(ways->way, way);
    g_array_append_vals(ways->keys, key, ways->space->layout.words);
    add(&ways->wanted, key);
    return true;
}

/* Writes the wanted states that the level has to `there`. */
static void look_through(const StateSpace *space, const Frontier *frontier, uint64_t level, const Table *wanted, Table *there)
{
    for (unsigned i = 0; i < frontier->workers; i++) {
        const Worker *worker = &frontier->worker[i];
        uint64_t end = level + 1 < worker->levels->len ? g_array_index(worker->levels, uint64_t, level + 1) : worker->queue.tail;
        for (uint64_t at = g_array_index(worker->levels, uint64_t, level); at < end; at++) {
            const uint64_t *key = worker->queue.key + at * space->layout.words;
            if (table_has(wanted, key))
                add(there, key);
        }
    }
}

/* Replaces `id` by the first predecessor that the previous level has. */
static void back_one_level(StateSpace *space, const Frontier *frontier, uint32_t *id, uint64_t level, GArray *moves)
{
    const unsigned words = space->layout.words, fields = space->layout.fields;
    const KeyShape shape = {.words = words, .bits = space->layout.bits};
    Ways ways = {.space = space, .way = g_array_new(FALSE, FALSE, sizeof(PathStep)), .keys = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    g_autofree uint32_t *before = g_new(uint32_t, fields), *forward = g_new(uint32_t, fields);
    Table there;
    if (!table_init(&ways.wanted, shape, 8) || !table_init(&there, shape, 8))
        g_error("no memory is left for a schedule");
    predecessor_each(space, id, note_way, &ways);
    look_through(space, frontier, level - 1, &ways.wanted, &there);
    bool found = false;
    for (guint i = 0; i < ways.way->len && !found; i++) {
        const uint64_t *key = &g_array_index(ways.keys, uint64_t, i * words);
        PathStep way = g_array_index(ways.way, PathStep, i);
        layout_unpack(&space->layout, key, before);
        found = table_has(&there, key) && leads(space, before, way.core, way.transition, id, forward);
        if (found)
            add_move(moves, space, way.core, before[way.core], way.transition);
    }
    g_assert(found);
    memcpy(id, before, fields * sizeof *id);
    table_clear(&ways.wanted);
    table_clear(&there);
    g_array_free(ways.way, TRUE);
    g_array_free(ways.keys, TRUE);
}

static GArray *find_by_levels(StateSpace *space, const Frontier *frontier, const uint32_t *target, uint64_t level)
{
    GArray *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    g_autofree uint32_t *id = g_memdup2(target, space->layout.fields * sizeof *id);
    for (; level > 0; level--)
        back_one_level(space, frontier, id, level, moves);
    reverse(moves);
    return moves;
}

GArray *state_path_find(StateSpace *space, const Frontier *frontier, const uint32_t *id, uint64_t level)
{
    if (space_forgets(space))
        return state_path_find_forward(space, id);
    return frontier->keeps ? find_by_levels(space, frontier, id, level) : find_backwards(space, frontier, id);
}
