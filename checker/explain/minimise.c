/* minimise.c - delta debugging (Zeller) on the moves of a schedule, by replay.
 *
 * A trial leaves some moves out and does the others in order, as far as they are possible; moves that became impossible drop out. If the
 * fault still shows, what was done is the new schedule. First whole agents go, many at a time; then the last moves of each core, by
 * bisection; then single moves until none can go. Unlike Zeller's deltas a core's moves are anonymous: leaving one out means leaving out
 * all later moves of that core.
 */
#include "minimise.h"
#include "../../model/expectation.h"
#include "../run/child.h"
#include "reorder.h"
#include <string.h>

enum { ELEMENTS_A_MOVE = 16 };                  /* moving so many elements of contents costs as much as a move */

typedef struct Shrink {
    Execution *execution;
    const ExecutionOptions *options;
    const Finding *finding;
    uint64_t *effort;
    GArray *kept, *tried;                       /* of Move: the shortest schedule so far; what the last trial did */
    GByteArray *drop;                           /* one byte a kept move */
    const GArray *agents;                       /* of Move, sorted: the agents of the original schedule */
    guint *of_agent, *of_first;                 /* kept moves by agent; where each agent's begin */
} Shrink;

bool minimise_shows(Execution *execution, const Finding *finding)
{
    if (finding->id == FAULT_ASSERT || finding->id == FAULT_UNINITIALISED) {
        execution_end(execution);
        execution_check_results(execution);
    }
    return judge_shows(execution, finding);
}

static Move move_at(const GArray *moves, guint i)
{
    return g_array_index(moves, Move, i);
}

static bool same_agent(Move a, Move b)
{
    return a.core == b.core && a.copy == b.copy;
}

static void forget_drops(Shrink *s)
{
    g_byte_array_set_size(s->drop, s->kept->len);
    memset(s->drop->data, 0, s->drop->len);
}

/* Does the moves that are not dropped, pass after pass as long as any is possible. */
static bool attempt(Shrink *s)
{
    g_array_set_size(s->tried, 0);
    if (*s->effort == 0)
        return false;
    execution_begin(s->execution, s->options);
    uint64_t cost = s->kept->len, elements = machine_elements_moved(execution_machine(s->execution));
    for (bool moved = true; moved;) {
        moved = false;
        for (guint i = 0; i < s->kept->len; i++) {
            Move move = move_at(s->kept, i);
            if (s->drop->data[i] || !execution_do(s->execution, move))
                continue;
            s->drop->data[i] = 1;
            g_array_append_val(s->tried, move);
            moved = true;
        }
        cost += s->kept->len;
    }
    bool shows = minimise_shows(s->execution, s->finding);
    cost += (machine_elements_moved(execution_machine(s->execution)) - elements) / ELEMENTS_A_MOVE;
    *s->effort -= child_told_to_stop() ? *s->effort : MIN(cost, *s->effort);
    return shows;
}

/* True: the moves marked in drop, and those that depend on them, are gone. */
static bool try_without(Shrink *s)
{
    bool shows = attempt(s);
    if (shows && s->tried->len < s->kept->len) {
        GArray *swap = s->kept;
        s->kept = s->tried, s->tried = swap;
    } else {
        shows = false;
    }
    forget_drops(s);
    return shows;
}

static gint compare_agents(gconstpointer left, gconstpointer right)
{
    const Move *a = left, *b = right;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    uint32_t x = a->copy + 1, y = b->copy + 1;  /* the core itself first */
    return (x > y) - (x < y);
}

/* Each agent once: cores in order, each followed by its copies. */
static GArray *list_agents(const GArray *moves)
{
    GArray *agents = g_array_new(FALSE, FALSE, sizeof(Move)), *sorted = g_array_copy((GArray *)moves);
    g_array_sort(sorted, compare_agents);
    for (guint i = 0; i < sorted->len; i++)
        if (i == 0 || !same_agent(move_at(sorted, i - 1), move_at(sorted, i)))
            g_array_append_val(agents, g_array_index(sorted, Move, i));
    g_array_unref(sorted);
    return agents;
}

static guint number_of(const GArray *agents, Move move)
{
    guint found = 0;
    bool known = g_array_binary_search((GArray *)agents, &move, compare_agents, &found);
    g_assert(known);
    return found;
}

static void index_kept(Shrink *s)
{
    guint agents = s->agents->len, kept = s->kept->len;
    g_autofree guint *number = g_new(guint, kept + 1), *at = g_new0(guint, agents + 1);
    memset(s->of_first, 0, (agents + 1) * sizeof *s->of_first);
    for (guint i = 0; i < kept; i++)
        s->of_first[(number[i] = number_of(s->agents, move_at(s->kept, i))) + 1]++;
    for (guint i = 0; i < agents; i++)
        at[i] = s->of_first[i], s->of_first[i + 1] += s->of_first[i];
    for (guint i = 0; i < kept; i++)
        s->of_agent[at[number[i]]++] = i;
}

