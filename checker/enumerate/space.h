/* space.h - a state space, as far as it is unrolled: what each core can contribute to a state, and its meaning.
 *
 *     cores --unrolled--> trees --interned--> components, each with a row --one id a core--> states --a layout--> keys
 *
 * A state is one small id per core (and one per device, if memory matters); the space interprets the ids.
 *
 * Invariants:  1. While workers visit states (`frozen`), nothing here changes. It grows between levels only, by one thread, in an order
 *              that depends on the states alone: so ids, counts, findings and schedules are the same for any number of workers.
 * Ownership:   the space owns everything but program, source and options.
 */
#pragma once
#include "access.h"
#include "enumerate_options.h"
#include "layout.h"
#include "rows.h"

typedef struct Memory Memory;
typedef struct Lives Lives;
typedef struct ContentsPool ContentsPool;
typedef struct Symmetry Symmetry;

typedef struct StateSpace {
    Program *program;
    UnrollSource *source;
    const EnumerateOptions *options;
    bool fluid, contents;
    bool frozen;                                /* workers run */
    uint32_t cores, mask_words, mask_generation;
    size_t components_max;                      /* of one core */
    SpaceCore *core;
    Reservation reservation;                    /* all Stores below */
    IdSets sets;
    Accesses accesses;
    Store counters, counter_of;                 /* StateCounter; by semaphore: counter, plus 1 */
    Intern others_keys;                         /* (counter, core) -> id; 0: unused */
    Store others;                               /* Others */
    Intern joins, events;                       /* Join; Place */
    Memory *memory;                             /* flags and contents; NULL: the program has none */
    ContentsPool *pool;                         /* contents only */
    Lives *lives;
    Symmetry *symmetry;                         /* ENUMERATE_SYMMETRY; else NULL */
    Layout layout;
    bool rows_due;                              /* worker rows must be rebuilt: the layout or the masks have changed */
    uint32_t *lone;                             /* scratch: ids of which only one core's counts */
    GArray *growth;                             /* uint32_t: transitions that made something new (growth.c); NULL: not kept */
    bool polls, uneven;                         /* some tree has loops; paths to a component differ in length */
    bool repack, restart;                       /* an id outgrew its field; the search must restart with more in its states */
    bool unknown;                               /* a core observed data that is not part of the search */
} StateSpace;

/* Sizes Stores for the program. contents: contents of buffers are part of states. */
void space_open(StateSpace *space, UnrollSource *source, const EnumerateOptions *options, bool contents);
void space_close(StateSpace *space);
const PendingCopy *space_pendings(const StateSpace *space, uint32_t core, uint32_t id); /* of a component */

static inline bool space_sweeps(const StateSpace *space) { return space->options->modes & ENUMERATE_SWEEP; }
static inline bool space_merges(const StateSpace *space) { return space->options->modes & ENUMERATE_MERGE_LOCAL; }
/* Does the search discard visited states or keep only hashes? */
static inline bool space_forgets(const StateSpace *space) { return space->options->modes & (ENUMERATE_SWEEP | ENUMERATE_HASH_COMPACT); }
static inline SpaceCore *space_core(const StateSpace *space, uint32_t core) { return &space->core[core]; }
static inline Component *space_component(const StateSpace *space, uint32_t core, uint32_t id)
{
    return &STORE(Component, &space->core[core].components, id);
}
static inline const TreeNode *space_node(const StateSpace *space, uint32_t core, uint32_t id)
{
    return tree_node(&space->core[core].tree, space_component(space, core, id)->node);
}
static inline const Past *space_past(const StateSpace *space, uint32_t core, uint32_t id)
{
    return pasts_of(&space->core[core].pasts, space_component(space, core, id)->node);
}
static inline Transition *space_transition(const StateSpace *space, uint32_t core, uint32_t index)
{
    return &STORE(Transition, &space->core[core].transitions, index);
}
static inline const Place *space_event(const StateSpace *space, uint32_t event) { return intern_get(&space->events, event, NULL); }
