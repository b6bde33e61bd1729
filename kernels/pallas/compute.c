/* compute.c - element-wise functions of one and two operands, comparisons, selection; first and last grid steps.
 *
 * Floats are computed in double and rounded to the tile's type, integers in 64 bits and wrapped. Origins are as in model/tile.c: values
 * that are only moved keep theirs, any other computation mixes them.
 */
#include "compute.h"
#include <glib.h>
#include <math.h>
#include <stdarg.h>
#include "compute_inside.h"

const Tile *compute_get(const PlSite *here, PlTile tile)
{
    return builder_tile(here, tile, "tile arithmetic");
}

Tile *compute_new(const PlSite *here, DType dtype, Sizes sizes, bool opaque)
{
    Core *core = builder_core(here, "tile arithmetic");
    Tile *tile = builder_new_tile(core);
    spin_count(SPIN_BLOCKS_A_CALL);
    tile_init(tile, dtype, sizes.dims, sizes.size, opaque || core->opaque_data, core_tile_alloc, core);
    return tile;
}

Sizes compute_sizes(const PlSite *here, int dims, const int64_t *size)
{
    Sizes sizes = { .dims = (unsigned)dims };
    int64_t elements = 1;
    if (dims > VIEW_DIMS_MAX)
        builder_misuse(here, "a tile of %d dimensions: at most %d are supported", dims, VIEW_DIMS_MAX);
    for (int d = 0; d < dims; d++) {
        if (size[d] < 0 || __builtin_mul_overflow(elements, size[d], &elements) || elements > INT64_C(1) << 31)
            builder_misuse(here, "a tile with a dimension of %lld: sizes are 0 or more, and 2^31 elements at most", (long long)size[d]);
        sizes.size[d] = size[d];
    }
    return sizes;
}

double compute_double(const Tile *tile, int64_t element)
{
    return dtype_read_double(tile->dtype, tile->bytes + (size_t)element * dtype_size_bytes(tile->dtype));
}

int64_t compute_int(const Tile *tile, int64_t element)
{
    return dtype_read_int(tile->dtype, tile->bytes + (size_t)element * dtype_size_bytes(tile->dtype));
}

void compute_set(Tile *tile, int64_t element, double value, int64_t integer, uint8_t written, uint64_t origin)
{
    unsigned char *at = tile->bytes + (size_t)element * dtype_size_bytes(tile->dtype);
    if (dtype_is_float(tile->dtype))
        dtype_write_double(tile->dtype, at, value);
    else
        dtype_write_int(tile->dtype, at, integer);
    tile->written[element] = written;
    tile->origin[element] = origin;
}

static bool same_shape(const Tile *a, const Tile *b)
{
    bool same = a->ndim == b->ndim;
    for (unsigned d = 0; same && d < a->ndim; d++)
        same = a->size[d] == b->size[d];
    return same;
}

static void want_same(const PlSite *here, const Tile *a, const Tile *b)
{
    if (a->dtype != b->dtype || !same_shape(a, b))
        builder_misuse(here, "tile arithmetic on %lld elements of %s and %lld of %s: shapes and types must agree", (long long)a->elements,
                       dtype_name(a->dtype), (long long)b->elements, dtype_name(b->dtype));
}

static unsigned width(DType dtype)
{
    return (unsigned)dtype_size_bytes(dtype) * 8;
}

/* The bits of an integer, without sign extension. */
static uint64_t bits_of(DType dtype, int64_t value)
{
    return width(dtype) == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << width(dtype)) - 1);
}

