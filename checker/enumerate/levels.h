/* levels.h - runs a search, level by level. */
#pragma once
#include "findings.h"

/* From the start, or from where `resumed` leaves off (NULL: the start). */
void levels_run(StateSpace *space, Frontier *frontier, Findings *findings, Stream *resumed);
