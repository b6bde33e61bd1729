/* component.h - making components, and what rows.h says of each. */
#pragma once
#include "walk.h"

/* gauge.c: gauges and columns of all semaphores in the steps that a core's tree gained. */
uint32_t walk_gauge_of(Walk *walk, uint32_t semaphore);
uint32_t walk_others_of(Walk *walk, uint32_t gauge, uint32_t core);
void walk_scan_steps(Walk *walk, uint32_t core);

/* component.c */
void component_init(Walk *walk, uint32_t core);
uint32_t component_start(Walk *walk, uint32_t core);
/* The component after a turn of `from`, with the core at `node` (its own step) and the copy's payload (contents; else 0). */
uint32_t component_after(Walk *walk, uint32_t core, uint32_t from, uint32_t turn, uint32_t node, uint32_t payload);
/* The same, of what is known: 0 where component_after would make something. */
uint32_t component_known(const Walk *walk, uint32_t core, uint32_t turn, uint32_t node, uint32_t payload);
const Pending *component_pendings(const Walk *walk, uint32_t core, uint32_t id);
void component_masks(Walk *walk);               /* all masks anew, for accesses.generation */
/* What a turn does to counts: the semaphore, NONE: nothing. */
uint32_t component_effect(const Walk *walk, uint32_t core, uint32_t id, const Turn *turn, int64_t *inc);

/* row.c: what can move, what is accessed, what is to be watched. */
void row_build(Walk *walk, uint32_t core, uint32_t id);