static double float_function(PlUnary op, double x)
{
    switch (op) {
    case PL_NEG: return -x;
    case PL_ABS: return fabs(x);
    case PL_SIGN: return isnan(x) || x == 0 ? x : x > 0 ? 1 : -1;
    case PL_SQUARE: return x * x;
    case PL_EXP: return exp(x);
    case PL_EXP2: return exp2(x);
    case PL_EXPM1: return expm1(x);
    case PL_LOG: return log(x);
    case PL_LOG1P: return log1p(x);
    case PL_LOGISTIC: return 1 / (1 + exp(-x));
    case PL_RECIPROCAL: return 1 / x;
    case PL_SQRT: return sqrt(x);
    case PL_RSQRT: return 1 / sqrt(x);
    case PL_CBRT: return cbrt(x);
    case PL_SIN: return sin(x);
    case PL_COS: return cos(x);
    case PL_TAN: return tan(x);
    case PL_ASIN: return asin(x);
    case PL_ACOS: return acos(x);
    case PL_ATAN: return atan(x);
    case PL_SINH: return sinh(x);
    case PL_COSH: return cosh(x);
    case PL_TANH: return tanh(x);
    case PL_ERF: return erf(x);
    case PL_FLOOR: return floor(x);
    case PL_CEIL: return ceil(x);
    case PL_ROUND: return round(x);
    case PL_ROUND_EVEN: return rint(x);
    case PL_IS_FINITE: return isfinite(x);
    case PL_NOT: case PL_POPULATION_COUNT: case PL_CLZ: break;
    }
    return NAN;
}

static int64_t int_function(PlUnary op, DType dtype, int64_t x)
{
    uint64_t bits = bits_of(dtype, x);
    if (op == PL_NEG || (op == PL_ABS && dtype_is_signed(dtype) && x < 0))
        return (int64_t)-(uint64_t)x;
    if (op == PL_SIGN)
        return dtype_is_signed(dtype) ? (x > 0) - (x < 0) : x != 0;
    if (op == PL_NOT)
        return dtype == DTYPE_BOOL ? !x : ~x;
    if (op == PL_SQUARE)
        return (int64_t)((uint64_t)x * (uint64_t)x);
    if (op == PL_POPULATION_COUNT)
        return __builtin_popcountll(bits);
    if (op == PL_CLZ)
        return bits == 0 ? (int64_t)width(dtype) : __builtin_clzll(bits) - (64 - (int64_t)width(dtype));
    return x;                                   /* PL_ABS of a non-negative value */
}

static PlTile unary(const PlSite *here, PlUnary op, PlTile given)
{
    const Tile *a = compute_get(here, given);
    bool is_float = dtype_is_float(a->dtype), of_ints = op == PL_NEG || op == PL_ABS || op == PL_SIGN || op == PL_NOT || op == PL_SQUARE
        || op == PL_POPULATION_COUNT || op == PL_CLZ, of_floats = op != PL_NOT && op != PL_POPULATION_COUNT && op != PL_CLZ;
    if (is_float ? !of_floats : !of_ints)
        builder_misuse(here, "this function of a tile is not defined on %s", dtype_name(a->dtype));
    Tile *out = compute_new(here, op == PL_IS_FINITE ? DTYPE_BOOL : a->dtype, compute_sizes_of(a), a->opaque);
    for (int64_t i = 0; i < out->elements && !out->opaque; i++) {
        double value = is_float ? float_function(op, compute_double(a, i)) : 0;
        int64_t integer = is_float ? value != 0 : int_function(op, a->dtype, compute_int(a, i));
        compute_set(out, i, value, integer, a->written[i], rng_mix(a->origin[i] + UINT64_C(0xa0761d6478bd642f) * (op + 1)));
    }
    return builder_hold(out);
}

static double float_of_two(int op, double a, double b)
{
    switch ((PlBinary)op) {
    case PL_REM: return fmod(a, b);
    case PL_POW: return pow(a, b);
    case PL_ATAN2: return atan2(a, b);
    case PL_AND: case PL_OR: case PL_XOR: case PL_SHIFT_LEFT: case PL_SHIFT_RIGHT_LOGICAL: case PL_SHIFT_RIGHT_ARITHMETIC:
    case PL_NEXTAFTER: break;
    }
    return NAN;
}

/* As in XLA: a % 0 is a, the least number % -1 is 0. */
static int64_t remainder_of(DType dtype, int64_t a, int64_t b)
{
    if (b == 0)
        return a;
    if (!dtype_is_signed(dtype))
        return (int64_t)((uint64_t)a % (uint64_t)b);
    return b == -1 ? 0 : a % b;
}

static int64_t power_of(int64_t base, int64_t power)
{
    uint64_t result = 1, square = (uint64_t)base;
    for (; power > 0; power >>= 1, square *= square)
        if (power & 1)
            result *= square;
    return (int64_t)result;
}

