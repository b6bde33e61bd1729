/* world.h - a state of the program between choices: stages of cores, values of objects, copies under way; with undo.
 *
 *     world_begin -> settled -> [ world_pending -> world_do -> settled ]* -> world_undo (to any earlier mark)
 *
 * Settled means: every possible step without conflict is done, in a fixed order; only steps on contended objects are left, and steps that
 * wait for them. An *agent* is a core (its id) or one moment of one copy.
 *
 * Invariants:  1. undoing all events gives the state before world_begin.  2. events are in a legal order; members of a join are adjacent.
 * Ownership:   borrows what is shared; owns the rest.
 */
#pragma once
#include "shared.h"

#define EVENT_EFFECT STEP_KIND_COUNT            /* not a step: an increment by a copy that is done at once */

typedef struct WorldEvent {
    uint32_t core;                              /* the core that did it, or that started the copy */
    uint32_t stage;                             /* of the core before it; of a moment: index of the transfer */
    uint32_t object;                            /* whose value it changed; NONE: none */
    uint32_t older;                             /* the core's previous event, plus 1 */
    int64_t before;                             /* of the object; of a look: the object's version */
    uint32_t watching, watches, written;        /* state before it; written: mark of the journal of contents */
    uint8_t kind;                               /* StepKind, EVENT_EFFECT */
    bool bumped, foreign;                       /* it raised the object's version; it added to `others` */
    bool tainted, pending;                      /* the core's marks before it */
} WorldEvent;

typedef struct Transfer {                       /* a copy that is not done at once */
    uint32_t stage, core, base;                 /* of its start; agents base + moment */
    uint8_t exist, conflict, done;              /* bit per moment; conflict: its time is a choice */
    uint32_t payload;                           /* contents: what was read */
    uint32_t event;                             /* of its start */
    bool tainted;                               /* happens-before alone does not decide when its moments may come: its core was tainted,
                                                   copies have an order, or contents steer cores */
} Transfer;

typedef struct Watched { uint32_t object, version, next; } Watched;     /* object NONE: any contents */

typedef struct World {
    const Program *program;
    Shared *shared;
    Tree *tree;
    Usage *usage;
    Data *data;                                 /* NULL: no contents */
    uint32_t *stage, *last, *watching;          /* by core; last: event plus 1; watching: list plus 1, asleep until one of it changes */
    uint8_t *tainted;                           /* by core: since the start it waited for others without a choice, or closed a loop */
    uint64_t *pending;                          /* bit per core: its next step is on a contended object */
    struct Recent *recent;                      /* cache of recent questions to the tree */
    int64_t *value;                             /* by semaphore */
    int64_t *others;                            /* by semaphore: increments since the start, except those of its own core alone */
    uint32_t *version;                          /* by semaphore: changes so far, if contended */
    uint32_t semaphores;
    WorldEvent *event;
    size_t events, events_max;
    GArray *transfers, *watches;                /* Transfer, Watched */
    uint32_t *transfer_of;                      /* by number of a copy: transfer plus 1 */
    uint32_t copies_max;
    uint32_t *queue, head, tail;                /* cores that may move */
    uint8_t *queued;
    bool begun, transfers_changed;
} World;

/* An agent's next step on a contended object. */
typedef struct Pending {
    uint32_t object;
    uint32_t stage;                             /* NONE: a moment */
    int64_t value;                              /* of the object now */
    uint8_t manner;                             /* of the step if done now */
    bool enabled;
} Pending;

World *world_new(Shared *shared);
void world_free(World *world);
void world_begin(World *world);
bool world_knows(const World *world, uint32_t agent);   /* does such an agent exist? */
bool world_pending(World *world, uint32_t agent, Pending *pending);
void world_do(World *world, uint32_t agent);    /* it is pending and enabled */
void world_undo(World *world, size_t events);   /* until so many are left */
/* The next agent after `agent` (NONE: the first) with a pending step: cores, then moments of copies in order of start. NONE: no more. */
uint32_t world_next_agent(World *world, uint32_t agent);

/* Is the step at `stage` enabled if its object has `value`? A look that leaves its core in the same state is not. */
bool world_holds(World *world, uint32_t stage, int64_t value);
Manner world_manner(const World *world, uint32_t stage, int64_t value);
bool world_may_disable(const World *world, uint32_t stage);     /* an add to its object may disable the step */
bool world_may_block(const World *world, uint32_t stage);       /* it may have to wait for other agents */
bool world_polls(World *world, uint32_t core);  /* it is at a look of a polling loop */
bool world_is_tainted(const World *world, uint32_t agent);      /* did choices of others possibly enable its steps so far? */

void world_assert_sane(const World *world);     /* world_sane.c */

/* The number of a copy among all of the tree, by its first agent. */
static inline uint32_t world_copy_number(const World *world, uint32_t base) { return (base - world->program->cores) / 4; }
static inline const Copy *world_copy(const World *world, const Transfer *transfer)
{
    return &tree_unrolled(world->tree, transfer->stage)->copy;
}

/* Shared by world.c and transfer.c. */
int64_t world_value(World *world, uint32_t object);
WorldEvent *world_log(World *world, uint32_t core, StepKind kind, uint32_t stage);
/* own: only the semaphore's own core decides it. */
void world_add(World *world, WorldEvent *event, uint32_t object, int64_t inc, bool own);
void transfer_start(World *world, uint32_t core, uint32_t stage);
void transfer_run(World *world);                /* all moments that are free of conflict and possible */
uint32_t transfer_next(World *world, uint32_t agent);   /* world_next_agent among moments */
bool transfer_pending(World *world, uint32_t agent, Pending *pending);
const Transfer *transfer_of_agent(const World *world, uint32_t agent);  /* which has started */
/* Agents of the moments of the same copy that precede this one and are choices; returns their number. */
enum { TRANSFER_NEEDS_MAX = 2 };
unsigned transfer_needs(const World *world, uint32_t agent, uint32_t *needed);
void transfer_do(World *world, uint32_t agent);
void transfer_undo(World *world, const WorldEvent *event);
