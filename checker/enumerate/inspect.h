/* inspect.h - the faults that one state shows. */
#pragma once
#include "findings.h"

bool inspect_suspects(const StateSpace *space, const uint32_t *id);    /* would inspect_state find something? Changes nothing */
/* Of the current state: */
void inspect_state(StateSpace *space, Findings *findings);      /* the watches of its components */
void inspect_races(StateSpace *space, Findings *findings);      /* between cores; those within a core are watches */
void inspect_end(StateSpace *space, Findings *findings);       /* nothing can move */
