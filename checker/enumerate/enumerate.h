/* enumerate.h - explicit-state search over every interleaving and DMA order, with a table of visited states, each checked by itself.
 *
 * Fluid progress: the early bytes (count - 1) are a step of their own before completion. This is the ground truth: it shares no reasoning
 * with proof/ and includes nothing of it.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/unroll.h"
#include "enumerate_options.h"

/* A checkpoint is of the ids that the program had when its search began: one after another begins with the same (rewind.h). */
Outcome *enumerate_run(UnrollSource *source, const EnumerateOptions *options);
/* Was the search asked for contents that put this into its checkpoint? Then so must be the one that goes on. */
bool enumerate_asked_contents(GBytes *resumed);
