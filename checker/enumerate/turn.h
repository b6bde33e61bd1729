/* turn.h - whether a turn is possible in a state, and which state follows. */
#pragma once
#include "walk.h"

/* Is the turn possible in the state `id`? Then `out` is the state after it. While workers run nothing is made: 0 is in place of what is
 * new. */
bool turn_take(Walk *walk, const uint32_t *id, uint32_t core, uint32_t turn, uint32_t *out);
bool turn_possible(const Walk *walk, const uint32_t *id, uint32_t core, const Turn *turn);
/* Does the turn write to a memory, and where? */
bool turn_writes(const Walk *walk, uint32_t core, uint32_t component, const Turn *turn, uint32_t *device, uint32_t *slot);
bool walk_is_member(const Walk *walk, const Join *join, uint32_t core);
bool turn_ends_loop(const Walk *walk, uint32_t core, const Turn *turn, uint32_t from, uint32_t to);    /* leads back into it */
Move turn_move(const Walk *walk, uint32_t core, uint32_t component, const Turn *turn);
