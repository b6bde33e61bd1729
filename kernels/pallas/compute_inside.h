/* compute_inside.h - what the compute*.c files share: tiles of the running core, and moving elements with their state and origin. */
#pragma once
#include "../../model/core.h"
#include "../../model/rng.h"
#include "../../model/spin.h"
#include "compute.h"
#include "builder.h"

typedef struct Sizes { unsigned dims; int64_t size[VIEW_DIMS_MAX]; } Sizes;

/* The Tile behind a PlTile; misuse if it was never set or has gone out of scope. */
const Tile *compute_get(const PlSite *here, PlTile tile);
Tile *compute_new(const PlSite *here, DType dtype, Sizes sizes, bool opaque);
Sizes compute_sizes(const PlSite *here, int dims, const int64_t *size);
static inline Sizes compute_sizes_of(const Tile *tile)
{
    Sizes sizes = { .dims = tile->ndim };
    for (unsigned d = 0; d < tile->ndim; d++)
        sizes.size[d] = tile->size[d];
    return sizes;
}

/* Element `to` of out becomes element `from` of in: value, state, origin. */
void compute_move(Tile *out, int64_t to, const Tile *in, int64_t from);
/* The stride of a dimension, in elements. */
int64_t compute_step(const Tile *tile, unsigned dimension);
double compute_double(const Tile *tile, int64_t element);
int64_t compute_int(const Tile *tile, int64_t element);
void compute_set(Tile *tile, int64_t element, double value, int64_t integer, uint8_t written, uint64_t origin);

void pl_compute_shape_install(PlCompute *compute);
void pl_compute_reduce_install(PlCompute *compute);
void pl_compute_dot_install(PlCompute *compute);
