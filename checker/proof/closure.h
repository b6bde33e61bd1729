/* closure.h - exact reachability: everything that can be done if some events never are.
 *
 *     closure_new -> [ closure_bar* -> closure_run (goal) -> closure_done? / closure_next? / closure_moves ] ... closure_reset -> again
 *
 * Steps never disable each other in a class of executions, so running whatever is possible, in any order, reaches all that is reachable.
 * Cores take turns, one step each, so that a goal near the beginning is met after few moves.
 *
 * Invariants:  1. a barred event is never done.  2. the log is a legal schedule.
 * Ownership:   the arena of closure_new.
 */
#pragma once
#include <glib.h>
#include "index.h"

typedef struct Closure Closure;

/* Where a run may stop early: all of these hold. */
typedef struct Goal {
    Event next[2];                              /* these steps are next and possible, these moments possible */
    unsigned nexts, dones;
    const Event *done;                          /* these are done */
    uint32_t semaphore;                         /* NONE, or a semaphore whose signals have given `given` so far, whatever was taken */
    int64_t given;
} Goal;

Closure *closure_new(const Index *index, Arena *arena);
void closure_reset(Closure *closure);
void closure_bar(Closure *closure, const Event *event);
/* True: the goal was met, and the run stopped there. goal NULL: run to the end, false. */
bool closure_run(Closure *closure, const Goal *goal);
bool closure_done(const Closure *closure, const Event *event);
bool closure_next(const Closure *closure, const Event *event);          /* not done, but all it needs is */
int64_t closure_given(const Closure *closure, uint32_t semaphore);      /* by all signals so far, whatever was taken */
uint64_t closure_steps(const Closure *closure);                         /* moves done in all runs so far */
/* The moves of the last run that the goal needs, in order: a short schedule to it. GArray of Move. */
GArray *closure_moves(Closure *closure, const Goal *goal);
