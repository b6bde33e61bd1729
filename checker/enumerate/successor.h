/* successor.h - one successor after the other, by the one thread: makes what is new, and notes it for a checkpoint. */
#pragma once
#include "space.h"

typedef bool (*SuccessorVisit)(void *data, uint32_t core, uint32_t transition, const uint32_t *after);

/* transition_take, noted if it made something. */
bool successor_take(StateSpace *space, const uint32_t *id, uint32_t core, uint32_t transition, uint32_t *after);
/* The same for each transition possible in the state, until visit returns false. */
void successor_each(StateSpace *space, const uint32_t *id, SuccessorVisit visit, void *data);
