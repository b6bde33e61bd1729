/* persistent.h - the steps that --merge-local does at once; persistent.c says why that misses no fault. */
#pragma once
#include "space.h"

/* Is a core's next step a persistent set wherever it is possible? life_watched: its semaphore may not be alive. */
bool persistent_step(const StateSpace *space, const Step *step, bool life_watched);
void persistent_recheck(StateSpace *space);     /* before a restart: more is known of semaphores */
