/* no_return.h - the point of no return: the move of a schedule after which no continuation avoids the fault.
 *
 *     minimal schedule -> which prefixes have a continuation without the fault? (all continuations, bounded) -> the first that has none
 *
 * Defined for faults that some schedules show and others do not: a deadlock or a failed assertion that depends on the order.
 *
 * Errors:      none; what the bound leaves undecided is not claimed.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* Adds a sentence to finding->why where the point is known and is not the start. The schedule must have shown the finding. No core may
 * look at data. */
void no_return_find(Execution *execution, const ExecutionOptions *options, Finding *finding);
