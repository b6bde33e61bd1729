/* witness.c - from a fault to a schedule that ends where finding.h says: a run without the fault's steps, reduced to what they need.
 *
 * If b can be reached without a, and a without b, then the needs of both can be done together, which leaves both next. So one run that does
 * neither reaches that state, and stops there.
 */
#include "../facts/schedule.h"
#include "prover.h"

GArray *witness_moves(Prover *prover, const Goal *goal, const Event *barred, size_t bars)
{
    Closure *closure = order_closure(prover->order);
    for (size_t i = 0; i < bars; i++)
        closure_bar(closure, &barred[i]);
    return closure_run(closure, goal) ? closure_moves(closure, goal) : NULL;
}

static void append_move(GArray *moves, uint32_t core, uint32_t copy, uint8_t moment)
{
    Move move = { core, copy, moment };
    g_array_append_val(moves, move);
}

static void append_moments(const Prover *prover, GArray *moves, uint32_t copy)
{
    const Copy *c = index_copy(prover->index, copy);
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++) {
        uint32_t ignored;
        if (!moment_is_early(moment) || index_moment_inc(prover->index, copy, moment, &ignored) > 0)
            append_move(moves, c->core, c->ordinal, (uint8_t)moment);
    }
}

/* Members of a join after the first, which makes its move. */
static uint32_t followers_of(const Prover *prover, const Step *step)
{
    const Join join = join_of(prover->program, step);
    return join_size(prover->program, &join) - 1;
}

GArray *witness_whole_record(Prover *prover)
{
    const Record *record = prover->record;
    GArray *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    uint32_t followers = 0;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (moment_is(step->kind)) {
            append_move(moves, step->core, index_copy(prover->index, step->object)->ordinal, step->kind);
        } else if (followers > 0) {
            followers--;
        } else {
            append_move(moves, step->core, NONE, 0);
            if (step_is_join(step->kind))
                followers = followers_of(prover, step);
            else if (step->kind == STEP_COPY_START && step->object != NONE && record->eager)
                append_moments(prover, moves, step->object);
        }
    }
    return moves;
}

/* A run in which the life of the touched object does not begin. */
static GArray *before_life(Prover *prover, const FaultTally *fault, const Lifespan *life)
{
    const Index *index = prover->index;
    Event barred[life->cores + 1];
    size_t bars = 0;
    barred[bars++] = fault->a;
    bool own = fault->a.core >= life->first_core && fault->a.core < life->first_core + life->cores;
    const StepSpan *begin = life->exit || (life->entry && !own) ? life->entry : life->span;
    for (uint32_t core = life->first_core; begin && core < life->first_core + life->cores; core++)
        if (begin[core].begin != NONE)
            barred[bars++] = index_event(index, core, begin[core].begin);
    Goal goal = { .next = { fault->a }, .nexts = 1, .semaphore = NONE };
    return witness_moves(prover, &goal, barred, bars);
}

static GArray *after_life(Prover *prover, const FaultTally *fault, const Lifespan *life)
{
    Event done[life->cores];
    Goal goal = { .next = { fault->a }, .nexts = 1, .done = done, .semaphore = NONE };
    for (uint32_t core = life->first_core; core < life->first_core + (life->exit ? 1 : life->cores); core++)
        if (life->span[core].end != NONE)
            done[goal.dones++] = index_event(prover->index, core, life->span[core].end);
    return witness_moves(prover, &goal, &fault->a, 1);
}

static GArray *of_lifetime(Prover *prover, const FaultTally *fault)
{
    Lifespan life = fault->is_semaphore ? lifespan_of_semaphore(prover, fault->object) : lifespan_of_object(prover, fault->object);
    return fault->have < 0 ? before_life(prover, fault, &life) : after_life(prover, fault, &life);
}

static GArray *of_leftover(Prover *prover, const FaultTally *fault)
{
    if (fault->places == 0)
        return witness_whole_record(prover);
    Goal goal = { .next = { fault->a }, .nexts = 1, .semaphore = fault->object,
                  .given = fault->have + counts_taken_before(prover, fault->object, &fault->a) };
    return witness_moves(prover, &goal, &fault->a, 1);
}

static GArray *of_overflow(Prover *prover, const FaultTally *fault)
{
    const Index *index = prover->index;
    uint32_t ignored, first = index->wait_first[fault->object], last = index->wait_first[fault->object + 1];
    uint32_t inc = fault->a.copy == NONE ? index_step(index, fault->a.core, fault->a.position)->value
        : index_moment_inc(index, fault->a.copy, (StepKind)fault->a.kind, &ignored);
    for (uint32_t i = first; i <= last; i++) {
        if (counts_after(prover, fault->object, &fault->a, i < last ? &index->wait[i] : NULL, inc) != fault->have)
            continue;
        Goal goal = { .next = { fault->a }, .nexts = 1, .semaphore = fault->object,
                      .given = closure_given(prover->order->closure, fault->object) };
        GArray *moves = closure_moves(prover->order->closure, &goal);
        bool moment = fault->a.copy != NONE;
        append_move(moves, fault->a.core, moment ? index_copy(index, fault->a.copy)->ordinal : NONE, moment ? fault->a.kind : 0);
        return moves;
    }
    return NULL;
}

GArray *witness_of(Prover *prover, const FaultTally *fault)
{
    const Event both[2] = { fault->a, fault->b };
    Goal goal = { .next = { fault->a, fault->b }, .nexts = 2, .semaphore = NONE };
    Goal next = { .next = { fault->a }, .nexts = 1, .semaphore = NONE };
    if (fault->id == FAULT_RACE)
        return witness_moves(prover, &goal, both, 2);
    if (fault->id == FAULT_LIFETIME)
        return of_lifetime(prover, fault);
    if (fault->id == FAULT_LEFTOVER)
        return of_leftover(prover, fault);
    if (fault->id == FAULT_OVERFLOW)
        return of_overflow(prover, fault);
    if (fault->id == FAULT_DEADLOCK)
        return witness_whole_record(prover);
    if (fault->id == FAULT_IN_FLIGHT) {         /* the exit is next; the copy has started */
        const Event start = { fault->a.core, fault->a.position, NONE, STEP_COPY_START };
        next.next[0] = fault->b;
        next.done = &start;
        next.dones = 1;
        return witness_moves(prover, &next, both, 2);
    }
    return witness_moves(prover, &next, both, fault->places);       /* uninitialised, mismatch: the step is next */
}
