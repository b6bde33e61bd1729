/* judge.h - what the judge's parts need of each other. */
#pragma once
#include "walk.h"

uint32_t row_moment_event(Walk *walk, uint32_t core, const UnrollStep *start, StepKind moment);       /* row.c */
/* results.c: the program's expectations at an end state, and whether all of them end with the same results. */
void results_check(Walk *walk);
void results_settle(Walk *walk);
