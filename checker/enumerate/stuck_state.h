/* stuck_state.h - a deadlock in words. */
#pragma once
#include "space.h"

/* Who stands where in the state, in sentences. g_malloc. */
char *stuck_state_why(StateSpace *space, const uint32_t *id);
