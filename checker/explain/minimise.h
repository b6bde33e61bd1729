/* minimise.h - reduces a schedule that shows a fault to one from which no move can be left out, with few context switches.
 *
 *     moves that show it -> drop agents, by bisection -> drop last moves, then single moves -> reorder (reorder.h) -> moves that show it
 *
 * Invariants:  1. the schedule kept has been run exactly so and showed the fault.  2. deterministic: the same input, the same schedule.
 * Ownership:   replaces finding->moves.
 * Errors:      none; false if the moves given do not show the fault (they are kept).
 */
#pragma once
#include "../run/judge.h"

/* effort: how many moves may still be done; decreases. At 0 the shortest schedule so far is the result. */
bool minimise(Execution *execution, const ExecutionOptions *options, Finding *finding, uint64_t *effort);
/* Does the current state of the execution show the finding? Judges the results, too, where the finding may be about them. */
bool minimise_shows(Execution *execution, const Finding *finding);
