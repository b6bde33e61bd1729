/* lives.c - steps outside the life of what they touch, and copies under way at an exit.
 *
 * What cannot be told apart from something reported elsewhere is left to it: a signal that may come before or after the end of its semaphore
 * is what is left over there, and a copy that may still be under way at an exit is in flight.
 */
#include <glib.h>

#include "prover.h"

typedef struct Touch { uint32_t object; bool semaphore, signal; } Touch;

static void add_lifetime(Prover *prover, const Event *x, const Touch *touch, int64_t have)
{
    Tally fault = { .id = FAULT_LIFETIME, .a = *x, .places = 1, .object = touch->object, .is_semaphore = touch->semaphore, .have = have };
    prover_add(prover, &fault);
}

static bool must_be_after(Prover *prover, const Lifespan *life, const Event *x)
{
    for (uint32_t core = life->first_core; core < life->first_core + life->cores; core++) {
        Event end = index_event(prover->index, core, life->span[core].end);
        if (!order_must(prover->order, &end, x))
            return false;
        if (life->exit)
            break;                              /* one event for all of them */
    }
    return true;
}

static void check_step(Prover *prover, const Event *x, const Touch *touch)
{
    Lifespan life = touch->semaphore ? lifespan_of_semaphore(prover, touch->object) : lifespan_of_object(prover, touch->object);
    Event end;
    if (life.always)
        return;
    if (!lifespan_begun(prover, &life, x))
        add_lifetime(prover, x, touch, -1);
    else if (!lifespan_end(prover, &life, x->core, &end))
        return;
    else if (touch->signal ? must_be_after(prover, &life, x) : !lifespan_over_after(prover, &life, x))
        add_lifetime(prover, x, touch, 1);
}

static void check_steps(Prover *prover)
{
    const Index *index = prover->index;
    for (uint32_t core = 0; core < index->cores; core++)
        for (uint32_t position = 0; position < index_length(index, core); position++) {
            const Step *step = index_step(index, core, position);
            bool memory = step->kind == STEP_LOAD || step->kind == STEP_STORE || step->kind == STEP_SWAP;
            bool counter = index_is_add(step) || index_is_wait(step) || step_is_conflict((StepKind)step->kind);
            if (!memory && !counter)
                continue;
            Event x = { core, position, NONE, step->kind };
            Touch touch = { step->object, counter, index_is_add(step) };
            check_step(prover, &x, &touch);
        }
}

static const Lifespan ALWAYS = { .always = true };

/* The copy may still be under way when the device leaves: true, and reported, if it may be. */
static bool check_exit(Prover *prover, const Event *x, const Event *start, const Lifespan *life, uint32_t object)
{
    Event end;
    if (!life->exit || !lifespan_end(prover, life, x->core, &end))
        return false;
    if (lifespan_over_after(prover, life, x) || order_must(prover->order, &end, start))
        return false;
    Event exit = index_event(prover->index, life->first_core, life->span[life->first_core].end);
    Tally fault = { .id = FAULT_IN_FLIGHT, .a = *x, .b = exit, .places = 2, .object = object };
    if (!prover->index->stopped)
        prover_add(prover, &fault);
    return true;
}

static bool same_end(Prover *prover, const Lifespan *a, const Lifespan *b)
{
    return a->exit && b->exit && a->span == b->span && a->first_core / prover->index->per_device == b->first_core / prover->index->per_device;
}

static void check_touch(Prover *prover, const Event *x, const Lifespan *life, const Touch *touch, bool in_flight)
{
    Event end;
    if (life->always)
        return;
    if (!lifespan_begun(prover, life, x))
        add_lifetime(prover, x, touch, -1);
    else if (in_flight || !lifespan_end(prover, life, x->core, &end))
        return;
    else if (life->exit || touch->signal ? must_be_after(prover, life, x) : !lifespan_over_after(prover, life, x))
        add_lifetime(prover, x, touch, 1);
}

/* One moment of a copy, which touches a buffer and may signal a semaphore. */
static void check_moment(Prover *prover, uint32_t copy, StepKind kind, uint32_t object, uint32_t semaphore)
{
    const Index *index = prover->index;
    Event x = index_moment(index, copy, kind), start = { x.core, x.position, NONE, STEP_COPY_START };
    Lifespan buffer = lifespan_of_object(prover, object), signal = semaphore == NONE ? ALWAYS : lifespan_of_semaphore(prover, semaphore);
    if (buffer.always && signal.always)
        return;
    bool buffer_flies = check_exit(prover, &x, &start, &buffer, object);
    bool signal_flies = same_end(prover, &buffer, &signal) ? buffer_flies : check_exit(prover, &x, &start, &signal, object);
    Touch touch = { object, false, false };
    check_touch(prover, &x, &buffer, &touch, buffer_flies);
    touch = (Touch){ semaphore, true, true };
    check_touch(prover, &x, &signal, &touch, signal_flies);
}

/* A deliberate mistake: the write is held against the exit of its own core. */
static void check_write_at_issuer(Prover *prover, uint32_t copy)
{
    const Copy *c = index_copy(prover->index, copy);
    Event x = index_moment(prover->index, copy, STEP_WRITE), start = { x.core, x.position, NONE, STEP_COPY_START };
    Lifespan source = lifespan_of_object(prover, c->source);
    check_exit(prover, &x, &start, &source, c->source);
}

void lives_check(Prover *prover)
{
    if (prover->program->bare)
        return;
    check_steps(prover);
    for (uint32_t copy = 0; copy < prover->index->copies; copy++) {
        const Copy *c = index_copy(prover->index, copy);
        check_moment(prover, copy, STEP_READ, c->source, c->send_semaphore);
        if (prover->index->canary == PROVE_CANARY_IN_FLIGHT_ISSUER)
            check_write_at_issuer(prover, copy);
        else
            check_moment(prover, copy, STEP_WRITE, c->target, c->receive_semaphore);
    }
}
