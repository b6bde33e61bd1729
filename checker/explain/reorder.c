/* reorder.c - breadth-first search over blocks, runs of one agent's moves: level k holds the states reachable with k blocks.
 *
 * A block is as long as possible, because no move disables another. An agent that can do all its remaining moves in one block does so at
 * once, since it needs at least one block anyway. Neither loses the optimum. A level wider than its limit keeps the states with most
 * moves done; then the result is a good order, not always the best. A state is a vector: how many moves each agent has done. Vectors are
 * kept for the current level only; earlier states keep just their parent and block. States are identified by a Zobrist hash; a collision
 * loses a state.
 */
#include "reorder.h"
#include "../run/child.h"
#include "move_graph.h"
#include <string.h>
#include "../../model/rng.h"

enum { WIDTH_MAX = 2048, WIDTH_MIN = 1 };

typedef struct State { guint parent; uint32_t agent, until; guint done; uint64_t hash; } State;     /* agent: whose block led there */

typedef struct Reorder {
    MoveGraph *graph;
    GArray *nodes;                              /* of the graph */
    guint agents, *agent;                       /* node -> its agent */
    guint *first;                               /* agent -> index of its first node in order[] */
    guint *order, *rank;                        /* nodes sorted by agent; node -> its index among its agent's */
    int64_t *count;
    GArray *states;                             /* of State: all of the levels expanded so far */
    GArray *next;                               /* of State: successors of the current level */
    GArray *vectors;                            /* of uint16_t, `agents` for each state of the current level */
    GHashTable *seen;                           /* of hashes */
    uint16_t *now;                              /* the vector of the current state */
} Reorder;

static MoveNode *node_at(const Reorder *r, guint i)
{
    return &g_array_index(r->nodes, MoveNode, i);
}

static gint compare_nodes(gconstpointer left, gconstpointer right, gpointer data)
{
    const Reorder *r = data;
    const MoveNode *a = node_at(r, *(const guint *)left), *b = node_at(r, *(const guint *)right);
    if (a->move.core != b->move.core)
        return a->move.core < b->move.core ? -1 : 1;
    uint32_t x = a->move.copy + 1, y = b->move.copy + 1;
    if (x != y)
        return x < y ? -1 : 1;
    guint i = *(const guint *)left, j = *(const guint *)right;
    return (i > j) - (i < j);
}

static void number_agents(Reorder *r)
{
    guint nodes = r->nodes->len;
    r->order = g_new(guint, nodes), r->rank = g_new0(guint, nodes), r->first = g_new0(guint, nodes + 1);
    r->agent = g_new0(guint, nodes);
    for (guint i = 0; i < nodes; i++)
        r->order[i] = i;
    g_qsort_with_data(r->order, (gint)nodes, sizeof(guint), compare_nodes, r);
    for (guint i = 0; i < nodes; i++) {
        MoveNode *node = node_at(r, r->order[i]), *last = i ? node_at(r, r->order[i - 1]) : NULL;
        bool same = last != NULL && last->move.core == node->move.core && last->move.copy == node->move.copy;
        if (!same)
            r->first[r->agents++] = i;
        r->agent[r->order[i]] = r->agents - 1;
        r->rank[r->order[i]] = i - r->first[r->agents - 1];
    }
    r->first[r->agents] = nodes;
}

static bool is_done(const Reorder *r, guint node)
{
    return r->now[r->agent[node]] > r->rank[node];
}

static bool can_go(const Reorder *r, guint index)
{
    const MoveNode *node = node_at(r, index);
    for (guint i = 0; i < node->before_count; i++)
        if (!is_done(r, g_array_index(r->graph->before, guint, node->before_first + i)))
            return false;
    return node->wait_on == NONE || r->count[node->wait_on] >= node->need;
}

static void go(Reorder *r, guint index, int64_t sign)
{
    const MoveNode *node = node_at(r, index);
    if (node->wait_on != NONE)
        r->count[node->wait_on] -= sign * node->take;
    if (node->give_to != NONE)
        r->count[node->give_to] += sign * node->give;
}

