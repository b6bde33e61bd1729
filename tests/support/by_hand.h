/* by_hand.h - the result of a check whose findings a test makes, for tests of reports.
 *
 * Ownership:   owns the script and what its result names.
 */
#pragma once
#include "../../checker/check/spec.h"
#include "script.h"

typedef struct ByHand { Script *script; CheckSpec spec; CheckResult result; } ByHand;

void by_hand_init(ByHand *check, Script *script, const char *name, const char *source);     /* faulty, on one core a device */
Finding *by_hand_assert(ByHand *check, const char *message);    /* adds an assertion that fails */
void by_hand_clear(ByHand *check);
