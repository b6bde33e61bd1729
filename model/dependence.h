/* dependence.h - which steps on one semaphore or flag word commute, and which objects are contended.
 *
 *             add    look   rest         add:  signal, flag add without its result, a moment of a copy
 *     add     yes    no     no           look: a read, a comparison, a wait that keeps, a compare-and-swap that fails
 *     look    no     yes    no           rest: any other step that changes the value
 *     rest    no     no     no
 *
 * Adds and waits do not conflict as long as one core does all the waiting, or no wait takes: then thresholds decide. A flag word that its
 * adds can carry past 2^31 - 1 wraps around, and has no thresholds. Objects with other steps are *contended*: an execution chooses an order
 * on them. (Dependence as in Mazurkiewicz traces.)
 */
#pragma once
#include <glib.h>
#include "step.h"
#include "store.h"

typedef enum Manner { MANNER_ADD, MANNER_LOOK, MANNER_REST } Manner;

static inline bool dependence_commutes(Manner a, Manner b) { return a == b && a != MANNER_REST; }

/* The manner of a core's step on a semaphore or flag word that has this value. */
static inline Manner dependence_manner(const Step *step, int64_t value)
{
    switch ((StepKind)step->kind) {
    case STEP_SIGNAL:
        return MANNER_ADD;
    case STEP_FLAG_ADD:
        return step_is_plain_add(step) ? MANNER_ADD : MANNER_REST;
    case STEP_WAIT: case STEP_FLAG_STORE:
        return MANNER_REST;
    case STEP_FLAG_CAS:
        return value == (int32_t)step->extra ? MANNER_REST : MANNER_LOOK;
    case STEP_WAIT_KEEP: case STEP_SEMAPHORE_READ: case STEP_EXPECT_COUNT: case STEP_FLAG_LOAD: case STEP_FLAG_WAIT:
        return MANNER_LOOK;
    STEP_CASES_OFF_COUNTERS: case STEP_KIND_COUNT:
        break;
    }
    g_assert_not_reached();
}

/* Does it change nothing but the core? seen: the value that a FLAG_CAS found. A load counts as no change: it may race, but a repetition of
 * it adds no new race. */
static inline bool dependence_leaves_no_trace(const Step *step, int64_t seen)
{
    if (step_on_counter(step->kind))
        return dependence_manner(step, seen) == MANNER_LOOK || (step->kind == STEP_WAIT && step->value == 0);
    return step->kind == STEP_LOAD || (step->kind == STEP_COPY_START && step->object == NONE);
}

/* Steps that only look, without waiting: SEMAPHORE_READ, EXPECT_COUNT, FLAG_LOAD. */
static inline bool dependence_is_look(const Step *step)
{
    return step->kind == STEP_SEMAPHORE_READ || step->kind == STEP_EXPECT_COUNT || step->kind == STEP_FLAG_LOAD;
}

/* Does the step alone, if it is no look, make its object contended? Flag waits for "at least" and adds of positive values do not. */
static inline bool dependence_needs_order(const Step *step)
{
    if (step->kind == STEP_FLAG_WAIT)
        return step->extra != COMPARE_GE && step->extra != COMPARE_GT;
    if (step_is_plain_add(step))
        return (int32_t)step->value < 0;
    return step_has(step->kind, STEP_ON_FLAG) && !dependence_is_look(step);
}

/* What the steps seen so far tell of one semaphore or flag word. Grows monotonically. */
typedef struct Contention {
    uint32_t waiter;                            /* first core seen to wait, NONE */
    int64_t added;                              /* to a flag word, by all plain adds */
    bool several_wait, taken, needs_order, looked_at;
} Contention;

static inline void contention_note(Contention *contention, const Step *step)
{
    if (step_is_wait(step->kind)) {
        contention->several_wait |= contention->waiter != NONE && contention->waiter != step->core;
        contention->waiter = contention->waiter == NONE ? step->core : contention->waiter;
        contention->taken |= step->kind == STEP_WAIT;
    }
    if (step_is_plain_add(step))
        contention->added += (int32_t)step->value;
    contention->needs_order |= dependence_needs_order(step);
    contention->looked_at |= dependence_is_look(step);
}

/* initial: of a flag word. */
static inline bool contention_apart_from_looks(const Contention *contention, int64_t initial)
{
    bool wraps = contention->added > 0 && initial + contention->added > INT32_MAX;
    return contention->needs_order || wraps || (contention->several_wait && contention->taken);
}
