/* ref.h - views of a ref: indices and slices, other shapes, other item types, one ref of several.
 *
 * Source: Pallas' Ref.at[...], pl.ds and pl.dslice, Ref.reshape, Ref.bitcast. A view may reach outside its buffer: only an access through
 * it is a fault.
 */
#pragma once
#include "plumbing.h"

/* pl_at(ref, i, PL_ALL, pl_ds(start, size)): an integer drops its dimension, a slice keeps it; what is not named is taken whole. */
#define pl_at(ref, ...) (pl_api->at(PL_HERE, ref, PL_NARGS(__VA_ARGS__), (const PlIndex[]){ PL_EACH(PL_INDEX, __VA_ARGS__) }))
#define PL_ALL ((PlIndex){ 0, 0, 1, PL_INDEX_ALL })
#define pl_ds(start, size) pl_dslice(start, size, 1)
#define pl_reshape(ref, ...) (pl_api->reshape(PL_HERE, ref, PL_LIST(__VA_ARGS__)))
/* Items of another size: the second-minor dimension changes, and items of one column in several rows are packed into one, the first row
 * lowest. With one dimension (which Pallas refuses): consecutive items. */
#define pl_bitcast(ref, type) (pl_api->bitcast(PL_HERE, ref, type))
/* pl_select_ref(i, a, b, c): the i-th of them. */
#define pl_select_ref(which, ...) \
    (pl_api->select_ref(PL_HERE, which, PL_REFS(__VA_ARGS__)))
/* The same VMEM, SMEM or semaphore of a sibling core. */
#define pl_core_ref(ref, core) (pl_api->on_core(PL_HERE, ref, core))
#define pl_size(ref, dimension) (pl_api->size(PL_HERE, ref, dimension))

static inline PlIndex pl_dslice(int64_t start, int64_t size, int64_t stride)
{
    return (PlIndex){ start, size, stride, PL_INDEX_SLICE };
}
