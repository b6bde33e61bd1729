/* component.h - makes components and their rows (rows.h). */
#pragma once
#include "space.h"

void component_init(StateSpace *space, uint32_t core);
uint32_t component_start(StateSpace *space, uint32_t core);
/* The component after a transition of `from`, with the core at `node` (its own step) and the copy's payload (contents; else 0). */
uint32_t component_after(StateSpace *space, uint32_t core, uint32_t from, uint32_t transition, uint32_t node, uint32_t payload);
/* The same, of what is known: 0 where component_after would make something. */
uint32_t component_known(const StateSpace *space, uint32_t core, uint32_t transition, uint32_t node, uint32_t payload);
void component_assert_sane(const StateSpace *space, uint32_t core, uint32_t id); /* a row that was built or led to */
void components_assert_sane(const StateSpace *space);
void component_masks(StateSpace *space);        /* rebuilds all masks for accesses.generation */
