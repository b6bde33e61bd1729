/* child.h - a forked child that runs user code, and what its parent may believe of it.
 *
 *     parent: child_start -> child_wait(DONE) -> [ child_ask -> child_wait ]* -> child_end
 *     child:  serve(control, argument, request) for request 0, then for each byte that is asked
 *
 * User code may crash, exit, spin or overflow its stack: then the child is dead, and only what the handlers below wrote into Control, and
 * what was recorded before, remains; none of its conclusions is used.
 */
#pragma once
#include <sys/types.h>
#include "execution.h"
#include "progress.h"

typedef enum ChildEnd { CHILD_DONE, CHILD_CRASHED, CHILD_OVERFLOWED, CHILD_EXITED, CHILD_SPINS, CHILD_OUT_OF_MEMORY,
                        CHILD_TIMED_OUT, CHILD_NOT_ALONE } ChildEnd;    /* the last: user code tried to start something, see alone.h */
/* What a child is doing; only a search and what follows it can be asked to stop. */
typedef enum ChildPhase { PHASE_LOAD, PHASE_PROGRAM, PHASE_RUN, PHASE_AGAIN, PHASE_SEARCH, PHASE_REPLAY, CHILD_PHASES } ChildPhase;
enum { CHILD_SPIN_SECONDS = 2 };                /* of user code without handing over a step: it spins */

typedef struct ChildControl {                   /* first member of a struct in shared memory that the user of this module adds to */
    ExecutionPulse pulse;
    Progress progress;
    const char *volatile exhausted;             /* CHILD_OUT_OF_MEMORY: of what, as a clause; NULL: the limit of all processes */
    volatile int phase;                         /* ChildPhase */
    volatile int ended;                         /* ChildEnd, written by the handlers */
    volatile int signal;                        /* of a crash */
    volatile uint64_t address;
    volatile uint32_t core;                     /* whose code ran; NONE: outside any core (the plan, an author's function) */
} ChildControl;

typedef struct Child {
    pid_t pid;
    int to, from;                               /* pipes: requests, answers */
    int output;                                 /* a memory file with what the child printed; -1 */
    ChildControl *control;
} Child;

typedef void (*ChildServe)(ChildControl *control, void *argument, char request);

bool child_start(Child *child, ChildControl *control, ChildServe serve, void *argument, char **error);
/* Who looks at a child while it works. */
typedef struct ChildWatch {
    double seconds_max;                         /* then it is told to stop; 0: never */
    bool (*interrupted)(void);                  /* true: it is told to stop; NULL: never */
    void (*tick)(const Progress *progress, double seconds, void *data);        /* a few times a second; may be NULL */
    void *data;
} ChildWatch;

/* Waits for the answer to the last request. watch NULL: as long as it takes. A child that does not answer soon after it was told to stop
 * (control->progress.stop says why) is CHILD_TIMED_OUT, at once where it cannot be asked. */
ChildEnd child_wait(Child *child, const ChildWatch *watch);
void child_ask(Child *child, char request);
char *child_end(Child *child);                  /* ends it; what it printed (g_malloc, valid UTF-8), NULL: nothing */
/* In the child: control->progress says that it should. */
bool child_told_to_stop(void);
/* For handlers in the child: which stacks guard pages belong to. */
void child_watch_stacks(const CoroPool *pool);
/* In a copy of a child: its handlers go on, and write here from now on. (In a copy of any other process there are none: no effect.) */
void child_report_to(ChildControl *control);
/* For threads of the child that run user code: a stack of their own for handlers, given back at the end. */
typedef struct ThreadStack ThreadStack;
ThreadStack *child_begin_thread(void);
void child_end_thread(ThreadStack *stack);      /* what was in its place before is there again: a sanitizer has one too */
/* How a limit ended the child, as a sentence that begins with its name: "time: PROGRAM(ring) did not return within 5 s". g_malloc. */
char *child_tell_limit(const ChildControl *control, ChildEnd end, const char *module, const char *program, double seconds);
#define CHILD_MAY_NOT_START "must not start a process, a thread or a program (fork, system, pthread_create, exec)"
/* "PROGRAM(ring)", "the recorded run". g_malloc. */
char *child_name_phase(const ChildControl *control, const char *module, const char *program);
const char *child_describe_signal(int signal_number);
