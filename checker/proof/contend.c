/* contend.c - objects whose steps do not all commute: which they are, and the order that the record chose on them.
 *
 * Kinds of steps on one object: *add* (signal, flag add without its result, a copy's moment), *look* (read, comparison, wait that keeps,
 * failed compare-and-swap), *rest*. Adds commute with adds, looks with looks, nothing else. Adds against waits are no conflict as long as
 * one core does all the waiting, or nobody takes: then order is decided by thresholds. On all other objects the steps fall into groups that
 * commute, in the order of the record, and each step of a group comes after each of the group before.
 */
#include "index.h"

#include <glib.h>

typedef enum Manner { MANNER_ADD, MANNER_LOOK, MANNER_REST } Manner;

typedef struct Usage {                          /* of one semaphore or flag word */
    uint32_t waiter, user;                      /* first core seen waiting, first core seen at all; NONE: none */
    uint32_t adds, looks, rests;                /* saturating is not needed: fewer than 2^32 steps */
    int64_t added;
    bool several_wait, several_use, taken, needs_order, looked_at, copies;
} Usage;

static bool flag_wait_is_threshold(const Step *step)
{
    return step->extra == COMPARE_GE || step->extra == COMPARE_GT;
}

static void note_wait(Usage *usage, const Step *step)
{
    usage->several_wait |= usage->waiter != NONE && usage->waiter != step->core;
    usage->waiter = usage->waiter == NONE ? step->core : usage->waiter;
    usage->taken |= step->kind == STEP_WAIT;
    usage->needs_order |= step->kind == STEP_FLAG_WAIT && !flag_wait_is_threshold(step);
    if (step->kind == STEP_WAIT)
        usage->rests++;
    else
        usage->looks++;
}

static void note_step(Usage *usage, const Step *step)
{
    usage->several_use |= usage->user != NONE && usage->user != step->core;
    usage->user = usage->user == NONE ? step->core : usage->user;
    if (index_is_wait(step)) {
        note_wait(usage, step);
    } else if (index_is_add(step)) {
        usage->adds++;
        usage->added += (int32_t)step->value;
        usage->needs_order |= step_is_plain_add(step) && (int32_t)step->value < 0;
    } else {
        bool rest = step->kind == STEP_FLAG_STORE || step->kind == STEP_FLAG_CAS || step->kind == STEP_FLAG_ADD;
        usage->needs_order |= rest;
        usage->looked_at |= !rest;
        usage->rests += rest;
        usage->looks += !rest;
    }
}

static bool touches_semaphore(const Step *step)
{
    return index_is_add(step) || index_is_wait(step) || step_is_conflict((StepKind)step->kind);
}

static void note_copies(const Index *index, Usage *usage)
{
    for (uint32_t copy = 0; copy < index->copies; copy++) {
        const Copy *c = index_copy(index, copy);
        const uint32_t semaphore[2] = { c->send_semaphore, c->receive_semaphore };
        for (unsigned end = 0; end < 2; end++)
            if (semaphore[end] != NONE) {
                usage[semaphore[end]].copies = true;
                usage[semaphore[end]].adds++;
            }
    }
}

static Usage *note_usage(const Index *index, Arena *scratch)
{
    const Record *record = index->record;
    Usage *usage = ARENA_NEW(Usage, scratch, index->semaphores + 1);
    for (uint32_t s = 0; s < index->semaphores; s++)
        usage[s].waiter = usage[s].user = NONE;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (touches_semaphore(step))
            note_step(&usage[step->object], step);
    }
    for (uint32_t core = 0; core < index->cores; core++) {                  /* what a core is stuck at is a rival too */
        const CoreState *end = &STORE(CoreState, &record->ends, core);
        if (end->end == CORE_BLOCKED && touches_semaphore(&end->pending))
            note_step(&usage[end->pending.object], &end->pending);
    }
    note_copies(index, usage);
    return usage;
}

void index_find_contended(Index *index)
{
    Arena scratch;
    arena_init(&scratch, index->arena->budget);
    const Usage *usage = note_usage(index, &scratch);
    index->contended = ARENA_NEW(uint8_t, index->arena, index->semaphores + 1);
    index->decided = true;
    for (uint32_t s = 0; s < index->semaphores; s++) {
        const Usage *u = &usage[s];
        bool looks_apart = u->needs_order || (u->several_wait && u->taken) || u->added > INT32_MAX;
        index->contended[s] = looks_apart || (u->looked_at && !index->looks_aside);
        bool rivals = u->several_use || u->copies;                          /* one core alone: its program order decides */
        bool matters = u->rests + (uint64_t)u->looks > 0 && (u->rests > 0 || u->adds > 0);
        if ((looks_apart || u->looked_at) && rivals && matters) {
            index->conflicts += u->rests + (uint64_t)u->looks;
            index->decided &= !index->contended[s];
        }
    }
    arena_clear(&scratch);
}

