/* baseline.h - an earlier report (heddle check --json) as what is known already: only faults that it lacks are errors.
 *
 *     baseline_read -> baseline_mark, for each check -> baseline_vanished
 *
 * A fault is known by its fingerprint, whatever the size it was seen at. It has vanished if a check of the same program, size, parameters
 * and knobs was complete this time, and no check of the program showed it.
 *
 * Ownership:   baseline_free.
 * Errors:      NULL and one line in *error: no such file, not a report, or one from before fingerprints.
 */
#pragma once
#include "../check/check.h"

typedef struct Baseline Baseline;

Baseline *baseline_read(const char *path, char **error);
void baseline_free(Baseline *baseline);
typedef struct BaselineCount { unsigned known, fresh; } BaselineCount;
BaselineCount baseline_mark(Baseline *baseline, CheckResult *result);           /* sets Finding.known */
/* What the report knows of checks that were not made this time, in one sentence; NULL: nothing. */
char *baseline_unchecked(const Baseline *baseline);
GPtrArray *baseline_vanished(const Baseline *baseline);         /* of char*: one line each, in the order of the report */
