/* child.h - a forked child that runs user code.
 *
 *     parent: child_start -> child_wait(DONE) -> [ child_ask -> child_wait ]* -> child_end
 *     child:  serve(control, argument, request) for request 0, then for each byte that the parent sends
 *
 * User code may crash, exit, spin or overflow its stack. Then the child is dead: only what its handlers wrote to ChildControl, and what it
 * recorded before, remains, and none of its conclusions is used.
 */
#pragma once
#include <sys/types.h>
#include "execution.h"
#include "progress.h"

typedef enum ChildEnd { CHILD_DONE, CHILD_CRASHED, CHILD_OVERFLOWED, CHILD_EXITED, CHILD_SPINS, CHILD_OUT_OF_MEMORY,
                        CHILD_TIMED_OUT, CHILD_NOT_ALONE } ChildEnd;    /* the last: user code tried to start something, see alone.h */
/* What a child is doing; only PHASE_SEARCH and later phases can be asked to stop. */
typedef enum ChildPhase { PHASE_LOAD, PHASE_PROGRAM, PHASE_RUN, PHASE_AGAIN, PHASE_SEARCH, PHASE_REPLAY, CHILD_PHASES } ChildPhase;

typedef struct ChildControl {                   /* first member of the caller's struct in shared memory */
    ExecutionPulse pulse;
    Progress progress;
    const char *volatile exhausted;             /* CHILD_OUT_OF_MEMORY: why, as a clause; NULL: the limit of all processes */
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
/* Callbacks while a child works. */
typedef struct ChildWatch {
    double seconds_max;                         /* after these it is told to stop; 0: never */
    bool (*interrupted)(void);                  /* true: it is told to stop; NULL: never */
    void (*tick)(const Progress *progress, double seconds, void *data);        /* a few times a second; may be NULL */
    void *data;
} ChildWatch;

/* Says what the parent itself does now. watch NULL: to nobody. */
void child_tell_phase(const ChildWatch *watch, const char *what);

/* Waits for the answer to the last request. watch NULL: without a limit. A child that does not answer soon after it was told to stop
 * (control->progress.stop says why) is CHILD_TIMED_OUT; at once in a phase that cannot be asked to stop. */
ChildEnd child_wait(Child *child, const ChildWatch *watch);
void child_ask(Child *child, char request);
char *child_end(Child *child);                  /* ends it; returns its output (g_malloc, valid UTF-8), NULL: none */
/* In the child: does control->progress say so? */
bool child_told_to_stop(void);
/* For handlers in the child: the stacks whose guard pages tell an overflow. */
void child_watch_stacks(const CoroPool *pool);
/* In a fork of a child: its handlers now write here. (No effect in a fork of any other process, which has no handlers.) */
void child_report_to(ChildControl *control);
/* For threads of the child that run user code: a signal stack of their own. */
typedef struct ThreadStack ThreadStack;
ThreadStack *child_begin_thread(void);
void child_end_thread(ThreadStack *stack);      /* restores the previous one: a sanitizer has its own */
/* The limit that ended the child, as a sentence: "time: PROGRAM(ring) did not return within 5 s". g_malloc. */
char *child_tell_limit(const ChildControl *control, ChildEnd end, const char *module, const char *program, double seconds);
#define CHILD_MAY_NOT_START "must not start a process, a thread or a program (fork, system, pthread_create, exec)"
/* "PROGRAM(ring)", "the recorded run". g_malloc. */
char *child_name_phase(const ChildControl *control, const char *module, const char *program);
const char *child_describe_signal(int signal_number);
