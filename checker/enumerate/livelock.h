/* livelock.h - states from which only polling is ever possible. */
#pragma once
#include "findings.h"

bool livelock_is_possible(const StateSpace *space, const uint32_t *id); /* false: another step is certainly possible. Changes nothing */
/* Are polls possible in the current state, and nothing else, ever? To be called after its transitions were taken. */
void livelock_inspect(StateSpace *space, Findings *findings);
