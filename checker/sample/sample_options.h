/* sample_options.h - what a sampling is told. */
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
    uint64_t agents;                            /* cores and copies of a run, for what PCT promises */
    bool first;
    const uint64_t *result_hash;                /* of the recorded run: others must end alike; NULL: not compared */
    unsigned workers;                           /* processes; 0: all runs in this one */
    ExecutionPulse *pulse;
    Store *box;                                 /* see run/blackbox.h; of the runs in this process. NULL: none */
    Record *record;                             /* of those runs */
    Progress *progress;                         /* NULL: nobody watches */
    Checkpoint *checkpoint;                     /* NULL: none is written */
    GBytes *resumed;                            /* what an earlier search put into its checkpoint; NULL: begin anew */
} SampleOptions;