typedef struct Past { Event event; uint32_t next; } Past;                   /* a list in a pile, NONE ends it */

typedef struct History {                        /* of one contended object */
    uint32_t group, before;                     /* lists: the group that is open, and the one before it */
    int manner;                                 /* of the open group, -1: none yet */
    int64_t value;
} History;

typedef struct Chronicle {
    Index *index;
    History *of;
    Pile past, edges;
    uint32_t *position;                         /* next one, a core */
} Chronicle;

static void happens(Chronicle *chronicle, uint32_t semaphore, Event event, Manner manner)
{
    History *history = &chronicle->of[semaphore];
    if (history->manner != (int)manner || manner == MANNER_REST) {
        history->before = history->group;
        history->group = NONE;
        history->manner = (int)manner;
    }
    for (uint32_t at = history->before; at != NONE; at = PILE(Past, &chronicle->past, at).next)
        *(Edge *)pile_push(&chronicle->edges, 1) = (Edge){ PILE(Past, &chronicle->past, at).event, event };
    uint32_t id = (uint32_t)chronicle->past.count;
    *(Past *)pile_push(&chronicle->past, 1) = (Past){ event, history->group };
    history->group = id;
}

static void moment_happens(Chronicle *chronicle, uint32_t copy, StepKind kind)
{
    uint32_t semaphore, inc = index_moment_inc(chronicle->index, copy, kind, &semaphore);
    if (inc > 0 && chronicle->index->contended[semaphore])
        happens(chronicle, semaphore, index_moment(chronicle->index, copy, kind), MANNER_ADD);
}

static Manner manner_of(const History *history, const Step *step)
{
    if (index_is_add(step))
        return MANNER_ADD;
    if (step->kind == STEP_WAIT || step->kind == STEP_FLAG_STORE || step->kind == STEP_FLAG_ADD
        || (step->kind == STEP_FLAG_CAS && history->value == (int32_t)step->extra))
        return MANNER_REST;
    return MANNER_LOOK;
}

/* Only flag words need their value here: a compare-and-swap looks or writes. */
static void change_value(History *history, const Step *step, Manner manner)
{
    if (step->kind == STEP_FLAG_ADD)
        history->value += (int32_t)step->value;
    else if (step->kind == STEP_FLAG_STORE || (step->kind == STEP_FLAG_CAS && manner == MANNER_REST))
        history->value = (int32_t)step->value;
}

static void step_happens(Chronicle *chronicle, const Step *step)
{
    Index *index = chronicle->index;
    if (moment_is(step->kind)) {
        moment_happens(chronicle, step->object, (StepKind)step->kind);
        return;
    }
    uint32_t position = chronicle->position[step->core]++;
    if (step->kind == STEP_COPY_START && step->object != NONE && index->record->eager) {
        for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
            moment_happens(chronicle, step->object, moment);
    } else if (touches_semaphore(step) && index->contended[step->object]) {
        History *history = &chronicle->of[step->object];
        Manner manner = manner_of(history, step);
        happens(chronicle, step->object, index_event(index, step->core, position), manner);
        change_value(history, step, manner);
    }
}

void index_order_contended(Index *index)
{
    bool any = false;
    for (uint32_t s = 0; s < index->semaphores && !any; s++)
        any = index->contended[s];
    if (!any)
        return;
    Arena scratch;
    arena_init(&scratch, index->arena->budget);
    Chronicle chronicle = { .index = index, .of = ARENA_NEW(History, &scratch, index->semaphores),
                            .position = ARENA_NEW(uint32_t, &scratch, index->cores) };
    pile_init(&chronicle.past, &scratch, sizeof(Past));
    pile_init(&chronicle.edges, index->arena, sizeof(Edge));
    for (uint32_t s = 0; s < index->semaphores; s++)
        chronicle.of[s] = (History){ NONE, NONE, -1, 0 };
    for (uint32_t decl = 0; decl < index->program->decls.count; decl++) {
        const Decl *d = program_decl(index->program, decl);
        for (uint32_t i = 0; d->semaphore_kind == SEMAPHORE_FLAG && d->first_semaphore != NONE && i < d->elements * index->cores; i++)
            chronicle.of[d->first_semaphore + i].value = d->initial;
    }
    for (size_t i = 0; i < index->record->steps.count; i++)
        step_happens(&chronicle, &STORE(Step, &index->record->steps, i));
    index->edge = pile_base(&chronicle.edges);
    index->edges = chronicle.edges.count;
    arena_clear(&scratch);
}
