/* check.h - checks one program at one size under one set of knobs, and replays each finding.
 *
 *     worker: load, build, run and record, run again, search; all again under other entry barriers, if the search shows them
 *     parent: the outcome is that of the search, or of the proof of the record if no search was needed
 *     worker: if races were found, the same once more with racing values marked
 *     worker: make each schedule short, replay it, explain it
 *     parent: verdict; the same check for each variant of the module (variants.h), which must agree; advice
 *
 * Ownership:   a result owns its program, record and outcome; strings of the spec are borrowed.
 * Errors:      bad input and system errors are VERDICT_ERROR with one line in `error`.
 */
#pragma once
#include "spec.h"

CheckResult *check_run(const CheckSpec *spec);
void check_add_advice(CheckResult *result, AdviceId id, const char *message, const Place *place);
/* Runs the program once and replays the finding's moves; takes the finding. The outcome holds only that finding, `shown` or not. One that
 * does not fit the program is VERDICT_ERROR. */
CheckResult *check_replay(const CheckSpec *spec, Finding *finding);
