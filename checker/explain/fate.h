/* fate.h - the point of no return: the move of a schedule after which no continuation avoids the fault any more.
 *
 *     minimal schedule -> how much of it leaves another way out? (all continuations, bounded) -> the first move that leaves none
 *
 * Defined where schedules differ in whether they come to the fault: a deadlock or a failed assertion that depends on the order.
 *
 * Errors:      none; what was not decided within the effort is not claimed.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* Adds a sentence to finding->why where the point is known, and not the beginning. The schedule must have shown the finding. No core may
 * look at data. */
void fate_find(Execution *execution, const ExecutionOptions *options, Finding *finding);
