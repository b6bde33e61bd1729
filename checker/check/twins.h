/* twins.h - a check once more with each twin of the module, in which locals that were never set hold something else (compile.h).
 *
 * What a kernel does must not hang on them: the same steps, results and findings, or the check is refused.
 */
#pragma once
#include "compile.h"
#include "spec.h"

/* Of a check that has its verdict; NULL: there are none, or it was ended before it could be compared. */
const Twins *twins_to_compare(const CheckResult *result);
/* Of the check of one of them. facts: what the check has learnt of the launches (settle_facts); borrowed. */
CheckSpec twins_spec(const CheckResult *result, const char *module, const char *facts);
/* The result of that: what differs makes `result` an error, a limit makes it bounded. */
void twins_compare(CheckResult *result, const Twins *twins, const CheckResult *twin);
