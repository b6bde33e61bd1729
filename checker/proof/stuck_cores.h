/* stuck_cores.h - which cores are stuck in a deadlock, and which could help which.
 *
 *     stuck_new (record with or without foreseen steps) -> stuck_helpers of a core, stuck_needs -> words in deadlock.c
 *
 * Ownership:   the prover's arena.
 */
#pragma once
#include <glib.h>
#include "prover.h"

typedef struct Helper {
    uint32_t core, site;                        /* the core that would signal, and where it would do so first */
    int64_t gives;                              /* in all, as far as can be foreseen */
    bool foreseen;                              /* false: it only signalled before */
} Helper;

typedef struct Stuck {
    const Prover *prover;
    uint32_t *head, *next;                      /* semaphore -> first of its signals among the foreseen + 1; foreseen -> next + 1 */
    bool *vague;                                /* a core: its next steps can be foreseen only in part */
    bool any_vague, foreseen;
} Stuck;

Stuck *stuck_new(const Prover *prover);
const CoreState *stuck_end(const Stuck *stuck, uint32_t core);
/* The cores that would signal what the core waits for, itself included, each once, in ascending order. Of Helper. */
GArray *stuck_helpers(const Stuck *stuck, uint32_t core);
/* A core that it needs in order to proceed; NONE: there is none. */
uint32_t stuck_needs(const Stuck *stuck, uint32_t core);
bool stuck_is_missing(const Stuck *stuck, const Join *join, uint32_t core);     /* is it a member that has not come there? */
