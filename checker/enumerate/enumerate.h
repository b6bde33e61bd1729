/* enumerate.h - every interleaving and every DMA order, with a table of visited states, each state checked as it stands.
 *
 * Fluid: the early bytes (count - 1) are a step of their own, obligatory before completion. The ground truth: shares no reasoning with
 * proof/, includes nothing of it.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/unroll.h"
#include "enumerate_options.h"

Outcome *enumerate_run(UnrollSource *source, const EnumerateOptions *options);
