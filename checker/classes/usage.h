/* usage.h - how cores use each semaphore and flag word, as far as their steps are known: which objects are contended.
 *
 * Contended are semaphores that a core reads or that several cores wait on while one takes, and flag words except those that are only added
 * to and awaited with "at least". The set of known steps only grows, so objects only become contended, never the reverse. The set of
 * contended objects is fixed during a search; what it learns applies from the next search on.
 *
 * Invariants:  1. what is contended for the proof of any record of these steps is contended here, after usage_adopt.
 */
#pragma once
#include "../../model/dependence.h"
#include "../../model/program.h"

typedef struct Use {                            /* of one semaphore or flag word */
    bool contended;
    bool ordered;                               /* its adds count as `rest`: their order is a choice too */
    bool to_be_contended, to_be_ordered;        /* in the next search */
    bool flag, coarse;
    Contention contention;
    uint32_t owner;                             /* the core that it belongs to */
    uint32_t waiters;                           /* list: Waiter + 1 */
} Use;

typedef struct Waiter { uint32_t core, next; } Waiter;

typedef enum Polling { POLLING_NO, POLLING_TO_BE, POLLING_YES } Polling;       /* TO_BE: from the next search on */

typedef struct Usage {
    const Program *program;
    Store uses, waiters;                        /* Use by semaphore id; Waiter */
    Store polling;                              /* Polling by site: a loop with that look returned to an earlier state on some core */
    bool grew;                                  /* the next search has more contended or ordered objects, or more polling looks */
    bool raises;                                /* some core raises a fault that does not stop it */
    bool only_looks;                            /* only looks make objects contended */
    bool proof;                                 /* more than the ends of cores needs a proof: accesses, copies, lives, limits */
} Usage;

void usage_init(Usage *usage, const Program *program);
void usage_clear(Usage *usage);
void usage_note(Usage *usage, const Step *step, const Copy *copy);     /* copy: of a COPY_START with bytes, else NULL */
void usage_note_poll(Usage *usage, uint32_t site);      /* a loop with that look returned to an earlier state */
void usage_adopt(Usage *usage);                 /* before a search: applies what was learnt */
void usage_order(Usage *usage, uint32_t semaphore);     /* contended in the next search, and its adds ordered */

static inline bool usage_polls(const Usage *usage, uint32_t site)
{
    return site < usage->polling.count && STORE(uint8_t, &usage->polling, site) == POLLING_YES;
}
static inline Use *usage_of(const Usage *usage, uint32_t semaphore) { return &STORE(Use, &usage->uses, semaphore); }
/* Does the step alone make its object contended? */
static inline bool usage_needs_order(const Step *step) { return dependence_needs_order(step) || dependence_is_look(step); }
