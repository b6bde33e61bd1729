/* contend.c - the contended objects, whose steps do not all commute, and the order that the record chose on them.
 *
 * On those (dependence.h) the steps fall into groups that commute, in the order of the record, and each step of a group comes after each
 * of the group before.
 */
#include "../../model/counter.h"
#include "../../model/dependence.h"
#include "index.h"

#include <glib.h>

typedef struct ObjectUsage {                    /* of one semaphore or flag word */
    Contention contention;
    uint32_t user;                              /* first core seen; NONE: none */
    uint64_t adds, others;                      /* steps that add, and all other ones */
    bool rests, several_use, copies;
} ObjectUsage;

static void note_step(ObjectUsage *usage, const Step *step)
{
    contention_note(&usage->contention, step);
    usage->several_use |= usage->user != NONE && usage->user != step->core;
    usage->user = usage->user == NONE ? step->core : usage->user;
    if (step_is_add(step)) {
        usage->adds++;
    } else {
        usage->others++;
        usage->rests |= step->kind == STEP_FLAG_CAS || dependence_manner(step, 0) == MANNER_REST;
    }
}

static void note_copies(const Index *index, ObjectUsage *usage)
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

static ObjectUsage *note_usage(const Index *index, Arena *scratch)
{
    const Record *record = index->record;
    ObjectUsage *usage = ARENA_NEW(ObjectUsage, scratch, index->semaphores + 1);
    for (uint32_t s = 0; s < index->semaphores; s++)
        usage[s].contention.waiter = usage[s].user = NONE;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step_on_counter(step->kind))
            note_step(&usage[step->object], step);
    }
    for (uint32_t core = 0; core < index->cores; core++) {                  /* a pending step counts, too */
        const CoreState *end = &STORE(CoreState, &record->ends, core);
        if (end->end == CORE_BLOCKED && step_on_counter(end->pending.kind))
            note_step(&usage[end->pending.object], &end->pending);
    }
    note_copies(index, usage);
    return usage;
}

static int64_t initial_of(const Index *index, uint32_t semaphore)
{
    return program_decl(index->program, program_semaphore_decl(index->program, semaphore))->initial;
}

void index_find_contended(Index *index)
{
    Arena scratch;
    arena_init(&scratch, index->arena->budget);
    const ObjectUsage *usage = note_usage(index, &scratch);
    index->contended = ARENA_NEW(uint8_t, index->arena, index->semaphores + 1);
    index->decided = true;
    for (uint32_t s = 0; s < index->semaphores; s++) {
        const ObjectUsage *u = &usage[s];
        bool looked_at = u->contention.looked_at;
        bool looks_apart = contention_apart_from_looks(&u->contention, initial_of(index, s));
        index->contended[s] = looks_apart || (looked_at && !index->looks_aside);
        bool rivals = u->several_use || u->copies;                          /* on an object of one core program order decides */
        bool matters = u->others > 0 && (u->rests || u->adds > 0);
        if ((looks_apart || looked_at) && rivals && matters) {
            index->conflicts += u->others;
            index->decided &= !index->contended[s];
        }
    }
    arena_clear(&scratch);
}

typedef struct PastEvent { Event event; uint32_t next; } PastEvent;         /* a list in a pile, NONE ends it */

typedef struct History {                        /* of one contended object */
    uint32_t group, before;                     /* lists: the open group, and the previous one */
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
    for (uint32_t at = history->before; at != NONE; at = PILE(PastEvent, &chronicle->past, at).next)
        *(OrderEdge *)pile_push(&chronicle->edges, 1) = (OrderEdge){ PILE(PastEvent, &chronicle->past, at).event, event };
    uint32_t id = (uint32_t)chronicle->past.count;
    *(PastEvent *)pile_push(&chronicle->past, 1) = (PastEvent){ event, history->group };
    history->group = id;
}

static void moment_happens(Chronicle *chronicle, uint32_t copy, StepKind kind)
{
    uint32_t semaphore, inc = index_moment_inc(chronicle->index, copy, kind, &semaphore);
    if (inc > 0 && chronicle->index->contended[semaphore])
        happens(chronicle, semaphore, index_moment(chronicle->index, copy, kind), MANNER_ADD);
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
    } else if (step_on_counter(step->kind) && index->contended[step->object]) {
        History *history = &chronicle->of[step->object];
        happens(chronicle, step->object, index_event(index, step->core, position), dependence_manner(step, history->value));
        history->value = counter_after(step, history->value);
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
    pile_init(&chronicle.past, &scratch, sizeof(PastEvent));
    pile_init(&chronicle.edges, index->arena, sizeof(OrderEdge));
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
