/* compute_dot.c - matrix products: jax.lax.dot_general.
 *
 * Floats are summed in double and rounded once at the end. Origins of sums add up as in model/tile.c, so the grouping of a sum does not
 * matter.
 */
#include <glib.h>
#include <string.h>
#include "compute_inside.h"

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

/* One layout for both operands: groups of rows, a row for each pair of a batch index and a free index. A group holds the first elements of
 * its rows, then the second ones, and so on; rows of zeros fill it up.
 */
typedef struct Rows { double *value; uint64_t *integer, *origin; uint8_t *state; int64_t frees, groups, length, together; } Rows;

enum { ROWS = 4, COLUMNS = 4 };                 /* of the result, computed together */
typedef double Doubles __attribute__((vector_size(COLUMNS * sizeof(double))));
typedef uint64_t Words __attribute__((vector_size(COLUMNS * sizeof(uint64_t))));

static void *room_for(const Rows *rows, int64_t batches)
{
    return g_aligned_alloc0((gsize)(batches * rows->groups * rows->together * rows->length + COLUMNS), sizeof(double), sizeof(Doubles));
}

static Rows rows_of(const Part *part, int64_t batches, int64_t frees, int64_t length, int64_t together, bool is_float, uint64_t salt)
{
    Rows rows = { .frees = frees, .groups = (frees + together - 1) / together, .length = length, .together = together };
    g_autofree int64_t *offset = offsets_of(part, length);
    rows.origin = room_for(&rows, batches), rows.state = g_new(uint8_t, (gsize)(batches * frees));
    if (is_float)
        rows.value = room_for(&rows, batches);
    else
        rows.integer = room_for(&rows, batches);
    for (int64_t row = 0; row < batches * frees; row++) {
        int64_t base = base_of(part, row / frees, row % frees), group = row / frees * rows.groups + row % frees / together;
        rows.state[row] = ELEMENT_WRITTEN;
        for (int64_t k = 0; k < length; k++) {
            int64_t at = base + offset[k], to = (group * length + k) * together + row % frees % together;
            if (is_float)
                rows.value[to] = compute_double(part->tile, at);
            else
                rows.integer[to] = (uint64_t)compute_int(part->tile, at);
            rows.origin[to] = rng_mix(part->tile->origin[at] + salt);
            rows.state[row] = element_both(rows.state[row], part->tile->written[at]);
        }
    }
    return rows;
}

static void rows_free(Rows *rows)
{
    g_aligned_free(rows->value), g_aligned_free(rows->integer), g_aligned_free(rows->origin);
    g_free(rows->state);
}

/* The same bits on each machine: each element is a sum in the order of k, and products are rounded before they are added. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("default", "avx2")))
#else
#define FOR_EACH_PROCESSOR
#endif

FOR_EACH_PROCESSOR static void multiply_doubles(const double *x, const double *y, int64_t n, Doubles *result)
{
    Doubles a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    for (const Doubles *row = (const Doubles *)y; n > 0; n--, row++, x += ROWS)
        a += x[0] * *row, b += x[1] * *row, c += x[2] * *row, d += x[3] * *row;
    result[0] = a, result[1] = b, result[2] = c, result[3] = d;
}

FOR_EACH_PROCESSOR static void multiply_words(const uint64_t *x, const uint64_t *y, int64_t n, Words *result)
{
    Words a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    for (const Words *row = (const Words *)y; n > 0; n--, row++, x += ROWS)
        a += x[0] * *row, b += x[1] * *row, c += x[2] * *row, d += x[3] * *row;
    result[0] = a, result[1] = b, result[2] = c, result[3] = d;
}

/* The elements of the result where group a of x meets group b of y. */
static void dot_groups(Tile *out, int64_t batch, const Rows *x, int64_t a, const Rows *y, int64_t b)
{
    Doubles value[ROWS] = { 0 };
    Words integer[ROWS] = { 0 }, origin[ROWS];
    const int64_t n = x->length, of_x = (batch * x->groups + a) * n * ROWS, of_y = (batch * y->groups + b) * n * COLUMNS;
    multiply_words(x->origin + of_x, y->origin + of_y, n, origin);
    if (x->value != NULL)
        multiply_doubles(x->value + of_x, y->value + of_y, n, value);
    else
        multiply_words(x->integer + of_x, y->integer + of_y, n, integer);
    for (int64_t i = a * ROWS; i < MIN(x->frees, (a + 1) * ROWS); i++)
        for (int64_t j = b * COLUMNS; j < MIN(y->frees, (b + 1) * COLUMNS); j++) {
            const int64_t row = batch * x->frees + i, r = i - a * ROWS, c = j - b * COLUMNS;
            compute_set(out, row * y->frees + j, x->value != NULL ? value[r][c] : (double)(int64_t)integer[r][c],
                        x->value != NULL ? (int64_t)value[r][c] : (int64_t)integer[r][c],
                        element_both(x->state[row], y->state[batch * y->frees + j]), origin[r][c]);
        }
}

