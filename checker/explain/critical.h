/* critical.h - the critical choice: two steps of a schedule on one semaphore or flag word whose other order ends without the fault. A step
 * is one of a core, or the landing or read of a copy, which is counted there.
 *
 *     schedule that shows the fault -> the latest step that, held back until another's step on the same object, leads to a right end
 *
 * Claimed only after the other execution was run to its end, with all cores finished and no fault.
 *
 * Errors:      none; nothing is said if no such pair is found with bounded effort.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* Sets finding->critical and adds a sentence to finding->why. The schedule must have shown the finding. results: of a divergence, the hash
 * of the other results. */
void critical_find(Execution *execution, const ExecutionOptions *options, uint64_t results, Finding *finding);
