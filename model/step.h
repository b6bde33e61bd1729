/* step.h - the vocabulary of steps: what a core does, and the moments of a copy.
 *
 *     core:  LOAD STORE SWAP  SIGNAL WAIT WAIT_KEEP SEMAPHORE_READ  COPY_START  ALLOC FREE  ENTER EXIT CORE_BARRIER  FLAG_*  STOP
 *     copy:  [start by the core] -> EARLY_SEND? -> READ -> EARLY_RECEIVE? -> WRITE
 *
 * A core's position p is the index of a step in its own program order, from 0. Moments: moment.h; effects on counts: counter.h; which steps
 * commute: dependence.h.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Properties of kinds of steps, for step_has. */
enum {
    STEP_BLOCKS = 1,            /* it may have to wait for others (joins included) */
    STEP_JOINS = 2,             /* one event of several cores */
    STEP_CONFLICTS = 4,         /* its result depends on the order. FLAG_ADD included, as the kind alone does not tell: step_is_plain_add */
    STEP_ON_MEMORY = 8,         /* object: a buffer object, value: a region */
    STEP_ON_SEMAPHORE = 16,     /* object: a semaphore */
    STEP_ON_FLAG = 32,          /* object: the semaphore id of a flag word */
    STEP_ON_COPY = 64,          /* object: a copy (index in the record, or of the core's own list in a tree) */
    STEP_ON_SCOPE = 128,        /* object: a decl of LIFE_SCOPE */
    STEP_ON_LAUNCH = 256,       /* object: a launch */
    STEP_LEARNS = 512           /* the core learns the value of the semaphore or flag word (FLAG_ADD: if extra != 0) */
};

/* All kinds: name, its word in schedules and messages, its verb in reports, what it does. Add a kind here; -Wswitch-enum then names the few
 * places that must be told what it does to counts (counter.h), what it commutes with (dependence.h), and how it is run. */
#define STEP_KINDS(KIND) \
    KIND(LOAD, "load", "reads", STEP_ON_MEMORY) \
    KIND(STORE, "store", "writes", STEP_ON_MEMORY) \
    KIND(SWAP, "swap", "swaps", STEP_ON_MEMORY)                 /* reads, then writes, in one step */ \
    KIND(SIGNAL, "signal", "signals", STEP_ON_SEMAPHORE)        /* value: inc >= 1 */ \
    KIND(WAIT, "wait", "waits on", STEP_ON_SEMAPHORE | STEP_BLOCKS)     /* value: need >= 0; extra: own copy it is meant for, or NONE */ \
    KIND(WAIT_KEEP, "wait without decrement", "waits on", STEP_ON_SEMAPHORE | STEP_BLOCKS)      /* the same, decrement=false */ \
    KIND(SEMAPHORE_READ, "semaphore read", "looks at", STEP_ON_SEMAPHORE | STEP_CONFLICTS | STEP_LEARNS) \
    KIND(EXPECT_COUNT, "expect count", "expects a count of", STEP_ON_SEMAPHORE | STEP_CONFLICTS) /* value: expected, or assert */ \
    KIND(COPY_START, "copy start", "starts a copy", STEP_ON_COPY)       /* object: NONE if it has no bytes */ \
    KIND(ALLOC, "alloc", "opens a scope", STEP_ON_SCOPE)        /* the life of (decl, this core) begins */ \
    KIND(FREE, "free", "closes a scope", STEP_ON_SCOPE) \
    KIND(ENTER, "enter", "enters", STEP_ON_LAUNCH | STEP_BLOCKS | STEP_JOINS)   /* of a device; with an entry barrier, of all devices */ \
    KIND(EXIT, "exit", "leaves", STEP_ON_LAUNCH | STEP_BLOCKS | STEP_JOINS)     /* of all cores of the device */ \
    KIND(CORE_BARRIER, "core barrier", "is at a core barrier", STEP_BLOCKS | STEP_JOINS)        /* object: its number on the core */ \
    KIND(FLAG_LOAD, "flag load", "loads the flag", STEP_ON_FLAG | STEP_CONFLICTS | STEP_LEARNS) \
    KIND(FLAG_STORE, "flag store", "stores the flag", STEP_ON_FLAG | STEP_CONFLICTS)            /* value: new (int32) */ \
    KIND(FLAG_ADD, "flag add", "adds to the flag", STEP_ON_FLAG | STEP_CONFLICTS)               /* value: addend */ \
    KIND(FLAG_CAS, "flag compare and swap", "compares and swaps the flag", \
         STEP_ON_FLAG | STEP_CONFLICTS | STEP_LEARNS)           /* value: new, extra: expected */ \
    KIND(FLAG_WAIT, "flag wait", "waits for the flag", STEP_ON_FLAG | STEP_CONFLICTS | STEP_BLOCKS) /* value, extra: a Compare */ \
    KIND(STOP, "stop", "stops", 0)      /* what the core did stops it; object: index into the record's raised faults. Never executed */ \
    KIND(EARLY_SEND, "early send", "counts early bytes of its read of", STEP_ON_COPY) \
    KIND(READ, "read", "reads", STEP_ON_COPY) \
    KIND(EARLY_RECEIVE, "early receive", "counts early bytes of its write of", STEP_ON_COPY) \
    KIND(WRITE, "write", "writes", STEP_ON_COPY)

