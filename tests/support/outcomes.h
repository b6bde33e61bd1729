/* outcomes.h - is what one search says, to the last move of each schedule, what another one says? */
#pragma once
#include "../../checker/facts/outcome.h"

/* NULL: they are equal. Otherwise the first difference, in one line that begins with `what`. g_malloc. */
char *outcomes_differ(const Outcome *one, const Outcome *expected, const char *what);
