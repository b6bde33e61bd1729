/* fault.h - the closed list of faults and of advice, with their stable identifiers.
 *
 * Source: semantics.md section 4.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Properties of faults, for fault_has: the object that a finding has, and the effect. */
enum {
    FAULT_OF_NOTHING = 1,       /* a finding may have no object */
    FAULT_OF_BUFFER = 2,
    FAULT_OF_SEMAPHORE = 4,
    FAULT_MAY_BE_EXEMPT = 8,    /* on its object. It stops no core, and what comes after it is judged */
    FAULT_STOPS_CORE = 16       /* the core does no further step */
};

/* All faults: name, identifier, the fewest and the most places of a finding, who does the step at each place (c: a core, m: a moment of a
 * copy, *: either), its properties. A fault that stops the core is listed here, explained in fault.c and raised by core_stop; any other
 * needs who finds it, what shows it in a replay (run/judge) and its words (report/story). */
#define FAULT_IDS(FAULT) \
    FAULT(RACE, "race", 2, 2, "**", FAULT_OF_BUFFER | FAULT_MAY_BE_EXEMPT) \
    FAULT(LIFETIME, "lifetime", 1, 1, "*", FAULT_OF_BUFFER | FAULT_OF_SEMAPHORE | FAULT_MAY_BE_EXEMPT) \
    FAULT(DEADLOCK, "deadlock", 0, 0, "", FAULT_OF_NOTHING) \
    FAULT(LEFTOVER, "leftover", 0, 1, "c", FAULT_OF_SEMAPHORE | FAULT_MAY_BE_EXEMPT) \
    FAULT(IN_FLIGHT, "in-flight", 2, 2, "mc", FAULT_OF_BUFFER | FAULT_MAY_BE_EXEMPT) \
    FAULT(OUT_OF_BOUNDS, "out-of-bounds", 1, 1, "c", FAULT_OF_NOTHING | FAULT_STOPS_CORE) \
    FAULT(UNINITIALISED, "uninitialised", 1, 1, "*", FAULT_OF_BUFFER | FAULT_OF_NOTHING | FAULT_MAY_BE_EXEMPT) \
    FAULT(SHAPE, "shape", 1, 1, "c", FAULT_OF_NOTHING | FAULT_STOPS_CORE) \
    FAULT(SPACE, "space", 1, 1, "c", FAULT_OF_NOTHING | FAULT_STOPS_CORE) \
    FAULT(REVISIT, "revisit", 1, 1, "c", FAULT_OF_NOTHING | FAULT_STOPS_CORE) \
    FAULT(ASSERT, "assert", 1, 1, "c", FAULT_OF_NOTHING | FAULT_STOPS_CORE) \
    FAULT(MISMATCH, "mismatch", 1, 2, "cm", FAULT_OF_SEMAPHORE | FAULT_MAY_BE_EXEMPT) \
    FAULT(OVERFLOW, "overflow", 1, 1, "*", FAULT_OF_SEMAPHORE | FAULT_MAY_BE_EXEMPT) \
    FAULT(DIVERGENCE, "divergence", 0, 0, "", FAULT_OF_BUFFER | FAULT_OF_NOTHING) \
    FAULT(NO_PROGRESS, "no-progress", 1, 1, "c", FAULT_OF_NOTHING | FAULT_STOPS_CORE) \
    FAULT(CRASH, "crash", 1, 1, "c", FAULT_OF_NOTHING | FAULT_STOPS_CORE)

#define FAULT_ID_ENUM(name, word, least, most, agents, does) FAULT_##name,
typedef enum FaultId { FAULT_IDS(FAULT_ID_ENUM) FAULT_COUNT } FaultId;
#undef FAULT_ID_ENUM

/* In the message of a fault that a run raises: what follows are sentences that name the line to look at. U+2028, a line separator. */
#define FAULT_WHY "\u2028"

typedef struct FaultForm { const char *name; uint8_t least, most; char agent[3]; uint8_t does; } FaultForm;
extern const FaultForm FAULT_FORM[FAULT_COUNT];

static inline bool fault_has(FaultId id, unsigned any) { return FAULT_FORM[id].does & any; }
static inline bool fault_stops_core(FaultId id) { return fault_has(id, FAULT_STOPS_CORE); }
const char *fault_name(FaultId id);                             /* "in-flight" */
bool fault_from_name(const char *name, FaultId *id);
const char *fault_meaning(FaultId id);                          /* one sentence */
const char *fault_example(FaultId id);                          /* a few lines of kernel */
const char *fault_repairs(FaultId id);                          /* the usual repairs */

typedef enum AdviceId {
    ADVICE_AMBIGUOUS_WAIT, ADVICE_OVERSIGNAL, ADVICE_NEEDLESS_SYNC, ADVICE_NON_NEIGHBOUR, ADVICE_EARLY_SIGNAL, ADVICE_WAIT_DESCRIPTOR_RANGE,
    ADVICE_UNREACHED, ADVICE_NEVER_RAN, ADVICE_NO_EXPECTATION, ADVICE_IDLE_EXPECTATION, ADVICE_UNUSED_EXEMPTION,
    ADVICE_NO_DOMAIN, ADVICE_COUNT
} AdviceId;

const char *advice_name(AdviceId id);
const char *advice_meaning(AdviceId id);
bool advice_narrows(AdviceId id);               /* the verdict covers less than it seems to */
