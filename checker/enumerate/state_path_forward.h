/* state_path_forward.h - the moves from the start to a state, without a table of all states. */
#pragma once
#include "space.h"

GArray *state_path_find_forward(StateSpace *space, const uint32_t *id);        /* NULL: none found within the limits */
