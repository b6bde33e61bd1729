/* advise.h - repairs and advice for a result, by checks of changed programs. */
#pragma once
#include "../check/spec.h"

/* Decides under which orders of copies each fault holds, and sorts the findings by that (settle_orders.c). */
void check_settle_orders(CheckResult *result);
/* Small programs only. A faulty one is checked with the usual repairs and other knobs (result->tried; repairs.c). A verified one is checked
 * without each of its barriers and signals (result->advice: needless-sync, or what they are needed for; advice.c). */
void check_try_repairs(CheckResult *result);
/* Adds to why: around a step that is done too often, or outside, the conditions of its loop (bounds.c). */
void check_cite_bounds(CheckResult *result);
void check_try_without(CheckResult *result);
/* Checks a faulty program on a line of devices at smaller sizes, to find the smallest faulty one (result->tried). */
void check_try_smaller(CheckResult *result);
/* More for --advice: ambiguous waits, counts that run ahead, far copies, steps that name a scope early (advice_look.c). */
void check_look_for_advice(CheckResult *result);
