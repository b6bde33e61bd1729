/* closure_inside.h - what closure.c and slice.c share: the state of a run and its log. */
#pragma once
#include "closure.h"

/* copy: index, NONE: a core's step, of that kind; a join: its first member. */
typedef struct Logged { uint32_t core, copy; uint8_t kind; } Logged;

struct Closure {
    const Index *index;
    uint32_t *position, *barred_at;             /* a core: steps done; first step that must not be done */
    uint8_t *moments, *barred;                  /* a copy: moments done; moments that must not be done */
    int64_t *given;                             /* a semaphore: what signals gave */
    uint32_t *waiting, *next_waiting;           /* a semaphore: core + 1 of a list of cores asleep there; a core: the rest of the list */
    uint32_t *edge_into;                        /* slot, then copy * 4 + moment: first edge into it + 1; NULL: no edges */
    uint32_t *arrived;                          /* a join: members that have reached it */
    uint32_t *queue, head, tail;                /* of cores that may move */
    uint8_t *queued;
    Pile log, pending, bars;                    /* Logged; copies with moments held back; barred events */
    uint64_t steps;
};

/* First edge into an event, or index->edges. Edges into one event stand together. */
size_t closure_first_edge(const Closure *closure, const Event *event);
/* The moments that a moment comes after: bits for `copy` itself, and *bits_before for the copy *before (NONE: none). */
unsigned closure_needs(const Index *index, uint32_t copy, uint8_t kind, uint32_t *before, unsigned *bits_before);
