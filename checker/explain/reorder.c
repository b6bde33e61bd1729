/* reorder.c - breadth first over blocks: level k holds what can be reached with k blocks of one agent's moves.
 *
 * A block goes as far as it can, because a move done earlier hinders nobody; and an agent that can do all it has left in one block does so
 * at once, since it needs one block in any case. Both leave the optimum. A level that grows beyond its width keeps those that have done
 * most, and then the order is merely a good one. A state is one number of done moves an agent; only those of the level in hand are kept
 * so, of others the way there. States are told apart by a hash that each block changes (Zobrist): if two share one, one of them is lost.
 */
#include "reorder.h"
#include "../run/child.h"
#include "itinerary.h"
#include <string.h>
#include "../../model/rng.h"

enum { WIDTH_MAX = 2048, WIDTH_MIN = 1 };

typedef struct State { guint parent; uint32_t agent, until; guint done; uint64_t hash; } State;     /* agent: whose block led there */

typedef struct Plan {
    Itinerary *itinerary;
    GArray *items;                              /* its */
    guint agents, *agent;                       /* item -> its agent */
    guint *first;                               /* agent -> its items, one after the other, in order[] */
    guint *order, *rank;                        /* items by agent; item -> how many of its agent come before it */
    int64_t *count;
    GArray *states;                             /* of State: all that were gone on from */
    GArray *next;                               /* of State: what one more block leads to */
    GArray *vectors;                            /* of uint16_t, `agents` for each state of the level in hand */
    GHashTable *seen;                           /* of hashes; looked up only */
    uint16_t *now;                              /* the vector in hand */
} Plan;

static Item *item_at(const Plan *plan, guint i)
{
    return &g_array_index(plan->items, Item, i);
}

static gint compare_items(gconstpointer left, gconstpointer right, gpointer data)
{
    const Plan *plan = data;
    const Item *a = item_at(plan, *(const guint *)left), *b = item_at(plan, *(const guint *)right);
    if (a->move.core != b->move.core)
        return a->move.core < b->move.core ? -1 : 1;
    uint32_t x = a->move.copy + 1, y = b->move.copy + 1;
    if (x != y)
        return x < y ? -1 : 1;
    guint i = *(const guint *)left, j = *(const guint *)right;
    return (i > j) - (i < j);
}

static void number_agents(Plan *plan)
{
    guint items = plan->items->len;
    plan->order = g_new(guint, items), plan->rank = g_new0(guint, items), plan->first = g_new0(guint, items + 1);
    plan->agent = g_new0(guint, items);
    for (guint i = 0; i < items; i++)
        plan->order[i] = i;
    g_qsort_with_data(plan->order, (gint)items, sizeof(guint), compare_items, plan);
    for (guint i = 0; i < items; i++) {
        Item *item = item_at(plan, plan->order[i]), *last = i ? item_at(plan, plan->order[i - 1]) : NULL;
        bool same = last != NULL && last->move.core == item->move.core && last->move.copy == item->move.copy;
        if (!same)
            plan->first[plan->agents++] = i;
        plan->agent[plan->order[i]] = plan->agents - 1;
        plan->rank[plan->order[i]] = i - plan->first[plan->agents - 1];
    }
    plan->first[plan->agents] = items;
}

static bool is_done(const Plan *plan, guint item)
{
    return plan->now[plan->agent[item]] > plan->rank[item];
}

static bool can_go(const Plan *plan, guint index)
{
    const Item *item = item_at(plan, index);
    for (guint i = 0; i < item->before_count; i++)
        if (!is_done(plan, g_array_index(plan->itinerary->before, guint, item->before_first + i)))
            return false;
    return item->wait_on == NONE || plan->count[item->wait_on] >= item->need;
}

static void go(Plan *plan, guint index, int64_t sign)
{
    const Item *item = item_at(plan, index);
    if (item->wait_on != NONE)
        plan->count[item->wait_on] -= sign * item->take;
    if (item->give_to != NONE)
        plan->count[item->give_to] += sign * item->give;
}

/* row: the state's place in its level. */
static void enter_state(Plan *plan, guint row)
{
    for (guint i = 0; i < plan->items->len; i++) {
        const Item *item = item_at(plan, i);
        if (item->wait_on != NONE)
            plan->count[item->wait_on] = 0;
        if (item->give_to != NONE)
            plan->count[item->give_to] = 0;
    }
    memcpy(plan->now, &g_array_index(plan->vectors, uint16_t, (gsize)row * plan->agents), plan->agents * sizeof(uint16_t));
    for (guint i = 0; i < plan->items->len; i++)
        if (is_done(plan, i))
            go(plan, i, 1);
}

/* As far as the agent can go; how many moves that was. */
static guint run_block(Plan *plan, guint agent)
{
    guint moves = 0, left = plan->first[agent + 1] - plan->first[agent];
    while (plan->now[agent] < left && can_go(plan, plan->order[plan->first[agent] + plan->now[agent]])) {
        go(plan, plan->order[plan->first[agent] + plan->now[agent]], 1);
        plan->now[agent]++;
        moves++;
    }
    return moves;
}

static void undo_block(Plan *plan, guint agent, guint moves)
{
    for (; moves > 0; moves--)
        go(plan, plan->order[plan->first[agent] + --plan->now[agent]], -1);
}

static uint64_t block_hash(guint agent, guint until)
{
    return rng_mix(rng_mix(agent) + until);
}

/* The state in hand, which a block of the agent's led to. */
static void add_next(Plan *plan, guint parent, guint agent, guint moves)
{
    const State *from = &g_array_index(plan->states, State, parent);
    guint until = plan->now[agent];
    State state = { parent, agent, until, from->done + moves, from->hash ^ block_hash(agent, until - moves) ^ block_hash(agent, until) };
    if (g_hash_table_add(plan->seen, (gpointer)(gsize)(state.hash | 1)))
        g_array_append_val(plan->next, state);
}

