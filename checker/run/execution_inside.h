/* execution_inside.h - shared by execution.c and moves.c. */
#pragma once
#include <glib.h>
#include "../../model/join.h"
#include "../../model/moment.h"
#include "execution.h"

typedef struct Flight {                         /* a copy under way in a scheduled run */
    uint32_t copy;                              /* index in the record */
    unsigned done;                              /* moments, a bit each */
    Tile *payload;
} Flight;

typedef struct ScopeCount { uint16_t opened, closed; } ScopeCount;     /* by how many cores, so far */

/* The last observations of a core that may be polling. */
typedef struct Seen { uint32_t site, object; int64_t value; } Seen;
typedef struct Polling {
    Seen seen[4];
    uint32_t next, loads;                       /* loads: in a row */
    uint64_t repeats;                           /* looks and loads in a row that observed nothing new */
} Polling;

struct Execution {
    Program *program;
    Record *record;
    Machine *machine;
    CoroPool *pool;
    Core *cores;
    ExecutionOptions options;
    bool aborted, limit_reached;
    uint64_t steps;
    Request **pending;                          /* by core */
    uint8_t *end;                               /* CoreEnd by core */
    int64_t *last_grid;
    uint32_t *ready, ready_head, ready_tail;    /* eager: a ring of cores that can go on */
    uint32_t *waiter, waiters, *next_waiter;    /* eager: semaphore -> core + 1, chained */
    uint32_t *missing;                          /* eager: by launch with an entry barrier, cores not yet there */
    uint64_t idle_looks;
    Polling *polling;                           /* eager: by core */
    GArray **started;                           /* by core and ordinal: index of the copy in the record; kept between runs */
    GArray *flights;                            /* scheduled: of Flight, in order of start */
    uint8_t *entered;                           /* scheduled: by launch * devices + device: 1 entered, 2 left */
    ScopeCount *scope;                          /* by object of a scope */
    uint16_t *openers;                          /* the same: the most cores that opened it in one run so far; kept between runs */
    uint32_t scopes;
};

void execution_prepare(Execution *e, const ExecutionOptions *options, void (*submit)(Core *, Request *));
void execution_resume(Execution *e, uint32_t core);
void execution_note_scope(Execution *e, const Core *core, const Step *step);         /* an ALLOC or FREE was done */
void execution_record_step(Execution *e, Core *core, const Step *step, const Copy *copy);
void execution_stop_core(Execution *e, Core *core, Request *request);
void execution_start_copy(Execution *e, Core *core, Request *request);
void execution_perform(Execution *e, Core *core, Request *request);
bool execution_join_complete(const Execution *e, const Join *join);    /* are all its members there? */
