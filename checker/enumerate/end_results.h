/* end_results.h - end states with contents: the program's own expectations, and whether every schedule hands back the same. */
#pragma once
#include "findings.h"

void end_results_check(StateSpace *space, Findings *findings); /* of the state in hand, all cores finished */
void end_results_carry(Codec *codec, const StateSpace *space, Findings *findings);      /* of a checkpoint */
