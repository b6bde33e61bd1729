/* replays.h - replays the schedule of each finding in the process that ran the program, and sets `shown`.
 *
 * Errors:      none; a finding that its replay does not show is not `shown`.
 */
#pragma once
#include "worker_shared.h"

void replays_make(WorkerShared *shared);        /* of shared->outcome, which is replaced */
