/* limits.h - what a check, a search or a proof may use; and a few words of memory through which the supervisor (supervisor.h) and all
 * processes of this program share the memory limit.
 *
 *     limits_share -> limits_set_memory -> ... a search asks limits_told; the parent of an ended process asks limits_killed
 *
 * The supervisor measures all processes together. Near the limit it tells the largest one to stop, so that a search ends with what it has;
 * at the limit it kills the largest one. Keepers are not killed: they hold the results of others.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LIMITS_KEEPERS = 1025 };                 /* the main process, and those of a queue: option -j goes to 1024 */

/* 0: no limit; of a check, for states and runs: the search's default. A limit that is reached makes the verdict bounded. */
typedef struct Limits {
    uint64_t states;                            /* of an enumeration */
    uint64_t runs;                              /* sampled schedules, or classes */
    double seconds;
    size_t memory;                              /* bytes */
} Limits;

typedef struct LimitsShared {
    volatile size_t memory_max;                 /* bytes of all processes together; 0: no limit */
    volatile pid_t told, killed;                /* the last ones; 0: none */
    volatile pid_t keeper[LIMITS_KEEPERS];      /* 0: free */
} LimitsShared;

/* To be called before forking processes that share the words. Without it no process is told or killed. */
LimitsShared *limits_share(void);
/* Three quarters of what this process may still use: free memory of the machine, or of a control group that is nearer to its limit.
 * 0: unknown. */
size_t limits_free_memory(void);
void limits_set_memory(size_t bytes_max);
bool limits_told(void);                         /* this process: it should stop */
bool limits_killed(pid_t process);
pid_t limits_last_killed(void);                 /* 0: none was */
void limits_keep(pid_t process);
void limits_keep_no_more(pid_t process);
/* "300 MB", "2.5 GB". g_malloc. */
char *limits_size(size_t bytes);

/* When something must be finished: --time. */
typedef struct Deadline {
    int64_t at;                                 /* monotonic microseconds, 0: never */
    double seconds;                             /* as asked for */
} Deadline;

Deadline deadline_in(double seconds);           /* 0: never */
double deadline_left(const Deadline *deadline); /* seconds, more than 0; 0: no deadline */
bool deadline_over(const Deadline *deadline);

/* The deadline of what comes before any check: compiling, listing. limits_give_up records that it ended for time or memory. */
void limits_begin_preparation(double seconds);
const Deadline *limits_preparation(void);
void limits_give_up(void);
bool limits_given_up(void);
/* "memory: the limit of 300 MB was reached WHERE; raise --memory". g_malloc. */
char *limits_tell_memory(const char *where);
