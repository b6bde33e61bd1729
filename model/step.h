/* step.h - the vocabulary of steps: what a core does, and the moments of a copy.
 *
 *     core:  LOAD STORE SWAP  SIGNAL WAIT WAIT_KEEP SEMAPHORE_READ  COPY_START  ALLOC FREE  ENTER EXIT CORE_BARRIER  FLAG_*  STOP
 *     copy:  [start by the core] -> EARLY_SEND? -> READ -> EARLY_RECEIVE? -> WRITE
 *
 * A core's position p is the index of a step in its own program order, from 0. EARLY_* exist under fluid progress only, for a copy whose
 * count on that semaphore is above 1: all but one of the count. (EARLY_RECEIVE needs the start only, not the read.)
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef enum StepKind {
    STEP_LOAD,              /* object: buffer object, value: region */
    STEP_STORE,             /* the same */
    STEP_SWAP,              /* the same: reads, then writes, in one step */
    STEP_SIGNAL,            /* object: semaphore, value: inc >= 1 */
    STEP_WAIT,              /* object: semaphore, value: need >= 0; extra: the core's own copy it is meant for, by ordinal, or NONE */
    STEP_WAIT_KEEP,         /* the same, decrement=false */
    STEP_SEMAPHORE_READ,    /* object: semaphore; observes the count */
    STEP_EXPECT_COUNT,      /* object: semaphore, value: expected; a look at the count; `assert` if it differs */
    STEP_COPY_START,        /* object: copy (index in the record, or of the core's own list in a tree) */
    STEP_ALLOC,             /* object: decl of LIFE_SCOPE; the life of (decl, this core) begins */
    STEP_FREE,              /* object: decl */
    STEP_ENTER,             /* object: launch; one event for all cores of the device (of all devices if the launch has an entry barrier) */
    STEP_EXIT,              /* object: launch; one event for all cores of the device */
    STEP_CORE_BARRIER,      /* object: ordinal of this barrier on the core; one event for all cores of the device */
    STEP_FLAG_LOAD,         /* object: semaphore id of the flag word; observes its value */
    STEP_FLAG_STORE,        /* value: new (int32) */
    STEP_FLAG_ADD,          /* value: addend; observes the old value only if extra != 0 */
    STEP_FLAG_CAS,          /* value: new, extra: expected; observes the old value */
    STEP_FLAG_WAIT,         /* value: operand, extra: Compare; takes nothing, observes nothing */
    STEP_STOP,              /* the core did something that stops it; object: index into the record's raised faults. Never executed */
    STEP_EARLY_SEND, STEP_READ, STEP_EARLY_RECEIVE, STEP_WRITE,
    STEP_KIND_COUNT
} StepKind;

typedef enum Compare { COMPARE_EQ, COMPARE_NE, COMPARE_GT, COMPARE_GE, COMPARE_LT, COMPARE_LE } Compare;

enum { STEP_OBSERVES = 1, STEP_BY_HOST = 2 };   /* flags: the core looks at the data it loaded; done by the host between launches */

typedef struct Step {
    uint8_t kind, flags;
    uint16_t launch;        /* which launch of the program (also for ENTER, EXIT, host steps) */
    uint32_t site, core, object, value, extra;
} Step;                     /* 24 bytes: records hold millions */

/* One asynchronous copy of bytes > 0 (a copy of 0 bytes has a COPY_START with object NONE and nothing else). */
typedef struct Copy {
    uint32_t core;                              /* that issued it */
    uint32_t ordinal;                           /* among the copies of bytes > 0 of that core, from 0 */
    uint32_t position;                          /* of its start on the core */
    uint32_t site;
    uint32_t source, source_region;             /* buffer object, region */
    uint32_t target, target_region;
    uint32_t send_semaphore, receive_semaphore; /* semaphore ids or NONE; a local copy has only the receive one, signalled by the write */
    uint32_t send_count, receive_count;         /* what it counts there when complete: bytes, or 1 on a REGULAR semaphore */
    uint32_t bytes;
    uint32_t target_device;
    uint32_t source_view, target_view;          /* for contents; NONE in tests of the machine */
    bool remote;                                /* made by make_async_remote_copy: link-fifo orders only these */
} Copy;

const char *step_kind_name(StepKind kind);      /* "wait", "copy start", "read", ... */

enum { STEP_BLOCKS = 1, STEP_JOINS = 2, STEP_CONFLICTS = 4 };
extern const uint8_t STEP_TRAITS[UINT8_MAX + 1];          /* by kind; a byte that is none has no traits */
/* It may have to wait for others (joins included). */
static inline bool step_blocks(StepKind kind) { return STEP_TRAITS[kind] & STEP_BLOCKS; }
static inline bool step_is_join(StepKind kind) { return STEP_TRAITS[kind] & STEP_JOINS; }
/* Its result depends on the order: SEMAPHORE_READ, EXPECT_COUNT, FLAG_*. True for FLAG_ADD, as the kind alone cannot tell whether the old
 * value is looked at: ask step_is_plain_add first. */
static inline bool step_is_conflict(StepKind kind) { return STEP_TRAITS[kind] & STEP_CONFLICTS; }
static inline bool step_is_plain_add(const Step *step) { return step->kind == STEP_FLAG_ADD && step->extra == 0; }
/* Does it leave everything but the core as it was? seen: the value that a FLAG_CAS found. An access to memory may race, but doing it again
 * is no other one. */
bool step_leaves_no_trace(const Step *step, int64_t seen);
bool compare_holds(Compare compare, int64_t left, int64_t right);
