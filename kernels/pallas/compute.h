/* compute.h - array computation on tiles, named as in jax.lax: what kernels translated from Python need beyond value.h.
 *
 * Element-wise operations need equal shapes and types. Shapes, starts and axes are written PL_SHAPE(8, 128); PL_SHAPE() is empty. Results
 * of unwritten elements are unwritten, and origins are tracked. Integers wrap; what is undefined in C is as in XLA.
 */
#pragma once
#include "plumbing.h"

typedef struct PlShape { int dims; int64_t size[PL_DIMS_MAX]; } PlShape;
#define PL_SHAPE(...) ((PlShape){ (int)(sizeof((const int64_t[]){ 0, __VA_ARGS__ }) / sizeof(int64_t) - 1), { __VA_ARGS__ } })

typedef enum PlUnary {
    PL_NEG, PL_ABS, PL_SIGN, PL_NOT, PL_SQUARE, PL_POPULATION_COUNT, PL_CLZ, PL_IS_FINITE, PL_EXP, PL_EXP2, PL_EXPM1, PL_LOG, PL_LOG1P,
    PL_LOGISTIC, PL_RECIPROCAL, PL_SQRT, PL_RSQRT, PL_CBRT, PL_SIN, PL_COS, PL_TAN, PL_ASIN, PL_ACOS, PL_ATAN, PL_SINH, PL_COSH, PL_TANH,
    PL_ERF, PL_FLOOR, PL_CEIL, PL_ROUND, PL_ROUND_EVEN
} PlUnary;
/* Beside PL_ADD to PL_MAX of PlTileOp. */
typedef enum PlBinary {
    PL_REM = PL_MAX + 1, PL_AND, PL_OR, PL_XOR, PL_SHIFT_LEFT, PL_SHIFT_RIGHT_LOGICAL, PL_SHIFT_RIGHT_ARITHMETIC, PL_POW, PL_ATAN2,
    PL_NEXTAFTER
} PlBinary;

