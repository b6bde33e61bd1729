/* closure.c - a run over the record's steps with thresholds in place of counts, so that no wait takes what another needs.
 *
 * A core asleep at a wait is woken by the signal that reaches its threshold. A copy's moments are done as soon as they are possible;
 * those held back, by a barred moment of an earlier copy or by the order on a contended object, are retried when all cores are idle.
 */
#include "closure_inside.h"

Closure *closure_new(const Index *index, Arena *arena)
{
    Closure *closure = ARENA_NEW(Closure, arena, 1);
    closure->index = index;
    closure->position = ARENA_NEW(uint32_t, arena, index->cores);
    closure->barred_at = ARENA_NEW(uint32_t, arena, index->cores);
    closure->moments = ARENA_NEW(uint8_t, arena, index->copies + 1);
    closure->barred = ARENA_NEW(uint8_t, arena, index->copies + 1);
    closure->given = ARENA_NEW(int64_t, arena, index->semaphores + 1);
    closure->waiting = ARENA_NEW(uint32_t, arena, index->semaphores + 1);
    closure->next_waiting = ARENA_NEW(uint32_t, arena, index->cores);
    closure->arrived = ARENA_NEW(uint32_t, arena, index->joins + 1);
    closure->queue = ARENA_NEW(uint32_t, arena, index->cores + 1);
    closure->queued = ARENA_NEW(uint8_t, arena, index->cores);
    pile_init(&closure->log, arena, sizeof(Logged));
    pile_init(&closure->pending, arena, sizeof(uint32_t));
    pile_init(&closure->bars, arena, sizeof(Event));
    for (uint32_t core = 0; core < index->cores; core++)
        closure->barred_at[core] = NONE;
    if (index->edges > 0) {
        size_t slots = index->first[index->cores];
        closure->edge_into = ARENA_NEW(uint32_t, arena, slots + (size_t)index->copies * 4 + 1);
        for (size_t i = index->edges; i-- > 0;) {
            const Event *after = &index->edge[i].after;
            size_t at = after->copy == NONE ? index_slot(index, after->core, after->position)
                : slots + (size_t)after->copy * 4 + (after->kind - STEP_EARLY_SEND);
            closure->edge_into[at] = (uint32_t)i + 1;
        }
    }
    return closure;
}

size_t closure_first_edge(const Closure *closure, const Event *event)
{
    if (!closure->edge_into)
        return closure->index->edges;
    size_t at = event->copy == NONE ? index_slot(closure->index, event->core, event->position)
        : closure->index->first[closure->index->cores] + (size_t)event->copy * 4 + (event->kind - STEP_EARLY_SEND);
    return closure->edge_into[at] ? closure->edge_into[at] - 1 : closure->index->edges;
}

bool closure_done(const Closure *closure, const Event *event)
{
    if (event->copy != NONE)
        return closure->moments[event->copy] & moment_bit((StepKind)event->kind);
    return closure->position[event->core] > event->position;
}

static bool edges_done(const Closure *closure, const Event *event)
{
    const Index *index = closure->index;
    for (size_t i = closure_first_edge(closure, event); i < index->edges && index_same_event(&index->edge[i].after, event); i++)
        if (!closure_done(closure, &index->edge[i].before))
            return false;
    return true;
}

void closure_reset(Closure *closure)
{
    const Index *index = closure->index;
    for (size_t i = 0; i < closure->bars.count; i++) {
        const Event *event = &PILE(Event, &closure->bars, i);
        if (event->copy != NONE)
            closure->barred[event->copy] = 0;
        else
            closure->barred_at[event->core] = NONE;
    }
    for (size_t i = 0; i < closure->log.count; i++) {           /* only what the run touched: runs are often short */
        const Logged *logged = &PILE(Logged, &closure->log, i);
        if (logged->copy == NONE)
            continue;
        closure->moments[logged->copy] = 0;
        for (unsigned end = 0; end < 2; end++)
            if (index->copy_signal[logged->copy * 2 + end] != NONE) {
                const Copy *copy = index_copy(index, logged->copy);
                closure->given[end ? copy->receive_semaphore : copy->send_semaphore] = 0;
            }
    }
    for (uint32_t core = 0; core < index->cores; core++) {
        for (uint32_t p = 0; p < closure->position[core] + 1 && p < index_length(index, core); p++) {
            const Step *step = index_step(index, core, p);
            if (step_is_add(step))
                closure->given[step->object] = 0;
            else if (step_is_wait(step->kind))
                closure->waiting[step->object] = 0;
            else if (step_is_join(step->kind))
                closure->arrived[index->link[index_slot(index, core, p)]] = 0;
        }
        closure->position[core] = 0;
        closure->queued[core] = 0;
    }
    closure->head = closure->tail = 0;
    closure->log.count = closure->pending.count = closure->bars.count = 0;
}

