/* campaign.h - many random programs in two processes: which features they have, and what to say when a comparison fails.
 *
 * Seeds are dealt out so that the result does not depend on the number of processes.
 */
#pragma once
#include "differential.h"

/* A mix of features for a program of the normal test; RANDOM_DATA, CONFLICTS and STOPS only where `wild` asks for them. */
uint32_t campaign_features(uint64_t seed, bool wild);
/* Compares programs of seeds first, first + 1, ...: `programs` of them, or until `seconds` (0: none) are over. Prints some of the
 * disagreements and a summary. True: none. */
bool campaign_run(uint64_t first, uint64_t programs, double seconds, unsigned operations, bool wild);
