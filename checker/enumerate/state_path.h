/* state_path.h - the moves from the start to a state, at no cost during the search. */
#pragma once
#include "frontier.h"

/* NULL: none found within the limits. level: in which the state was visited. */
GArray *state_path_find(StateSpace *space, const Frontier *frontier, const uint32_t *id, uint64_t level);
