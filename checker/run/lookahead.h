/* lookahead.h - what stuck cores would do next if their waits were satisfied.
 *
 *     run ends in a deadlock -> lookahead_run -> record->lookahead: which core would signal what, and where -> the proof reports it
 *
 * Each stuck core continues in a forked process as if its wait were over; its steps have no effect and are only recorded. This is exact
 * until the core observes data, a count or a flag, whose value is unknown. There, and at a fault or a limit, its entries end with one of
 * kind STEP_STOP; otherwise with one of kind STEP_EXIT.
 *
 * Errors:      none; of a core whose process dies nothing more is known.
 */
#pragma once
#include "execution.h"

void lookahead_run(Execution *execution);       /* after the end of the run; the execution stays as it is */
