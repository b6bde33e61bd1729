/* walk.h - what a search has: every state once, breadth first; a state is one small id a core (and one a device, where memory matters).
 *
 *     level -> each worker, its share of the states: judge, each transition that is possible -> successor, unless seen -> next level
 *           -> one thread, what needs more than rows (a core that has to be unrolled further, a fault to name), in the order of states
 *
 * Invariants:  1. While workers run, nothing but their own parts changes: rows, trees and what was found are written by one thread alone,
 *              in an order that depends on the states only. So counts, findings and schedules are those of one worker.
 *              2. A state belongs to the worker that the top bits of its scattered key name.
 * Ownership:   the walk owns everything but program, source and options.
 */
#pragma once
#include "access.h"
#include "enumerate_options.h"
#include "layout.h"
#include "rows.h"
#include "table.h"

typedef struct Memory Memory;
typedef struct Findings Findings;
typedef struct Lives Lives;
typedef struct ContentsPool ContentsPool;
typedef struct EndResults EndResults;
typedef struct Stream Stream;
typedef struct Worker Worker;

struct Walk {
    Program *program;
    UnrollSource *source;
    const EnumerateOptions *options;
    Outcome *outcome;
    bool fluid, contents, keeps, merges;        /* keeps: queues keep all states, to find schedules; merges: WALK_MERGE_LOCAL */
    bool hashed, frozen;                        /* tables hold hashes of keys (repack_print), not keys; workers run */
    uint32_t cores, mask_words, mask_generation;
    size_t components_max;                      /* of one core */
    WalkCore *core;
    Reservation reservation;                    /* all Stores below */
    IdSets sets;
    Accesses accesses;
    Store counters, counter_of;                 /* StateCounter; by semaphore: counter, plus 1 */
    Intern others_keys;                         /* (counter, core) -> id; 0: unused */
    Store others;                               /* Others */
    Intern joins, events;                       /* Join; Place */
    Memory *memory;                             /* flags and contents; NULL: the program has none */
    ContentsPool *pool; EndResults *results;    /* contents only */
    Lives *lives;
    Findings *findings;
    struct Symmetry *symmetry;                  /* WALK_SYMMETRY; else NULL */
    Layout layout;
    Worker *worker;
    unsigned workers, owner_bits;               /* a power of two, and which */
    gint busy;                                  /* how many still have states to expand */
    bool rows_due;                              /* all of them, as the layout or all masks have changed */
    uint32_t *id, *after;                       /* of the state in hand of the one thread (the first worker's); of a successor */
    uint32_t *lone;                             /* scratch: ids of which only one core's counts */
    uint64_t level, swept;                      /* in hand; states of levels given up */
    GArray *growth;                             /* uint32_t: transitions that made something new (stream.c); NULL: not asked for */
    Stream *resumed;                            /* to go on from; NULL: from the start */
    bool polls, uneven;                         /* some tree has loops; two ways to a component take different numbers of transitions */
    bool repack, restart;                       /* an id outgrew its field; something turned out to matter */
    int64_t begun;                              /* monotonic microseconds */
    size_t stores_before;                       /* bytes of Stores that are not ours */
    const char *limit;                          /* which limit ended the search */
    bool done;                                  /* nothing more is wanted: `first`, and something was found */
    bool until_race, raced;                     /* stop at the first race; there was one */
    bool unknown;                               /* a core looked at data that are not part of the search */
};

static inline bool walk_sweeps(const Walk *walk) { return walk->options->modes & WALK_SWEEP; }
static inline bool walk_forgets(const Walk *walk) { return walk->options->modes & (WALK_SWEEP | WALK_HASH_COMPACT); }  /* what it visited */
static inline WalkCore *walk_core(const Walk *walk, uint32_t core) { return &walk->core[core]; }
static inline Component *walk_component(const Walk *walk, uint32_t core, uint32_t id)
{
    return &STORE(Component, &walk->core[core].components, id);
}
static inline const Node *walk_node(const Walk *walk, uint32_t core, uint32_t id)
{
    return tree_node(&walk->core[core].tree, walk_component(walk, core, id)->node);
}
static inline const Place *walk_event(const Walk *walk, uint32_t event) { return intern_get(&walk->events, event, NULL); }

/* successor.c: transition_take, noted if it made something; and the same for each transition possible in the state, until visit returns
 * false. */
bool walk_take(Walk *walk, const uint32_t *id, uint32_t core, uint32_t transition, uint32_t *after);
void walk_each(Walk *walk, const uint32_t *id, bool (*visit)(void *data, uint32_t core, uint32_t transition, const uint32_t *after),
               void *data);

/* state_path.c: the moves from the start to a state; NULL: none found within the limits. state_path_forward.c: without a table of all
 * states. */
GArray *state_path_find(Walk *walk, const uint32_t *id, uint64_t level);
GArray *state_path_find_forward(Walk *walk, const uint32_t *id);

static inline void walk_stop(Walk *walk, const char *limit) { walk->limit = walk->limit == NULL ? limit : walk->limit; }
static inline KeyShape walk_shape(const Walk *walk, const Layout *layout)
{
    return (KeyShape){.words = walk->hashed ? 1 : layout->words, .bits = walk->hashed ? 64 : layout->bits, .skip = walk->owner_bits};
}
