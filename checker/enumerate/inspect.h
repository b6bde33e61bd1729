/* inspect.h - all that can be wrong in a state, as it stands. */
#pragma once
#include "findings.h"

bool inspect_suspects(const StateSpace *space, const uint32_t *id);    /* would inspect_state find something? Changes nothing */
/* The state in hand: */
void inspect_state(StateSpace *space, Findings *findings);     /* what components are watched for */
void inspect_races(StateSpace *space, Findings *findings);     /* between cores; a core's own are among the watched */
void inspect_end(StateSpace *space, Findings *findings);       /* nothing can move */
