/* tile.c - element-wise computation with provenance.
 *
 * Origins of sums add up. Products, minima and maxima are commutative and associative, too, so each has its own bijection f of 64 bits and
 * f(a op b) = f(a) + f(b): the order of a reduction does not matter, yet a maximum is never taken for a sum. Differences and quotients mix
 * their operands' origins in order.
 */
#include "tile.h"
#include "rng.h"
#include <glib.h>
#include <math.h>
#include <string.h>

void tile_init(Tile *tile, DType dtype, unsigned ndim, const int64_t *size, bool opaque, TileAlloc alloc, void *owner)
{
    g_assert(ndim <= VIEW_DIMS_MAX);
    *tile = (Tile){.dtype = dtype, .ndim = ndim, .elements = 1, .opaque = opaque};
    for (unsigned i = 0; i < ndim; i++) {
        tile->size[i] = size[i];
        tile->elements *= size[i];
    }
    if (opaque)
        return;
    size_t elements = (size_t)tile->elements;
    tile->origin = alloc(owner, elements * sizeof(uint64_t));
    tile->bytes = alloc(owner, elements * dtype_size_bytes(dtype));
    tile->written = alloc(owner, elements);
}

static void *alloc_block(void *owner, size_t bytes)
{
    (void)owner;
    return g_malloc0(MAX(bytes, 1));
}

void tile_want_parts(Tile *tile, TileAlloc alloc, void *owner)
{
    if (!tile->opaque)
        tile->part = (alloc ? alloc : alloc_block)(owner, (size_t)tile->elements * dtype_size_bytes(tile->dtype) * sizeof(uint64_t));
    tile->parts = tile->part != NULL;
}

void tile_drop_parts(Tile *tile)
{
    tile->part = NULL;
    tile->parts = false;
}

Tile *tile_new(DType dtype, unsigned ndim, const int64_t *size, bool opaque)
{
    Tile *tile = g_new(Tile, 1);
    tile_init(tile, dtype, ndim, size, opaque, alloc_block, NULL);
    return tile;
}

void tile_free(Tile *tile)
{
    if (tile == NULL)
        return;
    g_free(tile->bytes);
    g_free(tile->written);
    g_free(tile->origin);
    g_free(tile->part);
    g_free(tile);
}

size_t tile_block_bytes(const TileElements *elements)
{
    size_t parts = elements->parts ? elements->item * sizeof(uint64_t) : 0;
    return elements->count * (sizeof(uint64_t) + elements->item + elements->mark + parts);
}

void tile_block_put(void *block, const TileElements *elements)
{
    char *at = block;
    size_t count = elements->count, until = count * (sizeof(uint64_t) + elements->item + elements->mark);
    if (count == 0)
        return;
    memcpy(at, elements->origin, count * sizeof(uint64_t));
    memcpy(at + count * sizeof(uint64_t), elements->bytes, count * elements->item);
    memcpy(at + count * (sizeof(uint64_t) + elements->item), elements->written, count * elements->mark);
    if (elements->parts)
        memcpy(at + until, elements->part, count * elements->item * sizeof(uint64_t));
}

void tile_block_take(const void *block, const TileElements *elements)
{
    const char *at = block;
    size_t count = elements->count, until = count * (sizeof(uint64_t) + elements->item + elements->mark);
    if (count == 0)
        return;
    memcpy(elements->origin, at, count * sizeof(uint64_t));
    memcpy(elements->bytes, at + count * sizeof(uint64_t), count * elements->item);
    memcpy(elements->written, at + count * (sizeof(uint64_t) + elements->item), count * elements->mark);
    if (elements->parts)
        memcpy(elements->part, at + until, count * elements->item * sizeof(uint64_t));
}

static TileElements elements_of(const Tile *tile)
{
    return (TileElements){ tile->opaque ? 0 : (size_t)tile->elements, dtype_size_bytes(tile->dtype), sizeof *tile->written,
                           tile->parts, tile->origin, tile->bytes, tile->written, tile->part };
}

/* The struct without its pointers, then the block of its elements unless it is opaque. */
void *tile_pack(const Tile *tile, size_t *bytes)
{
    const TileElements elements = elements_of(tile);
    *bytes = sizeof(Tile) + tile_block_bytes(&elements);
    char *packed = g_malloc0(*bytes);
    Tile *head = (Tile *)(void *)packed;
    head->dtype = tile->dtype, head->ndim = tile->ndim, head->elements = tile->elements, head->opaque = tile->opaque;
    head->parts = tile->parts;
    memcpy(head->size, tile->size, tile->ndim * sizeof *tile->size);
    tile_block_put(packed + sizeof(Tile), &elements);
    return packed;
}

