/* sample_options.h - the options of sampling. */
#pragma once
#include "../facts/finding.h"
#include "../facts/limits.h"
#include "../run/checkpoint.h"
#include "../run/progress.h"
#include "strategy.h"

typedef struct SampleOptions {
    StrategyKind strategy;
    uint64_t seed;
    Limits limits;                              /* of runs there is one */
    unsigned depth;                             /* of PCT */
    uint64_t agents;                            /* cores and copies of a run, for the bound of PCT */
    bool first;
    const uint64_t *result_hash;                /* of the recorded run, to compare with; NULL: not compared */
    unsigned workers;                           /* processes; 0: all runs in this one */
    ExecutionPulse *pulse;
    Store *move_log;                            /* of the runs in this process (run/move_log.h). NULL: none */
    Record *record;                             /* of those runs */
    Progress *progress;                         /* NULL: not shown */
    Checkpoint *checkpoint;                     /* NULL: none is written */
    GBytes *resumed;                            /* contents of a checkpoint; NULL: start at run 0 */
} SampleOptions;
