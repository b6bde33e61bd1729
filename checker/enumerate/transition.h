/* transition.h - whether a transition is possible in a state, and which state follows. */
#pragma once
#include "space.h"

/* Is the transition possible in the state `id`? Then `out` is the state after it. */
bool transition_take(StateSpace *space, const uint32_t *id, uint32_t core, uint32_t transition, uint32_t *out);
/* The same while workers run: nothing is made, and 0 stands for what is new. */
bool transition_take_known(const StateSpace *space, const uint32_t *id, uint32_t core, uint32_t transition, uint32_t *out);
bool transition_enabled(const StateSpace *space, const uint32_t *id, uint32_t core, const Transition *transition);
/* Does the transition write to a memory, and where? */
bool transition_writes(const StateSpace *space, uint32_t core, uint32_t component, const Transition *transition, uint32_t *device,
                       uint32_t *slot);
/* Does it lead back into the loop? */
bool transition_ends_loop(const StateSpace *space, uint32_t core, const Transition *transition, uint32_t from, uint32_t to);
Move transition_move(const StateSpace *space, uint32_t core, uint32_t component, const Transition *transition);
