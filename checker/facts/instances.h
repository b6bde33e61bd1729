/* instances.h - what the count of a finding counts: pairs of places, or places, by core, position and moment, each once over all
 * executions.
 *
 * A finding of one proof need not list its instances, as its count is theirs. Findings of several executions are merged as sets; what is
 * not listed adds up, and the sum is an upper bound.
 */
#pragma once
#include "finding.h"

enum { INSTANCES_MAX = 4096 };                  /* that a proof lists of one finding */

/* The hash of an instance: the finding's places, and its semaphore. */
uint64_t instance_of(const Finding *finding, const Place *place);
void instances_add(Finding *finding, uint64_t instance);        /* appends; before the finding is merged */
