/* foresee.h - what stuck cores would do next, if the step that each waits for were possible.
 *
 *     run ends in a deadlock -> foresee -> record->foreseen: who could still signal what, and where -> the proof tells it
 *
 * Each stuck core goes on from where it stands, in a copy of the process, as if its wait were over: its steps have no effect and are only
 * noted. That is exact until it looks at data, a count or a flag, which nobody can foresee: there, and at a fault or a limit, it ends
 * with an entry of kind STEP_STOP, else with one of kind STEP_EXIT.
 *
 * Errors:      none; a core whose copy dies is known no further.
 */
#pragma once
#include "execution.h"

void foresee(Execution *execution);             /* after the end of the run; the execution stays as it is */
