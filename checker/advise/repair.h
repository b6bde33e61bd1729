/* repair.h - what the parts of trying repairs share.
 *
 *     repair.c: which kinds are tried, and those about semaphores and barriers      repair_wait.c: waits that are missing or come too late
 *     repair_signal.c: signals that come too soon      repair_size.c: what smaller sizes tell
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
    GHashTable *seen;                           /* words of what was tried; looked up only */
} Repairs;

/* What is left over on one element, on these cores by the same amount. */
typedef struct Drain { const char *name; uint32_t element, semaphore; bool core[WHATIF_CORES_MAX]; int64_t value; } Drain;

const Step *repair_step(const Repairs *r, size_t i);
bool repair_try(Repairs *r, Change *change);    /* clears the change. True: it makes the program right */
/* Of Drain: what the recorded run left on semaphores; every run leaves as much, when all was counted. */
GArray *repair_find_left(const Repairs *r);

void repair_at_smaller_size(CheckResult *result);               /* of a large program: what helps where it is small and wrong too */
void repair_drains(Repairs *r);                 /* what is left over is waited for in the end */
void repair_missing_waits(Repairs *r);          /* of two that race, one waits for the other */
void repair_early_signals(Repairs *r);          /* a signal is given later */
void repair_waits_behind_starts(Repairs *r);    /* a copy is waited for where it is started */
