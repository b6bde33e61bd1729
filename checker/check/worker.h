/* worker.h - what the forked child of a check does: load, build, run, run again, search, replay.
 *
 * Ownership:   WorkerShared lives in shared memory; the parent made it and reads it when the child has answered.
 */
#pragma once
#include "worker_shared.h"

enum { WORKER_RUN = 0, WORKER_MARK = 'm', WORKER_REPLAY = 'r' };

WorkerShared *worker_shared_new(const CheckSpec *spec);
void worker_shared_free(WorkerShared *shared);  /* not the program and record */
void worker_serve(ChildControl *control, void *shared, char request);
