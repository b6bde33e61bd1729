/* usage.h - who does what to which semaphore and flag word, learnt from the steps that cores are seen to have; and so: what is contended.
 *
 * Contended are semaphores that somebody reads or that several cores wait on while one takes, and flag words, but those that are only
 * added to and awaited with "at least". Known steps only grow in number, so objects only become contended, never the reverse. What a search
 * finds out is for the next one: what is contended stays as it is while a search goes on, whoever of its workers looks.
 *
 * Invariants:  1. contended as the proof sees it in any record of these steps implies contended here, after usage_adopt.
 */
#pragma once
#include "../../model/dependence.h"
#include "../../model/program.h"

typedef struct Use {                            /* of one semaphore or flag word */
    bool contended;
    bool ordered;                               /* its adds count as `rest`: their order is chosen too */
    bool to_be_contended, to_be_ordered;        /* from the next search on */
    bool flag, coarse;
    Contention contention;
    uint32_t owner;                             /* the core whose it is */
    uint32_t waiters;                           /* list of all of them: Waiter + 1 */
} Use;

typedef struct Waiter { uint32_t core, next; } Waiter;

typedef enum Polling { POLLING_NO, POLLING_TO_BE, POLLING_YES } Polling;       /* TO_BE: from the next search on */

typedef struct Usage {
    const Program *program;
    Store uses, waiters;                        /* Use by semaphore id; Waiter */
    Store polling;                              /* Polling by site: a loop with that look came back to where it was, on some core */
    bool grew;                                  /* an object is to be contended, or ordered, that is not yet; or a look polls */
    bool raises;                                /* some core raises a fault without being stopped */
    bool only_looks;                            /* no object is contended, but because somebody looks at it */
    bool proof;                                 /* there is something to prove besides ends of cores: accesses, copies, lives, limits */
} Usage;

void usage_init(Usage *usage, const Program *program);
void usage_clear(Usage *usage);
void usage_note(Usage *usage, const Step *step, const Copy *copy);     /* copy: of a COPY_START with bytes, else NULL */
void usage_note_poll(Usage *usage, uint32_t site);     /* a loop with that look came back to where it was */
void usage_adopt(Usage *usage);                 /* what is to be contended is so from now on */
void usage_order(Usage *usage, uint32_t semaphore);            /* contended, and its adds ordered */

static inline bool usage_polls(const Usage *usage, uint32_t site)
{
    return site < usage->polling.count && STORE(uint8_t, &usage->polling, site) == POLLING_YES;
}
static inline Use *usage_of(const Usage *usage, uint32_t semaphore) { return &STORE(Use, &usage->uses, semaphore); }
/* Does the step alone make its object contended? */
static inline bool usage_needs_order(const Step *step) { return dependence_needs_order(step) || dependence_is_look(step); }
