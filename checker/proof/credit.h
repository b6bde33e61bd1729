/* credit.h - the wait by which a core was meant to learn that another core has passed a step.
 *
 *     a step `first`, a step of another core that comes too early -> the nearest wait before it that something served which the first
 *     step's core does after `first`; on a flag word also a look
 */
#pragma once
#include "prover.h"

typedef struct Credit {
    const Step *wait;                           /* the wait or look */
    const Wait *counted;                        /* on a semaphore, or a word with thresholds; NULL: on a word whose order is chosen */
    uint32_t signal;                            /* the signal that was meant; NONE: see `meant` */
    const Step *accepted, *meant;               /* who wrote what the wait found, NULL: nobody; the later write that was meant */
    int64_t value;                              /* what it found */
} Credit;

bool credit_find(const Prover *prover, const Event *first, const Event *other, Credit *credit);
