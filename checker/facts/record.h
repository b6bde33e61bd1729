/* record.h - the facts of one execution: steps in the order in which they happened, copies in order of start, how each core ended.
 *
 * Lives in shared Stores: written by a child, read by its parent after record_check has checked every id.
 *
 * Invariants:  1. steps of one core appear in program order; a join appears once for each member, all members consecutive.
 *              2. eager: each copy is read and written right after its start, and the record has no READ, WRITE, EARLY_* steps.
 *                 Not eager: copies' moments appear as steps {kind, core = issuer, object = copy index} where they happened.
 *              3. the position of a step is the number of earlier steps of its core, moments not counted.
 */
#pragma once
#include "../../model/program.h"

typedef enum CoreEnd { CORE_FINISHED, CORE_BLOCKED, CORE_STOPPED, CORE_RUNNING } CoreEnd;

typedef struct CoreState {
    uint8_t end;
    Step pending;                               /* BLOCKED: the step that could not be done */
} CoreState;

typedef struct Raised {                         /* a fault seen by the run itself */
    uint8_t fault;
    uint8_t marks;                              /* of the core at that point (racing.h); 0 for faults about a count */
    uint32_t core, position, site, object, region;
    const char *message;
} Raised;

typedef struct Advised { uint8_t advice; uint32_t core, position, site; } Advised;

typedef struct Lookahead {                      /* what a stuck core would do next: see lookahead.h */
    uint32_t core;
    uint8_t kind;                               /* of a step; a copy's: STEP_READ, STEP_WRITE by what it signals */
    uint32_t site, object, value;               /* object: semaphore; NONE: end of the core (STEP_EXIT) or of what is known (STEP_STOP) */
} Lookahead;

typedef struct GridMark { uint32_t core, position; int64_t grid[GRID_DIMS_MAX]; } GridMark;     /* from this position on */

typedef struct Unmet Unmet;
typedef struct Record {
    Program *program;
    Store steps, copies, raised, grid_marks, advised;
    Store lookahead;                            /* Lookahead: each core's in program order; empty unless asked for */
    Store home;                                 /* where this struct itself lives */
    Store ends;                                 /* CoreState, one a core */
    bool eager;
    bool results_checked;                       /* every expectation was evaluated and held, and there was one */
    bool values_observed;                       /* some core observed data */
    bool complete;                              /* the run reached its end (all finished, blocked or stopped) */
    uint64_t final_hash;                        /* of final contents and counts */
    uint64_t result_hash;                       /* of the program's results */
} Record;

Record *record_new(Program *program);           /* in shared memory */
Record *record_new_own(Program *program);       /* not shared, and cheap: store_init_own */
void record_free(Record *record);
void record_reset(Record *record);
bool record_check(const Record *record, const char **why);      /* are all ids in range? false: the child damaged the record */
/* Is the raised fault reported? Not if it may be the consequence of a race; an exempt race does not excuse an unwritten value. */
bool record_is_judged(const Raised *raised);
/* What did not hold of the results (expectation.h); steps: how many the core did. */
void record_add_unmet(Record *record, const Unmet *unmet, uint32_t steps);
/* Are these the same step of two runs? Lines may differ; all STOPs are the same; starts must start the same copy. */
bool record_same_step(const Record *a, const Step *left, const Record *b, const Step *right);
bool record_any_ended(const Record *record, CoreEnd end);
bool record_all_finished(const Record *record);         /* false if the run has not ended */
const int64_t *record_grid(const Record *record, uint32_t core, uint32_t position);     /* program ids at that position, NULL: no grid */
