/* adapt.h - an old schedule on a kernel that has changed since: each of its moves names agent, operation and occurrence, and is looked for
 * among what the new kernel does.
 *
 *     old lines + new record -> each core's old operations aligned with its new ones -> done as far as possible -> new moves and places
 *
 * What is new is done on the way, what is gone is left out, what is not possible yet is tried again at the end. The result is a run of the
 * new kernel like any other: whether it shows the fault is judged as ever.
 *
 * Ownership:   replaces finding->moves; lines stay the caller's.
 * Errors:      none; a run that is too different simply stops early.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* record: of the new kernel's own run. Afterwards the execution stands where the moves lead. */
void adapt_schedule(Execution *execution, const ExecutionOptions *options, const Record *record, const GPtrArray *lines, Finding *finding);
