/* world.h - one state of the program between conflicts: where cores are, what counts show, which copies are under way; forwards and back.
 *
 *     world_begin -> settled -> [ world_pending -> world_do -> settled ]* -> world_undo (to any earlier mark)
 *
 * Settled means: everything that is free of conflict and possible was done, in a fixed order; only steps on contended objects are left,
 * and whatever waits for them. An *agent* is a core (its id) or one moment of one copy.
 *
 * Invariants:  1. undoing all deeds gives the state before world_begin.  2. deeds are in a legal order; members of a join are consecutive.
 * Ownership:   borrows what is shared; owns the rest.
 */
#pragma once
#include "shared.h"

#define DEED_EFFECT STEP_KIND_COUNT             /* no step of its own: a count that a copy done at once gave */

typedef struct Deed {
    uint32_t core;                              /* who did it, or who issued the copy */
    uint32_t stage;                             /* of the core before it; of a moment: the flight */
    uint32_t object;                            /* whose value it changed, NONE */
    uint32_t older;                             /* the core's deed before, plus 1 */
    int64_t before;                             /* of the object; of a look: the object's version */
    uint32_t doze, watches, written;            /* before it; written: mark of the contents' journal */
    uint8_t kind;                               /* StepKind, DEED_EFFECT */
    bool bumped, foreign;                       /* the object's version went up; what was added to it counts among `others` */
    bool tangled, pending;                      /* the core's marks before it */
} Deed;

typedef struct Flight {                         /* a copy that is not done at once */
    uint32_t stage, core, base;                 /* of its start; agents base + moment */
    uint8_t exist, conflict, done;              /* bit per moment; conflict: it is for somebody to choose */
    uint32_t payload;                           /* contents: what was read */
    uint32_t deed;                              /* of its start */
    bool tangled;                               /* more than order decides when its moments may come: its core was tangled, copies have an
                                                   order, or contents steer cores */
} Flight;

typedef struct Watch { uint32_t object, version, next; } Watch;        /* object NONE: any contents */

typedef struct World {
    const Program *program;
    Shared *shared;
    Tree *tree;
    Usage *usage;
    Data *data;                                 /* NULL: no contents */
    uint32_t *stage, *last, *doze;              /* by core; last deed plus 1; list of watches plus 1: asleep until one of them changed */
    uint8_t *tangled;                           /* by core: since the start it waited where nothing is contended, for more than it gave */
    uint64_t *pending;                          /* bit per core: its next step is on a contended object */
    struct Recent *recent;                      /* what was asked of the tree last */
    int64_t *value;                             /* by semaphore */
    int64_t *others;                            /* by semaphore: what it got since the start, but from its own core alone */
    uint32_t *version;                          /* by semaphore: adds and rests so far, where contended */
    uint32_t semaphores;
    Deed *deed;
    size_t deeds, deeds_max;
    GArray *flights, *watches;                  /* Flight, Watch */
    uint32_t *flight_of;                        /* by number of a copy: flight plus 1 */
    uint32_t copies_max;
    uint32_t *queue, head, tail;                /* cores that may move */
    uint8_t *queued;
    bool begun, flights_changed;
} World;

/* What an agent wants to do next on a contended object. */
typedef struct Pending {
    uint32_t object;
    uint32_t stage;                             /* NONE: a moment */
    int64_t value;                              /* of the object now */
    uint8_t manner;                             /* in which it would be done now */
    bool enabled;
} Pending;

World *world_new(Shared *shared);
void world_free(World *world);
void world_begin(World *world);
bool world_knows(const World *world, uint32_t agent);           /* there can be such an agent */
bool world_pending(World *world, uint32_t agent, Pending *pending);
void world_do(World *world, uint32_t agent);    /* it is pending and enabled */
void world_undo(World *world, size_t deeds);    /* until so many are left */
/* Agents that have something pending: cores, then moments of copies as they were started; each call goes on after `agent` (NONE: from the
 * first). NONE: no more. */
uint32_t world_next_agent(World *world, uint32_t agent);

/* Would the step at `stage` be possible if its object showed `value`? A look that changes nothing for its core is not. */
bool world_holds(World *world, uint32_t stage, int64_t value);
Manner world_manner(const World *world, uint32_t stage, int64_t value);
bool world_may_turn(const World *world, uint32_t stage);        /* an add to its object may make the step impossible */
bool world_may_block(const World *world, uint32_t stage);      /* it may have to wait for others */
bool world_polls(World *world, uint32_t core);          /* it stands at a look that nothing can change any more */
bool world_is_tangled(const World *world, uint32_t agent);     /* did it come here through what others' picks may have made possible? */

/* For records: the number of a copy among all of the tree, by its first agent. */
static inline uint32_t world_copy_number(const World *world, uint32_t base) { return (base - world->program->cores) / 4; }
static inline const Copy *world_copy(const World *world, const Flight *flight) { return &tree_unrolled(world->tree, flight->stage)->copy; }

/* Shared by world.c and flight.c. */
int64_t world_value(World *world, uint32_t object);
Deed *world_log(World *world, uint32_t core, StepKind kind, uint32_t stage);
/* own: the semaphore's own core alone sees to it. */
void world_add(World *world, Deed *deed, uint32_t object, int64_t inc, bool own);
void flight_start(World *world, uint32_t core, uint32_t stage);
void flight_run(World *world);                  /* all moments that are free of conflict and possible */
uint32_t flight_next(World *world, uint32_t agent);     /* world_next_agent among moments */
bool flight_pending(World *world, uint32_t agent, Pending *pending);
const Flight *flight_of_agent(const World *world, uint32_t agent);     /* it was started */
/* Agents of moments of the same copy that come before this one, where that is for somebody to choose; returns how many. */
enum { FLIGHT_NEEDS_MAX = 2 };
unsigned flight_needs(const World *world, uint32_t agent, uint32_t *needed);
void flight_do(World *world, uint32_t agent);
void flight_undo(World *world, const Deed *deed);
