/* idset.h - interned sets of small numbers: which writes were done, which scopes were opened and closed.
 *
 * Equal sets have equal ids; 0 is the empty set. Sets only grow along a path, one item at a time.
 *
 * Invariants:  items of a set ascend, none twice.
 * Ownership:   the pool owns all sets.
 */
#pragma once
#include "reservation.h"

typedef struct IdSets { Intern keys; } IdSets;

void idsets_init(IdSets *sets, Reservation *reservation);
uint32_t idsets_with(IdSets *sets, uint32_t set, uint32_t item);                        /* set plus item */
bool idsets_has(const IdSets *sets, uint32_t set, uint32_t item);
const uint32_t *idsets_items(const IdSets *sets, uint32_t set, uint32_t *count);       /* ascending */
void idsets_assert_sane(const IdSets *sets);