/* row: the state's index in its level. */
static void enter_state(Reorder *r, guint row)
{
    for (guint i = 0; i < r->nodes->len; i++) {
        const MoveNode *node = node_at(r, i);
        if (node->wait_on != NONE)
            r->count[node->wait_on] = 0;
        if (node->give_to != NONE)
            r->count[node->give_to] = 0;
    }
    memcpy(r->now, &g_array_index(r->vectors, uint16_t, (gsize)row * r->agents), r->agents * sizeof(uint16_t));
    for (guint i = 0; i < r->nodes->len; i++)
        if (is_done(r, i))
            go(r, i, 1);
}

/* Does as many of the agent's moves as possible; returns how many. */
static guint run_block(Reorder *r, guint agent)
{
    guint moves = 0, left = r->first[agent + 1] - r->first[agent];
    while (r->now[agent] < left && can_go(r, r->order[r->first[agent] + r->now[agent]])) {
        go(r, r->order[r->first[agent] + r->now[agent]], 1);
        r->now[agent]++;
        moves++;
    }
    return moves;
}

static void undo_block(Reorder *r, guint agent, guint moves)
{
    for (; moves > 0; moves--)
        go(r, r->order[r->first[agent] + --r->now[agent]], -1);
}

static uint64_t block_hash(guint agent, guint until)
{
    return rng_mix(rng_mix(agent) + until);
}

/* Adds the current state, reached from the parent by a block of the agent. */
static void add_next(Reorder *r, guint parent, guint agent, guint moves)
{
    const State *from = &g_array_index(r->states, State, parent);
    guint until = r->now[agent];
    State state = { parent, agent, until, from->done + moves, from->hash ^ block_hash(agent, until - moves) ^ block_hash(agent, until) };
    if (g_hash_table_add(r->seen, (gpointer)(gsize)(state.hash | 1)))
        g_array_append_val(r->next, state);
}

static void expand(Reorder *r, guint parent, guint row)
{
    enter_state(r, row);
    for (guint agent = 0; agent < r->agents; agent++) {
        guint left = r->first[agent + 1] - r->first[agent] - r->now[agent], moves = run_block(r, agent);
        if (left > 0 && moves == left) {
            add_next(r, parent, agent, moves);
            return;
        }
        undo_block(r, agent, moves);
    }
    for (guint agent = 0; agent < r->agents; agent++) {
        guint moves = run_block(r, agent);
        if (moves > 0)
            add_next(r, parent, agent, moves);
        undo_block(r, agent, moves);
    }
}

static gint compare_by_done(gconstpointer left, gconstpointer right, gpointer data)
{
    const GArray *states = data;
    guint a = *(const guint *)left, b = *(const guint *)right;
    guint x = g_array_index(states, State, a).done, y = g_array_index(states, State, b).done;
    return x != y ? (x > y ? -1 : 1) : (a > b) - (a < b);
}

/* Makes the next states the current level: all, or the `width` that have done most. first: index of the first state of the old level. */
static void enter_level(Reorder *r, guint first, guint width)
{
    g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(guint)), before = r->vectors;
    for (guint i = 0; i < r->next->len; i++)
        g_array_append_val(chosen, i);
    if (chosen->len > width) {
        g_array_sort_with_data(chosen, compare_by_done, r->next);
        g_array_set_size(chosen, width);
    }
    r->vectors = g_array_new(FALSE, FALSE, sizeof(uint16_t));
    for (guint i = 0; i < chosen->len; i++) {
        const State state = g_array_index(r->next, State, g_array_index(chosen, guint, i));
        g_array_append_val(r->states, state);
        g_array_append_vals(r->vectors, &g_array_index(before, uint16_t, (gsize)(state.parent - first) * r->agents), r->agents);
        g_array_index(r->vectors, uint16_t, (gsize)i * r->agents + state.agent) = (uint16_t)state.until;
    }
    g_array_set_size(r->next, 0);
}