#define STEP_KIND_ENUM(name, word, verb, does) STEP_##name,
typedef enum StepKind { STEP_KINDS(STEP_KIND_ENUM) STEP_KIND_COUNT } StepKind;
#undef STEP_KIND_ENUM

/* In a switch: the kinds that are on neither a semaphore nor a flag word. */
#define STEP_CASES_OFF_COUNTERS \
    case STEP_LOAD: case STEP_STORE: case STEP_SWAP: case STEP_COPY_START: case STEP_ALLOC: case STEP_FREE: case STEP_ENTER: \
    case STEP_EXIT: case STEP_CORE_BARRIER: case STEP_STOP: case STEP_EARLY_SEND: case STEP_READ: case STEP_EARLY_RECEIVE: \
    case STEP_WRITE

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
    uint32_t site, described;                        /* of its start, and of its description: the same if that is the same line */
    uint32_t source, source_region;             /* buffer object, region */
    uint32_t target, target_region;
    uint32_t send_semaphore, receive_semaphore; /* semaphore ids or NONE; a local copy has only the receive one, signalled by the write */
    uint32_t send_count, receive_count;         /* what it counts there when complete: bytes, or 1 on a REGULAR semaphore */
    uint32_t bytes;
    uint32_t target_device;
    uint32_t source_view, target_view;          /* for contents; NONE in tests of the machine */
    uint32_t label;                             /* its name, see label.h; 0: it is named by its ordinal */
    bool remote;                                /* made by make_async_remote_copy: link-fifo orders only these */
} Copy;

const char *step_kind_name(StepKind kind);      /* "wait", "copy start", "read", ... */
const char *step_kind_verb(StepKind kind);      /* "waits on", "starts a copy", "reads", ... */

extern const uint16_t STEP_DOES[UINT8_MAX + 1];         /* by kind; 0 for other bytes */
static inline bool step_has(uint8_t kind, unsigned any) { return STEP_DOES[kind] & any; }
static inline bool step_blocks(uint8_t kind) { return step_has(kind, STEP_BLOCKS); }
static inline bool step_is_join(uint8_t kind) { return step_has(kind, STEP_JOINS); }
static inline bool step_is_conflict(uint8_t kind) { return step_has(kind, STEP_CONFLICTS); }
static inline bool step_on_memory(uint8_t kind) { return step_has(kind, STEP_ON_MEMORY); }
static inline bool step_on_counter(uint8_t kind) { return step_has(kind, STEP_ON_SEMAPHORE | STEP_ON_FLAG); }
static inline bool step_is_wait(uint8_t kind) { return step_blocks(kind) && step_on_counter(kind); }
static inline bool step_is_semaphore_wait(uint8_t kind) { return step_blocks(kind) && step_has(kind, STEP_ON_SEMAPHORE); }
static inline bool step_is_plain_add(const Step *step) { return step->kind == STEP_FLAG_ADD && step->extra == 0; }
/* Signals, and flag adds that do not learn the old value. */
static inline bool step_is_add(const Step *step) { return step->kind == STEP_SIGNAL || step_is_plain_add(step); }
/* Does the core learn the value of the semaphore or flag word? */
static inline bool step_learns(const Step *step)
{
    return step_has(step->kind, STEP_LEARNS) || (step->kind == STEP_FLAG_ADD && step->extra != 0);
}
bool compare_holds(Compare compare, int64_t left, int64_t right);
const char *compare_words(Compare compare);     /* "is at least", ... */
