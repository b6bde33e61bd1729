/* compute_shape.c - operations that only move elements.
 *
 * Broadcast, transpose, slice and reverse gather with different strides; the rest moves blocks.
 */
#include <glib.h>
#include <string.h>
#include "compute_inside.h"

void compute_move(Tile *out, int64_t to, const Tile *in, int64_t from)
{
    size_t bytes = dtype_size_bytes(out->dtype);
    memcpy(out->bytes + (size_t)to * bytes, in->bytes + (size_t)from * bytes, bytes);
    out->written[to] = in->written[from];
    out->origin[to] = in->origin[from];
}

int64_t compute_step(const Tile *tile, unsigned dimension)
{
    int64_t step = 1;
    for (unsigned d = tile->ndim; d-- > dimension + 1;)
        step *= tile->size[d];
    return step;
}

/* Element i of out, row-major, comes from base plus each index times its step. */
static void gather(Tile *out, const Tile *in, int64_t base, const int64_t *step)
{
    int64_t index[VIEW_DIMS_MAX] = { 0 }, from = base;
    for (int64_t i = 0; i < out->elements && !out->opaque; i++) {
        compute_move(out, i, in, from);
        for (unsigned d = out->ndim; d-- > 0;) {
            from += step[d];
            if (++index[d] < out->size[d])
                break;
            from -= step[d] * out->size[d];
            index[d] = 0;
        }
    }
}

static PlTile broadcast(const PlSite *here, PlTile given, PlShape size, PlShape axes)
{
    const Tile *in = compute_get(here, given);
    Tile *out = compute_new(here, in->dtype, compute_sizes(here, size.dims, size.size), in->opaque);
    int64_t step[VIEW_DIMS_MAX] = { 0 };
    if (axes.dims != (int)in->ndim)
        builder_misuse(here, "pl_tile_broadcast of %u dimensions needs as many axes, not %d", in->ndim, axes.dims);
    for (int d = 0; d < axes.dims; d++) {
        int64_t axis = axes.size[d];
        if (axis < 0 || axis >= size.dims || (in->size[d] != 1 && in->size[d] != size.size[axis]))
            builder_misuse(here, "pl_tile_broadcast cannot put dimension %d of %lld elements on axis %lld", d, (long long)in->size[d],
                           (long long)axis);
        step[axis] = in->size[d] == 1 ? 0 : compute_step(in, (unsigned)d);
    }
    gather(out, in, 0, step);
    return builder_hold(out);
}

static void copy_all(Tile *out, const Tile *in)
{
    if (out->opaque)
        return;
    memcpy(out->bytes, in->bytes, (size_t)in->elements * dtype_size_bytes(in->dtype));
    memcpy(out->written, in->written, (size_t)in->elements);
    memcpy(out->origin, in->origin, (size_t)in->elements * sizeof *in->origin);
}

static PlTile reshape(const PlSite *here, PlTile given, int dims, const int64_t *size)
{
    const Tile *in = compute_get(here, given);
    Tile *out = compute_new(here, in->dtype, compute_sizes(here, dims, size), in->opaque);
    if (out->elements != in->elements)
        builder_misuse(here, "pl_tile_reshape of %lld elements to %lld", (long long)in->elements, (long long)out->elements);
    copy_all(out, in);
    return builder_hold(out);
}

static PlTile transpose(const PlSite *here, PlTile given, int dims, const int64_t *axis)
{
    const Tile *in = compute_get(here, given);
    Sizes sizes = { .dims = in->ndim };
    int64_t step[VIEW_DIMS_MAX] = { 0 };
    bool seen[VIEW_DIMS_MAX] = { false };
    if (dims != (int)in->ndim)
        builder_misuse(here, "pl_tile_transpose of %u dimensions needs as many axes, not %d", in->ndim, dims);
    for (int d = 0; d < dims; d++) {
        if (axis[d] < 0 || axis[d] >= dims || seen[axis[d]])
            builder_misuse(here, "pl_tile_transpose: axis %lld is out of range or given twice", (long long)axis[d]);
        seen[axis[d]] = true;
        sizes.size[d] = in->size[axis[d]], step[d] = compute_step(in, (unsigned)axis[d]);
    }
    Tile *out = compute_new(here, in->dtype, sizes, in->opaque);
    gather(out, in, 0, step);
    return builder_hold(out);
}

