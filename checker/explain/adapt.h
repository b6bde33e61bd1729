/* adapt.h - fits an old schedule to a kernel that has changed since.
 *
 *     old lines + new record -> each core's old operations aligned with its new ones -> done as far as possible -> new moves and places
 *
 * Operations that are new are done on the way, those that are gone are skipped, those that are not possible yet are retried in another
 * pass. The result is an ordinary execution of the new kernel; whether it shows the fault is judged as usual.
 *
 * Ownership:   replaces finding->moves; lines stay the caller's.
 * Errors:      none; if the kernels differ too much, the run stops early.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* record: of a run of the new kernel. Leaves the execution in the state that the moves lead to. */
void adapt_schedule(Execution *execution, const ExecutionOptions *options, const Record *record, const GPtrArray *lines, Finding *finding);
