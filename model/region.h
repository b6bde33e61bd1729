/* region.h - a set of bytes of one buffer: a strided box, or a list of runs where a mask made it ragged.
 *
 * Offsets are bytes from the start of the buffer object. Interned in the Program; id 0 is the empty region. Overlap is exact.
 *
 * Invariants:  1. canonical, so that equal sets built the same way are equal keys: no dimension of count 1, strides descend, those that
 *              touch are merged, the innermost contiguous run is `run_bytes`; runs ascend and do not touch.  2. lo and hi bound it.
 */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_DIMS_MAX 10

typedef struct RegionDim { int64_t count, stride; } RegionDim;          /* stride in bytes, > 0; outermost first */

typedef struct Region {
    int64_t lo, hi;                             /* bounding interval [lo, hi); lo == hi: empty */
    int64_t run_bytes;                          /* contiguous bytes at each point; 0 for a list of runs */
    int64_t bytes;                              /* how many bytes in all; an upper bound if strides are not nested */
    uint32_t ndim, runs;                        /* dims used; or number of RegionDim pairs (start, length) that follow */
    RegionDim dim[REGION_DIMS_MAX];             /* only ndim (or runs) of them are part of the key: see region_key_bytes */
} Region;

/* The canonical box: item_bytes at offset + sum i_k * stride_k, 0 <= i_k < count_k. Strides >= 0 (stride 0 with count > 1 counts once). */
void region_box(Region *region, int64_t offset, size_t item_bytes, unsigned ndim, const int64_t *count, const int64_t *stride);
size_t region_key_bytes(const Region *region);
void region_assert_sane(const Region *region);
/* A ragged region of sorted, disjoint, non-touching runs; returns a new block for intern_add, of *bytes bytes, to be freed by g_free. */
Region *region_from_runs(const RegionDim *run, uint32_t runs, size_t *bytes);
/* The same from pairs (start, length) in any order, which may touch or overlap. */
Region *region_from_pieces(GArray *pieces, size_t *bytes);
bool region_overlaps(const Region *a, const Region *b);
/* Calls visit for each maximal run in ascending order for boxes with nested strides; stops when visit returns false. */
bool region_each_run(const Region *region, bool (*visit)(void *data, int64_t lo, int64_t length), void *data);
bool region_is_contiguous(const Region *region);