static PlTile slice(const PlSite *here, PlTile given, PlShape start, PlShape size, PlShape stride, bool clamp)
{
    const Tile *in = compute_get(here, given);
    int64_t step[VIEW_DIMS_MAX] = { 0 }, base = 0;
    if (start.dims != (int)in->ndim || size.dims != (int)in->ndim || (!clamp && stride.dims != (int)in->ndim))
        builder_misuse(here, "a slice of a tile of %u dimensions needs as many starts, sizes and strides", in->ndim);
    for (unsigned d = 0; d < in->ndim; d++) {
        int64_t by = clamp ? 1 : stride.size[d], last = (size.size[d] - 1) * by;
        if (by < 1 || size.size[d] < 0 || (size.size[d] > 0 && last >= in->size[d]))
            builder_misuse(here, "a slice of %lld elements from a dimension of %lld", (long long)size.size[d], (long long)in->size[d]);
        int64_t from = clamp ? CLAMP(start.size[d], 0, in->size[d] - size.size[d]) : start.size[d];
        if (size.size[d] > 0 && (from < 0 || from + last >= in->size[d]))
            builder_misuse(here, "a slice that begins at %lld in a dimension of %lld", (long long)from, (long long)in->size[d]);
        step[d] = by * compute_step(in, d);
        base += from * compute_step(in, d);
    }
    Tile *out = compute_new(here, in->dtype, compute_sizes(here, size.dims, size.size), in->opaque);
    gather(out, in, base, step);
    return builder_hold(out);
}

/* Row-major index of out's element i, shifted by start, as an element of `whole`. */
static int64_t place_in(const Tile *whole, const Tile *part, int64_t i, const int64_t *start, const int64_t *stride)
{
    int64_t at = 0, step = 1;
    for (unsigned d = part->ndim; d-- > 0;) {
        int64_t index = start[d] + i % part->size[d] * (stride ? stride[d] : 1);
        i /= part->size[d];
        if (index < 0 || index >= whole->size[d])
            return -1;
        at += index * step;
        step *= whole->size[d];
    }
    return at;
}

static PlTile update(const PlSite *here, PlTile given, PlTile given_part, PlShape start)
{
    const Tile *in = compute_get(here, given), *part = compute_get(here, given_part);
    Tile *out = compute_new(here, in->dtype, compute_sizes_of(in), in->opaque || part->opaque);
    if (part->dtype != in->dtype || part->ndim != in->ndim || start.dims != (int)in->ndim)
        builder_misuse(here, "pl_tile_update needs a part of the same type and dimensions");
    for (unsigned d = 0; d < in->ndim; d++) {
        if (part->size[d] > in->size[d])
            builder_misuse(here, "pl_tile_update: a part of %lld elements in a dimension of %lld", (long long)part->size[d],
                           (long long)in->size[d]);
        start.size[d] = CLAMP(start.size[d], 0, in->size[d] - part->size[d]);
    }
    copy_all(out, in);
    for (int64_t i = 0; i < part->elements && !out->opaque; i++)
        compute_move(out, place_in(out, part, i, start.size, NULL), part, i);
    return builder_hold(out);
}