/* The state in which all moves are done; G_MAXUINT: none was found. */
static guint search(Reorder *r, uint64_t *effort)
{
    uint64_t cost = (uint64_t)r->nodes->len / 4 + r->agents + 1;                /* of a state, in executed moves */
    guint width = (guint)CLAMP(*effort / 8 / cost / r->agents, WIDTH_MIN, WIDTH_MAX), first = 0;
    const State begin = { .parent = G_MAXUINT };
    g_array_append_val(r->states, begin);
    g_array_set_size(r->vectors, r->agents);
    memset(r->vectors->data, 0, r->agents * sizeof(uint16_t));
    while (first < r->states->len) {
        guint last = r->states->len;
        for (guint i = first; i < last; i++)
            expand(r, i, i - first);
        *effort -= MIN(*effort, cost * (last - first));
        if (child_told_to_stop())
            return G_MAXUINT;
        for (guint i = 0; i < r->next->len; i++)
            if (g_array_index(r->next, State, i).done == r->nodes->len) {
                g_array_append_val(r->states, g_array_index(r->next, State, i));
                return last;
            }
        enter_level(r, first, width);
        first = last;
    }
    return G_MAXUINT;
}

static GArray *moves_to(const Reorder *r, guint state)
{
    GArray *path = g_array_new(FALSE, FALSE, sizeof(guint)), *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (; g_array_index(r->states, State, state).parent != G_MAXUINT; state = g_array_index(r->states, State, state).parent)
        g_array_append_val(path, state);
    memset(r->now, 0, r->agents * sizeof(uint16_t));
    for (guint i = path->len; i-- > 0;) {
        const State *at = &g_array_index(r->states, State, g_array_index(path, guint, i));
        for (; r->now[at->agent] < at->until; r->now[at->agent]++)
            g_array_append_val(moves, node_at(r, r->order[r->first[at->agent] + r->now[at->agent]])->move);
    }
    g_array_unref(path);
    return moves;
}

unsigned reorder_switches(const GArray *moves)
{
    unsigned switches = 0;
    for (guint i = 1; moves != NULL && i < moves->len; i++) {
        const Move *before = &g_array_index(moves, Move, i - 1), *move = before + 1;
        switches += before->core != move->core || before->copy != move->copy;
    }
    return switches;
}

static void reorder_clear(Reorder *r)
{
    move_graph_free(r->graph);
    g_array_unref(r->states);
    g_array_unref(r->next);
    g_array_unref(r->vectors);
    g_hash_table_unref(r->seen);
    g_free(r->first);
    g_free(r->order);
    g_free(r->rank);
    g_free(r->agent);
    g_free(r->count);
    g_free(r->now);
}

GArray *reorder(Execution *execution, const ExecutionOptions *options, const GArray *moves, uint64_t *effort)
{
    if (moves->len < 2 || moves->len > UINT16_MAX)
        return NULL;
    MoveGraph *graph = move_graph_new(execution, options, moves);
    if (graph == NULL)
        return NULL;
    Reorder r = { .graph = graph, .nodes = graph->nodes, .states = g_array_new(FALSE, FALSE, sizeof(State)),
                  .next = g_array_new(FALSE, FALSE, sizeof(State)), .vectors = g_array_new(FALSE, FALSE, sizeof(uint16_t)),
                  .seen = g_hash_table_new(NULL, NULL),
                  .count = g_new0(int64_t, graph->semaphores + 1) };
    number_agents(&r);
    r.now = g_new0(uint16_t, r.agents);
    guint end = search(&r, effort);
    GArray *better = end == G_MAXUINT ? NULL : moves_to(&r, end);
    if (better != NULL && reorder_switches(better) > reorder_switches(moves))
        g_clear_pointer(&better, g_array_unref);
    reorder_clear(&r);
    return better;
}
