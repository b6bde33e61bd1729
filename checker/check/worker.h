/* worker.h - the forked child of a check: load, build, run, run again, search, replay.
 *
 * Ownership:   WorkerShared is in shared memory; the parent creates it, and reads it after the child's answer.
 */
#pragma once
#include "worker_shared.h"

enum { WORKER_RUN = 0, WORKER_MARK = 'm', WORKER_REPLAY = 'r' };

WorkerShared *worker_shared_new(const CheckSpec *spec, Deadline deadline);       /* with an empty program and records */
void worker_shared_free(WorkerShared *shared);  /* but not the program and record */
/* In the child. NULL, false: shared->error says why, or the program does not apply. */
ProgramModule *worker_open(WorkerShared *shared);
bool worker_build(WorkerShared *shared, const ProgramModule *module);
/* Runs the built program, and searches, until entry barriers are settled. */
void worker_run_built(WorkerShared *shared, void (*search)(WorkerShared *shared));
void worker_begin_again(WorkerShared *shared);  /* as at first: for another input of the program */
void worker_serve(ChildControl *control, void *shared, char request);
