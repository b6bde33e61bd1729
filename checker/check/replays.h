/* replays.h - each finding of an outcome is followed, move by move, in the process that ran the program: does it show?
 *
 * Errors:      none; a finding that does not show is not `shown`.
 */
#pragma once
#include "worker_shared.h"

void replays_make(WorkerShared *shared);        /* of shared->outcome, which then holds what was seen */
