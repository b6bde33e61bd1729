/* advise.h - what is tried on a result, by checks of changed programs. */
#pragma once
#include "../check/spec.h"

/* For small programs, changed copies are checked as a whole: a faulty one with the usual repairs and other knobs (result->tried), a
 * verified one without each of its barriers and signals (needless-sync and what they are needed for, result->advice). repair.c, advice.c */
void check_try_repairs(CheckResult *result);
void check_try_without(CheckResult *result);
/* A faulty program on a line of devices is checked at smaller sizes: which is the smallest wrong one? (result->tried) */
void check_try_smaller(CheckResult *result);
/* --advice beyond that: ambiguous waits, counts that run ahead, far copies, steps that name a scope early (advice_look.c). */
void check_look_for_advice(CheckResult *result);
