/* stuck_state.h - describes a deadlock. */
#pragma once
#include "space.h"

/* Where each core is stuck, in sentences. g_malloc. */
char *stuck_state_why(StateSpace *space, const uint32_t *id);
