/* reorder.h - the same moves with as few changes from one agent to another as possible.
 *
 * Ownership:   the result belongs to the caller.
 * Errors:      none; NULL when the moves cannot be done in the order given, or there is nothing to gain.
 */
#pragma once
#include <glib.h>
#include "../run/execution.h"

/* Steps on objects whose order matters (looks at counts, flags, several waiters) keep their order among each other. The result is a
 * conjecture until it was run. effort as in minimise.h. */
GArray *reorder(Execution *execution, const ExecutionOptions *options, const GArray *moves, uint64_t *effort);
unsigned reorder_switches(const GArray *moves);                 /* how often the next move is another agent's */
