/* settings.h - what a proof is told: limits, and mistakes that it makes on purpose. */
#pragma once
#include "../facts/limits.h"

/* Rules that a test can break on purpose, to see that the comparison notices (PROVE_SOUND: none). */
typedef enum ProveCanary {
    PROVE_SOUND,
    PROVE_CANARY_MAXIMUM,                       /* a wait is after every signal seen so far, in place of the order statistic */
    PROVE_CANARY_ONE_PASS,                      /* the fixed point is not repeated */
    PROVE_CANARY_KEEP_TAKES,                    /* a wait that keeps takes */
    PROVE_CANARY_KEEP_NEEDS_VALUE_ONLY,         /* a wait that keeps forgets what was taken before */
    PROVE_CANARY_WAIT_FOR_ZERO,                 /* a wait for 0 needs the first signal */
    PROVE_CANARY_NO_FLUID,                      /* copies count at completion only */
    PROVE_CANARY_NEED_WHOLE,                    /* a copy is complete when a wait needs one of all its bytes, also under fluid */
    PROVE_CANARY_REGULAR_COUNTS_BYTES,          /* a copy on a REGULAR semaphore counts bytes */
    PROVE_CANARY_NO_CHAINS,                     /* link-fifo and issue-order add nothing */
    PROVE_CANARY_EARLY_NOT_CHAINED,             /* early bytes are not behind the write of an earlier copy */
    PROVE_CANARY_JOIN_ONE_SIDED,                /* members of a join are not ordered among each other */
    PROVE_CANARY_OWN_ENTRY,                     /* a life has always begun */
    PROVE_CANARY_LEFTOVER_AT_END,               /* what is left over is what the record ended with */
    PROVE_CANARY_OVERFLOW_AT_END,               /* the highest count is the last one */
    PROVE_CANARY_READ_IS_RELEASED,              /* a copy is complete at the next wait on its semaphore */
    PROVE_CANARY_IN_FLIGHT_ISSUER,              /* a write is held against the issuer's exit */
    PROVE_CANARY_SWEEP_IGNORES_READS,           /* reads do not race */
    PROVE_CANARY_WRONG_IN_CHAIN,                /* of one core's signals a wait needs one less than it does */
    PROVE_CANARY_OPEN_TAKEN_AS_ORDERED,         /* what the clocks leave open is no race */
    PROVE_CANARY_WRITES_DO_NOT_CLASH,           /* what two racing writes leave is taken for what the record ended with */
    PROVE_CANARY_EXEMPT_STANDS,                 /* a leftover that is exempt stands for the lifetime of the signal */
    PROVE_CANARY_COUNT
} ProveCanary;

typedef struct ProveOptions {
    ProveCanary canary;
    bool looks_aside;                           /* looks order nothing: without a limit, what is found to be faultless is so for all
                                                   executions with these steps, whatever looks see and when */
    uint32_t findings_max;                      /* kinds of findings that get a schedule; 0: all */
    bool first;                                 /* stop at the first fault */
    Limits limits;                              /* of memory and time */
} ProveOptions;
