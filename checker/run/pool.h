/* pool.h - numbered jobs for forked copies of this process, answered in the order of the jobs.
 *
 *     pool_new -> pool_give ... -> pool_take ... -> pool_free
 *     worker:  begin once, then serve for each of its jobs
 *
 * Kernels are not thread-safe, and may crash: so workers are processes. They live until pool_free and keep their memory between jobs.
 *
 * Invariants:  1. jobs are numbered 0, 1, ... as they are given, and taken in that order, however many workers there are.
 *              2. a worker has one job at a time. Which worker does a job is left to chance: an answer may depend on the
 *                 request, and on what this process held when the pool began, but not on jobs done before by the same worker.
 *              3. a worker that died answers its job with how it died; a fresh one takes its place (begin is called again there).
 * Shared:      Stores that existed before pool_new are shared by all workers and this process: a worker that writes to one (a program
 *              takes in regions and sites as it runs) first makes it its own, by program_make_private, store_make_private.
 * Ownership:   requests are copied; whoever takes an answer owns its bytes.
 * Errors:      no process to be had: pool_new gives NULL and *error, later the job is answered as CHILD_EXITED.
 */
#pragma once
#include "child.h"

typedef struct PoolWork {
    /* In the worker, once. control: its own, for a pulse. NULL: nothing to do. */
    void (*begin)(void *argument, ChildControl *control);
    GBytes *(*serve)(void *argument, uint64_t job, const void *request, size_t bytes);
    void *argument;
} PoolWork;

typedef struct PoolAnswer {
    uint64_t job;
    GBytes *bytes;                              /* NULL: the worker died */
    ChildEnd end;                               /* CHILD_DONE, or how it died */
    int signal;                                 /* CHILD_CRASHED: of which signal */
    uint32_t core;                              /* died: whose code ran; NONE: outside any core, or nobody knows */
} PoolAnswer;

typedef struct Pool Pool;

/* workers 0: no processes; pool_take does the jobs in this process (tests, debuggers). */
Pool *pool_new(unsigned workers, const PoolWork *work, char **error);
void pool_free(Pool *pool);                     /* kills running workers; answers not taken are lost */
uint64_t pool_give(Pool *pool, const void *request, size_t bytes);                      /* the job's number */
/* Waits for the answer to the first job not taken yet, giving out others meanwhile. false: it did not come within `seconds` (< 0: no
 * limit), or no job is left. */
bool pool_take(Pool *pool, double seconds, PoolAnswer *answer);
