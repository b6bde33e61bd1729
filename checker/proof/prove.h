/* prove.h - decides a conflict-free program over all orders from the record of one execution.
 *
 * Source: design page "Covering every order without walking every order"; must-precede clocks, releases, intervals, closures.
 * Reads records only; shares nothing with enumerate/.
 */
#pragma once
#include "../facts/finding.h"
#include "settings.h"

/* Findings with schedules. Conflicts (SEMAPHORE_READ, several waiters on one semaphore, ...) are counted and put "conflicts" into limits;
 * their order in the record is kept as extra program order, so what is found holds for this class of executions. */
Outcome *prove_record(const Record *record, const ProveOptions *options);

/* What is no fault, for ADVICE_AMBIGUOUS_WAIT and ADVICE_OVERSIGNAL. Signals: of a core, or of a copy by its ordinal. */
typedef struct HintSignal { uint32_t core, copy, site; } HintSignal;
typedef struct Hint {
    AdviceId advice;
    Place place;                                /* the wait */
    HintSignal rival[2];                        /* AMBIGUOUS: two that can be among those that satisfy it */
    unsigned rivals;
    int64_t have, need;                         /* OVERSIGNAL: the highest count before it, and what it needs */
} Hint;
GArray *prove_hints(const Record *record);      /* of Hint: all there are, in the order of semaphores and waits */
