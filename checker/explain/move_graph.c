/* move_graph.c - the moves are run once, in the given order; each node records what its move needs and gives. */
#include "move_graph.h"
#include "../../model/join.h"
#include "../../model/moment.h"

static MoveNode *node_at(const MoveGraph *graph, guint i)
{
    return &g_array_index(graph->nodes, MoveNode, i);
}

static bool orders_matter(const Step *step)
{
    return step_is_conflict(step->kind) && !step_is_plain_add(step);
}

typedef struct Gather {                         /* state of that run */
    MoveGraph *graph;
    Execution *execution;
    const Program *program;
    guint *last_of_core;                        /* core -> its last node + 1 (joins: of all members) */
    GHashTable *touched;                        /* semaphore -> GArray of its nodes */
    GHashTable *careful;                        /* semaphore -> its only waiter + 1; G_MAXUINT: the order on it matters */
    GHashTable *copies;                         /* core and ordinal -> index of the start's node + 1 */
} Gather;

static void comes_after(Gather *g, MoveNode *node, guint before)
{
    g_array_append_val(g->graph->before, before);
    node->before_count++;
}

static gpointer copy_key(Move move)
{
    return (gpointer)(gsize)(((guint64)move.core << 32) | (move.copy + 1));
}

static void touch(Gather *g, uint32_t semaphore, guint index)
{
    GArray *list = g_hash_table_lookup(g->touched, GUINT_TO_POINTER(semaphore + 1));
    if (list == NULL) {
        list = g_array_new(FALSE, FALSE, sizeof(guint));
        g_hash_table_insert(g->touched, GUINT_TO_POINTER(semaphore + 1), list);
    }
    g_array_append_val(list, index);
}

static void note_waiter(Gather *g, const Step *step)
{
    gpointer key = GUINT_TO_POINTER(step->object + 1), before = g_hash_table_lookup(g->careful, key);
    bool other = before != NULL && GPOINTER_TO_UINT(before) != step->core + 1;
    if (orders_matter(step) || other)
        g_hash_table_insert(g->careful, key, GUINT_TO_POINTER(G_MAXUINT));
    else if (before == NULL)
        g_hash_table_insert(g->careful, key, GUINT_TO_POINTER(step->core + 1));
}

static bool is_member(Gather *g, uint32_t core, const Step *join)
{
    const Request *other = execution_pending(g->execution, core);
    return other != NULL && join_is_same(g->program, &other->step, join);
}

static void gather_step(Gather *g, MoveNode *node, guint index)
{
    const Step step = execution_pending(g->execution, node->move.core)->step;
    bool join = step_is_join(step.kind);
    for (uint32_t core = join ? 0 : step.core; core < (join ? g->program->cores : step.core + 1); core++) {
        if (join && !is_member(g, core, &step))
            continue;
        if (g->last_of_core[core] > 0)
            comes_after(g, node, g->last_of_core[core] - 1);
        g->last_of_core[core] = index + 1;
    }
    if (step.kind == STEP_SIGNAL)
        node->give_to = step.object, node->give = step.value;
    if (step_is_semaphore_wait(step.kind)) {
        node->wait_on = step.object, node->need = step.value;
        node->take = step.kind == STEP_WAIT ? step.value : 0;
    }
    bool counts = step_on_counter(step.kind);
    if (counts)
        touch(g, step.object, index);
    if (counts && !step_is_add(&step))
        note_waiter(g, &step);
    if (step.kind == STEP_COPY_START && step.object != NONE) {
        Move started = { step.core, execution_pending(g->execution, step.core)->copy.ordinal, 0 };
        g_hash_table_insert(g->copies, copy_key(started), GUINT_TO_POINTER(index + 1));
    }
}

