/* row.h - what a component can do next, what it accesses, and what an inspection must look at. */
#pragma once
#include "space.h"

void row_build(StateSpace *space, uint32_t core, uint32_t id);
/* What a transition does to counts: the semaphore, NONE: nothing. */
uint32_t row_effect(const StateSpace *space, uint32_t core, uint32_t id, const Transition *transition, int64_t *inc);
uint32_t row_moment_event(StateSpace *space, uint32_t core, const UnrollStep *start, StepKind moment);
