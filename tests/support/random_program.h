/* random_program.h - small random programs over everything the machine has, for tests that compare two ways of deciding them.
 *
 *     random_generate -> random_build -> a Program whose launches interpret the lists of operations through model/core.h
 *                     -> random_print: the same as a kernel file
 *
 * Each core has its own list. A list is straight except for OP_STEER and OP_LOOK, which may skip the next operations. Generated programs
 * can be written with the kernel API: a scope is named only by cores that have opened it themselves.
 *
 * Sites: file "random", line = core * 1000 + index + 1 for an operation, RANDOM_LINE_* + number for scopes, launches and expectations.
 * Ownership:   a RandomProgram is a plain value; a built Program borrows it.
 */
#pragma once
#include <glib.h>
#include "../../model/core.h"
#include "../../model/rng.h"

enum {
    RANDOM_CORES_MAX = 6, RANDOM_OPS_MAX = 40, RANDOM_THINGS_MAX = 24, RANDOM_LAUNCHES_MAX = 3,
    RANDOM_LINE_LAUNCH = 800000, RANDOM_LINE_SCOPE = 900000, RANDOM_LINE_EXPECTATION = 950000
};

typedef enum RandomFeature {
    RANDOM_CORES = 1 << 0,                      /* two cores a device */
    RANDOM_BARRIERS = 1 << 1,                   /* core barriers; implies two cores */
    RANDOM_LAUNCHES = 1 << 2,                   /* several launches, barrier semaphores, entries with and without a barrier */
    RANDOM_SCOPES = 1 << 3,
    RANDOM_TIDY = 1 << 4,                       /* whole small protocols, so that right programs are common */
    RANDOM_KEEP = 1 << 5,                       /* waits that keep */
    RANDOM_ZERO = 1 << 6,                       /* waits for 0, copies of 0 bytes */
    RANDOM_REGULAR = 1 << 7,                    /* copies that complete on REGULAR semaphores */
    RANDOM_MISMATCH = 1 << 8,                   /* waits meant for one copy */
    RANDOM_LIMITS = 1 << 9,                     /* limits of counts */
    RANDOM_LINK_FIFO = 1 << 10,
    RANDOM_ISSUE_ORDER = 1 << 11,
    RANDOM_FLUID = 1 << 12,
    RANDOM_STRICT = 1 << 13,                    /* scopes strict */
    RANDOM_DATA = 1 << 14,                      /* real data that steers cores, and results */
    RANDOM_CONFLICTS = 1 << 15,                 /* looks at counts, semaphores with two waiters */
    RANDOM_STOPS = 1 << 16,                     /* faults that stop a core, and loads out of bounds, which may */
    RANDOM_HOST = 1 << 17,                      /* host steps between launches */
    RANDOM_FLAGS = 1 << 18,                     /* words of shared memory */
    RANDOM_EXEMPT = 1 << 19                     /* faults that the program exempts, on some of its things */
} RandomFeature;

typedef struct RandomThing {                    /* a declaration */
    uint8_t space, kind;                        /* Space, SemaphoreKind */
    uint8_t elements;                           /* bytes of a buffer, semaphores of an array */
    bool scoped, input, real;
    uint8_t launches;                           /* bit a launch: is given to it (scoped: opened in it) */
    int8_t limit;                               /* -1: none */
    uint16_t exempt;                            /* bit a FaultId */
} RandomThing;

typedef struct RandomPlace {
    int8_t thing;                               /* -1: none */
    uint8_t core;                               /* whose object; of shared ones any core of the device */
    uint8_t start, count, stride;               /* semaphores: start is the element */
} RandomPlace;

typedef enum RandomKind {
    OP_SIGNAL, OP_WAIT, OP_WAIT_KEEP,           /* at: the semaphore; value */
    OP_WAIT_MEANT,                              /* value: index of the copy among the core's operations; by_send */
    OP_LOAD, OP_STORE, OP_SWAP,                 /* at, of which a LOAD may reach beyond the end; value: what a STORE or SWAP writes */
    OP_COPY,                                    /* source -> at; send, receive */
    OP_CORE_BARRIER,
    OP_OPEN, OP_CLOSE,                          /* at.thing */
    OP_STEER,                                   /* loads one byte of `at`; if it is >= value, jumps over `skip` operations */
    OP_LOOK,                                    /* the same with the count of a semaphore */
    OP_POLL,                                    /* looks at a count until it is >= value */
    OP_EXPECT_COUNT,                            /* at, value */
    OP_FLAG_STORE, OP_FLAG_ADD,                 /* at: the word; value; ADD: value - less */
    OP_FLAG_FETCH,                              /* adds, and jumps as OP_LOOK does by what was there before */
    OP_FLAG_WAIT,                               /* until the word compares with value */
    OP_FLAG_POLL,                               /* looks at a word until it is >= value */
    OP_FLAG_LOOK, OP_FLAG_SWAP,                 /* jumps as OP_LOOK; SWAP: value - less becomes value, jumps if it was something else */
    OP_FLAG_LOCK,                               /* swaps until 0 has become 1 */
    OP_STOP                                     /* a store beyond the end of `at` */
} RandomKind;

typedef struct RandomOp {
    uint8_t kind, launch, value, skip, compare;
    int8_t less;
    bool remote, by_send;
    RandomPlace at, source, send, receive;
} RandomOp;

typedef struct RandomProgram {
    uint64_t seed;
    uint32_t features;
    uint8_t devices, cores_per_device, cores, launches, things;
    bool bare;
    Knobs knobs;
    bool skip_barrier[RANDOM_LAUNCHES_MAX], collective[RANDOM_LAUNCHES_MAX], host[RANDOM_LAUNCHES_MAX];
    uint8_t devices_of[RANDOM_LAUNCHES_MAX];    /* bit a device */
    bool rotated;                               /* every device does the same in its place: see random_rotate */
    bool expects;                               /* results are promised, to be what the eager run ends with */
    RandomThing thing[RANDOM_THINGS_MAX];
    uint8_t ops[RANDOM_CORES_MAX];
    RandomOp op[RANDOM_CORES_MAX][RANDOM_OPS_MAX];
} RandomProgram;

/* Of what looks: may it jump over operations? */
static inline bool random_jumps(RandomKind kind)
{
    return kind == OP_STEER || kind == OP_LOOK || kind == OP_FLAG_FETCH || kind == OP_FLAG_LOOK || kind == OP_FLAG_SWAP;
}

bool random_polls(const RandomProgram *random); /* does some core repeat a look until it is content? */
bool random_is_inside(const RandomProgram *random, const RandomPlace *place, unsigned i);   /* is that element in its thing? */
void random_generate(RandomProgram *random, uint64_t seed, uint32_t features, unsigned operations);
/* random_run.c: the body of launches. The expectation is armed with the contents of a machine, by random_promise. */
Program *random_build(const RandomProgram *random);
void random_build_into(Program *program, const RandomProgram *random);        /* a new one of that size */
void random_promise(Program *program, Machine *machine);
uint32_t random_line(uint32_t core, uint32_t index);
void random_thing_name(const RandomProgram *random, int thing, char name[8]);
uint32_t random_decl(const RandomProgram *random, const Program *program, int thing);       /* NONE: a scope that no core opened */

void random_print(const RandomProgram *random, GString *out);   /* as a kernel file against the kernel API */
void random_describe_features(uint32_t features, GString *out);
