/* prove.h - decides a conflict-free program over all orders from the record of one execution.
 *
 * Source: design page "Covering every order without walking every order"; must-precede clocks, releases, intervals, closures.
 * Reads records only; shares nothing with enumerate/.
 */
#pragma once
#include "../finding.h"

/* Rules that a test can break on purpose, to see that the comparison notices (PROVE_SOUND: none). */
typedef enum ProveCanary { PROVE_SOUND, PROVE_CANARY_COUNT_PLACEHOLDER } ProveCanary;

typedef struct ProveOptions {
    ProveCanary canary;
    uint32_t findings_max;                      /* kinds of findings that get a schedule; 0: all */
    bool first;                                 /* stop at the first fault */
    size_t memory_max;                          /* bytes, 0: no limit */
    double seconds_max;                         /* 0: no limit */
} ProveOptions;

/* Findings with schedules. Conflicts (SEMAPHORE_READ, several waiters on one semaphore, ...) are counted and put "conflicts" into limits;
 * their order in the record is kept as extra program order, so what is found holds for this class of executions. */
Outcome *prove_record(const Record *record, const ProveOptions *options);
