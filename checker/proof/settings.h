/* settings.h - the options of a proof: limits, and canaries, mistakes made on purpose. */
#pragma once
#include "../facts/limits.h"

/* Rules that a test breaks on purpose, to see that the comparison of methods notices (PROVE_SOUND: none). */
typedef enum ProveCanary {
    PROVE_SOUND,
    PROVE_CANARY_MAXIMUM,                       /* a wait comes after every signal seen so far, in place of the order statistic */
    PROVE_CANARY_ONE_PASS,                      /* the fixed point is not repeated */
    PROVE_CANARY_KEEP_TAKES,                    /* a wait that keeps takes */
    PROVE_CANARY_KEEP_NEEDS_VALUE_ONLY,         /* a wait that keeps ignores what was taken before */
    PROVE_CANARY_WAIT_FOR_ZERO,                 /* a wait for 0 needs the first signal */
    PROVE_CANARY_NO_FLUID,                      /* copies count at completion only */
    PROVE_CANARY_NEED_WHOLE,                    /* a wait that needs any byte of a copy needs it complete, even under fluid progress */
    PROVE_CANARY_REGULAR_COUNTS_BYTES,          /* a copy on a REGULAR semaphore counts bytes */
    PROVE_CANARY_NO_CHAINS,                     /* link-fifo and issue-order add nothing */
    PROVE_CANARY_EARLY_NOT_CHAINED,             /* early bytes do not come after the write of an earlier copy */
    PROVE_CANARY_JOIN_ONE_SIDED,                /* members of a join are not ordered with each other */
    PROVE_CANARY_OWN_ENTRY,                     /* a life has always begun */
    PROVE_CANARY_LEFTOVER_AT_END,               /* a leftover is the final count of the record */
    PROVE_CANARY_OVERFLOW_AT_END,               /* the highest count is the final one */
    PROVE_CANARY_READ_IS_RELEASED,              /* a copy is complete at the next wait on its semaphore */
    PROVE_CANARY_IN_FLIGHT_ISSUER,              /* a write is compared with the issuer's exit */
    PROVE_CANARY_SWEEP_IGNORES_READS,           /* reads do not race */
    PROVE_CANARY_WRONG_IN_CHAIN,                /* of one core's signals a wait needs one less than it does */
    PROVE_CANARY_OPEN_TAKEN_AS_ORDERED,         /* pairs that the clocks leave open are ordered */
    PROVE_CANARY_WRITES_DO_NOT_CLASH,           /* two racing writes leave what the record ended with */
    PROVE_CANARY_EXEMPT_STANDS,                 /* an exempt leftover hides the lifetime fault of its signal */
    PROVE_CANARY_COUNT
} ProveCanary;

typedef struct ProveOptions {
    ProveCanary canary;
    bool looks_aside;                           /* looks order nothing: then "no fault" holds for all executions with these steps,
                                                   whatever the looks observe and when */
    uint32_t findings_max;                      /* findings that get a schedule; 0: all */
    bool first;                                 /* stop at the first fault */
    Limits limits;                              /* of memory and time */
    void (*phase)(const char *what, const void *data);          /* what it does now, for a line of progress; may be NULL */
    const void *phase_data;
} ProveOptions;
