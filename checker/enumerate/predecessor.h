/* predecessor.h - states from which one transition may lead to a given one, from the edges into its components. */
#pragma once
#include "space.h"

typedef bool (*PredecessorVisit)(void *data, uint32_t core, uint32_t transition, const uint32_t *id);

/* Calls visit with each such state and the transition; stops when it returns false. The visitor must check that the state was visited and
 * the transition possible there. Transitions that close a loop are omitted: their steps leave no trace, so whatever they lead to is
 * reached without them. (That they lead to the same state may be a guess, and then the schedule would not show the fault.) */
void predecessor_each(StateSpace *space, const uint32_t *id, PredecessorVisit visit, void *data);