static PlTile concatenate(const PlSite *here, int dimension, int tiles, const PlTile *given)
{
    const Tile *first = compute_get(here, given[0]);
    Sizes sizes = compute_sizes_of(first);
    bool opaque = false;
    if (dimension < 0 || dimension >= (int)first->ndim)
        builder_misuse(here, "pl_tile_concatenate along dimension %d of %u", dimension, first->ndim);
    sizes.size[dimension] = 0;
    for (int t = 0; t < tiles; t++) {
        const Tile *in = compute_get(here, given[t]);
        if (in->dtype != first->dtype || in->ndim != first->ndim)
            builder_misuse(here, "pl_tile_concatenate needs tiles of one type and number of dimensions");
        for (unsigned d = 0; d < in->ndim; d++)
            if ((int)d != dimension && in->size[d] != first->size[d])
                builder_misuse(here, "pl_tile_concatenate: dimension %u has %lld and %lld elements", d, (long long)first->size[d],
                               (long long)in->size[d]);
        sizes.size[dimension] += in->size[dimension];
        opaque |= in->opaque;
    }
    Tile *out = compute_new(here, first->dtype, sizes, opaque);
    int64_t start[VIEW_DIMS_MAX] = { 0 };
    for (int t = 0; t < tiles && !out->opaque; t++) {
        const Tile *in = given[t].tile;
        for (int64_t i = 0; i < in->elements; i++)
            compute_move(out, place_in(out, in, i, start, NULL), in, i);
        start[dimension] += in->size[dimension];
    }
    return builder_hold(out);
}

static PlTile pad(const PlSite *here, PlTile given, PlTile given_value, PlShape low, PlShape high, PlShape inner)
{
    const Tile *in = compute_get(here, given), *value = compute_get(here, given_value);
    Sizes sizes = { .dims = in->ndim };
    int64_t stride[VIEW_DIMS_MAX];
    if (value->dtype != in->dtype || value->elements != 1 || low.dims != (int)in->ndim || high.dims != low.dims || inner.dims != low.dims)
        builder_misuse(here, "pl_tile_pad needs one value of the same type, and widths for each dimension");
    for (unsigned d = 0; d < in->ndim; d++) {
        int64_t apart = in->size[d] > 0 ? (in->size[d] - 1) * inner.size[d] : 0;
        sizes.size[d] = MAX(in->size[d] + apart + low.size[d] + high.size[d], 0);
        stride[d] = inner.size[d] + 1;
    }
    Tile *out = compute_new(here, in->dtype, sizes, in->opaque || value->opaque);
    for (int64_t i = 0; i < out->elements && !out->opaque; i++)
        compute_move(out, i, value, 0);
    for (int64_t i = 0; i < in->elements && !out->opaque; i++) {
        int64_t at = place_in(out, in, i, low.size, stride);
        if (at >= 0)
            compute_move(out, at, in, i);
    }
    return builder_hold(out);
}

static PlTile reverse(const PlSite *here, PlTile given, int axes, const int64_t *axis)
{
    const Tile *in = compute_get(here, given);
    int64_t step[VIEW_DIMS_MAX], base = 0;
    Tile *out = compute_new(here, in->dtype, compute_sizes_of(in), in->opaque);
    for (unsigned d = 0; d < in->ndim; d++)
        step[d] = compute_step(in, d);
    for (int a = 0; a < axes; a++) {
        if (axis[a] < 0 || axis[a] >= in->ndim || step[axis[a]] < 0)
            builder_misuse(here, "pl_tile_reverse: axis %lld is out of range or given twice", (long long)axis[a]);
        base += step[axis[a]] * (in->size[axis[a]] - 1);
        step[axis[a]] = -step[axis[a]];
    }
    gather(out, in, base, step);
    return builder_hold(out);
}

static PlTile roll(const PlSite *here, PlTile given, int axis, int64_t shift)
{
    const Tile *in = compute_get(here, given);
    Tile *out = compute_new(here, in->dtype, compute_sizes_of(in), in->opaque);
    if (axis < 0 || axis >= (int)in->ndim)
        builder_misuse(here, "pl_tile_roll along axis %d of %u", axis, in->ndim);
    int64_t size = in->size[axis], step = compute_step(in, (unsigned)axis);
    for (int64_t i = 0; i < out->elements && !out->opaque; i++) {
        int64_t at = i / step % size, to = ((at + shift) % size + size) % size;
        compute_move(out, i + (to - at) * step, in, i);
    }
    return builder_hold(out);
}

