/* repairs.h - shared by the parts of repairs.
 *
 *     repairs.c: which kinds are tried; semaphores and barriers      repairs_wait.c: missing and late waits
 *     repairs_signal.c: early signals                                repairs_size.c: smaller sizes
 *
 * Ownership:   borrows the result; the repairs go to result->tried.
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

const Step *repairs_step(const Repairs *r, size_t i);
bool repairs_try(Repairs *r, Change *change);    /* clears the change. True: the changed program is right */
/* Of Drain: what the recorded run left on semaphores; every complete run leaves the same. */
GArray *repairs_find_left(const Repairs *r);

void repairs_at_smaller_size(CheckResult *result);               /* of a large program: repairs at a smaller faulty size */
void repairs_drains(Repairs *r);                 /* at the end, wait for what is left over */
void repairs_missing_waits(Repairs *r);          /* of two racing steps, one waits for the other */
void repairs_early_signals(Repairs *r);          /* move a signal down */
void repairs_waits_behind_starts(Repairs *r);    /* wait for a copy right after its start */