/* Bisection over the agents: drops a whole range or, if the fault then disappears, tries its halves, the later one first. */
static void drop_agents(Shrink *s, guint first, guint last)
{
    if (s->of_first[first] == s->of_first[last] || *s->effort == 0)
        return;
    for (guint i = s->of_first[first]; i < s->of_first[last]; i++)
        s->drop->data[s->of_agent[i]] = 1;
    if (try_without(s)) {
        index_kept(s);
        return;
    }
    if (last - first <= 1)
        return;
    guint middle = (first + last) / 2;
    drop_agents(s, middle, last);
    drop_agents(s, first, middle);
}

static void mark_from(Shrink *s, Move agent, guint keep)
{
    for (guint i = 0, seen = 0; i < s->kept->len; i++)
        if (same_agent(move_at(s->kept, i), agent))
            s->drop->data[i] = seen++ >= keep;
}

/* Cuts a core's moves to the shortest prefix that suffices, by bisection. */
static void shorten_core(Shrink *s, Move agent)
{
    guint low = 0, high = 0;
    for (guint i = 0; i < s->kept->len; i++)
        high += same_agent(move_at(s->kept, i), agent);
    while (low < high) {
        guint middle = (low + high) / 2;
        mark_from(s, agent, middle);
        if (try_without(s))
            high = middle;
        else
            low = middle + 1;
    }
}

static bool drop_single_moves(Shrink *s)
{
    bool any = false;
    for (guint i = s->kept->len; i-- > 0 && *s->effort > 0;) {
        if (i >= s->kept->len)
            continue;                           /* the last trial dropped several */
        Move move = move_at(s->kept, i);
        for (guint j = i; j < s->kept->len; j++)
            s->drop->data[j] = j == i || (move.copy == NONE && same_agent(move_at(s->kept, j), move));
        any |= try_without(s);
    }
    return any;
}

static void shrink(Shrink *s)
{
    g_autoptr(GArray) agents = list_agents(s->kept);
    s->agents = agents;
    s->of_agent = g_new(guint, s->kept->len + 1), s->of_first = g_new(guint, agents->len + 1);
    index_kept(s);
    drop_agents(s, 0, agents->len);
    g_free(s->of_agent);
    g_free(s->of_first);
    for (guint i = agents->len; i-- > 0 && *s->effort > 0;)
        if (move_at(agents, i).copy == NONE)
            shorten_core(s, move_at(agents, i));
    while (*s->effort > 0 && drop_single_moves(s))
        ;
}

/* Results are judged after all cores have finished, so none of their steps can go. */
static bool is_about_results(const Program *program, const Finding *finding)
{
    return (finding->id == FAULT_ASSERT || finding->id == FAULT_UNINITIALISED) && finding->message != NULL && finding->places > 0
        && expectation_at(program, finding->place[0].site) != NULL;
}

/* Reorders the kept moves; the new order must show the fault, too. */
static void reorder_kept(Shrink *s)
{
    GArray *better = reorder(s->execution, s->options, s->kept, s->effort), *before = s->kept;
    if (better == NULL)
        return;
    s->kept = better;
    forget_drops(s);
    bool shows = attempt(s) && s->tried->len == before->len && reorder_switches(s->tried) <= reorder_switches(before);
    s->kept = before;
    g_array_unref(better);
    if (!shows)
        return;
    s->kept = s->tried, s->tried = before;
}

bool minimise(Execution *execution, const ExecutionOptions *options, Finding *finding, uint64_t *effort)
{
    Shrink s = { .execution = execution, .options = options, .finding = finding, .effort = effort, .kept = finding->moves,
                 .tried = g_array_new(FALSE, FALSE, sizeof(Move)), .drop = g_byte_array_new() };
    forget_drops(&s);
    bool shows = attempt(&s) && s.tried->len == s.kept->len;
    forget_drops(&s);
    /* A deadlock that the search has explained is that very state, and all moves lead to it. */
    bool whole = (finding->id == FAULT_DEADLOCK && finding->why != NULL)
        || is_about_results(machine_program(execution_machine(execution)), finding);
    if (shows && !whole)
        shrink(&s);
    if (shows)
        reorder_kept(&s);
    finding->moves = s.kept;
    g_array_unref(s.tried);
    g_byte_array_unref(s.drop);
    return shows;
}