static void dot_rows(Tile *out, int64_t batches, const Rows *x, const Rows *y)
{
    for (int64_t batch = 0; batch < batches; batch++)
        for (int64_t b = 0; b < y->groups; b++)
            for (int64_t a = 0; a < x->groups; a++)
                dot_groups(out, batch, x, a, y, b);
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

/* The last large product: executions of one program mostly repeat each other. It is a function of its operands alone, all of which are
 * compared.
 */
enum { LARGE = 1 << 20 };                       /* products */
static struct { Tile *operand[2], *result; PlShape axes[4]; } last;

static size_t bytes_of(const Tile *tile)
{
    return (size_t)tile->elements * dtype_size_bytes(tile->dtype);
}

static bool is_same(const Tile *a, const Tile *b)
{
    size_t elements = (size_t)a->elements;
    return a->dtype == b->dtype && a->ndim == b->ndim && memcmp(a->size, b->size, a->ndim * sizeof *a->size) == 0
        && memcmp(a->bytes, b->bytes, bytes_of(a)) == 0 && memcmp(a->written, b->written, elements) == 0
        && memcmp(a->origin, b->origin, elements * sizeof *a->origin) == 0;
}

static void copy_elements(Tile *to, const Tile *from)
{
    memcpy(to->bytes, from->bytes, bytes_of(from));
    memcpy(to->written, from->written, (size_t)from->elements);
    memcpy(to->origin, from->origin, (size_t)from->elements * sizeof *from->origin);
}

static Tile *keep(Tile *kept, const Tile *tile)
{
    tile_free(kept);
    kept = tile_new(tile->dtype, tile->ndim, tile->size, false);
    copy_elements(kept, tile);
    return kept;
}

static bool same_axes(const PlShape *a, const PlShape *b)
{
    return a->dims == b->dims && memcmp(a->size, b->size, (size_t)a->dims * sizeof *a->size) == 0;
}

static bool take_last(Tile *out, const Tile *a, const Tile *b, const PlShape *axes)
{
    bool same = last.result != NULL && last.result->dtype == out->dtype && is_same(last.operand[0], a) && is_same(last.operand[1], b);
    for (size_t i = 0; i < G_N_ELEMENTS(last.axes); i++)
        same = same && same_axes(&last.axes[i], &axes[i]);
    if (same)
        copy_elements(out, last.result);
    return same;
}

static void keep_last(const Tile *out, const Tile *a, const Tile *b, const PlShape *axes)
{
    last.operand[0] = keep(last.operand[0], a), last.operand[1] = keep(last.operand[1], b), last.result = keep(last.result, out);
    memcpy(last.axes, axes, sizeof last.axes);
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
    const bool large = (double)out->elements * (double)contracted >= LARGE;
    if (large && take_last(out, a.tile, b.tile, axes))
        return builder_hold(out);
    bool is_float = dtype_is_float(out->dtype) || dtype_is_float(a.tile->dtype);
    Rows x = rows_of(&a, batches, frees_a, contracted, ROWS, is_float, UINT64_C(0x8ebc6af09c88c6e3));
    Rows y = rows_of(&b, batches, frees_b, contracted, COLUMNS, is_float, UINT64_C(0x589965cc75374cc3));
    dot_rows(out, batches, &x, &y);
    rows_free(&x), rows_free(&y);
    if (large)
        keep_last(out, a.tile, b.tile, axes);
    return builder_hold(out);
}

void pl_compute_dot_install(PlCompute *compute)
{
    compute->dot = dot;
}
