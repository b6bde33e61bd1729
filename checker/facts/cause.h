/* cause.h - the step that is to blame for a fault, as its explanation words it: findings of one cause are mended together. */
#pragma once
#include <stdint.h>

typedef enum CauseKind {
    CAUSE_UNKNOWN,
    CAUSE_WAIT_PASSES,                          /* a wait, or a look at a flag, can pass without what it was meant for */
    CAUSE_WAIT_LATE,                            /* a wait comes only after the step that needs it */
    CAUSE_UNAWAITED,                            /* nobody waits for a copy or a count */
    CAUSE_UNORDERED,                            /* nothing makes a step come late enough */
    CAUSE_COUNT,                                /* waits take less than is given */
    CAUSE_STUCK,                                /* a wait never passes, as cores need each other */
    CAUSE_UNSERVED                              /* a wait never passes, and nobody would give what it needs */
} CauseKind;

typedef struct Cause {
    uint32_t kind;                              /* CauseKind */
    uint32_t site;                              /* of the wait; UNAWAITED, COUNT: of what gives; UNORDERED: of the step that comes early */
    uint32_t semaphore;                         /* that it is about, or a flag word; NONE: none */
} Cause;

const char *cause_name(CauseKind kind);         /* "wait-passes"; NULL: unknown */
