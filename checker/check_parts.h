/* check_parts.h - check_run in two parts, for who makes the second one in another process: what begins is shared with it. */
#pragma once
#include "worker.h"

CheckResult *check_begin(const CheckSpec *spec, WorkerShared **shared);        /* program and record, empty, in shared memory */
void check_complete(CheckResult *result, WorkerShared *shared);                /* all the rest */
void check_fail(CheckResult *result, const char *format, ...) __attribute__((format(printf, 2, 3)));    /* verdict error, one line */
void check_note_unused_exemptions(CheckResult *result);          /* as advice; of a search that was not cut short. exemptions.c */
