/* component.h - making components, and what rows.h says of each. */
#pragma once
#include "walk.h"

void component_init(Walk *walk, uint32_t core);
uint32_t component_start(Walk *walk, uint32_t core);
/* The component after a transition of `from`, with the core at `node` (its own step) and the copy's payload (contents; else 0). */
uint32_t component_after(Walk *walk, uint32_t core, uint32_t from, uint32_t transition, uint32_t node, uint32_t payload);
/* The same, of what is known: 0 where component_after would make something. */
uint32_t component_known(const Walk *walk, uint32_t core, uint32_t transition, uint32_t node, uint32_t payload);
const Pending *component_pendings(const Walk *walk, uint32_t core, uint32_t id);
void component_masks(Walk *walk);               /* all masks anew, for accesses.generation */
/* What a transition does to counts: the semaphore, NONE: nothing. */
uint32_t component_effect(const Walk *walk, uint32_t core, uint32_t id, const Transition *transition, int64_t *inc);

/* row.c: what can move, what is accessed, what is to be watched. */
void row_build(Walk *walk, uint32_t core, uint32_t id);
