/* death.h - what a check concludes when the child that ran its kernel died: a fault of the kernel, a limit, or an error. */
#pragma once
#include "check_parts.h"

typedef CheckResult *DeathSample(const CheckSpec *spec);        /* check_run: a death without a schedule is looked for among samples */

/* Sets verdict and outcome, or the error. A crash was seen twice, with the schedule that the finding has. */
void death_conclude(CheckResult *result, const WorkerShared *shared, ChildEnd end, DeathSample *sample);
/* Of a replay that died: is it the death that the finding tells of? Then its place is where it happened now. */
bool death_is_shown(const CheckResult *result, const WorkerShared *shared, Finding *finding);
