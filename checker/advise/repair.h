/* repair.h - shared by the parts of repair.
 *
 *     repair.c: which kinds are tried; semaphores and barriers      repair_wait.c: missing and late waits
 *     repair_signal.c: early signals                                repair_size.c: smaller sizes
 *
 * Ownership:   borrows the result; its sentences go to result->tried.
 */
#pragma once
#include "whatif.h"

typedef struct Repairs {
    CheckResult *result;
    const Program *program;
    const Record *record;
    unsigned faults, named, tries;              /* faults: bit per FaultId */
    gint64 until;
    GHashTable *seen;                           /* texts of changes that were tried; looked up only */
} Repairs;

/* The same amount left over on one element on these cores. */
typedef struct Drain { const char *name; uint32_t element, semaphore; bool core[WHATIF_CORES_MAX]; int64_t value; } Drain;

const Step *repair_step(const Repairs *r, size_t i);
bool repair_try(Repairs *r, Change *change);    /* clears the change. True: the changed program is right */
/* Of Drain: what the recorded run left on semaphores; every complete run leaves the same. */
GArray *repair_find_left(const Repairs *r);

void repair_at_smaller_size(CheckResult *result);               /* of a large program: repairs at a smaller faulty size */
void repair_drains(Repairs *r);                 /* at the end, wait for what is left over */
void repair_missing_waits(Repairs *r);          /* of two racing steps, one waits for the other */
void repair_early_signals(Repairs *r);          /* move a signal down */
void repair_waits_behind_starts(Repairs *r);    /* wait for a copy right after its start */
