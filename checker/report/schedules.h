/* schedules.h - where the schedules of a check's faults go, and under which names.
 *
 * A name tells program, size, fault and number, and ends with a short hash of program, mesh, cores, parameters and knobs, so that checks
 * that differ in any of these do not overwrite each other.
 */
#pragma once
#include "../check/check.h"

/* Writes one file a fault into the folder, which is made on first need. Gives paths as text_check wants them; NULL where a finding has
 * none. On failure what was written so far, and one line in *error. */
GPtrArray *schedules_write(const CheckResult *result, const char *folder, char **error);
