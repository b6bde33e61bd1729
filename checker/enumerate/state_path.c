/* state_path.c - a schedule for a state, at no cost during the search.
 *
 * Without memory: states before it, kept if they are in the table and the transition was possible there. Any visited predecessor was itself
 * reached from the start, so walking back ends there; only polls can lead in circles, hence states that were tried are not tried again.
 * With memory the ways back are many, and not all of them as short: there queues keep all states, and one is looked for in the level
 * before.
 */
#include "predecessor.h"
#include <string.h>
#include "frontier.h"
#include "repack.h"
#include "symmetry.h"
#include "transition.h"

typedef struct Back {                           /* a walk backwards */
    Walk *walk;
    const uint32_t *id;                         /* the state in hand */
    Table tried;
    GArray *ids;                                /* states from the target on, layout.fields numbers each */
    GArray *moves;                              /* from each to the one before it */
    uint32_t *forward;
    bool found;
} Back;

static bool pack(const Walk *walk, const uint32_t *id, uint64_t *key)
{
    for (unsigned f = 0; f < walk->layout.fields; f++)
        if (!layout_fits(&walk->layout, f, id[f]))
            return false;
    layout_pack(&walk->layout, id, key);
    return true;
}

static bool add(Table *table, const uint64_t *key)
{
    return (table->count < table->grow_at || table_grow(table)) && table_add(table, key);
}

/* Does the transition lead from `before` to `id`? */
static bool leads(Walk *walk, const uint32_t *before, uint32_t core, uint32_t transition, const uint32_t *id, uint32_t *forward)
{
    return transition_take(walk, before, core, transition, forward) && memcmp(forward, id, walk->layout.fields * sizeof *id) == 0;
}

static void add_move(GArray *moves, const Walk *walk, uint32_t core, uint32_t component, uint32_t transition)
{
    Move move = transition_move(walk, core, component, &STORE(Transition, &walk->core[core].transitions, transition));
    g_array_append_val(moves, move);
}

/* Was the state visited, or one that rotations turn it into? */
static bool was_visited(const Walk *walk, const uint64_t *state)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    memcpy(key, state, walk->layout.words * sizeof *key);
    if (walk->symmetry != NULL)
        symmetry_canonical(walk->symmetry, &walk->layout, key);
    return table_has(&walk->worker[repack_owner(walk, &walk->layout, key)].table, key);
}

static bool step_back(void *data, uint32_t core, uint32_t transition, const uint32_t *before)
{
    Back *back = data;
    Walk *walk = back->walk;
    uint64_t key[LAYOUT_WORDS_MAX];
    if (!pack(walk, before, key) || !was_visited(walk, key) || !leads(walk, before, core, transition, back->id, back->forward)
        || !add(&back->tried, key))
        return true;
    g_array_append_vals(back->ids, before, walk->layout.fields);
    add_move(back->moves, walk, core, before[core], transition);
    back->found = true;
    return false;
}

/* One step further back from the last state, or else it is given up. */
static void advance(Back *back)
{
    unsigned fields = back->walk->layout.fields;
    g_autofree uint32_t *id = g_memdup2(&g_array_index(back->ids, uint32_t, back->ids->len - fields), fields * sizeof *id);
    back->id = id, back->found = false;
    predecessor_each(back->walk, id, step_back, back);
    if (back->found)
        return;
    g_array_set_size(back->ids, back->ids->len - fields);
    if (back->moves->len)
        g_array_set_size(back->moves, back->moves->len - 1);
}