static void expand(Plan *plan, guint parent, guint row)
{
    enter_state(plan, row);
    for (guint agent = 0; agent < plan->agents; agent++) {
        guint left = plan->first[agent + 1] - plan->first[agent] - plan->now[agent], moves = run_block(plan, agent);
        if (left > 0 && moves == left) {
            add_next(plan, parent, agent, moves);
            return;
        }
        undo_block(plan, agent, moves);
    }
    for (guint agent = 0; agent < plan->agents; agent++) {
        guint moves = run_block(plan, agent);
        if (moves > 0)
            add_next(plan, parent, agent, moves);
        undo_block(plan, agent, moves);
    }
}

static gint compare_by_done(gconstpointer left, gconstpointer right, gpointer data)
{
    const GArray *states = data;
    guint a = *(const guint *)left, b = *(const guint *)right;
    guint x = g_array_index(states, State, a).done, y = g_array_index(states, State, b).done;
    return x != y ? (x > y ? -1 : 1) : (a > b) - (a < b);
}

/* Goes on from the next states: all, or the `width` that have done most. first: where the level in hand begins among the states. */
static void enter_level(Plan *plan, guint first, guint width)
{
    g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(guint)), before = plan->vectors;
    for (guint i = 0; i < plan->next->len; i++)
        g_array_append_val(chosen, i);
    if (chosen->len > width) {
        g_array_sort_with_data(chosen, compare_by_done, plan->next);
        g_array_set_size(chosen, width);
    }
    plan->vectors = g_array_new(FALSE, FALSE, sizeof(uint16_t));
    for (guint i = 0; i < chosen->len; i++) {
        const State state = g_array_index(plan->next, State, g_array_index(chosen, guint, i));
        g_array_append_val(plan->states, state);
        g_array_append_vals(plan->vectors, &g_array_index(before, uint16_t, (gsize)(state.parent - first) * plan->agents), plan->agents);
        g_array_index(plan->vectors, uint16_t, (gsize)i * plan->agents + state.agent) = (uint16_t)state.until;
    }
    g_array_set_size(plan->next, 0);
}

/* The state in which all is done; G_MAXUINT: none was met. */
static guint search(Plan *plan, uint64_t *effort)
{
    uint64_t cost = (uint64_t)plan->items->len / 4 + plan->agents + 1;          /* of a state, as moves really done */
    guint width = (guint)CLAMP(*effort / 8 / cost / plan->agents, WIDTH_MIN, WIDTH_MAX), first = 0;
    const State begin = { .parent = G_MAXUINT };
    g_array_append_val(plan->states, begin);
    g_array_set_size(plan->vectors, plan->agents);
    memset(plan->vectors->data, 0, plan->agents * sizeof(uint16_t));
    while (first < plan->states->len) {
        guint last = plan->states->len;
        for (guint i = first; i < last; i++)
            expand(plan, i, i - first);
        *effort -= MIN(*effort, cost * (last - first));
        if (child_told_to_stop())
            return G_MAXUINT;
        for (guint i = 0; i < plan->next->len; i++)
            if (g_array_index(plan->next, State, i).done == plan->items->len) {
                g_array_append_val(plan->states, g_array_index(plan->next, State, i));
                return last;
            }
        enter_level(plan, first, width);
        first = last;
    }
    return G_MAXUINT;
}

static GArray *moves_to(const Plan *plan, guint state)
{
    GArray *path = g_array_new(FALSE, FALSE, sizeof(guint)), *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (; g_array_index(plan->states, State, state).parent != G_MAXUINT; state = g_array_index(plan->states, State, state).parent)
        g_array_append_val(path, state);
    memset(plan->now, 0, plan->agents * sizeof(uint16_t));
    for (guint i = path->len; i-- > 0;) {
        const State *at = &g_array_index(plan->states, State, g_array_index(path, guint, i));
        for (; plan->now[at->agent] < at->until; plan->now[at->agent]++)
            g_array_append_val(moves, item_at(plan, plan->order[plan->first[at->agent] + plan->now[at->agent]])->move);
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

static void plan_clear(Plan *plan)
{
    itinerary_free(plan->itinerary);
    g_array_unref(plan->states);
    g_array_unref(plan->next);
    g_array_unref(plan->vectors);
    g_hash_table_unref(plan->seen);
    g_free(plan->first);
    g_free(plan->order);
    g_free(plan->rank);
    g_free(plan->agent);
    g_free(plan->count);
    g_free(plan->now);
}

GArray *reorder(Execution *execution, const ExecutionOptions *options, const GArray *moves, uint64_t *effort)
{
    if (moves->len < 2 || moves->len > UINT16_MAX)
        return NULL;
    Itinerary *itinerary = itinerary_new(execution, options, moves);
    if (itinerary == NULL)
        return NULL;
    Plan plan = { .itinerary = itinerary, .items = itinerary->items, .states = g_array_new(FALSE, FALSE, sizeof(State)),
                  .next = g_array_new(FALSE, FALSE, sizeof(State)), .vectors = g_array_new(FALSE, FALSE, sizeof(uint16_t)),
                  .seen = g_hash_table_new(NULL, NULL),
                  .count = g_new0(int64_t, itinerary->semaphores + 1) };
    number_agents(&plan);
    plan.now = g_new0(uint16_t, plan.agents);
    guint end = search(&plan, effort);
    GArray *better = end == G_MAXUINT ? NULL : moves_to(&plan, end);
    if (better != NULL && reorder_switches(better) > reorder_switches(moves))
        g_clear_pointer(&better, g_array_unref);
    plan_clear(&plan);
    return better;
}
