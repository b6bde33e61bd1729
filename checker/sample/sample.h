/* sample.h - sampled runs, each judged by the proof of its own record.
 *
 * So a run finds every fault of its class of executions, not only those that happened; a program without conflicts is decided by the first
 * run. Run i depends only on the seed and i. Workers share the runs, and findings are merged in order, so the outcome does not depend on
 * the number of workers or on interruptions and resumptions.
 *
 * Errors:      no worker, or a damaged checkpoint: NULL and *error.
 */
#pragma once
#include "sample_options.h"

/* steps_expected: at least the steps of a run without polls, from the recorded run. */
Outcome *sample_run(Program *program, uint64_t steps_expected, const SampleOptions *options, char **error);
