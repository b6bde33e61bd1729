/* sampler.h - one sampled run: begin, choose until nothing moves, end; the proof judges its record.
 *
 * Ownership:   a Sampler owns its execution; record, pulse and box are borrowed.
 */
#pragma once
#include "sample_options.h"

typedef struct Sampler Sampler;

/* record: is overwritten by each run. box: keeps the moves of the run in hand (run/blackbox.h); NULL: nobody asks for them. */
Sampler *sampler_new(Record *record, uint64_t steps_expected, const SampleOptions *options, ExecutionPulse *pulse, Store *box);
void sampler_free(Sampler *sampler);
/* cut_off: the run was longer than any that makes progress. */
Outcome *sampler_run(Sampler *sampler, uint64_t run, bool *cut_off);
/* A fault that is not exempted, or a race, is why results may differ: then that they do is no fault of its own. */
bool sample_explains_divergence(const Program *program, const Outcome *outcome);