static bool is_start(const Walk *walk, const uint32_t *id)
{
    for (unsigned f = 0; f < walk->layout.fields; f++)
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

static GArray *find_backwards(Walk *walk, const uint32_t *target)
{
    const unsigned fields = walk->layout.fields;
    Back back = {.walk = walk, .ids = g_array_new(FALSE, FALSE, sizeof(uint32_t)), .moves = g_array_new(FALSE, FALSE, sizeof(Move)),
                 .forward = g_new(uint32_t, fields)};
    bool found = false;
    uint64_t key[LAYOUT_WORDS_MAX];
    layout_pack(&walk->layout, target, key);
    if (table_init(&back.tried, (KeyShape){.words = walk->layout.words, .bits = walk->layout.bits}, 8) && add(&back.tried, key)) {
        g_array_append_vals(back.ids, target, fields);
        while (back.ids->len && !found) {
            found = is_start(walk, &g_array_index(back.ids, uint32_t, back.ids->len - fields));
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

typedef struct Way { uint32_t core, transition; } Way;
typedef struct Ways {                           /* that may have led to a state; in each the state before, packed */
    Walk *walk;
    GArray *way, *keys;
    Table wanted;
} Ways;

static bool note_way(void *data, uint32_t core, uint32_t transition, const uint32_t *before)
{
    Ways *ways = data;
    uint64_t key[LAYOUT_WORDS_MAX];
    if (!pack(ways->walk, before, key))
        return true;
    Way way = {.core = core, .transition = transition};
    g_array_append_val(ways->way, way);
    g_array_append_vals(ways->keys, key, ways->walk->layout.words);
    add(&ways->wanted, key);
    return true;
}

/* Those of the wanted states that a level has, into `there`. */
static void look_through(const Walk *walk, uint64_t level, const Table *wanted, Table *there)
{
    for (unsigned i = 0; i < walk->workers; i++) {
        const Worker *worker = &walk->worker[i];
        uint64_t end = level + 1 < worker->levels->len ? g_array_index(worker->levels, uint64_t, level + 1) : worker->queue.tail;
        for (uint64_t at = g_array_index(worker->levels, uint64_t, level); at < end; at++) {
            const uint64_t *key = worker->queue.key + at * walk->layout.words;
            if (table_has(wanted, key))
                add(there, key);
        }
    }
}

/* `id` becomes the first of the states before it that its level has. */
static void back_one_level(Walk *walk, uint32_t *id, uint64_t level, GArray *moves)
{
    const unsigned words = walk->layout.words, fields = walk->layout.fields;
    const KeyShape shape = {.words = words, .bits = walk->layout.bits};
    Ways ways = {.walk = walk, .way = g_array_new(FALSE, FALSE, sizeof(Way)), .keys = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    g_autofree uint32_t *before = g_new(uint32_t, fields), *forward = g_new(uint32_t, fields);
    Table there;
    if (!table_init(&ways.wanted, shape, 8) || !table_init(&there, shape, 8))
        g_error("no memory is left for a schedule");
    predecessor_each(walk, id, note_way, &ways);
    look_through(walk, level - 1, &ways.wanted, &there);
    bool found = false;
    for (guint i = 0; i < ways.way->len && !found; i++) {
        const uint64_t *key = &g_array_index(ways.keys, uint64_t, i * words);
        Way way = g_array_index(ways.way, Way, i);
        layout_unpack(&walk->layout, key, before);
        found = table_has(&there, key) && leads(walk, before, way.core, way.transition, id, forward);
        if (found)
            add_move(moves, walk, way.core, before[way.core], way.transition);
    }
    g_assert(found);
    memcpy(id, before, fields * sizeof *id);
    table_clear(&ways.wanted);
    table_clear(&there);
    g_array_free(ways.way, TRUE);
    g_array_free(ways.keys, TRUE);
}

static GArray *find_by_levels(Walk *walk, const uint32_t *target, uint64_t level)
{
    GArray *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    g_autofree uint32_t *id = g_memdup2(target, walk->layout.fields * sizeof *id);
    for (; level > 0; level--)
        back_one_level(walk, id, level, moves);
    reverse(moves);
    return moves;
}

GArray *state_path_find(Walk *walk, const uint32_t *id, uint64_t level)
{
    if (walk_forgets(walk))
        return state_path_find_forward(walk, id);
    return walk->keeps ? find_by_levels(walk, id, level) : find_backwards(walk, id);
}
