/* row.h - builds the row of a component: its transitions, its accesses, and what an inspection must check. */
#pragma once
#include "space.h"

void row_build(StateSpace *space, uint32_t core, uint32_t id);
/* The semaphore that a transition adds to; NONE: none. */
uint32_t row_effect(const StateSpace *space, uint32_t core, uint32_t id, const Transition *transition, int64_t *inc);
uint32_t row_moment_event(StateSpace *space, uint32_t core, const UnrollStep *start, StepKind moment);