static int64_t int_of_two(int op, DType dtype, int64_t a, int64_t b)
{
    uint64_t bits = bits_of(dtype, a), by = bits_of(dtype, b);
    bool far = by >= width(dtype);
    switch ((PlBinary)op) {
    case PL_REM: return remainder_of(dtype, a, b);
    case PL_AND: return a & b;
    case PL_OR: return a | b;
    case PL_XOR: return a ^ b;
    case PL_SHIFT_LEFT: return far ? 0 : (int64_t)(bits << by);
    case PL_SHIFT_RIGHT_LOGICAL: return far ? 0 : (int64_t)(bits >> by);
    case PL_SHIFT_RIGHT_ARITHMETIC: {
        int64_t with_sign = (int64_t)(bits << (64 - width(dtype))) >> (64 - width(dtype));
        return with_sign >> (far ? width(dtype) - 1 : by);
    }
    case PL_POW: return power_of(a, b);
    case PL_ATAN2: case PL_NEXTAFTER: break;
    }
    return 0;
}

static void next_after(Tile *out, int64_t i, const Tile *a, const Tile *b)
{
    double x = compute_double(a, i), y = compute_double(b, i);
    double next = a->dtype == DTYPE_F64 ? nextafter(x, y) : (double)nextafterf((float)x, (float)y);
    compute_set(out, i, next, 0, element_both(a->written[i], b->written[i]), a->origin[i]);
}

static PlTile arithmetic(const PlSite *here, TileOp op, const Tile *a, const Tile *b)
{
    Tile *out = compute_new(here, a->dtype, compute_sizes_of(a), a->opaque || b->opaque);
    tile_binary(out, op, a, b);
    return builder_hold(out);
}

static PlTile binary(const PlSite *here, int op, PlTile given_a, PlTile given_b)
{
    const Tile *a = compute_get(here, given_a), *b = compute_get(here, given_b);
    want_same(here, a, b);
    if (op <= PL_MAX)
        return arithmetic(here, (TileOp)op, a, b);
    bool is_float = dtype_is_float(a->dtype), of_floats = op == PL_REM || op == PL_POW || op == PL_ATAN2 || op == PL_NEXTAFTER;
    if (is_float ? !of_floats : op == PL_ATAN2 || op == PL_NEXTAFTER)
        builder_misuse(here, "this function of two tiles is not defined on %s", dtype_name(a->dtype));
    if (op == PL_NEXTAFTER && a->dtype != DTYPE_F32 && a->dtype != DTYPE_F64)
        builder_misuse(here, "pl_tile_nextafter is not defined on %s", dtype_name(a->dtype));
    Tile *out = compute_new(here, a->dtype, compute_sizes_of(a), a->opaque || b->opaque);
    for (int64_t i = 0; i < out->elements && !out->opaque; i++) {
        if (op == PL_NEXTAFTER) {
            next_after(out, i, a, b);
            continue;
        }
        double value = is_float ? float_of_two(op, compute_double(a, i), compute_double(b, i)) : 0;
        int64_t integer = is_float ? 0 : int_of_two(op, a->dtype, compute_int(a, i), compute_int(b, i));
        uint64_t origin = rng_mix(rng_mix(a->origin[i] + UINT64_C(0xe7037ed1a0b428db) * ((uint64_t)op + 1)) + b->origin[i]);
        compute_set(out, i, value, integer, element_both(a->written[i], b->written[i]), origin);
    }
    return builder_hold(out);
}

static PlTile binary_of_value(const PlSite *here, PlTileOp op, PlTile a, PlTile b)
{
    return binary(here, op, a, b);
}

static int order(const Tile *a, const Tile *b, int64_t i)
{
    if (dtype_is_float(a->dtype)) {
        double x = compute_double(a, i), y = compute_double(b, i);
        return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
    }
    int64_t x = compute_int(a, i), y = compute_int(b, i);
    return a->dtype == DTYPE_U64 ? ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y) : (x > y) - (x < y);
}

static bool holds(PlCompare op, int order)
{
    switch (op) {
    case PL_EQ: return order == 0;
    case PL_NE: return order != 0;
    case PL_GT: return order == 1;
    case PL_GE: return order == 0 || order == 1;
    case PL_LT: return order == -1;
    case PL_LE: return order == 0 || order == -1;
    }
    return false;
}