/* A moment comes after the start, after earlier moments of its copy that it needs, and after moments of earlier copies in its chain. */
static void gather_moment(Gather *g, MoveNode *node)
{
    const Move move = node->move;
    DmaOrder order = g->program->knobs.dma_order;
    guint start = GPOINTER_TO_UINT(g_hash_table_lookup(g->copies, copy_key(move)));
    if (start > 0)
        comes_after(g, node, start - 1);
    const Copy *copy = &STORE(Copy, &execution_record(g->execution)->copies, execution_find_copy(g->execution, move.core, move.copy));
    for (guint i = order == DMA_ORDER_UNORDERED ? start : 0; i + 1 < g->graph->nodes->len; i++) {
        const Move earlier = node_at(g->graph, i)->move;
        if (earlier.core != move.core || earlier.copy == NONE || earlier.copy > move.copy)
            continue;
        unsigned first = earlier.copy == move.copy ? moment_needs(move.moment) : moment_chained(order, move.moment);
        if (first & moment_bit(earlier.moment))
            comes_after(g, node, i);
    }
    uint32_t semaphore = moment_semaphore(copy, move.moment);
    if (semaphore == NONE)
        return;
    node->give_to = semaphore;
    node->give = moment_gives(moment_is_fluid(&g->program->knobs), copy, move.moment);
    touch(g, semaphore, g->graph->nodes->len - 1);
}

/* Where the order on an object matters, each move that touches it comes after the previous one. */
static void keep_careful_orders(Gather *g)
{
    GArray *all = g->graph->before;
    g->graph->before = g_array_new(FALSE, FALSE, sizeof(guint));
    GArray *chain = g_array_new(FALSE, TRUE, sizeof(guint));
    g_array_set_size(chain, g->graph->nodes->len);
    GHashTableIter each;
    gpointer key, list;
    g_hash_table_iter_init(&each, g->touched);  /* a node touches one object, so the order of the table does not matter */
    while (g_hash_table_iter_next(&each, &key, &list)) {
        bool careful = GPOINTER_TO_UINT(g_hash_table_lookup(g->careful, key)) == G_MAXUINT;
        for (guint i = 1; careful && i < ((GArray *)list)->len; i++)
            g_array_index(chain, guint, g_array_index((GArray *)list, guint, i)) = g_array_index((GArray *)list, guint, i - 1) + 1;
    }
    for (guint i = 0; i < g->graph->nodes->len; i++) {
        MoveNode *node = node_at(g->graph, i);
        guint from = node->before_first, count = node->before_count, extra = g_array_index(chain, guint, i);
        node->before_first = g->graph->before->len;
        if (count > 0)
            g_array_append_vals(g->graph->before, &g_array_index(all, guint, from), count);
        if (extra > 0)
            comes_after(g, node, extra - 1);
    }
    g_array_unref(chain);
    g_array_unref(all);
}

static bool walk(Gather *g, const ExecutionOptions *options, const GArray *moves)
{
    MoveGraph *graph = g->graph;
    execution_begin(g->execution, options);
    for (guint i = 0; i < moves->len; i++) {
        const MoveNode fresh = { .move = g_array_index(moves, Move, i), .wait_on = NONE, .give_to = NONE,
                                 .before_first = graph->before->len };
        if (!execution_is_enabled(g->execution, fresh.move))
            return false;
        g_array_append_val(graph->nodes, fresh);
        if (fresh.move.copy == NONE)
            gather_step(g, node_at(graph, i), i);
        else
            gather_moment(g, node_at(graph, i));
        execution_do(g->execution, fresh.move);
    }
    return true;
}

MoveGraph *move_graph_new(Execution *execution, const ExecutionOptions *options, const GArray *moves)
{
    const Program *program = machine_program(execution_machine(execution));
    MoveGraph *graph = g_new0(MoveGraph, 1);
    graph->nodes = g_array_new(FALSE, FALSE, sizeof(MoveNode)), graph->before = g_array_new(FALSE, FALSE, sizeof(guint));
    Gather g = { graph, execution, program, g_new0(guint, program->cores),
                 g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref), g_hash_table_new(NULL, NULL),
                 g_hash_table_new(NULL, NULL) };
    bool possible = walk(&g, options, moves);
    if (possible)
        keep_careful_orders(&g);
    else
        g_clear_pointer(&graph, move_graph_free);
    if (possible)
        graph->semaphores = program->semaphores;
    g_free(g.last_of_core);
    g_hash_table_unref(g.touched);
    g_hash_table_unref(g.careful);
    g_hash_table_unref(g.copies);
    return graph;
}

void move_graph_free(MoveGraph *graph)
{
    g_array_unref(graph->nodes);
    g_array_unref(graph->before);
    g_free(graph);
}
