/* unroll.h - a core as what it is: a deterministic function of what it has observed.
 *
 * A search that does not run kernels asks an UnrollSource for a core's steps after a given list of observations. Without observations
 * (no semaphore_read, no flag result, no data looked at) one call gives the whole program of a core.
 *
 * Ownership:   steps' tiles and masks belong to the source, until it is freed.
 */
#pragma once
#include <glib.h>
#include "../../model/core.h"

typedef struct Observation {
    int64_t value;                              /* SEMAPHORE_READ, FLAG_LOAD, FLAG_ADD, FLAG_CAS */
    const Tile *tile;                           /* LOAD, SWAP with contents: what was read */
} Observation;

typedef struct UnrollStep {
    Step step;                                  /* COPY_START: object is the ordinal of the copy on its core, NONE for 0 bytes */
    Copy copy;                                  /* COPY_START with bytes > 0 */
    uint32_t view;                              /* LOAD, STORE, SWAP: for contents */
    const Tile *tile;                           /* STORE, SWAP with contents: what is written */
    const uint8_t *mask;
    FaultId fault;                              /* STOP: why. Otherwise FAULT_COUNT, or a fault raised right after this step (uninitialised) */
    const char *message;
    int64_t grid[GRID_DIMS_MAX];
} UnrollStep;

typedef enum UnrollEnd { UNROLL_OBSERVES, UNROLL_FINISHED, UNROLL_STOPPED } UnrollEnd;

typedef struct UnrollSource {
    Program *program;
    void *self;
    /* Appends to `out` the steps of `core` that follow its `count`-th observation, up to and including the next observing step, or to its
     * end. With contents, LOAD and SWAP observe; without, they give opaque tiles. */
    UnrollEnd (*extend)(void *self, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out);
} UnrollSource;
