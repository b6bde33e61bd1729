/* itinerary.c - one run in the given order tells what each move is. */
#include "itinerary.h"
#include "../../model/moment.h"

static Item *item_at(const Itinerary *itinerary, guint i)
{
    return &g_array_index(itinerary->items, Item, i);
}

static bool orders_matter(const Step *step)
{
    return step_is_conflict(step->kind) && !step_is_plain_add(step);
}

typedef struct Gather {                         /* while the moves are run once */
    Itinerary *itinerary;
    Execution *execution;
    const Program *program;
    guint *last_of_core;                        /* core -> its last item + 1 (joins: of all members) */
    GHashTable *touched;                        /* semaphore -> GArray of items; only looked up */
    GHashTable *careful;                        /* semaphore -> first waiter + 1; 0: order matters */
    GHashTable *copies;                         /* core and ordinal -> index of the start's item + 1 */
} Gather;

static void comes_after(Gather *g, Item *item, guint before)
{
    g_array_append_val(g->itinerary->before, before);
    item->before_count++;
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

static bool stands_there(Gather *g, uint32_t core, const Step *join)
{
    const Request *other = execution_pending(g->execution, core);
    if (other == NULL || other->step.kind != join->kind || other->step.object != join->object)
        return false;
    bool all = join->kind == STEP_ENTER && program_launch(g->program, join->object)->entry_barrier;
    return all || core / g->program->cores_per_device == join->core / g->program->cores_per_device;
}

static void gather_step(Gather *g, Item *item, guint index)
{
    const Step step = execution_pending(g->execution, item->move.core)->step;
    bool join = step_is_join(step.kind);
    for (uint32_t core = join ? 0 : step.core; core < (join ? g->program->cores : step.core + 1); core++) {
        if (join && !stands_there(g, core, &step))
            continue;
        if (g->last_of_core[core] > 0)
            comes_after(g, item, g->last_of_core[core] - 1);
        g->last_of_core[core] = index + 1;
    }
    if (step.kind == STEP_SIGNAL)
        item->give_to = step.object, item->give = step.value;
    if (step_is_semaphore_wait(step.kind)) {
        item->wait_on = step.object, item->need = step.value;
        item->take = step.kind == STEP_WAIT ? step.value : 0;
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

/* Moments come after the start, after their own copy's earlier ones, and after what the order of copies in force says. */
static void gather_moment(Gather *g, Item *item)
{
    const Move move = item->move;
    DmaOrder order = g->program->knobs.dma_order;
    guint start = GPOINTER_TO_UINT(g_hash_table_lookup(g->copies, copy_key(move)));
    if (start > 0)
        comes_after(g, item, start - 1);
    const Copy *copy = &STORE(Copy, &execution_record(g->execution)->copies, execution_find_copy(g->execution, move.core, move.copy));
    for (guint i = order == DMA_ORDER_UNORDERED ? start : 0; i + 1 < g->itinerary->items->len; i++) {
        const Move earlier = item_at(g->itinerary, i)->move;
        if (earlier.core != move.core || earlier.copy == NONE || earlier.copy > move.copy)
            continue;
        unsigned first = earlier.copy == move.copy ? moment_needs(move.moment) : moment_chained(order, move.moment);
        if (first & moment_bit(earlier.moment))
            comes_after(g, item, i);
    }
    uint32_t semaphore = moment_semaphore(copy, move.moment);
    if (semaphore == NONE)
        return;
    item->give_to = semaphore;
    item->give = moment_gives(moment_is_fluid(&g->program->knobs), copy, move.moment);
    touch(g, semaphore, g->itinerary->items->len - 1);
}

/* Where the order on an object matters, each that touches it comes after the one before. */
static void keep_careful_orders(Gather *g)
{
    GArray *all = g->itinerary->before;
    g->itinerary->before = g_array_new(FALSE, FALSE, sizeof(guint));
    GArray *chain = g_array_new(FALSE, TRUE, sizeof(guint));
    g_array_set_size(chain, g->itinerary->items->len);
    GHashTableIter each;
    gpointer key, list;
    g_hash_table_iter_init(&each, g->touched);  /* each item has one object, so the order of the table is of no account */
    while (g_hash_table_iter_next(&each, &key, &list)) {
        bool careful = GPOINTER_TO_UINT(g_hash_table_lookup(g->careful, key)) == G_MAXUINT;
        for (guint i = 1; careful && i < ((GArray *)list)->len; i++)
            g_array_index(chain, guint, g_array_index((GArray *)list, guint, i)) = g_array_index((GArray *)list, guint, i - 1) + 1;
    }
    for (guint i = 0; i < g->itinerary->items->len; i++) {
        Item *item = item_at(g->itinerary, i);
        guint from = item->before_first, count = item->before_count, extra = g_array_index(chain, guint, i);
        item->before_first = g->itinerary->before->len;
        if (count > 0)
            g_array_append_vals(g->itinerary->before, &g_array_index(all, guint, from), count);
        if (extra > 0)
            comes_after(g, item, extra - 1);
    }
    g_array_unref(chain);
    g_array_unref(all);
}

static bool walk(Gather *g, const ExecutionOptions *options, const GArray *moves)
{
    Itinerary *itinerary = g->itinerary;
    execution_begin(g->execution, options);
    for (guint i = 0; i < moves->len; i++) {
        const Item fresh = { .move = g_array_index(moves, Move, i), .wait_on = NONE, .give_to = NONE,
                             .before_first = itinerary->before->len };
        if (!execution_is_enabled(g->execution, fresh.move))
            return false;
        g_array_append_val(itinerary->items, fresh);
        if (fresh.move.copy == NONE)
            gather_step(g, item_at(itinerary, i), i);
        else
            gather_moment(g, item_at(itinerary, i));
        execution_do(g->execution, fresh.move);
    }
    return true;
}

Itinerary *itinerary_new(Execution *execution, const ExecutionOptions *options, const GArray *moves)
{
    const Program *program = machine_program(execution_machine(execution));
    Itinerary *itinerary = g_new0(Itinerary, 1);
    itinerary->items = g_array_new(FALSE, FALSE, sizeof(Item)), itinerary->before = g_array_new(FALSE, FALSE, sizeof(guint));
    Gather g = { itinerary, execution, program, g_new0(guint, program->cores),
                 g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref), g_hash_table_new(NULL, NULL),
                 g_hash_table_new(NULL, NULL) };
    bool possible = walk(&g, options, moves);
    if (possible)
        keep_careful_orders(&g);
    else
        g_clear_pointer(&itinerary, itinerary_free);
    if (possible)
        itinerary->semaphores = program->semaphores;
    g_free(g.last_of_core);
    g_hash_table_unref(g.touched);
    g_hash_table_unref(g.careful);
    g_hash_table_unref(g.copies);
    return itinerary;
}

void itinerary_free(Itinerary *itinerary)
{
    g_array_unref(itinerary->items);
    g_array_unref(itinerary->before);
    g_free(itinerary);
}
