/* sampler.h - one sampled run: choose moves until none is enabled; the proof then judges its record.
 *
 * Ownership:   a Sampler owns its execution; record, pulse and move_log are borrowed.
 */
#pragma once
#include "sample_options.h"

typedef struct Sampler Sampler;

/* record: overwritten by each run. move_log: keeps the moves of the current run (run/move_log.h); NULL: none. */
Sampler *sampler_new(Record *record, uint64_t steps_expected, const SampleOptions *options, ExecutionPulse *pulse, Store *move_log);
void sampler_free(Sampler *sampler);
/* cut_off: the run exceeded its limit of steps. */
Outcome *sampler_run(Sampler *sampler, uint64_t run, bool *cut_off);
/* A fault that is not exempted, or any race, explains different results, which are then not a fault of their own. */
bool sample_explains_divergence(const Program *program, const Outcome *outcome);