typedef struct PlCompute {
    PlTile (*unary)(const PlSite *here, PlUnary op, PlTile a);
    PlTile (*binary)(const PlSite *here, int op, PlTile a, PlTile b);           /* PlTileOp or PlBinary */
    PlTile (*compare)(const PlSite *here, PlCompare op, PlTile a, PlTile b);    /* PL_BOOL */
    PlTile (*select)(const PlSite *here, PlTile which, int cases, const PlTile *tile);
    PlTile (*empty)(const PlSite *here, PlType type, int dims, const int64_t *size);
    void (*assign)(const PlSite *here, PlTile to, PlTile from);
    PlTile (*iota)(const PlSite *here, PlType type, int dimension, int dims, const int64_t *size);
    PlTile (*broadcast)(const PlSite *here, PlTile tile, PlShape size, PlShape axes);
    PlTile (*reshape)(const PlSite *here, PlTile tile, int dims, const int64_t *size);
    PlTile (*transpose)(const PlSite *here, PlTile tile, int dims, const int64_t *axis);
    PlTile (*slice)(const PlSite *here, PlTile tile, PlShape start, PlShape size, PlShape stride, bool clamp);
    PlTile (*update)(const PlSite *here, PlTile tile, PlTile part, PlShape start);
    PlTile (*concatenate)(const PlSite *here, int dimension, int tiles, const PlTile *tile);
    PlTile (*pad)(const PlSite *here, PlTile tile, PlTile value, PlShape low, PlShape high, PlShape inner);
    PlTile (*reverse)(const PlSite *here, PlTile tile, int axes, const int64_t *axis);
    PlTile (*roll)(const PlSite *here, PlTile tile, int axis, int64_t shift);
    PlTile (*bitcast)(const PlSite *here, PlTile tile, PlType type, bool rows);
    PlTile (*reduce)(const PlSite *here, int op, PlTile tile, int axes, const int64_t *axis);
    PlTile (*cumulate)(const PlSite *here, int op, PlTile tile, int axis, bool reverse);
    PlTile (*arg)(const PlSite *here, bool greatest, PlTile tile, int axis, PlType type);
    PlTile (*dot)(const PlSite *here, PlTile a, PlTile b, PlType type, const PlShape *axes);
    /* Of a grid step. */
    bool (*edge_step)(const PlSite *here, bool last);
    void (*fault)(const PlSite *here, PlFault fault, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
} PlCompute;

/* pl_tile_select(which, a, b): element by element, a where `which` is 0 or false, b where it is 1 or true, and so on. */
#define pl_tile_select(which, ...) (pl_api->compute->select(PL_HERE, which, PL_TILES_(__VA_ARGS__)))
#define pl_tile_empty(type, ...) (pl_api->compute->empty(PL_HERE, type, PL_LIST(__VA_ARGS__)))  /* no element is written */
#define pl_tile_assign(to, from) (pl_api->compute->assign(PL_HERE, to, from))                   /* copies; to: of an outer scope */
#define pl_tile_iota(type, dimension, ...) (pl_api->compute->iota(PL_HERE, type, dimension, PL_LIST(__VA_ARGS__)))
/* Dimension i of the tile becomes dimension axes[i] of the result. */
#define pl_tile_broadcast(tile, size, axes) (pl_api->compute->broadcast(PL_HERE, tile, size, axes))
#define pl_tile_reshape(tile, ...) (pl_api->compute->reshape(PL_HERE, tile, PL_LIST(__VA_ARGS__)))
#define pl_tile_transpose(tile, ...) (pl_api->compute->transpose(PL_HERE, tile, PL_LIST(__VA_ARGS__)))
#define pl_tile_slice(tile, start, size, stride) (pl_api->compute->slice(PL_HERE, tile, start, size, stride, false))
/* A start that is out of bounds is clamped, as in jax.lax. */
#define pl_tile_dynamic_slice(tile, start, size) (pl_api->compute->slice(PL_HERE, tile, start, size, (PlShape){ 0, { 0 } }, true))
#define pl_tile_update(tile, part, start) (pl_api->compute->update(PL_HERE, tile, part, start))
#define pl_tile_concatenate(dimension, ...) (pl_api->compute->concatenate(PL_HERE, dimension, PL_TILES_(__VA_ARGS__)))
#define pl_tile_concatenate_all(dimension, count, tiles) (pl_api->compute->concatenate(PL_HERE, dimension, count, tiles))
#define pl_tile_pad(tile, value, low, high, inner) (pl_api->compute->pad(PL_HERE, tile, value, low, high, inner))
#define pl_tile_reverse(tile, ...) (pl_api->compute->reverse(PL_HERE, tile, PL_LIST(__VA_ARGS__)))
#define pl_tile_roll(tile, axis, shift) (pl_api->compute->roll(PL_HERE, tile, axis, shift))
#define pl_tile_bitcast(tile, type) (pl_api->compute->bitcast(PL_HERE, tile, type, false))      /* changes the minor dimension */
#define pl_tile_bitcast_rows(tile, type) (pl_api->compute->bitcast(PL_HERE, tile, type, true))  /* packs rows, as in Mosaic */
/* PL_ADD, PL_MUL, PL_MIN, PL_MAX, PL_AND, PL_OR, PL_XOR over axes, which are dropped. */
#define pl_tile_reduce(op, tile, ...) (pl_api->compute->reduce(PL_HERE, op, tile, PL_LIST(__VA_ARGS__)))
#define pl_tile_cumulate(op, tile, axis, reverse) (pl_api->compute->cumulate(PL_HERE, op, tile, axis, reverse))
#define pl_tile_argmax(tile, axis, type) (pl_api->compute->arg(PL_HERE, true, tile, axis, type))
#define pl_tile_argmin(tile, axis, type) (pl_api->compute->arg(PL_HERE, false, tile, axis, type))
/* jax.lax.dot_general: contracted axes of a and b, batch axes of a and b. */
#define pl_tile_dot(a, b, type, contract_a, contract_b, batch_a, batch_b) \
    (pl_api->compute->dot(PL_HERE, a, b, type, (const PlShape[]){ contract_a, contract_b, batch_a, batch_b }))

/* Is this the core's first, its last grid step in this launch? */
#define pl_first_step() (pl_api->compute->edge_step(PL_HERE, false))
#define pl_last_step() (pl_api->compute->edge_step(PL_HERE, true))
/* Reports a fault: the core stops with it. */
#define pl_fault(id, ...) (pl_api->compute->fault(PL_HERE, id, __VA_ARGS__))
