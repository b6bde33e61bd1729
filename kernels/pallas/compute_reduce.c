/* compute_reduce.c - reductions, prefix sums, argmax and argmin.
 *
 * Floats are summed in double and rounded once at the end. Origins of sums add up as in model/tile.c, so the grouping of a sum does not
 * matter.
 */
#include <glib.h>
#include <math.h>
#include "compute_inside.h"

typedef struct Reduction { double value; int64_t integer; uint64_t origin; uint8_t written; bool any; } Reduction;

static bool int_precedes(DType dtype, int64_t a, int64_t b)
{
    return dtype == DTYPE_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

/* The result for no elements. */
static Reduction neutral(int op, DType dtype)
{
    bool is_float = dtype_is_float(dtype), is_bool = dtype == DTYPE_BOOL;
    unsigned bits = (unsigned)dtype_size_bytes(dtype) * 8;
    int64_t greatest = is_bool ? 1 : dtype_is_signed(dtype) ? (int64_t)(UINT64_MAX >> (65 - bits)) : (int64_t)(UINT64_MAX >> (64 - bits));
    int64_t least = dtype_is_signed(dtype) && !is_bool ? -greatest - 1 : 0;
    Reduction sum = { .written = ELEMENT_WRITTEN };
    if (op == PL_MUL)
        sum.value = 1, sum.integer = 1;
    else if (op == PL_MAX)
        sum.value = -INFINITY, sum.integer = is_float ? 0 : least;
    else if (op == PL_MIN)
        sum.value = INFINITY, sum.integer = is_float ? 0 : greatest;
    else if (op == PL_AND)
        sum.integer = is_bool ? 1 : -1;
    return sum;
}

static double combine_floats(int op, double a, double b)
{
    switch (op) {
    case PL_ADD: return a + b;
    case PL_MUL: return a * b;
    case PL_MAX: return isnan(a) || isnan(b) ? NAN : MAX(a, b);
    case PL_MIN: return isnan(a) || isnan(b) ? NAN : MIN(a, b);
    default: return NAN;
    }
}

static int64_t combine_ints(int op, DType dtype, int64_t a, int64_t b)
{
    switch (op) {
    case PL_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case PL_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case PL_MAX: return int_precedes(dtype, a, b) ? b : a;
    case PL_MIN: return int_precedes(dtype, b, a) ? b : a;
    case PL_AND: return a & b;
    case PL_OR: return a | b;
    default: return a ^ b;
    }
}

static void add_element(Reduction *sum, int op, const Tile *in, int64_t i)
{
    bool is_float = dtype_is_float(in->dtype);
    if (is_float)
        sum->value = sum->any ? combine_floats(op, sum->value, compute_double(in, i)) : compute_double(in, i);
    else
        sum->integer = sum->any ? combine_ints(op, in->dtype, sum->integer, compute_int(in, i)) : compute_int(in, i);
    sum->written = element_both(sum->written, in->written[i]);
    if (op == PL_ADD)
        sum->origin += in->origin[i];
    else
        sum->origin = sum->any ? rng_mix(sum->origin + rng_mix(in->origin[i] + (uint64_t)op)) : in->origin[i];
    sum->any = true;
}

static void want_reduction(const PlSite *here, int op, const Tile *in)
{
    bool whole = op == PL_AND || op == PL_OR || op == PL_XOR;
    if (!whole && op != PL_ADD && op != PL_MUL && op != PL_MIN && op != PL_MAX)
        builder_misuse(here, "a reduction is by PL_ADD, PL_MUL, PL_MIN, PL_MAX, PL_AND, PL_OR or PL_XOR");
    if (whole && dtype_is_float(in->dtype))
        builder_misuse(here, "a reduction by PL_AND, PL_OR or PL_XOR is not defined on %s", dtype_name(in->dtype));
}

static PlTile reduce(const PlSite *here, int op, PlTile given, int axes, const int64_t *axis)
{
    const Tile *in = compute_get(here, given);
    bool dropped[VIEW_DIMS_MAX] = { false };
    Sizes sizes = { 0 };
    int64_t kept[VIEW_DIMS_MAX];
    want_reduction(here, op, in);
    for (int a = 0; a < axes; a++) {
        if (axis[a] < 0 || axis[a] >= in->ndim || dropped[axis[a]])
            builder_misuse(here, "a reduction: axis %lld is out of range or given twice", (long long)axis[a]);
        dropped[axis[a]] = true;
    }
    for (unsigned d = 0; d < in->ndim; d++)
        if (!dropped[d])
            kept[sizes.dims] = d, sizes.size[sizes.dims++] = in->size[d];
    Tile *out = compute_new(here, in->dtype, sizes, in->opaque);
    if (out->opaque)
        return builder_hold(out);
    Reduction *sum = core_alloc(core_running, (size_t)out->elements * sizeof *sum);
    for (int64_t i = 0; i < out->elements; i++)
        sum[i] = neutral(op, in->dtype);
    for (int64_t i = 0; i < in->elements; i++) {
        int64_t at = 0;
        for (unsigned k = 0; k < sizes.dims; k++)
            at = at * sizes.size[k] + i / compute_step(in, (unsigned)kept[k]) % sizes.size[k];
        add_element(&sum[at], op, in, i);
    }
    for (int64_t i = 0; i < out->elements; i++)
        compute_set(out, i, sum[i].value, sum[i].integer, sum[i].written, sum[i].origin);
    return builder_hold(out);
}

static PlTile cumulate(const PlSite *here, int op, PlTile given, int axis, bool reverse)
{
    const Tile *in = compute_get(here, given);
    Tile *out = compute_new(here, in->dtype, compute_sizes_of(in), in->opaque);
    want_reduction(here, op, in);
    if (axis < 0 || axis >= (int)in->ndim)
        builder_misuse(here, "pl_tile_cumulate along axis %d of %u", axis, in->ndim);
    int64_t size = in->size[axis], step = compute_step(in, (unsigned)axis);
    for (int64_t i = 0; i < in->elements && !out->opaque; i++) {
        if (i / step % size != 0)
            continue;
        Reduction sum = neutral(op, in->dtype);
        for (int64_t k = 0; k < size; k++) {
            int64_t at = i + (reverse ? size - 1 - k : k) * step;
            add_element(&sum, op, in, at);
            compute_set(out, at, sum.value, sum.integer, sum.written, sum.origin);
        }
    }
    return builder_hold(out);
}

/* NaN beats everything; the first of equal elements wins. */
static bool beats(bool greatest, const Tile *in, int64_t a, int64_t b)
{
    if (!dtype_is_float(in->dtype)) {
        int64_t x = compute_int(in, a), y = compute_int(in, b);
        return greatest ? int_precedes(in->dtype, y, x) : int_precedes(in->dtype, x, y);
    }
    double x = compute_double(in, a), y = compute_double(in, b);
    return !isnan(y) && (isnan(x) || (greatest ? x > y : x < y));
}

static PlTile arg(const PlSite *here, bool greatest, PlTile given, int axis, PlType type)
{
    const Tile *in = compute_get(here, given);
    Sizes sizes = { 0 };
    if (axis < 0 || axis >= (int)in->ndim || in->size[axis] == 0 || (unsigned)type >= DTYPE_COUNT)
        builder_misuse(here, "pl_tile_argmax along axis %d of a tile of %u dimensions", axis, in->ndim);
    for (unsigned d = 0; d < in->ndim; d++)
        if ((int)d != axis)
            sizes.size[sizes.dims++] = in->size[d];
    Tile *out = compute_new(here, (DType)type, sizes, in->opaque);
    int64_t size = in->size[axis], step = compute_step(in, (unsigned)axis);
    for (int64_t i = 0; i < out->elements && !out->opaque; i++) {
        int64_t first = i / step * step * size + i % step, best = 0;
        uint64_t origin = UINT64_C(0x1d8e4e27c47d124f);
        uint8_t written = ELEMENT_WRITTEN;
        for (int64_t k = 0; k < size; k++) {
            written = element_both(written, in->written[first + k * step]);
            origin = rng_mix(origin + in->origin[first + k * step]);
            if (beats(greatest, in, first + k * step, first + best * step))
                best = k;
        }
        compute_set(out, i, (double)best, best, written, origin);
    }
    return builder_hold(out);
}

void pl_compute_reduce_install(PlCompute *compute)
{
    compute->reduce = reduce;
    compute->cumulate = cumulate;
    compute->arg = arg;
}
