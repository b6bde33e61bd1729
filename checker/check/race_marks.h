/* race_marks.h - marks racing values (model/racing.h) by the races that a search found, and drops findings that depend on them. */
#pragma once
#include "../facts/finding.h"

/* The marks that the findings require: one for each race, and for each exempted lifetime or in-flight fault on a buffer, whose value is
 * undefined as well. */
uint8_t race_marks_due(const Outcome *outcome, const Program *program);
void race_marks_set(const Outcome *outcome, Program *program); /* later runs apply them */
/* Is the finding about computed values, rather than orders, counts or lifetimes? */
bool race_marks_matter_to(const Finding *finding);
/* If there is a race, removes findings about values that no marked run has shown: they may be effects of it. True: there were any. */
bool race_marks_drop_unjudged(Outcome *outcome);
