/* predecessor.h - states from which one transition may have led to a given one, worked out from the ways into its components. */
#pragma once
#include "space.h"

typedef bool (*PredecessorVisit)(void *data, uint32_t core, uint32_t transition, const uint32_t *id);

/* Calls visit with each such state and the transition; stops when it returns false. Whether the state was visited and the transition was
 * possible there is for the visitor to find out. No loop's end is among the transitions: its steps leave no trace, so whatever is
 * reached by going through one again is reached without. (That it leads to the same state may be a guess, and then a schedule would not
 * show what it should.) */
void predecessor_each(StateSpace *space, const uint32_t *id, PredecessorVisit visit, void *data);
