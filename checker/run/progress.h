/* progress.h - the progress of a long search, and a request to stop it: a few words of memory that it shares with a watcher.
 *
 *     the search:   progress_begin, then updates done, total and faults; calls progress_stop at least a few times a second
 *     the watcher:  reads, shows a line; writes stop when time is up or the user interrupts
 *
 * A search that is told to stop ends with its results so far: its outcome gets the limit that progress_stop names.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* STEPS: of the runs before the search; PHASE: no number, only words. */
typedef enum ProgressKind {
    PROGRESS_NONE, PROGRESS_STEPS, PROGRESS_PHASE, PROGRESS_RUNS, PROGRESS_CLASSES, PROGRESS_STATES, PROGRESS_INPUTS,
    PROGRESS_KINDS
} ProgressKind;
typedef enum StopReason { STOP_NOT, STOP_TIME, STOP_INTERRUPT } StopReason;

typedef struct Progress {
    volatile int kind;                          /* ProgressKind */
    const char *volatile phase;                 /* PHASE: what is being done; static */
    volatile uint64_t done, faults;             /* faults: kinds of findings so far */
    volatile double total;                      /* of `done` at the end; 0: unknown */
    volatile double total_least, total_most;    /* bounds of an estimated total; both 0: it is exact */
    volatile uint64_t level;                    /* of states: the current level */
    volatile int stop;                          /* StopReason */
} Progress;

void progress_begin(Progress *progress, ProgressKind kind, double total);       /* progress NULL: no watcher; so below */
void progress_phase(Progress *progress, const char *phase);
void progress_set(Progress *progress, uint64_t done, uint64_t faults);
const char *progress_stop(const Progress *progress);    /* NULL: continue; else "time", "interrupt", "memory" */
/* "about 3.1 million (2 million to 4.5 million)". g_malloc. */
char *progress_estimate(double total, double least, double most);
/* One line: "runs 1200 of 10000, 350 a second, 2 faults, 25 s left". seconds: since the search began; seconds_max: limit of time, 0: none.
 * g_malloc; NULL: nothing to show. */
char *progress_line(const Progress *progress, double rate, double seconds, double seconds_max);
