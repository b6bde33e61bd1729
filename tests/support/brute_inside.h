/* brute_inside.h - what brute.c (what moves) and brute_judge.c (what is wrong) share. */
#pragma once
#include "brute.h"

enum { BRUTE_COUNTERS_MAX = 96, BRUTE_FLIGHTS_MAX = 18, BRUTE_NEXTS_MAX = BRUTE_FLIGHTS_MAX + RANDOM_CORES_MAX };

typedef enum BruteStepKind { BRUTE_OPERATION, BRUTE_ENTER, BRUTE_EXIT } BruteStepKind;
typedef struct BruteStep {
    BruteStepKind kind;
    const RandomOp *op;
    unsigned launch;
} BruteStep;

typedef struct BruteFlight { uint8_t core, step, read, sent, received; } BruteFlight;   /* sent, received: early bytes */
typedef struct __attribute__((packed)) BruteState {
    uint64_t skipped[RANDOM_CORES_MAX], seen[RANDOM_CORES_MAX];         /* steps jumped over, a bit each; what was looked at, hashed */
    uint8_t at[RANDOM_CORES_MAX], stopped, flights;                     /* stopped: a bit a core */
    uint8_t count[BRUTE_COUNTERS_MAX];
    BruteFlight flight[BRUTE_FLIGHTS_MAX];
} BruteState;

/* 'c': a core's own step; 'R', 'W': of the copy that it starts. The position counts the steps that were done before it. */
typedef struct BruteEvent { char moment; uint8_t core, step, position; } BruteEvent;
typedef struct BruteNext { BruteEvent event; const RandomPlace *place; bool write; } BruteNext;

typedef struct Brute {
    const RandomProgram *random;
    const Program *program;
    BruteStep step[RANDOM_CORES_MAX][RANDOM_OPS_MAX + 2 * RANDOM_LAUNCHES_MAX];
    uint8_t steps[RANDOM_CORES_MAX];
    uint8_t counter[RANDOM_THINGS_MAX][RANDOM_CORES_MAX][2];
    RandomPlace counted[BRUTE_COUNTERS_MAX];
    unsigned counters;
    Intern states, seen;                        /* seen: BruteFault */
    GArray *stack;                              /* of uint32_t: states to expand */
    BruteNext next[BRUTE_NEXTS_MAX];            /* accesses that are enabled in the current state */
    unsigned nexts;
    BruteResult *result;
} Brute;

BruteEvent brute_event(const BruteState *state, char moment, uint32_t core, unsigned step);
unsigned brute_count(const Brute *b, const BruteState *state, const RandomPlace *place);
bool brute_did(const BruteState *state, uint32_t core, unsigned step);
void brute_add_next(Brute *b, BruteEvent event, const RandomPlace *place, bool write);
void brute_judge_core(Brute *b, const BruteState *state, uint32_t core);       /* its next step is possible */
bool brute_stops(const Brute *b, const RandomOp *op);          /* an access out of bounds */
void brute_judge_nexts(Brute *b, const BruteState *state);
void brute_judge_end(Brute *b, const BruteState *state);
void brute_see_counts(Brute *b, const BruteState *state, const BruteState *after, BruteEvent event);
void brute_settle(Brute *b);
