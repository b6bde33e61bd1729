/* compute_reduce.c - reductions, prefix sums, argmax and argmin, matrix products.
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

/* The dimensions of one operand: batch, free, contracted. */
typedef struct Part { const Tile *tile; const PlShape *contracted, *batch; unsigned free[VIEW_DIMS_MAX], frees; } Part;

static bool contains(const PlShape *axes, unsigned d)
{
    for (int i = 0; i < axes->dims; i++)
        if (axes->size[i] == d)
            return true;
    return false;
}

static Part part_of(const PlSite *here, const Tile *tile, const PlShape *contracted, const PlShape *batch)
{
    Part part = { .tile = tile, .contracted = contracted, .batch = batch };
    for (int i = 0; i < contracted->dims + batch->dims; i++) {
        int64_t axis = i < contracted->dims ? contracted->size[i] : batch->size[i - contracted->dims];
        if (axis < 0 || axis >= tile->ndim)
            builder_misuse(here, "pl_tile_dot: axis %lld of a tile of %u dimensions", (long long)axis, tile->ndim);
    }
    for (unsigned d = 0; d < tile->ndim; d++)
        if (!contains(contracted, d) && !contains(batch, d))
            part.free[part.frees++] = d;
    return part;
}

/* The first element of the operand's row for the result element (batch index, free index). */
static int64_t base_of(const Part *part, int64_t batch_index, int64_t free_index)
{
    int64_t at = 0;
    for (int i = part->batch->dims; i-- > 0;) {
        unsigned d = (unsigned)part->batch->size[i];
        at += batch_index % part->tile->size[d] * compute_step(part->tile, d);
        batch_index /= part->tile->size[d];
    }
    for (unsigned i = part->frees; i-- > 0;) {
        unsigned d = part->free[i];
        at += free_index % part->tile->size[d] * compute_step(part->tile, d);
        free_index /= part->tile->size[d];
    }
    return at;
}

/* Offsets of all contracted positions. */
static int64_t *offsets_of(const Part *part, int64_t count)
{
    int64_t *offset = g_new0(int64_t, (gsize)(count + 1));
    for (int64_t k = 0; k < count; k++) {
        int64_t rest = k;
        for (int i = part->contracted->dims; i-- > 0;) {
            unsigned d = (unsigned)part->contracted->size[i];
            offset[k] += rest % part->tile->size[d] * compute_step(part->tile, d);
            rest /= part->tile->size[d];
        }
    }
    return offset;
}

enum {
    TOGETHER = 4,                               /* sums at once, so that none waits for its own last addition */
    BLOCK = 16,                                 /* rows of the first operand that meet a row of the second while it is in the cache */
};

/* The operand as the products read it: a row of contracted elements for each pair of a batch index and a free index, and room for more. */
typedef struct Rows { double *value; uint64_t *integer, *origin; uint8_t *state; int64_t count, length; } Rows;

static Rows rows_of(const Part *part, int64_t batches, int64_t frees, int64_t length, bool is_float, uint64_t salt)
{
    gsize room = (gsize)((batches * frees + TOGETHER - 1) * length);
    Rows rows = { .count = frees, .length = length, .origin = g_new0(uint64_t, room), .state = g_new(uint8_t, (gsize)(batches * frees)) };
    int64_t *offset = offsets_of(part, length), i = 0;
    if (is_float)
        rows.value = g_new0(double, room);
    else
        rows.integer = g_new0(uint64_t, room);
    for (int64_t row = 0; row < batches * frees; row++) {
        int64_t base = base_of(part, row / frees, row % frees);
        rows.state[row] = ELEMENT_WRITTEN;
        for (int64_t k = 0; k < length; k++, i++) {
            int64_t at = base + offset[k];
            if (is_float)
                rows.value[i] = compute_double(part->tile, at);
            else
                rows.integer[i] = (uint64_t)compute_int(part->tile, at);
            rows.origin[i] = rng_mix(part->tile->origin[at] + salt);
            rows.state[row] = element_both(rows.state[row], part->tile->written[at]);
        }
    }
    g_free(offset);
    return rows;
}

static void rows_free(Rows *rows)
{
    g_free(rows->value), g_free(rows->integer), g_free(rows->origin), g_free(rows->state);
}

static void sum_doubles(const double *x, const double *y, int64_t step, int64_t n, double *sum)
{
    double a = 0, b = 0, c = 0, d = 0;
    for (int64_t k = 0; k < n; k++, x++, y++)
        a += *x * y[0], b += *x * y[step], c += *x * y[2 * step], d += *x * y[3 * step];
    sum[0] = a, sum[1] = b, sum[2] = c, sum[3] = d;
}