bool tile_is_packed(const void *packed, size_t bytes)
{
    Tile head;
    int64_t elements = 1;
    const unsigned char *flags = packed;
    if (bytes < sizeof head || flags[offsetof(Tile, opaque)] > 1 || flags[offsetof(Tile, parts)] > 1)
        return false;
    memcpy(&head, packed, sizeof head);
    if (head.dtype >= DTYPE_COUNT || head.ndim > VIEW_DIMS_MAX || head.bytes != NULL || head.written != NULL || head.origin != NULL
        || head.part != NULL || (head.opaque && head.parts))
        return false;
    for (unsigned i = 0; i < head.ndim; i++)
        if (head.size[i] < 0 || __builtin_mul_overflow(elements, head.size[i], &elements))
            return false;
    const TileElements block = elements_of(&head);
    size_t count = block.count;
    if (elements != head.elements || count > bytes || bytes != sizeof head + tile_block_bytes(&block))
        return false;
    const uint8_t *written = (const uint8_t *)packed + sizeof head + count * (sizeof(uint64_t) + block.item);
    for (size_t i = 0; i < count; i++)
        if (element_state(written[i]) > ELEMENT_UNKNOWN)
            return false;
    return true;
}

Tile *tile_unpack(const void *packed)
{
    const Tile *head = packed;
    Tile *tile = tile_new(head->dtype, head->ndim, head->size, head->opaque);
    if (head->parts)
        tile_want_parts(tile, NULL, NULL);
    const TileElements elements = elements_of(tile);
    tile_block_take((const char *)packed + sizeof(Tile), &elements);
    return tile;
}

static void become_opaque(Tile *tile)
{
    tile_drop_parts(tile);
    tile->opaque = true;
    tile->bytes = tile->written = NULL;
    tile->origin = NULL;
}

static int64_t int_divide(DType dtype, int64_t a, int64_t b)
{
    if (b == 0)
        return -1;                              /* as in XLA: all bits set */
    if (dtype == DTYPE_U64)
        return (int64_t)((uint64_t)a / (uint64_t)b);
    return b == -1 ? (int64_t)-(uint64_t)a : a / b;
}

