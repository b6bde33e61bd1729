/* rows.h - the contribution of one core to a state (a *component*: its node in its tree, and its copies under way with their phases), as
 * rows.
 *
 * Each component has a row, built once: what can move, what is accessed, what a judge must watch, and what the core has added to each
 * count so far. The component determines what its core added, so counts are sums over components and are not stored.
 *
 * Invariants:  1. ids begin at 1.  2. rows follow each other in the order in which they were built, and never change, except for masks,
 *              which follow accesses.generation.  3. node and copies under way determine what a core has added to counts.
 * Ownership:   the space's.
 */
#pragma once
#include "../../model/join.h"
#include "../../model/moment.h"
#include "../facts/finding.h"
#include "past.h"

typedef struct StateSpace StateSpace;

/* A transition from a component: the core's next step, or a moment of one of its copies. */
typedef enum TransitionKind {
    TRANSITION_ALWAYS,                          /* possible whenever the state has the component; one outcome */
    TRANSITION_GUARDED,                         /* possible if the counter is large enough; one outcome */
    TRANSITION_COUNT,                           /* SEMAPHORE_READ, EXPECT_COUNT: the outcome depends on the counter */
    TRANSITION_FLAG,                            /* FLAG_*: on the flag word, which it may change */
    TRANSITION_DATA,                            /* contents only: reads or changes the contents of a buffer */
    TRANSITION_JOIN                                   /* for all members at once, by the first one (need: 1 there, 0 for the others); the
                                                   component's first transition */
} TransitionKind;

#define TRANSITION_CORE UINT16_MAX

typedef struct Transition {
    uint8_t kind, step;                         /* TransitionKind; StepKind of the step or moment */
    uint16_t pending;                           /* which copy under way, TRANSITION_CORE: the core itself */
    uint32_t next;                              /* the component after it; 0: not made yet, or not unique */
    uint32_t edges;                             /* list of its edges so far, plus 1 */
    uint32_t counter;                           /* GUARDED, COUNT, FLAG; JOIN: which join */
    uint32_t event;
    uint32_t others;                            /* GUARDED: the other addends of the counter, besides this core; 0: none */
    bool local;                                 /* stays possible, and no other core can observe when it is done (persistent.c) */
    int64_t need;                               /* GUARDED: the sum that `others` must reach; ALWAYS: INT64_MIN */
} Transition;

typedef struct PendingCopy { uint32_t step, phase, payload; } PendingCopy;      /* step: its start in the tree; phase: moments done */

typedef struct Next { uint32_t access, event; } Next;   /* a next access */

/* What the judge must check in a state with this component. */
typedef enum WatchKind {
    WATCH_LIFE,                                 /* what: life; value: the object or semaphore */
    WATCH_PAIR,                                 /* own accesses race; what: the other event */
    WATCH_EXIT, WATCH_FREE,                     /* lives may end here; what: launch, decl */
    WATCH_MISMATCH,                             /* what: event of the copy's last moment, NONE: never started; value: semaphore */
    WATCH_FAULT,                                /* the step carries a fault */
    WATCH_LIMIT,                                /* what: counter; value: how much is added */
    WATCH_LOAD,                                 /* what: access, perhaps of a place that is not written yet */
    WATCH_EXPECT                                /* an expected count */
} WatchKind;
typedef struct Watch { uint8_t kind; bool is_semaphore; uint32_t transition, event, what; int64_t value; } Watch;

typedef struct Component {
    uint32_t node, transitions, nexts, watches; /* tree node; first of each in the core's stores */
    uint16_t transition_count, next_count, watch_count, pendings;
    uint32_t join;                              /* the join it stands at, plus 1; 0: at none */
    uint32_t wrote;                             /* set of accesses: its writes to opaque buffers so far */
    uint32_t edges;                             /* list of edges into it, plus 1 */
    uint32_t depth;                             /* the number of transitions before it; a join counts for its first member */
} Component;

/* older, other: the next edges into the same component and of the same transition, plus 1. payload: of a copy that has read. */
typedef struct Edge { uint32_t from, transition, into, payload, older, other; } Edge;

typedef struct SpaceCore {
    Tree tree;
    Pasts pasts;
    Intern keys;                                /* node, then PendingCopy after PendingCopy */
    Store components, transitions, nexts, watches, edges;
    Store taken;                                /* per component `columns` numbers: 0, then what it adds to each counter it feeds */
    Store column_of;                            /* by counter: column, plus 1 */
    Store masks;                                /* per component: own bits, then rivals' bits, mask_words each */
    Store worker_rows, deltas, stale;           /* worker_row.h; ids of components whose rows are to be built */
    uint32_t columns, steps_scanned;
} SpaceCore;

typedef struct Addend { uint32_t core, column; } Addend;
typedef struct Others {                         /* the addends of a counter besides one core */
    Addend first;                               /* {0, 0}, which adds nothing, if there are none */
    uint32_t more, counter, core;
    Addend *addend;                             /* the others, `more` of them */
} Others;
typedef struct StateCounter {                   /* the count of a semaphore, or a flag word */
    uint32_t semaphore, addends, owner, life;   /* owner: a core */
    uint32_t device, slot;                      /* the slot of a flag word */
    Addend *addend;
    int64_t limit;
    bool flag, looked_at, coarse;               /* coarse: a fluid copy of more than two counts into it */
    uint32_t taker, shared;                     /* a core that waits on it, plus 1, 0: none; do others too? */
} StateCounter;

