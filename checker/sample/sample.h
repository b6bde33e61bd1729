/* sample.h - a number of sampled runs, each judged by the proof from its own record.
 *
 * So one run finds every fault that its choices of conflicts allow, not only what it stumbled on; a program without conflicts is decided
 * by the first. Runs are numbered; run i depends on the seed and i alone. Workers share them; what the runs found is merged in their
 * order, so the outcome is the same for any number of workers, and after any number of interruptions and resumptions.
 *
 * Errors:      no worker to be had, or a checkpoint that says nonsense: NULL and *error.
 */
#pragma once
#include "sample_options.h"

/* steps_expected: at least the steps of a run that does not poll, from the eager one. */
Outcome *sample_run(Program *program, uint64_t steps_expected, const SampleOptions *options, char **error);