/* Packs narrow items into a wide one: written if all are; its origin combines theirs. */
static void pack(Tile *out, int64_t to, const Tile *in, const int64_t *from, int64_t items)
{
    size_t wide = dtype_size_bytes(out->dtype), narrow = dtype_size_bytes(in->dtype);
    uint64_t part[sizeof(uint64_t)];
    out->written[to] = ELEMENT_WRITTEN;
    for (int64_t k = 0; k < items; k++) {
        memcpy(out->bytes + (size_t)to * wide + (size_t)k * narrow, in->bytes + (size_t)from[k] * narrow, narrow);
        out->written[to] = element_both(out->written[to], in->written[from[k]]);
        for (size_t b = 0; b < narrow; b++)
            part[(size_t)k * narrow + b] = tile_origin_part(in->origin[from[k]], b, narrow);
    }
    out->origin[to] = tile_origin_whole(part, wide);
}

static void unpack(Tile *out, const int64_t *to, const Tile *in, int64_t from, int64_t items)
{
    size_t wide = dtype_size_bytes(in->dtype), narrow = dtype_size_bytes(out->dtype);
    uint64_t part[sizeof(uint64_t)];
    for (size_t b = 0; b < wide; b++)
        part[b] = in->parts ? in->part[(size_t)from * wide + b] : tile_origin_part(in->origin[from], b, wide);
    for (int64_t k = 0; k < items; k++) {
        memcpy(out->bytes + (size_t)to[k] * narrow, in->bytes + (size_t)from * wide + (size_t)k * narrow, narrow);
        out->written[to[k]] = in->written[from];
        out->origin[to[k]] = tile_origin_whole(part + (size_t)k * narrow, narrow);
    }
}

static Sizes bitcast_sizes(const PlSite *here, const Tile *in, size_t old, size_t now, bool rows)
{
    Sizes sizes = compute_sizes_of(in);
    int64_t items = (int64_t)(MAX(old, now) / MIN(old, now));
    if (rows && in->ndim < 2)
        builder_misuse(here, "a bitcast of rows of a tile of %u dimensions", in->ndim);
    if (rows) {
        int64_t *size = &sizes.size[in->ndim - 2];
        if (now > old && *size % items != 0)
            builder_misuse(here, "a bitcast of %lld rows to an item %lld times as wide", (long long)*size, (long long)items);
        *size = now > old ? *size / items : *size * items;
    } else if (now > old) {
        if (in->ndim == 0 || in->size[in->ndim - 1] != items)
            builder_misuse(here, "a bitcast to a wider type needs a minor dimension of %lld", (long long)items);
        sizes.dims--;
    } else if (now < old) {
        if (in->ndim == VIEW_DIMS_MAX)
            builder_misuse(here, "a bitcast to more than %d dimensions", VIEW_DIMS_MAX);
        sizes.size[sizes.dims++] = items;
    }
    return sizes;
}

static PlTile bitcast(const PlSite *here, PlTile given, PlType type, bool rows)
{
    const Tile *in = compute_get(here, given);
    if ((unsigned)type >= DTYPE_COUNT)
        builder_misuse(here, "a bitcast needs a type such as PL_F32");
    size_t old = dtype_size_bytes(in->dtype), now = dtype_size_bytes((DType)type);
    int64_t items = (int64_t)(MAX(old, now) / MIN(old, now)), at[8];
    bool widens = now > old;
    rows &= old != now;
    Tile *out = compute_new(here, (DType)type, bitcast_sizes(here, in, old, now, rows), in->opaque);
    const Tile *wide = widens ? out : in;
    int64_t columns = rows ? in->size[in->ndim - 1] : 1;
    for (int64_t i = 0; i < wide->elements && !out->opaque; i++) {
        for (int64_t k = 0; k < items; k++)
            at[k] = rows ? (i / columns * items + k) * columns + i % columns : i * items + k;
        if (widens || items == 1)
            pack(out, i, in, at, items);
        else
            unpack(out, at, in, i, items);
    }
    return builder_hold(out);
}

void pl_compute_shape_install(PlCompute *compute)
{
    compute->broadcast = broadcast;
    compute->reshape = reshape;
    compute->transpose = transpose;
    compute->slice = slice;
    compute->update = update;
    compute->concatenate = concatenate;
    compute->pad = pad;
    compute->reverse = reverse;
    compute->roll = roll;
    compute->bitcast = bitcast;
}
