/* explore.h - the search over classes: depth first over picks, with sleep sets, wakeup trees, and races turned round at the end of a run.
 *
 *     frame --pick--> frame --pick--> ... --> nothing enabled: one class
 *
 * Invariants:  1. frame d is the choice of pick d; the last frame has no pick yet.  2. what sleeps at a frame is enabled there, and every
 *              class below that would begin with it was visited.
 * Ownership:   Explorer owns everything but program, source and options.
 */
#pragma once
#include "classes.h"
#include "path.h"
#include "wakeup.h"
#include "world.h"

typedef struct Frame {
    WakeTree tree;                              /* branches still to be tried */
    uint32_t sleep;                             /* its sleepers: from here to where those of the next frame begin */
    bool begun;
} Frame;

/* A way in which a step could have come earlier: before the pick `first`. */
typedef struct Reversal {
    uint32_t first;
    uint32_t agent, stage;                      /* the step: of this agent, where it stands there; stage NONE: a moment */
    uint32_t without;                           /* bits of the picks to leave out, as a row of `rows`; NONE: just `first` */
    int64_t value;                              /* of its object then, as far as order alone decides that */
    uint32_t object;
} Reversal;

typedef struct Digest Digest;

typedef struct Explorer {
    const ClassesOptions *options;
    Program *program;
    Usage usage;
    Course course;
    Tiles *tiles;
    World *world, *shadow;                      /* shadow: for what can be done without some picks; made when needed */
    Path path;
    WakePool pool;
    Frame *frame;
    Sleeper *sleep;
    uint32_t frames, frames_max, sleepers, sleepers_max;
    GArray *reversals, *rows, *sequence;        /* Reversal; words of bits; Sleeper */
    Outcome *outcome;
    Digest *digest;
    uint64_t runs, redundant, picks;
    gint64 deadline;                            /* monotonic microseconds, 0: none */
    const char *limit;                          /* that ended the search */
    bool done;                                  /* `first`, and something was found */
} Explorer;

void explore_classes(Explorer *explorer);       /* all of them, or up to a limit, or until another object turned out to be contended */

static inline uint32_t explore_sleep_end(const Explorer *x, uint32_t frame)
{
    return frame + 1 < x->frames ? x->frame[frame + 1].sleep : x->sleepers;
}

/* reverse.c */
void reverse_note(Explorer *explorer);          /* the last pick is new: what could it have come before? */
void reverse_run(Explorer *explorer);           /* the run in hand is complete: what else could have happened? */
/* turn.c: a run that begins at the frame of pick `first`; kept unless it is known to be covered. */
void turn_insert(Explorer *explorer, uint32_t first, GArray *sequence);        /* which is used up */
void turn_race(Explorer *explorer, uint32_t pick, Race *race);         /* where order alone decides what depends on what */
void turn_reversal(Explorer *explorer, const Reversal *reversal);      /* the same */
/* detour.c: the same where steps are enabled through objects that are not contended. */
void detour_run(Explorer *explorer);

/* digest.c */
Digest *digest_new(Explorer *explorer);
void digest_free(Digest *digest);
void digest_class(Explorer *explorer);          /* of the complete run in hand */
void digest_settle(Explorer *explorer);         /* findings and end states into the outcome */
