/* walk.h - what a search has: every state once, breadth first; a state is one small id a core (and one a device, where memory matters).
 *
 *     level -> each worker, its share of the states: judge, each turn that is possible -> successor, unless seen -> next level
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
typedef struct Found Found;
typedef struct Lives Lives;
typedef struct ContentsPool ContentsPool;
typedef struct Results Results;
typedef struct Dump Dump;
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
    Reservation reservation;                                    /* all Stores below */
    IdSets sets;
    Accesses accesses;
    Store gauges, gauge_of;                     /* Gauge; by semaphore: gauge, plus 1 */
    Intern others_keys;                         /* (gauge, core) -> id; 0: unused */
    Store others;                               /* Others */
    Intern joins, events;                       /* Join; Place */
    Memory *memory;                             /* flags and contents; NULL: the program has none */
    ContentsPool *pool; Results *results;       /* contents only */
    Lives *lives;
    Found *found;
    struct Symmetry *symmetry;                  /* WALK_SYMMETRY; else NULL */
    Layout layout;
    Worker *worker;
    unsigned workers, owner_bits;               /* a power of two, and which */
    gint busy;                                  /* how many still have states to expand */
    bool lanes_due;                             /* all of them, as the layout or all masks have changed */
    uint32_t *id, *after;                       /* of the state in hand of the one thread (the first worker's); of a successor */
    uint32_t *lone;                             /* scratch: ids of which only one core's counts */
    uint64_t level, swept;                      /* in hand; states of levels given up */
    GArray *growth;                             /* uint32_t: turns that made something new (dump.c); NULL: not asked for */
    Dump *resumed;                             /* to go on from; NULL: from the start */
    bool polls, uneven;                         /* some tree has loops; two ways to a component take different numbers of turns */
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
static inline Gauge *walk_gauge(const Walk *walk, uint32_t gauge) { return &STORE(Gauge, &walk->gauges, gauge); }
static inline const Place *walk_event(const Walk *walk, uint32_t event) { return intern_get(&walk->events, event, NULL); }

static inline int64_t walk_added(const Walk *walk, const uint32_t *id, Feeder feeder)
{
    const WalkCore *core = &walk->core[feeder.core];
    return STORE(int64_t, &core->taken, (size_t)id[feeder.core] * core->columns + feeder.column);
}

/* What all but one core have added to a gauge. */
static inline int64_t walk_count_others(const Walk *walk, const uint32_t *id, uint32_t others)
{
    const Others *at = &STORE(Others, &walk->others, others);
    int64_t sum = walk_added(walk, id, at->first);
    for (uint32_t i = 0; i < at->more; i++)
        sum += walk_added(walk, id, at->feeder[i]);
    return sum;
}

/* What a gauge shows in the state of the given ids. */
static inline int64_t walk_count(const Walk *walk, const uint32_t *id, uint32_t gauge)
{
    const Gauge *at = &STORE(Gauge, &walk->gauges, gauge);
    int64_t sum = 0;
    for (uint32_t i = 0; i < at->feeders; i++)
        sum += walk_added(walk, id, at->feeder[i]);
    return sum;
}

/* successor.c: turn_take, noted if it made something; and the same for each turn possible in the state, until visit returns false. */
bool walk_take(Walk *walk, const uint32_t *id, uint32_t core, uint32_t turn, uint32_t *after);
void walk_each(Walk *walk, const uint32_t *id, bool (*visit)(void *data, uint32_t core, uint32_t turn, const uint32_t *after), void *data);

/* trail.c: the moves from the start to a state; NULL: none found within the limits. forward.c: without a table of all states. */
GArray *trail_find(Walk *walk, const uint32_t *id, uint64_t level);
GArray *forward_find(Walk *walk, const uint32_t *id);

static inline void walk_stop(Walk *walk, const char *limit) { walk->limit = walk->limit == NULL ? limit : walk->limit; }
static inline KeyShape walk_shape(const Walk *walk, const Layout *layout)
{
    return (KeyShape){.words = walk->hashed ? 1 : layout->words, .bits = walk->hashed ? 64 : layout->bits, .skip = walk->owner_bits};
}
