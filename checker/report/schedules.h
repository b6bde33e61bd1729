/* schedules.h - writes the schedules of a check's faults.
 *
 * A file name has program, size, fault and number, and a short hash of program, mesh, cores, parameters and knobs, so that different checks
 * do not overwrite each other's files.
 */
#pragma once
#include "../check/check.h"

/* Writes a file for each fault into the folder, which is created if needed. Returns paths as for text_check, NULL for a finding without
 * one. On failure, those written so far and one line in *error. */
GPtrArray *schedules_write(const CheckResult *result, const char *folder, char **error);