static PlTile compare(const PlSite *here, PlCompare op, PlTile given_a, PlTile given_b)
{
    const Tile *a = compute_get(here, given_a), *b = compute_get(here, given_b);
    want_same(here, a, b);
    Tile *out = compute_new(here, DTYPE_BOOL, compute_sizes_of(a), a->opaque || b->opaque);
    for (int64_t i = 0; i < out->elements && !out->opaque; i++)
        compute_set(out, i, 0, holds(op, order(a, b, i)), element_both(a->written[i], b->written[i]),
                    rng_mix(rng_mix(a->origin[i] + UINT64_C(0x8ebc6af09c88c6e3) * (op + 1)) + b->origin[i]));
    return builder_hold(out);
}

static PlTile select_tile(const PlSite *here, PlTile which, int cases, const PlTile *given)
{
    const Tile *choice = compute_get(here, which), *first = compute_get(here, given[0]);
    bool opaque = choice->opaque, scalar = choice->ndim == 0;
    for (int c = 0; c < cases; c++) {
        want_same(here, first, compute_get(here, given[c]));
        opaque |= compute_get(here, given[c])->opaque;
    }
    if (dtype_is_float(choice->dtype) || (!scalar && !same_shape(choice, first)))
        builder_misuse(here, "pl_tile_select needs a bool or integer tile of the shape of its cases, or of no dimensions");
    Tile *out = compute_new(here, first->dtype, compute_sizes_of(first), opaque);
    for (int64_t i = 0; i < out->elements && !out->opaque; i++) {
        int64_t at = scalar ? 0 : i, chosen = compute_int(choice, at);
        compute_move(out, i, given[CLAMP(chosen, 0, cases - 1)].tile, i);
        out->written[i] = element_both(out->written[i], choice->written[at]);
    }
    return builder_hold(out);
}

static PlTile empty(const PlSite *here, PlType type, int dims, const int64_t *size)
{
    if ((unsigned)type >= DTYPE_COUNT)
        builder_misuse(here, "a tile needs a type such as PL_F32");
    return builder_hold(compute_new(here, (DType)type, compute_sizes(here, dims, size), false));
}

static void assign(const PlSite *here, PlTile to, PlTile from)
{
    Tile *out = (Tile *)compute_get(here, to);
    const Tile *in = compute_get(here, from);
    want_same(here, out, in);
    tile_drop_parts(out);
    if (in->opaque) {
        out->opaque = true;
        return;
    }
    if (out->opaque)
        *out = *(const Tile *)empty(here, (PlType)out->dtype, (int)out->ndim, out->size).tile;
    for (int64_t i = 0; i < out->elements && !out->opaque; i++)
        compute_move(out, i, in, i);
}

static PlTile iota(const PlSite *here, PlType type, int dimension, int dims, const int64_t *size)
{
    Tile *out = empty(here, type, dims, size).tile;
    if (dimension < 0 || dimension >= dims)
        builder_misuse(here, "pl_tile_iota along dimension %d of %d", dimension, dims);
    int64_t step = compute_step(out, (unsigned)dimension);
    for (int64_t i = 0; i < out->elements && !out->opaque; i++) {
        int64_t value = i / step % size[dimension];
        compute_set(out, i, (double)value, value, true, rng_mix((uint64_t)value + UINT64_C(0x589965cc75374cc3)));
    }
    return builder_hold(out);
}

static bool edge_step(const PlSite *here, bool last)
{
    const Core *core = builder_core(here, last ? "pl_last_step" : "pl_first_step");
    return core->grid_index == (last ? core_grid_steps(core) - 1 : 0);
}

static void __attribute__((noreturn, format(printf, 3, 4))) fault(const PlSite *here, PlFault id, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    g_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    core_stop(builder_core(here, "pl_fault"), builder_site(here), (FaultId)id, "%s", text);
}

void pl_compute_install(PlApi *api)
{
    static PlCompute compute = { .unary = unary, .binary = binary, .compare = compare, .select = select_tile, .empty = empty,
                                 .assign = assign, .iota = iota, .edge_step = edge_step, .fault = fault };
    pl_compute_shape_install(&compute);
    pl_compute_reduce_install(&compute);
    pl_compute_dot_install(&compute);
    api->compute = &compute;
    api->tile_binary = binary_of_value;
}
