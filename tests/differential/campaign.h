/* campaign.h - many random programs in two processes: which features they have, and what to say when a comparison fails.
 *
 * Seeds are dealt out so that the result does not depend on the number of processes.
 */
#pragma once
#include "differential.h"

typedef enum CampaignMix {
    CAMPAIGN_PLAIN,                             /* whatever order decides alone */
    CAMPAIGN_WILD,                              /* also one of: values that steer, conflicts, words, stops, host steps */
    CAMPAIGN_CONFLICTS,                         /* always looks at counts, two waiters, polls or words of shared memory */
    CAMPAIGN_EXEMPT,                            /* faults are exempted; half with values that may steer */
    CAMPAIGN_ROTATED                            /* all devices do the same, or all but one operation; with few operations */
} CampaignMix;

/* A mix of features for a program of the normal test. */
uint32_t campaign_features(uint64_t seed, CampaignMix mix);
/* Compares programs of seeds first, first + 1, ...: `programs` of them, or until `seconds` (0: none) are over. Prints some of the
 * disagreements and a summary. True: none. *stats (NULL: not asked for): what was counted. */
bool campaign_run(uint64_t first, uint64_t programs, double seconds, unsigned operations, CampaignMix mix, DifferentialStats *stats);
