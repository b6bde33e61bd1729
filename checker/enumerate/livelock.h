/* livelock.h - states from which nothing but polling is ever possible. */
#pragma once
#include "findings.h"

bool livelock_is_possible(const StateSpace *space, const uint32_t *id);        /* false: certainly something else can. Changes nothing */
/* Something can move in the state in hand, but only polls? After its transitions were taken. */
void livelock_inspect(StateSpace *space, Findings *findings);
