/* access.h - the regions that cores read and write, and a bit for each that has a rival on another core.
 *
 * A component has a mask of its next accesses and a mask of their rivals, so a few ANDs check a state for races. An access that no other
 * core can conflict with has no bit.
 *
 * Invariants:  1. rivals are exact: same object, overlapping regions, one writes.  2. an access has a bit, its own, if it has a rival on
 *              another core; `generation` grows whenever one is given out.
 */
#pragma once
#include "../../model/program.h"
#include "reservation.h"

typedef struct Access {
    uint32_t object, region;
    bool write, many;                           /* many: by more than one core */
    uint32_t core;                              /* the first that does it */
    uint32_t bit;                               /* NONE: no rival so far */
} Access;

typedef struct Accesses {
    const Program *program;
    Intern keys;                                /* (object, region, write) -> id */
    Store all;                                  /* Access */
    Store next_of_object, last_of_object;       /* chains of the accesses of one object, newest first; id + 1 */
    uint32_t bits, generation;
} Accesses;

void accesses_init(Accesses *accesses, const Program *program, Reservation *reservation);
uint32_t accesses_add(Accesses *accesses, uint32_t core, uint32_t object, uint32_t region, bool write);
bool accesses_overlap(const Accesses *accesses, uint32_t a, uint32_t b);       /* same object, overlapping regions */
bool accesses_rivals(const Accesses *accesses, uint32_t a, uint32_t b);        /* that, and one of them writes */
/* ORs the bits of all rivals of an access, and its own bit, into two masks of accesses->bits bits. */
void accesses_mask(const Accesses *accesses, uint32_t access, uint64_t *own, uint64_t *rivals);

void accesses_assert_sane(const Accesses *accesses);

static inline const Access *accesses_get(const Accesses *accesses, uint32_t id) { return &STORE(Access, &accesses->all, id); }
