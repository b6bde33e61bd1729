/* index.h - a record indexed: each core's steps in sequence, each semaphore's signals and waits, joins, lives.
 *
 *     Record -> index_new -> Index: slots (core, position) -> step;  semaphore -> signals, waits;  launch and scope -> positions
 *
 * A *slot* is the dense number of a core's step: first[core] + position. An *event* is a core's step or one moment of a copy; a join is
 * one event, which any of its members may name.
 *
 * Invariants:  1. signals of a semaphore are listed in order of start, waits in order of the record.
 *              2. waits on a contended object have no threshold: edges order them as the record did.
 * Ownership:   all of it lies in the arena; record and program are borrowed.
 */
#pragma once
#include "../../model/join.h"
#include "../../model/moment.h"
#include "../facts/record.h"
#include "arena.h"
#include "settings.h"

typedef struct Event {
    uint32_t core, position;                    /* the step, or the start of the copy */
    uint32_t copy;                              /* index in the record, NONE: the step itself */
    uint8_t kind;                               /* of a copy: EARLY_SEND, READ, EARLY_RECEIVE, WRITE; else the step's kind */
} Event;

typedef struct Signal {
    uint32_t core, position;                    /* who gives it: the signal or flag add, or the start of the copy */
    uint32_t copy_end;                          /* copy * 2 + (1 for its receive semaphore); NONE: a core's own step */
    uint32_t inc;
} Signal;

typedef struct Wait {
    uint32_t core, position, semaphore;
    uint32_t taken;                             /* what it takes: its value, or 0 for a wait that keeps */
    int64_t total;                              /* threshold: what all signals together must have given; 0: needs nothing */
} Wait;

typedef struct JoinSteps { uint32_t first, members; } JoinSteps;          /* its members' steps in the record */
typedef struct StepSpan { uint32_t begin, end; } StepSpan;      /* positions of alloc and free, or enter and exit; NONE: not done */
typedef struct OrderEdge { Event before, after; } OrderEdge;    /* an order that the record chose on a contended object */

typedef struct Asked { uint32_t slot, column; } Asked;          /* one entry of a clock: before that step, or at that start; of no join
                                                                   of several cores */

typedef struct Index {
    const Record *record;
    const Program *program;
    Arena *arena;
    ProveCanary canary;
    uint32_t cores, per_device, semaphores, copies;
    uint32_t *first;                            /* cores + 1: slot of position 0 */
    uint32_t *step;                             /* slot -> index in the record */
    uint8_t *kind;                              /* slot -> kind of that step */
    uint32_t *link;                             /* slot -> wait, signal or join of that step, by its kind */
    JoinSteps *join;
    uint32_t joins;
    uint32_t *signal_first, *wait_first;        /* semaphores + 1 */
    Signal *signal;
    Wait *wait;
    uint32_t *copy_signal;                      /* copy * 2 + end -> signal, NONE where it has no semaphore */
    uint8_t *contended;                         /* semaphores: the record chose the order on them */
    int64_t *final_count;                       /* semaphores: at the end of the record */
    OrderEdge *edge;                            /* in the order of the record, by what comes after */
    size_t edges;
    bool meant;                                 /* some wait is meant for one copy */
    bool looks_aside;                           /* looks do not make an object contended */
    uint64_t conflicts;                         /* steps whose result depends on their order with another agent's */
    bool decided;                               /* none of them is on a contended object */
    uint32_t *copy_before;                      /* link-fifo and issue-order: the previous copy of the chain, NONE. NULL: no chains */
    bool stopped, blocked, running;             /* some core is */
    StepSpan *launch;                           /* launch * cores + core */
    uint32_t *scope_row;                        /* decl -> row of scope, NONE */
    StepSpan *scope;                            /* row * cores + core */
} Index;

/* looks_aside: looks order nothing. */
Index *index_new(const Record *record, ProveCanary canary, bool looks_aside, Arena *arena);

static inline uint32_t index_slot(const Index *index, uint32_t core, uint32_t position) { return index->first[core] + position; }
static inline uint32_t index_length(const Index *index, uint32_t core) { return index->first[core + 1] - index->first[core]; }
static inline const Step *index_step_at(const Index *index, uint32_t slot)
{
    return &STORE(Step, &index->record->steps, index->step[slot]);
}

static inline const Step *index_step(const Index *index, uint32_t core, uint32_t position)
{
    return index_step_at(index, index_slot(index, core, position));
}
static inline const Copy *index_copy(const Index *index, uint32_t copy) { return &STORE(Copy, &index->record->copies, copy); }
Event index_event(const Index *index, uint32_t core, uint32_t position);
bool index_same_event(const Event *a, const Event *b);
static inline const Signal *index_listed(const Index *index, const GArray *signals, guint i)    /* a list of uint32_t */
{
    return &index->signal[g_array_index(signals, uint32_t, i)];
}
int64_t index_given(const Index *index, uint32_t semaphore);    /* by all signals */
Event index_moment(const Index *index, uint32_t copy, StepKind kind);
/* What a moment adds to which semaphore; 0 and NONE if it signals none, or does not exist under the progress rule in force. */
uint32_t index_moment_inc(const Index *index, uint32_t copy, StepKind kind, uint32_t *semaphore);
bool index_is_fluid(const Index *index);

/* contend.c: which objects are contended (fills contended, conflicts), and the order the record chose on them (edge, edges). */
void index_find_contended(Index *index);
void index_order_contended(Index *index);
