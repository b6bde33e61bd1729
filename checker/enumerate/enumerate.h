/* enumerate.h - every interleaving and every DMA order, with a table of visited states, each state checked as it stands.
 *
 * Fluid: the early bytes (count - 1) are a step of their own, obligatory before completion. The ground truth: shares no reasoning with
 * proof/, includes nothing of it.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/unroll.h"
#include "enumerate_options.h"

/* A checkpoint is of the ids that the program had when its search began: one after another begins with the same (rewind.h). */
Outcome *enumerate_run(UnrollSource *source, const EnumerateOptions *options);
/* Was the search asked for contents that put this into its checkpoint? Then so must be the one that goes on. */
bool enumerate_asked_contents(GBytes *resumed);
