/* explore.h - the search over classes: depth first over picks, with sleep sets, wakeup trees, and races turned round at the end of a run.
 *
 *     frame --pick--> frame --pick--> ... --> nothing enabled: one class
 *
 * Frames above `base` stand for nodes that other explorers share (shared.h); what begins there is handed over at the end of a round.
 *
 * Invariants:  1. frame d is the choice of pick d; the last frame has no pick yet.  2. what sleeps at a frame is enabled there, and every
 *              class below that would begin with it was visited, or is by another explorer.
 * Ownership:   Explorer owns everything but shared, program, source and options.
 */
#pragma once
#include <string.h>
#include "../facts/finding.h"
#include "path.h"
#include "shared.h"
#include "world.h"

typedef struct Frame {
    WakeTree tree;                              /* branches still to be tried */
    uint32_t sleep;                             /* its sleepers: from here to where those of the next frame begin */
    uint32_t tried;                             /* branches, the one in hand too */
    uint64_t classes;                           /* that the explorer had seen when the frame began */
    bool begun;
} Frame;

/* Of the frames of one depth: classes seen below their first branches, their second, and so on. `now`: of the frame in hand, not done. */
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

/* A way in which a step could have come earlier: before the pick `first`. */
typedef struct Reversal {
    uint32_t first;
    uint32_t agent, stage;                      /* the step: of this agent, where it stands there; stage NONE: a moment */
    uint32_t without;                           /* bits of the picks to leave out, as a row of `rows`; NONE: just `first` */
    int64_t value;                              /* of its object then, as far as order alone decides that */
    uint32_t object;
} Reversal;

typedef struct Digest Digest;

enum { EXPLORE_PICKS_MAX = 20000 };             /* of one run: cores are run anew after each observation */

typedef struct Explorer {
    Shared *shared;
    const ClassesOptions *options;
    Program *program;
    Usage *usage;
    const Tree *tree;
    Tiles *tiles;
    World *world, *shadow;                      /* shadow: for what can be done without some picks; made when needed */
    Path path;
    WakePool pool;
    Frame *frame;
    Sleeper *sleep;
    uint32_t frames, frames_max, sleepers, sleepers_max;
    uint32_t base;                              /* the first frame of its own */
    GArray *nodes;                              /* uint32_t: ids of the nodes that the frames above it stand for */
    GPtrArray *handed;                          /* GBytes: turned runs that begin at nodes: node, then agent, object, manner of each step */
    GHashTable *known;                          /* the same, as a set */
    GArray *reversals, *rows;                   /* Reversal; words of bits */
    Steps sequence, turned, copy;               /* scratch */
    Outcome *outcome;                           /* of this round; so are the next */
    uint64_t runs, redundant;
    Digest *digest;
    Shapes shapes;                              /* of this round */
    uint64_t picks, classes;                    /* in all */
    const char *limit;                          /* that ended the search */
    bool done;                                  /* `first`, and something was found */
} Explorer;

Explorer *explore_new(Shared *shared);
void explore_free(Explorer *explorer);
void explore_begin(Explorer *explorer);         /* the whole search is its own */
/* What follows the branch `step` of a node is its own, first `rest` (of the shared pool). *step: as the step is when it is done. */
void explore_begin_below(Explorer *explorer, uint32_t node, Sleeper *step, WakeTree rest);
/* As another explorer stood after these picks (uint32_t agents), with these sleepers and these frames of its own (Frame, taken over).
 * False: the picks are not possible, or what sleeps is not what would sleep there. */
bool explore_resume(Explorer *explorer, const GArray *nodes, const GArray *agents, const GArray *sleep, const GArray *frames);
/* Until `budget` classes more are seen, or there are none left (true), or a limit. */
bool explore_run(Explorer *explorer, uint64_t budget);
/* The first of its own frames with a branch that somebody else can begin now, NONE; makes nodes of its frames up to that one. */
uint32_t explore_can_share(const Explorer *explorer);
void explore_share(Explorer *explorer, uint32_t frame);
void explore_end(Explorer *explorer);           /* forgets everything; explore_begin, or below, is next */

static inline uint32_t explore_sleep_end(const Explorer *x, uint32_t frame)
{
    return frame + 1 < x->frames ? x->frame[frame + 1].sleep : x->sleepers;
}
/* What sleeps at a frame, also if it is a node: `count` of them. */
const Sleeper *explore_asleep(const Explorer *explorer, uint32_t frame, uint32_t *count);
const WakeTree *explore_tree(const Explorer *explorer, uint32_t frame, const WakePool **pool);

/* reverse.c */
void reverse_note(Explorer *explorer);          /* the last pick is new: what could it have come before? */
void reverse_run(Explorer *explorer);           /* the run in hand is complete: what else could have happened? */
/* insertion.c: a run that begins at the frame of pick `first`; kept unless it is known to be covered. */
void turn_insert(Explorer *explorer, uint32_t first, Steps *sequence);        /* which is used up */
void turn_race(Explorer *explorer, uint32_t pick, Race *race);         /* where order alone decides what depends on what */
void turn_reversal(Explorer *explorer, const Reversal *reversal);      /* the same */
/* detour.c: the same where steps are enabled through objects that are not contended. */
void detour_run(Explorer *explorer);

/* digest.c */
Outcome *digest_new_outcome(void);              /* nothing is added up in it yet */
Digest *digest_new(Explorer *explorer);
void digest_free(Digest *digest);
void digest_class(Explorer *explorer);          /* of the complete run in hand */
