/* growth.h - the history of a space: the transitions that made something new, in order. Repeating them makes the same ids. */
#pragma once
#include "space.h"

void growth_note(StateSpace *space, const uint32_t *id, uint32_t core, uint32_t transition);    /* it made something new */
uint32_t growth_ids(const StateSpace *space);   /* the number of ids of a state noted with it */
uint32_t growth_largest_id(const StateSpace *space, unsigned field);    /* made so far */
bool growth_ids_fit(const StateSpace *space, const uint32_t *id, unsigned fields);      /* do ids of a state exist so far? */