static void sum_ints(const uint64_t *x, const uint64_t *y, int64_t step, int64_t n, uint64_t *sum)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (int64_t k = 0; k < n; k++, x++, y++)
        a += *x * y[0], b += *x * y[step], c += *x * y[2 * step], d += *x * y[3 * step];
    sum[0] = a, sum[1] = b, sum[2] = c, sum[3] = d;
}

/* Elements of row a of the result: those of up to TOGETHER rows of y from b on. */
static void dot_elements(Tile *out, int64_t to, const Rows *x, int64_t a, const Rows *y, int64_t b, int64_t many)
{
    double value[TOGETHER] = { 0 };
    uint64_t integer[TOGETHER] = { 0 }, origin[TOGETHER];
    int64_t n = x->length;
    sum_ints(x->origin + a * n, y->origin + b * n, n, n, origin);
    if (x->value != NULL)
        sum_doubles(x->value + a * n, y->value + b * n, n, n, value);
    else
        sum_ints(x->integer + a * n, y->integer + b * n, n, n, integer);
    for (int64_t j = 0; j < many; j++)
        compute_set(out, to + j, x->value != NULL ? value[j] : (double)(int64_t)integer[j],
                    x->value != NULL ? (int64_t)value[j] : (int64_t)integer[j], element_both(x->state[a], y->state[b + j]), origin[j]);
}

static void dot_rows(Tile *out, int64_t batches, const Rows *x, const Rows *y)
{
    for (int64_t batch = 0; batch < batches; batch++)
        for (int64_t first = 0; first < x->count; first += BLOCK)
            for (int64_t j = 0; j < y->count; j += TOGETHER)
                for (int64_t i = first; i < MIN(first + BLOCK, x->count); i++) {
                    int64_t row = batch * x->count + i;
                    dot_elements(out, row * y->count + j, x, row, y, batch * y->count + j, MIN(TOGETHER, y->count - j));
                }
}

static int64_t product_of(const Tile *tile, const PlShape *axes)
{
    int64_t count = 1;
    for (int i = 0; i < axes->dims; i++)
        count *= tile->size[axes->size[i]];
    return count;
}

static void want_partners(const PlSite *here, const Part *a, const Part *b)
{
    bool fine = a->contracted->dims == b->contracted->dims && a->batch->dims == b->batch->dims;
    for (int i = 0; fine && i < a->contracted->dims; i++)
        fine = a->tile->size[a->contracted->size[i]] == b->tile->size[b->contracted->size[i]];
    for (int i = 0; fine && i < a->batch->dims; i++)
        fine = a->tile->size[a->batch->size[i]] == b->tile->size[b->batch->size[i]];
    if (!fine)
        builder_misuse(here, "pl_tile_dot: contracted and batch dimensions of the operands must agree in number and size");
}

static PlTile dot(const PlSite *here, PlTile given_a, PlTile given_b, PlType type, const PlShape *axes)
{
    Part a = part_of(here, compute_get(here, given_a), &axes[0], &axes[2]);
    Part b = part_of(here, compute_get(here, given_b), &axes[1], &axes[3]);
    want_partners(here, &a, &b);
    PlShape size = { 0, { 0 } };
    int64_t frees_a = 1, frees_b = 1, batches = product_of(a.tile, a.batch), contracted = product_of(a.tile, a.contracted);
    if (a.batch->dims + (int)a.frees + (int)b.frees > VIEW_DIMS_MAX || (unsigned)type >= DTYPE_COUNT)
        builder_misuse(here, "pl_tile_dot: a result of more than %d dimensions", VIEW_DIMS_MAX);
    for (int i = 0; i < a.batch->dims; i++)
        size.size[size.dims++] = a.tile->size[a.batch->size[i]];
    for (unsigned i = 0; i < a.frees; i++)
        frees_a *= size.size[size.dims++] = a.tile->size[a.free[i]];
    for (unsigned i = 0; i < b.frees; i++)
        frees_b *= size.size[size.dims++] = b.tile->size[b.free[i]];
    Tile *out = compute_new(here, (DType)type, compute_sizes(here, size.dims, size.size), a.tile->opaque || b.tile->opaque);
    if (out->opaque)
        return builder_hold(out);
    bool is_float = dtype_is_float(out->dtype) || dtype_is_float(a.tile->dtype);
    Rows x = rows_of(&a, batches, frees_a, contracted, is_float, UINT64_C(0x8ebc6af09c88c6e3));
    Rows y = rows_of(&b, batches, frees_b, contracted, is_float, UINT64_C(0x589965cc75374cc3));
    dot_rows(out, batches, &x, &y);
    rows_free(&x), rows_free(&y);
    return builder_hold(out);
}

void pl_compute_reduce_install(PlCompute *compute)
{
    compute->reduce = reduce;
    compute->cumulate = cumulate;
    compute->arg = arg;
    compute->dot = dot;
}
