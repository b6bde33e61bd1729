/* growth.h - how a space came to be: the transitions that made something new, in their order. Taken again, they make the same ids. */
#pragma once
#include "space.h"

void growth_note(StateSpace *space, const uint32_t *id, uint32_t core, uint32_t transition);    /* that one made something new */
uint32_t growth_ids(const StateSpace *space);   /* how many ids of a state are noted with it */
uint32_t growth_largest_id(const StateSpace *space, unsigned field);   /* that there is so far */
bool growth_ids_fit(const StateSpace *space, const uint32_t *id, unsigned fields);      /* ids of a state, of what there is so far */
