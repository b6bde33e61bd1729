/* marks.h - from the races that a search found to the marks of runs (model/racing.h), and what is left out because of them. */
#pragma once
#include "../facts/finding.h"

/* Which marks the findings call for: races do, and what outlives a life or a launch where the program exempts it, as its value is nobody's
 * either. */
uint8_t marks_due(const Outcome *outcome, const Program *program);
void marks_set(const Outcome *outcome, Program *program);      /* runs set them from now on */
/* Is the finding about what was computed, not about orders, counts or lives? */
bool marks_matter_to(const Finding *finding);
/* Beside a race, findings about values that no run with marks has shown hang on that race: they go. True: there were any. */
bool marks_drop_unjudged(Outcome *outcome);
