/* prove.h - decides a conflict-free program for all orders from the record of one execution.
 *
 * Method: must-precede vector clocks, releases, intervals, closures. Reads records only; shares no reasoning with enumerate/.
 */
#pragma once
#include "../facts/finding.h"
#include "settings.h"

/* Findings with schedules. Conflicts (SEMAPHORE_READ, several waiters on one semaphore, ...) are counted and add "conflicts" to the limits;
 * their order in the record is kept as extra program order, so the result holds for this class of executions (one Mazurkiewicz trace). */
Outcome *prove_record(const Record *record, const ProveOptions *options);

/* Hints are not faults; for ADVICE_AMBIGUOUS_WAIT and ADVICE_OVERSIGNAL. A signal is a core's, or a copy's by its ordinal. */
typedef struct HintSignal { uint32_t core, copy, site; } HintSignal;
typedef struct Hint {
    AdviceId advice;
    Place place;                                /* the wait */
    HintSignal rival[2];                        /* AMBIGUOUS: two that may satisfy it */
    unsigned rivals;
    int64_t have, need;                         /* OVERSIGNAL: the highest count before it, and what it needs */
} Hint;
GArray *prove_hints(const Record *record);      /* of Hint: all, in the order of semaphores and waits */