void closure_bar(Closure *closure, const Event *event)
{
    *(Event *)pile_push(&closure->bars, 1) = *event;
    if (event->copy != NONE)
        closure->barred[event->copy] |= moment_bit((StepKind)event->kind);
    else
        closure->barred_at[event->core] = MIN(closure->barred_at[event->core], event->position);
}

unsigned closure_needs(const Index *index, uint32_t copy, uint8_t kind, uint32_t *before, unsigned *bits_before)
{
    *before = index->copy_before ? index->copy_before[copy] : NONE;
    *bits_before = moment_chained(index->program->knobs.dma_order, (StepKind)kind);
    if (kind == STEP_EARLY_RECEIVE && index->canary == PROVE_CANARY_EARLY_NOT_CHAINED)
        *bits_before = 0;
    return moment_needs((StepKind)kind);
}

static bool moment_possible(const Closure *closure, const Event *event)
{
    uint32_t before;
    unsigned bits_before, bits = closure_needs(closure->index, event->copy, event->kind, &before, &bits_before);
    return closure->position[event->core] > event->position && (closure->moments[event->copy] & bits) == bits
        && (before == NONE || (closure->moments[before] & bits_before) == bits_before) && edges_done(closure, event);
}

static bool join_possible(const Closure *closure, const JoinSteps *join)
{
    const Index *index = closure->index;
    const Step *member = &STORE(Step, &index->record->steps, join->first);
    for (uint32_t i = 0; i < join->members; i++) {
        uint32_t at = closure->position[member[i].core];
        if (at >= index_length(index, member[i].core) || index_step(index, member[i].core, at) != &member[i])
            return false;
    }
    return true;
}

/* Thresholds in place of counts: no wait uses up what another needs. */
static bool threshold_met(const Closure *closure, const Step *step, uint32_t slot)
{
    return !step_is_wait(step->kind) || closure->index->contended[step->object]
        || closure->given[step->object] >= closure->index->wait[closure->index->link[slot]].total;
}

bool closure_next(const Closure *closure, const Event *event)
{
    const Index *index = closure->index;
    if (event->copy != NONE)
        return !closure_done(closure, event) && moment_possible(closure, event);
    if (closure->position[event->core] != event->position)
        return false;
    uint32_t slot = index_slot(index, event->core, event->position);
    const Step *step = index_step_at(index, slot);
    if (step_is_join(step->kind) && !join_possible(closure, &index->join[index->link[slot]]))
        return false;
    return threshold_met(closure, step, slot) && edges_done(closure, event);
}

static void queue_core(Closure *closure, uint32_t core)
{
    if (closure->queued[core])
        return;
    closure->queued[core] = 1;
    closure->queue[closure->tail] = core;
    closure->tail = closure->tail == closure->index->cores ? 0 : closure->tail + 1;
}

static void give(Closure *closure, uint32_t semaphore, uint32_t inc)
{
    const Index *index = closure->index;
    closure->given[semaphore] += inc;
    uint32_t asleep = closure->waiting[semaphore];
    closure->waiting[semaphore] = 0;
    while (asleep) {
        uint32_t core = asleep - 1, slot = index_slot(index, core, closure->position[core]);
        asleep = closure->next_waiting[core];
        if (threshold_met(closure, index_step_at(index, slot), slot)) {
            queue_core(closure, core);
        } else {
            closure->next_waiting[core] = closure->waiting[semaphore];
            closure->waiting[semaphore] = core + 1;
        }
    }
}

static void log_move(Closure *closure, uint32_t core, uint32_t copy, uint8_t kind)
{
    *(Logged *)pile_push(&closure->log, 1) = (Logged){ core, copy, kind };
    if ((++closure->steps & 0xfff) == 0)
        budget_check_time(closure->log.arena->budget);
}

/* Does the possible moments of the copy. False: some moment is held back. */
static bool try_copy(Closure *closure, uint32_t copy)
{
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++) {
        Event event = index_moment(closure->index, copy, moment);
        unsigned bit = moment_bit(moment);
        uint32_t semaphore, inc = index_moment_inc(closure->index, copy, moment, &semaphore);
        if (moment_is_early(moment) && inc == 0)        /* the copy has no such moment */
            closure->moments[copy] |= bit;
        if ((closure->moments[copy] | closure->barred[copy]) & bit || !moment_possible(closure, &event))
            continue;
        closure->moments[copy] |= bit;
        log_move(closure, event.core, copy, event.kind);
        if (inc > 0)
            give(closure, semaphore, inc);
    }
    return closure->moments[copy] == MOMENTS_ALL;
}

