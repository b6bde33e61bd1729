/* worker_row.h - rows as the workers' inner loop reads them: one small struct per component, and for each of its transitions the difference
 * that it adds to a state's key.
 *
 * Invariants:  written by the one thread, between levels.
 */
#pragma once
#include "space.h"

/* SLOW: some transition takes more than a sum. OPEN: where the guarded transition leads is not known yet. WATCHED: by a judge. LOCAL: as
 * Transition.local. */
enum { ROW_SLOW = 1, ROW_OPEN = 2, ROW_WATCHED = 4, ROW_LOCAL = 8 };

typedef struct WorkerRow {
    uint64_t own, rivals;                       /* masks, their first word */
    int64_t need;                               /* of the guarded transition, INT64_MAX: there is none */
    uint32_t others;
    uint32_t deltas;                            /* first in the core's `deltas`: transitions always possible, then the guarded one */
    uint16_t always, transitions;               /* the number of those always possible; of all */
    uint8_t flags;                              /* ROW_* */
} WorkerRow;

enum { DELTAS_AT_ONCE = 4 };                    /* so many may be read where some begin */

void worker_rows_reserve(StateSpace *space, uint32_t core);
/* For all components as they are now. */
void worker_rows_refresh(StateSpace *space);
