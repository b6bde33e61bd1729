/* order.c - three ways to decide a pair, the cheapest first.
 *
 * Clocks are exact if the earlier event is a core's step. A copy's write has one effect, its signal, so its release decides, as long as
 * the copies chained after it act through the same semaphore. A read has two effects, its signal and the write: the release of either is
 * enough, but if neither alone is needed the pair stays open, unless b can come even before the copy's start. An open pair is settled by
 * a run without a.
 */
#include "order.h"

Order *order_new(const Index *index, const Clocks *clocks, const Releases *releases, Arena *arena)
{
    Order *order = ARENA_NEW(Order, arena, 1);
    *order = (Order){ .index = index, .clocks = clocks, .releases = releases, .chosen = index->edges > 0 };
    order->closure = closure_new(index, arena);
    return order;
}

Event order_seen_from(const Order *order, const Event *event, uint32_t core)
{
    const Index *index = order->index;
    if (event->copy != NONE || event->core == core || !step_is_join(event->kind))
        return *event;
    const JoinSteps *join = &index->join[index->link[index_slot(index, event->core, event->position)]];
    const Step *member = &STORE(Step, &index->record->steps, join->first);
    for (uint32_t i = 0; i < join->members; i++)
        if (member[i].core == core) {
            const StepSpan *span = &index->launch[(size_t)member[i].object * index->cores + core];
            if (event->kind != STEP_CORE_BARRIER)
                return (Event){ core, event->kind == STEP_ENTER ? span->begin : span->end, NONE, event->kind };
        }
    return *event;
}

/* Ordered by the rules of copies alone: a copy's start and its moments, and moments along a chain. */
static bool comes_before_by_itself(const Order *order, const Event *a, const Event *b)
{
    const Index *index = order->index;
    if (b->copy == NONE)
        return false;
    for (uint32_t copy = b->copy; copy != NONE; copy = index->copy_before ? index->copy_before[copy] : NONE) {
        if (copy != a->copy)
            continue;
        if (copy == b->copy)
            return a->kind == STEP_READ && b->kind == STEP_WRITE;
        if (a->kind == STEP_READ && b->kind == STEP_READ)
            return moment_chained(index->program->knobs.dma_order, STEP_READ);
        return b->kind == STEP_WRITE;
    }
    return false;
}

/* Does the wait that releases this end of the copy come before b? */
static OrderKnown released(const Order *order, uint32_t copy, unsigned end, const Event *b)
{
    const Copy *c = index_copy(order->index, copy);
    uint32_t semaphore = end ? c->receive_semaphore : c->send_semaphore, entry;
    uint32_t at = order->releases->at[copy * 2 + end];
    if (at == NONE)
        return semaphore != NONE && order->releases->shared[semaphore] ? ORDER_OPEN : ORDER_NO;
    uint32_t waiter = releases_core(order->releases, semaphore, copy * 2 + end);
    Event seen = order_seen_from(order, b, waiter);
    if (!clocks_entry(order->clocks, &seen, waiter, &entry))
        return ORDER_OPEN;
    if (seen.copy == NONE && seen.core == waiter && seen.position + 1 == at)
        return ORDER_YES;                       /* b is that very wait */
    return entry >= at ? ORDER_YES : ORDER_NO;
}

static OrderKnown step_known(const Order *order, const Event *a, const Event *b)
{
    uint32_t entry;
    Event seen = order_seen_from(order, b, a->core);
    if (!clocks_entry(order->clocks, &seen, a->core, &entry))
        return ORDER_OPEN;
    if (seen.core == a->core && seen.position == a->position && seen.copy == NONE)
        return ORDER_NO;                        /* the same event */
    return entry > a->position ? ORDER_YES : order->chosen ? ORDER_OPEN : ORDER_NO;
}

OrderKnown order_known(const Order *order, const Event *a, const Event *b)
{
    if (a->copy == NONE)
        return step_known(order, a, b);
    if (b->copy != NONE) {
        if (comes_before_by_itself(order, a, b))
            return ORDER_YES;
        if (b->copy == a->copy)
            return ORDER_NO;
    }
    OrderKnown by_write = released(order, a->copy, 1, b);
    if (by_write == ORDER_YES || (a->kind == STEP_READ && released(order, a->copy, 0, b) == ORDER_YES))
        return ORDER_YES;
    Event start = { a->core, a->position, NONE, STEP_COPY_START };
    if (step_known(order, &start, b) == ORDER_NO)
        return ORDER_NO;
    bool one_effect = a->kind == STEP_WRITE && !order->chosen
        && (!order->releases->alone || order->releases->alone[a->copy * 2 + 1]);
    return one_effect ? by_write : ORDER_OPEN;
}

Closure *order_closure(Order *order)
{
    closure_reset(order->closure);
    order->holds = false;
    return order->closure;
}

bool order_must(Order *order, const Event *a, const Event *b)
{
    OrderKnown known = order_known(order, a, b);
    if (known != ORDER_OPEN)
        return known == ORDER_YES;
    if (order->index->canary == PROVE_CANARY_OPEN_TAKEN_AS_ORDERED)
        return true;
    if (!order->holds || !index_same_event(&order->without, a)) {
        closure_bar(order_closure(order), a);
        closure_run(order->closure, NULL);
        order->without = *a;
        order->holds = true;
    }
    return !closure_done(order->closure, b) && !closure_next(order->closure, b);
}

bool order_reaches_without(Order *order, const Event *b, const Event *without, size_t events)
{
    Closure *closure = order_closure(order);
    for (size_t i = 0; i < events; i++)
        closure_bar(closure, &without[i]);
    Goal goal = { .next = { *b }, .nexts = 1, .semaphore = NONE };
    return closure_run(closure, &goal) || closure_done(closure, b);
}
