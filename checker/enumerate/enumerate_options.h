/* enumerate_options.h - options of an enumeration: limits, workers, checkpoints, canaries. */
#pragma once
#include "../facts/limits.h"
#include "../run/checkpoint.h"
#include "../run/progress.h"

/* Deliberate mistakes, one at a time, that test the tests: a comparison with another method must notice each. */
typedef enum EnumerateCanary {
    ENUMERATE_SOUND,
    ENUMERATE_CANARY_LOOK_SEES_OWN,             /* a look at a count misses what other cores have added */
    ENUMERATE_CANARY_LOOK_IS_MERGED,            /* --merge-local: steps on semaphores that are looked at are merged, too */
    ENUMERATE_CANARY_EXPECTED_HOLDS,            /* an expected count always holds */
    ENUMERATE_CANARY_FLAG_IS_FIRST,             /* a look at a flag sees its initial value */
    ENUMERATE_CANARY_SWAP_IS_BLIND,             /* a compare-and-swap does not compare */
    ENUMERATE_CANARY_FOLD_EARLY,                /* a poll closes its loop at the first look */
    ENUMERATE_CANARY_SPIN_ALONE,                /* a poll never ends, whatever others may do */
    ENUMERATE_CANARY_NOTHING_IS_UNWRITTEN,      /* a load that lies outside altogether gets what nobody wrote */
    ENUMERATE_CANARY_STOP_HIDES,                /* what stops a core hides what it has raised before */
    ENUMERATE_CANARY_ONE_ROTATION,              /* ENUMERATE_SYMMETRY: a state is judged in one rotation only */
    ENUMERATE_CANARY_ANY_BYTES,                 /* the same: any bytes are images of any others */
    ENUMERATE_CANARY_ANY_OVERLAP,               /* the same: images may overlap differently */
    ENUMERATE_CANARY_COUNT
} EnumerateCanary;

typedef struct EnumerateOptions {
    EnumerateCanary canary;
    Limits limits;
    unsigned modes;                             /* of EnumerateMode; one that a program does not allow ends in Outcome.refused */
    unsigned workers;                           /* threads, rounded down to a power of two */
    bool contents;                              /* contents are part of the state: results are checked, or data steers control */
    bool first;
    Progress *progress;                         /* NULL: not reported */
    Checkpoint *checkpoint;                     /* NULL: none is written */
    GBytes *resumed;                            /* contents of an earlier search's checkpoint; NULL: start afresh */
    bool no_end_states;                         /* do not collect end states */
} EnumerateOptions;
