/* explore.h - the search over classes: depth first over choices, with sleep sets, wakeup trees, and race reversal at the end of a run.
 *
 *     frame --choice--> frame --choice--> ... --> nothing enabled: one class
 *
 * Frames above `base` are nodes that other explorers share (shared.h); reversed runs that begin there are handed over after the round.
 *
 * Invariants:  1. choice d is made at frame d; the last frame has no choice yet.  2. a sleeper of a frame is enabled there, and every class
 *              below that begins with it was visited, or is visited by another explorer. (Asserted: it is enabled.)
 * Ownership:   Explorer owns everything but shared, program, source and options.
 */
#pragma once
#include <string.h>
#include "../facts/finding.h"
#include "path.h"
#include "shared.h"
#include "world.h"

typedef struct Frame {
    WakeTree tree;                              /* branches not tried yet */
    uint32_t sleep;                             /* index of its first sleeper; they end where those of the next frame begin */
    uint32_t tried;                             /* branches, including the current one */
    uint64_t classes;                           /* visited by the explorer when the frame began */
    bool begun;
} Frame;

/* For the frames of one depth: classes below their first branches, their second, and so on. `now`: of the current frame, not done. */
enum { SHAPE_DEPTHS = 128, SHAPE_BRANCHES = 32 };
typedef struct Shape { uint64_t classes[SHAPE_BRANCHES], now[SHAPE_BRANCHES]; } Shape;
typedef struct Shapes { Shape *at; uint32_t depths; } Shapes;          /* by depth; 0 below those */

static inline void shapes_fit(Shapes *shapes, uint32_t depths)
{
    if (depths <= shapes->depths)
        return;
    shapes->at = g_renew(Shape, shapes->at, depths);
    memset(shapes->at + shapes->depths, 0, (depths - shapes->depths) * sizeof *shapes->at);
    shapes->depths = depths;
}

/* A step could have come before the choice `first`. */
typedef struct Reversal {
    uint32_t first;
    uint32_t agent, stage;                      /* the step: this agent's at this stage; stage NONE: a moment */
    uint32_t without;                           /* the choices to leave out, as a row of bits in `rows`; NONE: only `first` */
    int64_t value;                              /* its object's value then, as far as happens-before decides it */
    uint32_t object;
} Reversal;

typedef struct ClassResults ClassResults;

enum { EXPLORE_CHOICES_MAX = 20000 };           /* of one run: cores run from the start after each observation */

typedef struct Explorer {
    Shared *shared;
    const ClassesOptions *options;
    Program *program;
    Usage *usage;
    const Tree *tree;
    Tiles *tiles;
    World *world, *shadow;                      /* shadow: for alternative.c; made on demand */
    Path path;
    WakePool pool;
    Frame *frame;
    Sleeper *sleep;
    uint32_t frames, frames_max, sleepers, sleepers_max;
    uint32_t base;                              /* the first frame of its own */
    GArray *nodes;                              /* uint32_t: ids of the nodes that are its frames above `base` */
    GPtrArray *handed;                          /* GBytes: reversed runs that begin at nodes: node; agent, object, manner of each step */
    GHashTable *known;                          /* the same, as a set */
    GArray *reversals, *rows;                   /* Reversal; words of bits */
    Steps sequence, reversed, copy;             /* scratch */
    Outcome *outcome;                           /* of this round, with runs and redundant */
    uint64_t runs, redundant;
    ClassResults *results;
    Shapes shapes;                              /* of this round */
    uint64_t choices, classes;                  /* of all rounds */
    const char *limit;                          /* that ended the search */
    bool done;                                  /* `first`, and something was found */
} Explorer;

void explore_assert_sane(Explorer *explorer);
Explorer *explore_new(Shared *shared);
void explore_free(Explorer *explorer);
void explore_begin(Explorer *explorer);         /* the whole search is its own */
/* Its search is below the branch `step` of a node, beginning with `rest` (of the shared pool). *step: becomes the step as it was done. */
void explore_begin_below(Explorer *explorer, uint32_t node, Sleeper *step, WakeTree rest);
/* Restores the state of an explorer after these choices (uint32_t agents), with these sleepers and frames (Frame, taken over). False: the
 * choices are not possible, or the sleepers are not those of this state. */
bool explore_resume(Explorer *explorer, const GArray *nodes, const GArray *agents, const GArray *sleep, const GArray *frames);
/* Visits `budget` more classes, or as many as there are (then true), or stops at a limit. */
bool explore_run(Explorer *explorer, uint64_t budget);
/* The first of its own frames with a branch that another unit can begin now; NONE: none. */
uint32_t explore_can_share(const Explorer *explorer);
void explore_share(Explorer *explorer, uint32_t frame); /* makes nodes of its frames up to this one */
void explore_end(Explorer *explorer);           /* forgets everything; explore_begin, or below, is next */

static inline uint32_t explore_sleep_end(const Explorer *x, uint32_t frame)
{
    return frame + 1 < x->frames ? x->frame[frame + 1].sleep : x->sleepers;
}
/* The sleepers of a frame, or of a node: `count` of them. */
const Sleeper *explore_asleep(const Explorer *explorer, uint32_t frame, uint32_t *count);
const WakeTree *explore_tree(const Explorer *explorer, uint32_t frame, const WakePool **pool);

/* reverse.c */
void reverse_note(Explorer *explorer);          /* adds races of a waiting step that is the last choice */
void reverse_run(Explorer *explorer);           /* reverses the races of the current complete run */
/* insertion.c: inserts a run at the frame of choice `first`, unless it is covered. */
void insertion_add(Explorer *explorer, uint32_t first, Steps *sequence);        /* which is used up */
void insertion_race(Explorer *explorer, uint32_t choice, Race *race);   /* where happens-before alone decides dependence */
void insertion_reversal(Explorer *explorer, const Reversal *reversal);  /* the same */
/* alternative.c: the same where objects that are not contended enable steps. */
void alternative_run(Explorer *explorer);

/* class_results.c */
Outcome *class_results_new_outcome(void);       /* an empty one */
ClassResults *class_results_new(Explorer *explorer);
void class_results_free(ClassResults *results);
void class_results_add(Explorer *explorer);     /* of the current complete run */
