/* check.h - one program at one size under one set of knobs: run it, decide it, replay what was found.
 *
 *     spec -> [worker: load, build, recorded run, repeated run, search (classes, enumerate, sample)] -> record, outcome
 *          -> [here: the proof of the record, where no search was needed] -> findings -> [worker: each replayed] -> result
 *
 * Ownership:   a result owns its program, record and outcome; strings of the spec are borrowed.
 * Errors:      bad input and dead ends of the world are verdict VERDICT_ERROR with one line in `error`.
 */
#pragma once
#include "spec.h"

CheckResult *check_run(const CheckSpec *spec);
void check_add_advice(CheckResult *result, AdviceId id, const char *message, const Place *place);
/* Runs the program once and replays one finding's lines; takes the finding. The result's outcome holds just that finding, `shown` or not.
 * NULL and *error: a line names no agent of this program. A finding that does not fit the program is an error of
 * the result. */
CheckResult *check_replay(const CheckSpec *spec, Finding *finding, const GPtrArray *lines, char **error);
