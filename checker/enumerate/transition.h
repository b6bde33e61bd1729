/* transition.h - whether a transition is possible in a state, and which state follows. */
#pragma once
#include "walk.h"

/* Is the transition possible in the state `id`? Then `out` is the state after it. While workers run nothing is made: 0 is in place of
 * what is new. */
bool transition_take(Walk *walk, const uint32_t *id, uint32_t core, uint32_t transition, uint32_t *out);
bool transition_enabled(const Walk *walk, const uint32_t *id, uint32_t core, const Transition *transition);
/* Does the transition write to a memory, and where? */
bool transition_writes(const Walk *walk, uint32_t core, uint32_t component, const Transition *transition, uint32_t *device, uint32_t *slot);
bool walk_is_member(const Walk *walk, const Join *join, uint32_t core);
/* Does it lead back into the loop? */
bool transition_ends_loop(const Walk *walk, uint32_t core, const Transition *transition, uint32_t from, uint32_t to);
Move transition_move(const Walk *walk, uint32_t core, uint32_t component, const Transition *transition);
