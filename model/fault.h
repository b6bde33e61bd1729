/* fault.h - the closed list of faults and of advice, with their stable identifiers.
 *
 * Source: semantics.md section 4; the page stands beside this file.
 */
#pragma once
#include <stdbool.h>

typedef enum FaultId {
    FAULT_RACE, FAULT_LIFETIME, FAULT_DEADLOCK, FAULT_LEFTOVER, FAULT_IN_FLIGHT, FAULT_OUT_OF_BOUNDS, FAULT_UNINITIALISED, FAULT_SHAPE,
    FAULT_SPACE, FAULT_REVISIT, FAULT_ASSERT, FAULT_MISMATCH, FAULT_OVERFLOW, FAULT_DIVERGENCE, FAULT_NO_PROGRESS, FAULT_CRASH,
    FAULT_COUNT
} FaultId;

const char *fault_name(FaultId id);                             /* "in-flight" */
bool fault_from_name(const char *name, FaultId *id);
bool fault_stops_core(FaultId id);
const char *fault_meaning(FaultId id);                          /* one sentence */
const char *fault_example(FaultId id);                          /* a few lines of kernel */
const char *fault_repairs(FaultId id);                          /* the usual repairs */

typedef enum AdviceId {
    ADVICE_AMBIGUOUS_WAIT, ADVICE_OVERSIGNAL, ADVICE_NEEDLESS_SYNC, ADVICE_NON_NEIGHBOUR, ADVICE_EARLY_SIGNAL, ADVICE_WAIT_DESCRIPTOR_RANGE,
    ADVICE_UNREACHED, ADVICE_NEVER_RAN, ADVICE_NO_EXPECTATION, ADVICE_IDLE_EXPECTATION, ADVICE_UNUSED_EXEMPTION, ADVICE_COUNT
} AdviceId;

const char *advice_name(AdviceId id);
const char *advice_meaning(AdviceId id);
