/* reorder.h - the same moves in an order with as few context switches as possible.
 *
 * Ownership:   the result belongs to the caller.
 * Errors:      none; NULL if the moves are not possible in the order given, or no order with as few switches was found.
 */
#pragma once
#include <glib.h>
#include "../run/execution.h"

/* Steps on objects whose order matters (looks at counts, flags, several waiters) keep their relative order. The result is a conjecture
 * until it has been run. effort: as in minimise.h. */
GArray *reorder(Execution *execution, const ExecutionOptions *options, const GArray *moves, uint64_t *effort);
unsigned reorder_switches(const GArray *moves);                 /* context switches: how often the next move is another agent's */
