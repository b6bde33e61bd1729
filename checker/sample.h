/* sample.h - a number of sampled runs, each judged by the proof from its own record.
 *
 * So one run finds every fault that its choices of conflicts allow, not only what it stumbled on; a program without conflicts is decided
 * by the first. Runs are numbered; run i depends on the seed and i alone. Workers share them; what the runs found is merged in their
 * order, so the outcome is the same for any number of workers, and after any number of interruptions and resumptions.
 *
 * Errors:      no worker to be had, or a checkpoint that says nonsense: NULL and *error.
 */
#pragma once
#include "finding.h"
#include "run/checkpoint.h"
#include "run/progress.h"
#include "run/strategy.h"

typedef struct SampleOptions {
    StrategyKind strategy;
    uint64_t seed, runs;
    unsigned depth;                             /* of PCT */
    uint64_t agents;                            /* cores and copies of a run, for what PCT promises */
    double seconds_max;                         /* 0: none */
    size_t memory_max;
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

/* steps_expected: at least the steps of a run that does not poll, from the eager one. */
Outcome *sample_run(Program *program, uint64_t steps_expected, const SampleOptions *options, char **error);
