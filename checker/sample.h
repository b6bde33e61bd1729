/* sample.h - a number of sampled runs, each judged by the proof from its own record.
 *
 * So one run finds every fault that its choices of conflicts allow, not only what it stumbled on; a program without conflicts is decided
 * by the first. Runs are numbered; run i depends on the seed and i alone.
 */
#pragma once
#include "finding.h"
#include "run/strategy.h"

typedef struct SampleOptions {
    StrategyKind strategy;
    uint64_t seed, runs;
    unsigned depth;                             /* of PCT */
    double seconds_max;                         /* 0: none */
    size_t memory_max;
    bool first;
    ExecutionPulse *pulse;
} SampleOptions;

/* The record is overwritten by each run. steps_expected: of a run, from the eager one. */
Outcome *sample_run(Execution *execution, Record *record, uint64_t steps_expected, const SampleOptions *options);
