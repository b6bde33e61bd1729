/* past.h - what a core has done on its way to a node of its tree, as far as judging states needs it.
 *
 * Ownership:   Stores belong to the space's reservation, sets to the space.
 */
#pragma once
#include "../run/tree.h"
#include "idset.h"

typedef struct Past {                           /* of one node */
    uint32_t copies;                            /* copies of bytes > 0 started */
    uint32_t marks;                             /* set of PAST_OPENED and PAST_CLOSED marks */
    uint32_t entered, exited;                   /* launches entered and left: id of the last one, plus 1 */
} Past;

#define PAST_OPENED(decl) ((decl) * 2)
#define PAST_CLOSED(decl) ((decl) * 2 + 1)

typedef struct Pasts {
    Store all;                                  /* Past by node */
    Store opens;                                /* by decl: some step known so far opens it (a byte) */
} Pasts;

void pasts_init(Pasts *pasts, Reservation *reservation, size_t nodes_max);
void pasts_add(Pasts *pasts, const Tree *tree, IdSets *sets);  /* those of nodes that are new */
bool pasts_note_open(Pasts *pasts, uint32_t decl);      /* a step opens that scope; true: the first one known */
bool pasts_opens(const Pasts *pasts, uint32_t decl);    /* does any step known so far open that scope? */

static inline const Past *pasts_of(const Pasts *pasts, uint32_t node) { return &STORE(Past, &pasts->all, node); }
