/* child_death.h - what a check concludes when the child that ran its kernel died: a fault of the kernel, a limit, or an error. */
#pragma once
#include "check_parts.h"

typedef CheckResult *ChildDeathSample(const CheckSpec *spec);   /* check_run: samples schedules to find one that dies */

/* Sets verdict and outcome, or the error. A fault is confirmed by a second child that follows the finding's schedule. */
void child_death_conclude(CheckResult *result, const WorkerShared *shared, ChildEnd end, ChildDeathSample *sample);
/* Of a replay that died: is it the death that the finding describes? Then updates the finding's place. */
bool child_death_is_shown(const CheckResult *result, const WorkerShared *shared, Finding *finding);
