/* minimise.h - from a schedule that shows a fault to one from which nothing can be left out, with few changes between agents.
 *
 *     moves that show it -> drop agents, halves at a time -> drop single moves -> reorder (reorder.h) -> moves that show it
 *
 * Invariants:  1. whatever is kept was run just so and showed the fault.  2. no clock and no chance: the same input, the same schedule.
 * Ownership:   replaces finding->moves.
 * Errors:      none; false when the moves given do not show the fault (then they stay).
 */
#pragma once
#include "../run/judge.h"

/* effort: how many moves may still be done; what was done is taken from it. When it is used up, the best so far is the result. Every move
 * that is left out may take with it those that are no longer possible without it. */
bool minimise(Execution *execution, const ExecutionOptions *options, Finding *finding, uint64_t *effort);
/* Does the state that the execution is in show the finding? Results are judged as well where the finding is about them. */
bool minimise_shows(Execution *execution, const Finding *finding);
