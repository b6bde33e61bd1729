/* check_parts.h - check_run in two parts, for who makes the second one in another process: what begins is shared with it. */
#pragma once
#include "worker_shared.h"

CheckResult *check_begin(const CheckSpec *spec, WorkerShared **shared);        /* program and record, empty, in shared memory */
void check_complete(CheckResult *result, WorkerShared *shared);                /* all the rest */
/* Its time is over, it takes too much memory, or somebody has interrupted: what comes now is left out. */
bool check_is_over(const CheckResult *result);
int64_t check_until(const CheckResult *result); /* when that will be, as far as it is known; 0: never */
const char *check_module(const CheckSpec *spec);                /* what to call the module */
/* A limit ended the child: what it had concluded is lost, and the verdict is bounded. */
void check_stop(CheckResult *result, const WorkerShared *shared, ChildEnd end);
ChildEnd check_wait(const CheckResult *result, Child *child);                   /* within its time; interruptions make it stop */
void check_fail(CheckResult *result, const char *format, ...) __attribute__((format(printf, 2, 3)));    /* verdict error, one line */
void check_note_unused_exemptions(CheckResult *result);          /* as advice; of a search that was not cut short. exemptions.c */
