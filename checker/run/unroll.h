/* unroll.h - a core as a deterministic function of its observations.
 *
 * A search that does not run kernels asks an UnrollSource for a core's steps after a given list of observations. For a core that observes
 * nothing (no semaphore_read, no result of a flag, no data) one call gives its whole program.
 *
 * Ownership:   steps' tiles, masks and faults belong to the source, until it is freed.
 */
#pragma once
#include <glib.h>
#include "../../model/core.h"
#include "execution.h"

typedef struct Observation {
    int64_t value;                              /* SEMAPHORE_READ, FLAG_LOAD, FLAG_ADD, FLAG_CAS */
    const Tile *tile;                           /* LOAD, SWAP with contents: what was read */
} Observation;

typedef struct UnrollFault {                    /* that the core raised by itself, without stopping; its place is the step before */
    const struct UnrollFault *next;
    FaultId fault;
    uint32_t site;
    uint8_t marks;                              /* of the core at that point */
    const char *message;
} UnrollFault;

typedef struct UnrollStep {
    Step step;                                  /* COPY_START: object is the ordinal of the copy on its core, NONE for 0 bytes */
    Copy copy;                                  /* COPY_START with bytes > 0 */
    uint32_t view;                              /* LOAD, STORE, SWAP: for contents */
    const Tile *tile;                           /* STORE, SWAP with contents: what is written */
    const uint8_t *mask;
    const UnrollFault *raised;                  /* since the step before, seen in any state where this step is next. NULL: none */
    FaultId fault;                              /* STOP: why. Otherwise FAULT_COUNT */
    const char *message;
    bool observed_data;                         /* the core has looked at data before this step, */
    uint8_t steered;                            /* and at elements with these marks */
    int64_t grid[GRID_DIMS_MAX];
} UnrollStep;

typedef enum UnrollEnd { UNROLL_OBSERVES, UNROLL_FINISHED, UNROLL_STOPPED } UnrollEnd;

typedef struct UnrollSource {
    Program *program;
    void *self;
    /* Appends to `out` the steps of `core` that follow its `count`-th observation, up to and including the next observing step, or to its
     * end. With contents, LOAD and SWAP observe; without, they give opaque tiles. */
    UnrollEnd (*extend)(void *self, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out);
    /* Optional (NULL: unknown). A hash of everything that the core's future depends on (its stack in use, registers, tiles), right after
     * its count-th observation; 0: unknown this time. Equal hashes mean equal futures: a search closes polling loops by it. */
    uint64_t (*fingerprint)(void *self, uint32_t core, const Observation *observed, size_t count, bool contents);
    /* Optional. Is the core, at the observing step that follows these observations, in the state that it is in after those of `earlier`, as
     * far as it can ever tell? Takes for granted that it reads no memory which it has not written. */
    bool (*same)(void *self, uint32_t core, const GArray *earlier, const GArray *observed, bool contents);
} UnrollSource;

typedef struct Unroller Unroller;
/* Runs real kernels, in this process, one core at a time from its start. */
Unroller *unroller_new(Program *program);
void unroller_free(Unroller *unroller);
UnrollSource *unroller_source(Unroller *unroller);
/* Shows a supervisor whether the unroller is stuck in a kernel: each step increments the operations, each run sets the core. */
void unroller_watch(Unroller *unroller, ExecutionPulse *pulse);
/* Did a kernel observe data while contents were off? Then unroll again with contents. */
bool unroller_needs_contents(const Unroller *unroller);