static bool int_less(DType dtype, int64_t a, int64_t b)
{
    return dtype == DTYPE_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

static int64_t int_compute(TileOp op, DType dtype, int64_t a, int64_t b)
{
    switch (op) {
    case TILE_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case TILE_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case TILE_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case TILE_DIV: return int_divide(dtype, a, b);
    case TILE_MIN: return int_less(dtype, b, a) ? b : a;
    case TILE_MAX: return int_less(dtype, a, b) ? b : a;
    case TILE_COPY_OP: return a;
    }
    g_assert_not_reached();
}

static double float_compute(TileOp op, double a, double b)
{
    switch (op) {
    case TILE_ADD: return a + b;
    case TILE_SUB: return a - b;
    case TILE_MUL: return a * b;
    case TILE_DIV: return a / b;
    case TILE_MIN: return isnan(a) || isnan(b) ? NAN : MIN(a, b);
    case TILE_MAX: return isnan(a) || isnan(b) ? NAN : MAX(a, b);
    case TILE_COPY_OP: return a;
    }
    g_assert_not_reached();
}

/* The inverse of rng_mix: multipliers are inverse modulo 2^64. */
static uint64_t unmix(uint64_t value)
{
    value = (value ^ value >> 31 ^ value >> 62) * UINT64_C(0x319642b2d24d8ec3);
    value = (value ^ value >> 27 ^ value >> 54) * UINT64_C(0x96de1b173f119089);
    return value ^ value >> 30 ^ value >> 60;
}

static uint64_t compute_origin(TileOp op, uint64_t a, uint64_t b)
{
    uint64_t tag = UINT64_C(0x9e3779b97f4a7c15) * (op + 1);
    switch (op) {
    case TILE_ADD: return a + b;
    case TILE_MUL: case TILE_MIN: case TILE_MAX: return unmix(rng_mix(a ^ tag) + rng_mix(b ^ tag)) ^ tag;
    case TILE_SUB: case TILE_DIV: return rng_mix(rng_mix(a ^ tag) + b);
    case TILE_COPY_OP: return a;
    }
    g_assert_not_reached();
}

void tile_binary(Tile *out, TileOp op, const Tile *a, const Tile *b)
{
    g_assert(a->dtype == b->dtype && a->elements == b->elements && out->dtype == a->dtype && out->elements == a->elements);
    if (a->opaque || b->opaque || out->opaque) {
        become_opaque(out);
        return;
    }
    DType dtype = a->dtype;
    size_t bytes = dtype_size_bytes(dtype);
    for (int64_t i = 0; i < out->elements; i++) {
        size_t at = (size_t)i * bytes;
        if (dtype_is_float(dtype))
            dtype_write_double(dtype, out->bytes + at,
                               float_compute(op, dtype_read_double(dtype, a->bytes + at), dtype_read_double(dtype, b->bytes + at)));
        else
            dtype_write_int(dtype, out->bytes + at,
                            int_compute(op, dtype, dtype_read_int(dtype, a->bytes + at), dtype_read_int(dtype, b->bytes + at)));
        out->written[i] = element_both(a->written[i], op == TILE_COPY_OP ? ELEMENT_WRITTEN : b->written[i]);
        out->origin[i] = compute_origin(op, a->origin[i], b->origin[i]);
    }
}

void tile_convert(Tile *out, const Tile *in)
{
    g_assert(out->elements == in->elements);
    if (in->opaque || out->opaque) {
        become_opaque(out);
        return;
    }
    size_t in_bytes = dtype_size_bytes(in->dtype), out_bytes = dtype_size_bytes(out->dtype);
    for (int64_t i = 0; i < out->elements; i++)
        dtype_convert(out->dtype, out->bytes + (size_t)i * out_bytes, in->dtype, in->bytes + (size_t)i * in_bytes);
    memcpy(out->written, in->written, (size_t)in->elements);
    memcpy(out->origin, in->origin, (size_t)in->elements * sizeof(uint64_t));
}

static void fill_with(Tile *tile, const unsigned char *element)
{
    size_t bytes = dtype_size_bytes(tile->dtype);
    double value = dtype_read_double(tile->dtype, element);
    uint64_t origin = 0, bits;
    if (value != 0) {                           /* the stored value: a number that wrapped to 0 is a zero */
        memcpy(&bits, &value, sizeof bits);
        origin = rng_mix(bits ^ UINT64_C(0x5bd1e9955bd1e995));
    }
    for (int64_t i = 0; i < tile->elements; i++) {
        memcpy(tile->bytes + (size_t)i * bytes, element, bytes);
        tile->written[i] = 1;
        tile->origin[i] = origin;
    }
}

void tile_fill_int(Tile *tile, int64_t value)
{
    unsigned char element[8];
    if (tile->opaque)
        return;
    dtype_write_int(tile->dtype, element, value);
    fill_with(tile, element);
}

void tile_fill_double(Tile *tile, double value)
{
    unsigned char element[8];
    if (tile->opaque)
        return;
    dtype_write_double(tile->dtype, element, value);
    fill_with(tile, element);
}

uint64_t tile_input_origin(uint32_t device, uint32_t input, uint64_t element)
{
    return rng_mix(rng_mix(rng_mix(device + UINT64_C(0x9e3779b97f4a7c15)) + input) + element);
}

/* A bijection of the origin, plus a step for each byte: the first part determines the origin, and parts identify a half of an element. */
static const uint64_t PART_TAG = UINT64_C(0xd6e8feb86659fd93), PART_STEP = UINT64_C(0xa0761d6478bd642f);

uint64_t tile_origin_part(uint64_t origin, size_t byte, size_t item)
{
    return item == 1 || origin == 0 ? origin : rng_mix(origin ^ PART_TAG * item) + PART_STEP * byte;
}

uint64_t tile_origin_whole(const uint64_t *part, size_t item)
{
    uint64_t origin = item == 1 || part[0] == 0 ? part[0] : unmix(part[0]) ^ PART_TAG * item, mixed = 0;
    bool whole = true;
    for (size_t b = 0; b < item; b++) {
        whole &= part[b] == tile_origin_part(origin, b, item);
        mixed = rng_mix(mixed + part[b] + b + 1);
    }
    return whole ? origin : mixed;
}
