/* slice.c - from a run that met its goal to the moves that the goal needs: one pass backwards over the log.
 *
 * The needs of a needed move lie before it: the steps of its core, all members of a join, a copy's start and earlier moments, and for a
 * wait the first signals of the log that together reach its threshold. No kept move needs one that is dropped, so the rest is a legal
 * schedule.
 */
#include "../facts/schedule.h"
#include "closure_inside.h"

typedef struct Slice {
    const Closure *closure;
    const Index *index;
    uint32_t *position;                         /* a core: its position after the current log entry */
    uint32_t *steps;                            /* a core: how many of its steps are needed */
    uint8_t *moments;                           /* a copy: needed moments */
    int64_t *given, *needed;                    /* a semaphore: given after the current entry; how much is needed */
    uint8_t *keep;                              /* a log entry */
} Slice;

static void need_event(Slice *slice, const Event *event)
{
    uint32_t steps = event->position + 1;
    slice->steps[event->core] = MAX(slice->steps[event->core], steps);
    if (event->copy != NONE)
        slice->moments[event->copy] |= moment_bit((StepKind)event->kind);
}

static void need_edges(Slice *slice, const Event *event)
{
    const Index *index = slice->index;
    for (size_t i = closure_first_edge(slice->closure, event); i < index->edges && index_same_event(&index->edge[i].after, event); i++)
        need_event(slice, &index->edge[i].before);
}

/* Marks all that must be done before a core's step; for a join, before those of all its members. */
static void need_before_step(Slice *slice, uint32_t core, uint32_t position)
{
    const Index *index = slice->index;
    uint32_t slot = index_slot(index, core, position);
    const Step *step = index_step_at(index, slot);
    slice->steps[core] = MAX(slice->steps[core], position);
    if (step_is_wait(step->kind) && !index->contended[step->object])
        slice->needed[step->object] = MAX(slice->needed[step->object], index->wait[index->link[slot]].total);
    if (step_is_join(step->kind)) {
        const JoinSteps *join = &index->join[index->link[slot]];
        for (uint32_t i = 0; i < join->members; i++) {
            uint32_t member = STORE(Step, &index->record->steps, join->first + i).core;
            uint32_t at = slice->position[member];              /* the join is their next step */
            slice->steps[member] = MAX(slice->steps[member], at);
        }
    }
    Event event = { core, position, NONE, step->kind };
    need_edges(slice, &event);
}

static void need_before_moment(Slice *slice, const Event *event)
{
    uint32_t before;
    unsigned bits_before, bits = closure_needs(slice->index, event->copy, event->kind, &before, &bits_before);
    Event start = { event->core, event->position, NONE, STEP_COPY_START };
    need_event(slice, &start);
    slice->moments[event->copy] |= (uint8_t)bits;
    if (before != NONE)
        slice->moments[before] |= (uint8_t)bits_before;
    need_edges(slice, event);
}

static void need_goal(Slice *slice, const Goal *goal)
{
    for (unsigned i = 0; i < goal->dones; i++)
        need_event(slice, &goal->done[i]);
    for (unsigned i = 0; i < goal->nexts; i++) {
        if (goal->next[i].copy != NONE)
            need_before_moment(slice, &goal->next[i]);
        else
            need_before_step(slice, goal->next[i].core, goal->next[i].position);
    }
    if (goal->semaphore != NONE)
        slice->needed[goal->semaphore] = MAX(slice->needed[goal->semaphore], goal->given);
}

/* Undoes the signal; was it needed? */
static bool signal_needed(Slice *slice, uint32_t semaphore, uint32_t inc)
{
    slice->given[semaphore] -= inc;
    return inc > 0 && slice->needed[semaphore] > slice->given[semaphore];
}

static bool visit_moment(Slice *slice, const Logged *logged)
{
    Event event = index_moment(slice->index, logged->copy, (StepKind)logged->kind);
    uint32_t semaphore, inc = index_moment_inc(slice->index, logged->copy, (StepKind)logged->kind, &semaphore);
    bool needed = inc > 0 && signal_needed(slice, semaphore, inc);
    if (!needed && !(slice->moments[logged->copy] & moment_bit((StepKind)logged->kind)))
        return false;
    need_before_moment(slice, &event);
    return true;
}

static bool visit_join(Slice *slice, const JoinSteps *join)
{
    const Step *member = &STORE(Step, &slice->index->record->steps, join->first);
    bool needed = false;
    for (uint32_t i = 0; i < join->members; i++) {
        uint32_t position = --slice->position[member[i].core];
        needed |= position < slice->steps[member[i].core];
    }
    for (uint32_t i = 0; needed && i < join->members; i++) {
        uint32_t core = member[i].core;
        slice->steps[core] = MAX(slice->steps[core], slice->position[core] + 1);
    }
    return needed;
}

static bool visit_step(Slice *slice, const Logged *logged)
{
    const Index *index = slice->index;
    uint32_t core = logged->core, position = slice->position[core] - 1, slot = index_slot(index, core, position);
    const Step *step = index_step_at(index, slot);
    if (step_is_join(step->kind))
        return visit_join(slice, &index->join[index->link[slot]]);
    slice->position[core] = position;
    bool needed = step_is_add(step) && signal_needed(slice, step->object, step->value);
    if (!needed && position >= slice->steps[core])
        return false;
    slice->steps[core] = MAX(slice->steps[core], position + 1);
    need_before_step(slice, core, position);
    return true;
}

static GArray *collect(const Slice *slice)
{
    const Index *index = slice->index;
    GArray *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (size_t i = 0; i < slice->closure->log.count; i++) {
        const Logged *logged = &PILE(Logged, &slice->closure->log, i);
        if (!slice->keep[i])
            continue;
        bool moment = logged->copy != NONE;
        Move move = { logged->core, moment ? index_copy(index, logged->copy)->ordinal : NONE, moment ? logged->kind : 0 };
        g_array_append_val(moves, move);
    }
    return moves;
}

GArray *closure_moves(Closure *closure, const Goal *goal)
{
    const Index *index = closure->index;
    Arena scratch;
    arena_init(&scratch, closure->log.arena->budget);
    Slice slice = { .closure = closure, .index = index, .position = ARENA_NEW(uint32_t, &scratch, index->cores),
                    .steps = ARENA_NEW(uint32_t, &scratch, index->cores), .moments = ARENA_NEW(uint8_t, &scratch, index->copies + 1),
                    .given = ARENA_NEW(int64_t, &scratch, index->semaphores + 1),
                    .needed = ARENA_NEW(int64_t, &scratch, index->semaphores + 1),
                    .keep = ARENA_NEW(uint8_t, &scratch, closure->log.count + 1) };
    for (uint32_t core = 0; core < index->cores; core++)
        slice.position[core] = closure->position[core];
    for (uint32_t s = 0; s < index->semaphores; s++)
        slice.given[s] = closure->given[s];
    need_goal(&slice, goal);
    for (size_t i = closure->log.count; i-- > 0;) {
        const Logged *logged = &PILE(Logged, &closure->log, i);
        slice.keep[i] = logged->copy != NONE ? visit_moment(&slice, logged) : visit_step(&slice, logged);
    }
    GArray *moves = collect(&slice);
    arena_clear(&scratch);
    return moves;
}
