/* value.h - values: loads and stores of VMEM and SMEM, and arithmetic on tiles.
 *
 * Tiles live until the end of the grid step, or of the scope (PL_SCOPED) in which they were made.
 */
#pragma once
#include "plumbing.h"

#define PL_NO_MASK ((PlTile){ NULL, 0 })

#define pl_load(ref) (pl_api->load(PL_STEP, ref, PL_NO_MASK))
#define pl_store(ref, tile) (pl_api->store(PL_STEP, ref, tile, PL_NO_MASK))
#define pl_swap(ref, tile) (pl_api->swap(PL_STEP, ref, tile, PL_NO_MASK))               /* returns the old values */
/* Only elements where the mask, a PL_BOOL tile of the same shape, is true are read or written. */
#define pl_load_masked(ref, mask) (pl_api->load(PL_STEP, ref, mask))
#define pl_store_masked(ref, tile, mask) (pl_api->store(PL_STEP, ref, tile, mask))
#define pl_swap_masked(ref, tile, mask) (pl_api->swap(PL_STEP, ref, tile, mask))

/* One element, as a number that the kernel may branch on. */
#define pl_load_int(ref) (pl_api->load_int(PL_STEP, ref))
#define pl_load_float(ref) (pl_api->load_float(PL_STEP, ref))
#define pl_store_int(ref, value) (pl_api->store_int(PL_STEP, ref, value))
#define pl_store_float(ref, value) (pl_api->store_float(PL_STEP, ref, value))

#define pl_tile_zeros(type, ...) (pl_api->tile_full(PL_HERE, type, 0.0, PL_LIST(__VA_ARGS__)))
#define pl_tile_full(type, value, ...) (pl_api->tile_full(PL_HERE, type, value, PL_LIST(__VA_ARGS__)))
/* Element by element; shapes and types must agree. */
#define pl_tile_add(a, b) (pl_api->tile_binary(PL_HERE, PL_ADD, a, b))
#define pl_tile_sub(a, b) (pl_api->tile_binary(PL_HERE, PL_SUB, a, b))
#define pl_tile_mul(a, b) (pl_api->tile_binary(PL_HERE, PL_MUL, a, b))
#define pl_tile_div(a, b) (pl_api->tile_binary(PL_HERE, PL_DIV, a, b))
#define pl_tile_min(a, b) (pl_api->tile_binary(PL_HERE, PL_MIN, a, b))
#define pl_tile_max(a, b) (pl_api->tile_binary(PL_HERE, PL_MAX, a, b))
#define pl_tile_cast(tile, type) (pl_api->tile_cast(PL_HERE, tile, type))
/* One element: pl_tile_int(tile, i, j). */
#define pl_tile_int(tile, ...) (pl_api->tile_int(PL_HERE, tile, PL_LIST(__VA_ARGS__)))
#define pl_tile_float(tile, ...) (pl_api->tile_float(PL_HERE, tile, PL_LIST(__VA_ARGS__)))
#define pl_tile_put(tile, value, ...) (pl_api->tile_put(PL_HERE, tile, value, PL_LIST(__VA_ARGS__)))
