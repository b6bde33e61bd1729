/* worker.h - the forked child of a check: load, build, run, run again, search, replay.
 *
 * Ownership:   WorkerShared is in shared memory; the parent creates it, and reads it after the child's answer.
 */
#pragma once
#include "worker_shared.h"

enum { WORKER_RUN = 0, WORKER_MARK = 'm', WORKER_REPLAY = 'r' };

WorkerShared *worker_shared_new(const CheckSpec *spec);
void worker_shared_free(WorkerShared *shared);  /* but not the program and record */
void worker_serve(ChildControl *control, void *shared, char request);
