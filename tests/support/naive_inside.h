/* naive_inside.h - what the two halves of the naive search share: states, steps, and the judge's questions. */
#pragma once
#include "naive.h"

typedef struct NaiveCore { uint32_t at, position; bool stopped; uint64_t seen; } NaiveCore;
typedef struct NaiveCopy { uint32_t core, at; bool early_send, read, early_receive; } NaiveCopy;    /* at: index of its start */

typedef struct NaiveState {
    NaiveCore *core;
    int64_t *count;
    NaiveCopy *copy;                            /* in order of core and start */
    uint32_t copies;
} NaiveState;

/* Something that can happen: a core's step or a moment of a copy. */
typedef struct NaiveEvent { uint32_t core, at, copy; uint8_t kind; } NaiveEvent;

typedef struct NaiveSearch {
    Script *script;
    Program *program;
    Naive *naive;
    GHashTable *seen;
    GPtrArray *stack;                           /* of GBytes */
    GHashTable *pairs;                          /* "key|places" -> key: each pair once */
    GHashTable *in_flight, *racing, *left_over; /* for what they subsume */
    GPtrArray *late;                            /* lifetime and uninitialised sightings, decided at the end */
    GHashTable *late_keys;
    uint64_t states_max;
} NaiveSearch;

const UnrollStep *naive_step(const NaiveSearch *s, uint32_t core, uint32_t at);          /* NULL: beyond the end of its list */
const UnrollStep *naive_next(const NaiveSearch *s, const NaiveState *state, uint32_t core);
const Copy *naive_copy(const NaiveSearch *s, const NaiveCopy *copy);
uint32_t naive_device(const NaiveSearch *s, uint32_t core);

/* naive_judge.c: the faults of one state, of one transition, of an end; and what the rules "which of several" leave of them. */
void naive_check(const NaiveSearch *s, const NaiveState *state, const GArray *events);
void naive_check_limit(const NaiveSearch *s, const NaiveState *before, const NaiveState *after, const NaiveEvent *event);
void naive_check_end(const NaiveSearch *s, const NaiveState *state);
void naive_settle(NaiveSearch *s);
