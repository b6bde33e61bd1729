/* levels.h - runs a search, level by level. */
#pragma once
#include "findings.h"

/* Starts from the initial state, or where `resumed` ends (NULL: the initial state). */
void levels_run(StateSpace *space, Frontier *frontier, Findings *findings, Codec *resumed);
