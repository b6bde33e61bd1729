/* lane.h - rows once more, as the inner loop of the workers reads them: for each component one small struct, and what each of its turns
 * adds to a state's key.
 *
 * Invariants:  written by the one thread, between levels.
 */
#pragma once
#include "walk.h"

/* SLOW: some turn takes more than a sum. OPEN: where the guarded turn leads is not known yet. WATCHED: by a judge. LOCAL: as Turn.local. */
enum { LANE_SLOW = 1, LANE_OPEN = 2, LANE_WATCHED = 4, LANE_LOCAL = 8 };

typedef struct Lane {
    uint64_t own, rivals;                       /* masks, their first word */
    int64_t need;                               /* of the guarded turn, INT64_MAX: there is none */
    uint32_t others;
    uint32_t deltas;                            /* first in the core's `deltas`: turns always possible, then the guarded one */
    uint16_t always, turns;                     /* how many of the first; of all */
    uint8_t flags;                              /* LANE_* */
} Lane;

enum { DELTAS_AT_ONCE = 4 };                    /* so many may be read where some begin */

void lanes_reserve(Walk *walk, uint32_t core);
/* For all components as they are now. */
void lanes_refresh(Walk *walk);