static void start_copy(Closure *closure, uint32_t copy)
{
    if (!try_copy(closure, copy) && (closure->index->copy_before || closure->edge_into))
        *(uint32_t *)pile_push(&closure->pending, 1) = copy;
}

static void arrive(Closure *closure, uint32_t core, uint32_t slot)
{
    const Index *index = closure->index;
    const JoinSteps *join = &index->join[index->link[slot]];
    if (++closure->arrived[index->link[slot]] < join->members)
        return;
    const Step *member = &STORE(Step, &index->record->steps, join->first);
    log_move(closure, member->core, NONE, member->kind);
    for (uint32_t i = 0; i < join->members; i++) {
        closure->position[member[i].core]++;
        if (member[i].core != core)
            queue_core(closure, member[i].core);
    }
}

/* Does one step of a core, or puts it to sleep. True: it moved, and may move again. */
static bool step_core(Closure *closure, uint32_t core)
{
    const Index *index = closure->index;
    uint32_t position = closure->position[core], slot = index_slot(index, core, position);
    if (position >= index_length(index, core) || position >= closure->barred_at[core])
        return false;
    const Step *step = index_step_at(index, slot);
    Event event = { core, position, NONE, step->kind };
    if (!threshold_met(closure, step, slot)) {
        closure->next_waiting[core] = closure->waiting[step->object];
        closure->waiting[step->object] = core + 1;
        return false;
    }
    if (!edges_done(closure, &event))
        return false;                           /* retried when all cores are idle */
    if (step_is_join(step->kind)) {
        arrive(closure, core, slot);
        return closure->position[core] > position;
    }
    closure->position[core]++;
    log_move(closure, core, NONE, step->kind);
    if (step_is_add(step))
        give(closure, step->object, step->value);
    else if (step->kind == STEP_COPY_START && step->object != NONE)
        start_copy(closure, step->object);
    return true;
}

static bool goal_met(const Closure *closure, const Goal *goal)
{
    if (!goal)
        return false;
    for (unsigned i = 0; i < goal->dones; i++)
        if (!closure_done(closure, &goal->done[i]))
            return false;
    for (unsigned i = 0; i < goal->nexts; i++)
        if (!closure_next(closure, &goal->next[i]))
            return false;
    return goal->semaphore == NONE || closure->given[goal->semaphore] >= goal->given;
}

/* When all cores are idle: retries copies held back, and cores held back by edges. True: something moved. */
static bool stir(Closure *closure)
{
    uint64_t steps = closure->steps;
    size_t kept = 0;
    for (size_t i = 0; i < closure->pending.count; i++) {
        uint32_t copy = PILE(uint32_t, &closure->pending, i);
        if (!try_copy(closure, copy))
            PILE(uint32_t, &closure->pending, kept++) = copy;
    }
    closure->pending.count = kept;
    for (uint32_t core = 0; closure->edge_into && core < closure->index->cores; core++) {
        Event event = { core, closure->position[core], NONE, 0 };
        if (event.position < index_length(closure->index, core) && closure_first_edge(closure, &event) < closure->index->edges
            && closure_next(closure, &event) && event.position < closure->barred_at[core])
            queue_core(closure, core);
    }
    return closure->steps > steps || closure->head != closure->tail;
}

bool closure_run(Closure *closure, const Goal *goal)
{
    if (closure->log.count == 0)
        for (uint32_t core = 0; core < closure->index->cores; core++)
            queue_core(closure, core);
    for (bool moved = true; moved; moved = stir(closure)) {
        if (goal_met(closure, goal))
            return true;
        while (closure->head != closure->tail) {
            uint32_t core = closure->queue[closure->head];
            closure->head = closure->head == closure->index->cores ? 0 : closure->head + 1;
            closure->queued[core] = 0;
            if (step_core(closure, core))
                queue_core(closure, core);
            if (goal_met(closure, goal))
                return true;
        }
    }
    return goal_met(closure, goal);
}

uint64_t closure_steps(const Closure *closure)
{
    return closure->steps;
}

int64_t closure_given(const Closure *closure, uint32_t semaphore)
{
    return closure->given[semaphore];
}
