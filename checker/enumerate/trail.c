/* trail.c - a schedule for a state, at no cost during the search.
 *
 * Without memory a state's predecessors are computed: the ways into each of its components, kept if that state is in the table and the
 * turn was possible there. Any visited predecessor was itself reached from the start, so walking back ends there. With memory a turn cannot
 * be undone, and the search logged each state's parent.
 *
 * Only polls can lead in circles. A loop's steps leave no trace, so what is reached by going through one again is reached without: no way
 * goes through a loop's end. (That it leads to the same state may be a guess, and then a schedule would not show what it should.)
 */
#include "expand.h"
#include <string.h>
#include "repack.h"

typedef struct Back {                           /* a walk backwards */
    Walk *walk;
    Table tried;
    GArray *ids;                                /* states from the target on, layout.fields numbers each */
    GArray *moves;                              /* from each to the one before it */
    uint32_t *candidate, *forward;
} Back;

static bool fits(const Walk *walk, const uint32_t *id)
{
    for (unsigned f = 0; f < walk->layout.fields; f++)
        if (!layout_fits(&walk->layout, f, id[f]))
            return false;
    return true;
}

static bool try(Back *back, const uint32_t *id)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    if (!fits(back->walk, id))
        return false;
    layout_pack(&back->walk->layout, id, key);
    const Walk *walk = back->walk;
    if (!table_has(&walk->worker[repack_owner(walk, &walk->layout, key)].table, key))
        return false;
    if (back->tried.count >= back->tried.grow_at && !table_grow(&back->tried))
        return false;
    return table_add(&back->tried, key);
}

/* The join's other members step back too: each came from the component that stood at the join. */
static bool undo_join(Back *back, uint32_t join_id)
{
    Walk *walk = back->walk;
    const Join *join = intern_get(&walk->joins, join_id, NULL);
    for (uint32_t core = join->first; core < join->last; core++) {
        if (!walk_is_member(walk, join, core))
            continue;
        uint32_t before = 0;
        for (uint32_t e = walk_component(walk, core, back->candidate[core])->edges; e && !before;) {
            Edge edge = STORE(Edge, &walk->core[core].edges, e - 1);
            const Turn *turn = &STORE(Turn, &walk->core[core].turns, edge.turn);
            before = turn->how == TURN_JOIN && turn->gauge == join_id ? edge.from : 0;
            e = edge.older;
        }
        if (!before)
            return false;
        back->candidate[core] = before;
    }
    return true;
}

/* Is there a visited state from which this edge of `core` leads to `id`? */
static bool step_back(Back *back, const uint32_t *id, uint32_t core, Edge edge)
{
    Walk *walk = back->walk;
    const Turn turn = STORE(Turn, &walk->core[core].turns, edge.turn);
    if (turn_ends_loop(walk, core, &turn, edge.from, id[core]))
        return false;
    memcpy(back->candidate, id, walk->layout.fields * sizeof *id);
    if (turn.how == TURN_JOIN) {
        if (!turn.need || !undo_join(back, turn.gauge))
            return false;
    } else {
        back->candidate[core] = edge.from;
    }
    if (!turn_take(walk, back->candidate, core, edge.turn, back->forward)
        || memcmp(back->forward, id, walk->layout.fields * sizeof *id) != 0 || !try(back, back->candidate))
        return false;
    Move move = turn_move(walk, core, edge.from, &turn);
    g_array_append_vals(back->ids, back->candidate, walk->layout.fields);
    g_array_append_val(back->moves, move);
    return true;
}

/* One step further back from the last state, or else it is given up. */
static void advance(Back *back)
{
    Walk *walk = back->walk;
    unsigned fields = walk->layout.fields;
    uint32_t *id = g_new(uint32_t, fields);
    memcpy(id, &g_array_index(back->ids, uint32_t, back->ids->len - fields), fields * sizeof *id);
    bool found = false;
    for (uint32_t core = 0; core < walk->cores && !found; core++)
        for (uint32_t e = walk_component(walk, core, id[core])->edges; e && !found;) {
            Edge edge = STORE(Edge, &walk->core[core].edges, e - 1);
            found = step_back(back, id, core, edge);
            e = edge.older;
        }
    g_free(id);
    if (found)
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
    unsigned fields = walk->layout.fields;
    Back back = {.walk = walk, .ids = g_array_new(FALSE, FALSE, sizeof(uint32_t)), .moves = g_array_new(FALSE, FALSE, sizeof(Move)),
                 .candidate = g_new(uint32_t, fields), .forward = g_new(uint32_t, fields)};
    bool found = false;
    if (table_init(&back.tried, (KeyShape){.words = walk->layout.words, .bits = walk->layout.bits}, 8) && try(&back, target)) {
        g_array_append_vals(back.ids, target, fields);
        while (back.ids->len && !found) {
            found = is_start(walk, &g_array_index(back.ids, uint32_t, back.ids->len - fields));
            if (!found)
                advance(&back);
        }
    }
    table_clear(&back.tried);
    g_array_free(back.ids, TRUE);
    g_free(back.candidate);
    g_free(back.forward);
    if (!found) {
        g_array_free(back.moves, TRUE);
        return NULL;
    }
    reverse(back.moves);
    return back.moves;
}

typedef struct Between { Walk *walk; const uint32_t *from, *to; GArray *moves; } Between;

static bool leads_there(void *data, uint32_t core, uint32_t turn, const uint32_t *after)
{
    Between *between = data;
    Walk *walk = between->walk;
    if (memcmp(after, between->to, walk->layout.fields * sizeof *after) != 0)
        return true;
    Move move = turn_move(walk, core, between->from[core], &STORE(Turn, &walk->core[core].turns, turn));
    g_array_append_val(between->moves, move);
    return false;
}

static GArray *read_log(Walk *walk, uint64_t state_index)
{
    unsigned fields = walk->layout.fields;
    GArray *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    uint32_t *from = g_new(uint32_t, fields), *to = g_new(uint32_t, fields);
    const uint64_t *parents = walk->worker[0].parents.key, *keys = walk->worker[0].queue.key;
    for (uint64_t at = state_index; at > 0; at = parents[at]) {
        layout_unpack(&walk->layout, keys + at * walk->layout.words, to);
        layout_unpack(&walk->layout, keys + parents[at] * walk->layout.words, from);
        Between between = {.walk = walk, .from = from, .to = to, .moves = moves};
        guint before = moves->len;
        walk_each(walk, from, leads_there, &between);
        g_assert(moves->len == before + 1);
    }
    g_free(from);
    g_free(to);
    reverse(moves);
    return moves;
}

GArray *trail_find(Walk *walk, const uint32_t *id, uint64_t state_index)
{
    return walk_forgets(walk) ? forward_find(walk, id) : walk->logged ? read_log(walk, state_index) : find_backwards(walk, id);
}
