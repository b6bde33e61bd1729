/* expand_sane.h - checks results of the inner loop against the plain reading of each transition and access. */
#pragma once
#include "space.h"

/* After a state was expanded: that many transitions were possible; cores raced. */
void expand_assert_sane(const StateSpace *space, const uint32_t *id, uint64_t transitions, bool races);
