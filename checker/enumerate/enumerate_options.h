/* enumerate_options.h - what an enumeration is told: limits, workers, checkpoints, and mistakes that it makes on purpose. */
#pragma once
#include "../facts/limits.h"
#include "../run/checkpoint.h"
#include "../run/progress.h"

/* Deliberate mistakes, one at a time, for the test of the test: a comparison with another way of deciding must notice each. */
typedef enum EnumerateCanary {
    ENUMERATE_SOUND,
    ENUMERATE_CANARY_LOOK_SEES_OWN,             /* a look at a count does not see what other cores have added */
    ENUMERATE_CANARY_LOOK_IS_MERGED,            /* --merge-local: what somebody looks at is done at once, too */
    ENUMERATE_CANARY_EXPECTED_HOLDS,            /* a count that is expected is there */
    ENUMERATE_CANARY_FLAG_IS_FIRST,             /* a look at a flag sees what was there at first */
    ENUMERATE_CANARY_SWAP_IS_BLIND,             /* a compare-and-swap does not compare */
    ENUMERATE_CANARY_FOLD_EARLY,                /* a poll has come back to where it was at its first look */
    ENUMERATE_CANARY_SPIN_ALONE,                /* a poll goes on for ever whatever others may do */
    ENUMERATE_CANARY_ONE_ROTATION,              /* WALK_SYMMETRY: a state is judged as it stands, not in its rotations */
    ENUMERATE_CANARY_ANY_BYTES,                 /* the same: any bytes stand for any others */
    ENUMERATE_CANARY_ANY_OVERLAP,               /* the same: bytes stand for others, whatever they overlap */
    ENUMERATE_CANARY_COUNT
} EnumerateCanary;

typedef struct EnumerateOptions {
    EnumerateCanary canary;
    Limits limits;
    unsigned modes;                             /* of WalkMode; one that a program does not allow ends in Outcome.refused */
    unsigned workers;                           /* threads, rounded down to a power of two */
    bool contents;                              /* contents are part of the state: results are checked, or data steers control */
    bool first;
    Progress *progress;                         /* NULL: nobody watches */
    Checkpoint *checkpoint;                     /* NULL: none is written */
    GBytes *resumed;                            /* what an earlier search put into its checkpoint; NULL: begin anew */
    bool no_end_states;                         /* do not collect them */
} EnumerateOptions;
