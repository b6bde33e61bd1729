/* classes_options.h - what a search over classes is told: limits, workers, checkpoints, and mistakes that it makes on purpose. */
#pragma once
#include "../facts/limits.h"
#include "../run/checkpoint.h"
#include "../run/progress.h"

/* Deliberate mistakes, one at a time, for the test of the test: a comparison with the enumeration must notice each. */
typedef enum ClassesCanary {
    CLASSES_SOUND,
    CLASSES_CANARY_NO_TURNS,                    /* races are not turned round */
    CLASSES_CANARY_NO_ADDS,                     /* a step that waits is not tried before some of the adds that it came after */
    CLASSES_CANARY_NO_BLOCKED,                  /* a core that is blocked at the end could not have gone on earlier */
    CLASSES_CANARY_NO_DETOURS,                  /* where steps are enabled by others nothing is turned round */
    CLASSES_CANARY_DEEP_SLEEP,                  /* what sleeps goes on sleeping whatever is done */
    CLASSES_CANARY_ONE_BRANCH,                  /* a wakeup tree that has a branch takes no other */
    CLASSES_CANARY_LOOKS_IGNORED,               /* with looks set aside, what is found is no fault: it may not be one with them */
    CLASSES_CANARY_STEPS_IGNORED,               /* classes are told apart neither by looks nor by steps */
    CLASSES_CANARY_COUNT
} ClassesCanary;

#define CLASSES_UNFIT "checkpoint"              /* the limit of a search that goes on from what is no checkpoint of it */

typedef struct ClassesOptions {
    ClassesCanary canary;
    Limits limits;
    bool contents;                              /* contents are computed: results are checked, or data steers control */
    bool first;                                 /* stop at the first class with a fault */
    bool no_end_states;                         /* do not collect them */
    bool audit;                                 /* for tests: a class visited twice counts as redundant */
    unsigned workers;                           /* threads; 0: one. The outcome does not depend on it */
    Progress *progress;                         /* NULL: nobody watches */
    Checkpoint *checkpoint;                     /* NULL: none is written */
    GBytes *resumed;                            /* what an earlier search put into its checkpoint; NULL: begin anew */
    unsigned units;                             /* for tests: into how many parts the search is divided at most; 0: as usual */
    uint64_t budget;                            /* for tests: classes that each part sees in one round; 0: as usual */
} ClassesOptions;
