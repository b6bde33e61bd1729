/* classes_options.h - options of a search over classes: limits, workers, checkpoints, canaries. */
#pragma once
#include "../facts/limits.h"
#include "../run/checkpoint.h"
#include "../run/progress.h"

/* Deliberate mistakes, one at a time, that test the tests: a comparison with the enumeration must notice each. */
typedef enum ClassesCanary {
    CLASSES_SOUND,
    CLASSES_CANARY_NO_REVERSALS,                /* races are not reversed */
    CLASSES_CANARY_NO_ADDS,                     /* a waiting step is not tried before some of the adds that precede it */
    CLASSES_CANARY_NO_BLOCKED,                  /* cores blocked at the end are not tried earlier */
    CLASSES_CANARY_NO_ALTERNATIVES,             /* in tainted runs nothing is reversed */
    CLASSES_CANARY_DEEP_SLEEP,                  /* no step wakes a sleeper */
    CLASSES_CANARY_ONE_BRANCH,                  /* a wakeup tree has one branch at most */
    CLASSES_CANARY_LOOKS_IGNORED,               /* findings of the proof without looks are dropped */
    CLASSES_CANARY_STEPS_IGNORED,               /* all classes count as one family */
    CLASSES_CANARY_COUNT
} ClassesCanary;

#define CLASSES_UNFIT "checkpoint"              /* the limit of a search resumed from a checkpoint that is not its own */

typedef struct ClassesOptions {
    ClassesCanary canary;
    Limits limits;
    bool contents;                              /* contents are computed: results are checked, or data steers control */
    bool first;                                 /* stop at the first class with a fault */
    bool no_end_states;                         /* do not collect end states */
    bool audit;                                 /* for tests: a class visited twice counts as redundant */
    unsigned workers;                           /* threads; 0: one. The outcome does not depend on it */
    Progress *progress;                         /* NULL: not reported */
    Checkpoint *checkpoint;                     /* NULL: none is written */
    GBytes *resumed;                            /* contents of an earlier search's checkpoint; NULL: start afresh */
    unsigned units;                             /* for tests: the maximal number of units; 0: the default */
    uint64_t budget;                            /* for tests: classes that each unit visits in one round; 0: the default */
} ClassesOptions;
