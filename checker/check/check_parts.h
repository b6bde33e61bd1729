/* check_parts.h - check_run in two parts, so that another process can do the second: both share what the first creates. */
#pragma once
#include "worker_shared.h"

CheckResult *check_begin(const CheckSpec *spec, WorkerShared **shared);        /* program and record, empty, in shared memory */
void check_forget(CheckResult *result);         /* what a check of another input found */
void check_complete(CheckResult *result, WorkerShared *shared);                /* everything else */
/* Out of time or memory, or interrupted: optional work is skipped. */
bool check_is_over(const CheckResult *result);
int64_t check_until(const CheckResult *result); /* the deadline, as monotonic microseconds; 0: none */
const char *check_module(const CheckSpec *spec);                /* the module's name in messages */
/* A limit ended the child: its conclusions are lost, and the verdict is bounded. */
void check_stop(CheckResult *result, const WorkerShared *shared, ChildEnd end);
ChildEnd check_wait(const CheckResult *result, Child *child);                   /* until its deadline or an interruption */
#define CHECK_CONTRADICTION "internal error: "  /* two methods of heddle disagree */
void check_fail(CheckResult *result, const char *format, ...) __attribute__((format(printf, 2, 3)));    /* verdict error, one line */
void check_note_steering(CheckResult *result);  /* as advice: inputs that steer the kernel, without a domain; steering.c */
void check_note_unused_exemptions(CheckResult *result);          /* as advice, if the search is complete; exemptions.c */
