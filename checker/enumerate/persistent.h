/* persistent.h - which steps --merge-local does at once; persistent.c says why that leaves all faults as they are. */
#pragma once
#include "space.h"

/* Is a core's next step one that may be done at once wherever it is possible? life_watched: its semaphore may not be alive. */
bool persistent_step(const StateSpace *space, const Step *step, bool life_watched);
void persistent_recheck(StateSpace *space);     /* before a search that begins anew: more is known of semaphores */
