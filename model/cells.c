/* cells.c - elements of views, cell by cell or byte by byte. */
#include "cells.h"
#include <glib.h>
#include <string.h>

Contents *cells_new(int64_t elements, size_t cell)
{
    Contents *contents = g_new0(Contents, 1);
    contents->elements = elements;
    contents->bytes = g_malloc0((size_t)MAX(elements, 1) * cell);
    contents->written = g_new0(uint32_t, MAX(elements, 1));
    contents->origin = g_new0(uint64_t, MAX(elements, 1));
    return contents;
}

void cells_free(Contents *contents)
{
    if (contents == NULL)
        return;
    g_free(contents->bytes);
    g_free(contents->written);
    g_free(contents->origin);
    g_free(contents->part);
    g_free(contents);
}

bool cells_view_is_plain(const View *view, size_t cell)
{
    bool plain = view->folds == 0 && dtype_size_bytes(view->dtype) == cell && view->offset % (int64_t)cell == 0;
    for (unsigned d = 0; d < view->ndim; d++)
        plain &= view->stride[d] % (int64_t)cell == 0;
    return plain;
}

/* The state of an element that contains both bytes. */
static uint8_t worse_of(uint8_t a, uint8_t b)
{
    uint8_t x = element_state(a), y = element_state(b), marks = element_marks(a | b);
    return (uint8_t)(marks | (x == ELEMENT_UNWRITTEN || y == ELEMENT_WRITTEN ? x : y));
}

static uint64_t part_at(const Contents *contents, size_t cell, int64_t offset)
{
    int64_t c = offset / (int64_t)cell;
    return contents->part ? contents->part[offset] : tile_origin_part(contents->origin[c], (size_t)(offset % (int64_t)cell), cell);
}

static void split(Contents *contents, size_t cell, int64_t first, int64_t count)
{
    for (int64_t at = first * (int64_t)cell; at < (first + count) * (int64_t)cell; at++)
        contents->part[at] = tile_origin_part(contents->origin[at / (int64_t)cell], (size_t)(at % (int64_t)cell), cell);
}

static void want_parts(Contents *contents, size_t cell)
{
    if (contents->part != NULL || cell == 1)
        return;
    contents->part = g_new(uint64_t, (size_t)MAX(contents->elements, 1) * cell);
    split(contents, cell, 0, contents->elements);
}

static void read_bytes(const Contents *contents, size_t cell, const View *view, Tile *out, int64_t i)
{
    size_t item = dtype_size_bytes(view->dtype);
    bool raw = tile_is_raw(out, view);
    uint64_t part[sizeof(uint64_t)];
    uint8_t state = ELEMENT_WRITTEN;
    for (size_t b = 0, at = (size_t)i * item; b < item; b++, at++) {
        int64_t offset = view_byte_offset(view, i, (int64_t)b);
        uint8_t here = contents_state(contents, offset / (int64_t)cell, 1u << offset % (int64_t)cell);
        out->bytes[at] = contents->bytes[offset];
        part[b] = part_at(contents, cell, offset);
        state = worse_of(state, here);
        if (raw)
            out->written[at] = here, out->origin[at] = part[b];
        else if (out->parts)
            out->part[at] = part[b];
    }
    if (!raw)
        out->written[i] = state, out->origin[i] = tile_origin_whole(part, item);
}

/* Steps through the offsets of a plain view's elements. */
typedef struct Walk { int64_t offset, index[VIEW_DIMS_MAX]; } Walk;

static inline void step(const View *view, Walk *walk)
{
    for (unsigned d = view->ndim; d-- > 0;) {
        walk->offset += view->stride[d];
        if (G_LIKELY(++walk->index[d] < view->size[d]))
            return;
        walk->offset -= view->size[d] * view->stride[d];
        walk->index[d] = 0;
    }
}

static inline void read_cell(const Contents *contents, size_t cell, int64_t offset, Tile *out, int64_t i)
{
    int64_t c = offset / (int64_t)cell;
    memcpy(out->bytes + (size_t)i * cell, contents->bytes + offset, cell);
    uint32_t mask = contents_mask(cell);
    out->written[i] = G_LIKELY(contents->written[c] == mask) ? ELEMENT_WRITTEN : contents_state(contents, c, mask);
    out->origin[i] = contents->origin[c];
}

void cells_read(const Contents *contents, size_t cell, const View *view, const uint8_t *mask, Tile *out)
{
    bool plain = cells_view_is_plain(view, cell) && !tile_is_raw(out, view);
    Walk walk = { .offset = view->offset };
    for (int64_t i = 0, elements = view_elements(view); i < elements; i++, step(view, &walk)) {
        if (cells_skipped(view, mask, i))
            continue;                           /* tiles begin zeroed: unwritten */
        if (plain)
            read_cell(contents, cell, walk.offset, out, i);
        else
            read_bytes(contents, cell, view, out, i);
    }
}

/* Are the bits of each kind all set, or none? */
static bool is_uniform(uint32_t written, unsigned mask)
{
    bool uniform = true;
    for (unsigned kind = 0; kind < 32; kind += 8)
        uniform &= (written >> kind & mask) == 0 || (written >> kind & mask) == mask;
    return uniform;
}

static bool is_whole(const Contents *contents, size_t cell, int64_t c)
{
    bool whole = true;
    for (size_t b = 0; b < cell && contents->part != NULL; b++)
        whole &= contents->part[(size_t)c * cell + b] == tile_origin_part(contents->origin[c], b, cell);
    return whole;
}

/* Is each cell from the first to the last of a plain view either written or unwritten, without marks and parts? The usual case. */
static bool are_simple(const Contents *contents, size_t cell, const View *view)
{
    uint32_t mask = contents_mask(cell);
    int64_t first = view->offset / (int64_t)cell, last = first;
    bool simple = contents->part == NULL && !view->over;
    for (unsigned d = 0; d < view->ndim; d++)
        last += (view->size[d] - 1) * (view->stride[d] / (int64_t)cell);
    for (int64_t c = first; c <= last && simple; c++)
        simple = contents->written[c] == mask || contents->written[c] == 0;
    return simple;
}

bool cells_are_moved_whole(const Contents *contents, size_t cell, const View *view)
{
    bool whole = cells_view_is_plain(view, cell);
    if (view_elements(view) == 0 || (whole && are_simple(contents, cell, view)))
        return true;
    for (int64_t i = 0, elements = view_elements(view); i < elements && whole; i++) {
        int64_t c = view_element_offset(view, i) / (int64_t)cell;
        whole = !view_element_inside(view, i) || (is_uniform(contents->written[c], contents_mask(cell)) && is_whole(contents, cell, c));
    }
    return whole;
}

bool cells_are_whole(const Contents *contents, size_t cell)
{
    bool whole = true;
    for (int64_t c = 0; c < contents->elements && contents->part != NULL && whole; c++)
        whole = is_whole(contents, cell, c);
    return whole;
}

/* The bits of these marks for the bytes in the mask. */
static uint32_t mark_bits(uint8_t marks, unsigned mask)
{
    return ((marks & ELEMENT_RACING) ? mask << CONTENTS_RACING : 0) | ((marks & ELEMENT_EXEMPT) ? mask << CONTENTS_EXEMPT : 0);
}

void cells_mark(Contents *contents, int64_t element, unsigned mask, uint8_t marks)
{
    contents->written[element] |= mark_bits(marks, mask);
}

bool cells_any_marked(const Contents *contents, uint8_t marks)
{
    uint32_t any = 0, bits = mark_bits(marks, 0xff);
    for (int64_t i = 0; i < contents->elements && !any; i++)
        any = contents->written[i] & bits;
    return any != 0;
}

static void set_state(Contents *contents, int64_t cell, unsigned mask, uint8_t element)
{
    uint8_t state = element_state(element);
    contents->written[cell] &= ~(mask * 0x01010101u);
    contents->written[cell] |= (state == ELEMENT_UNWRITTEN ? 0 : mask) | (state == ELEMENT_UNKNOWN ? mask << CONTENTS_UNKNOWN : 0)
        | mark_bits(element_marks(element), mask);
}

/* An opaque tile is written with unknown values. */
static uint8_t state_in(const Tile *tile, int64_t i)
{
    return tile->opaque ? ELEMENT_UNKNOWN : tile->written[i];
}

static uint64_t part_in(const Tile *tile, bool raw, int64_t i, size_t b, size_t item)
{
    size_t at = (size_t)i * item + b;
    if (tile->opaque)
        return 0;
    return raw ? tile->origin[at] : tile->parts ? tile->part[at] : tile_origin_part(tile->origin[i], b, item);
}

static void write_bytes(Contents *contents, size_t cell, const View *view, const Tile *tile, int64_t i)
{
    size_t item = dtype_size_bytes(view->dtype);
    bool raw = tile_is_raw(tile, view);
    int64_t last = -1;
    want_parts(contents, cell);
    uint64_t *part = cell == 1 ? contents->origin : contents->part;
    for (size_t b = 0, at = (size_t)i * item; b < item; b++, at++) {
        int64_t offset = view_byte_offset(view, i, (int64_t)b), c = offset / (int64_t)cell;
        contents->bytes[offset] = tile->opaque ? 0 : tile->bytes[at];
        part[offset] = part_in(tile, raw, i, b, item);
        set_state(contents, c, 1u << offset % (int64_t)cell, state_in(tile, raw ? (int64_t)at : i));
        if (last != c && last >= 0)
            contents->origin[last] = tile_origin_whole(part + last * (int64_t)cell, cell);
        last = c;
    }
    contents->origin[last] = tile_origin_whole(part + last * (int64_t)cell, cell);
}

static inline void write_cell(Contents *contents, size_t cell, int64_t offset, const Tile *tile, int64_t i)
{
    int64_t c = offset / (int64_t)cell;
    if (tile->opaque)
        memset(contents->bytes + offset, 0, cell);
    else
        memcpy(contents->bytes + offset, tile->bytes + (size_t)i * cell, cell);
    uint32_t mask = contents_mask(cell);
    if (G_LIKELY(state_in(tile, i) == ELEMENT_WRITTEN))
        contents->written[c] = mask;
    else
        set_state(contents, c, mask, state_in(tile, i));
    contents->origin[c] = tile->opaque ? 0 : tile->origin[i];
    if (contents->part != NULL)
        split(contents, cell, c, 1);
}

void cells_write(Contents *contents, size_t cell, const View *view, const uint8_t *mask, const Tile *tile)
{
    bool plain = cells_view_is_plain(view, cell) && !tile_is_raw(tile, view) && !tile->parts;
    Walk walk = { .offset = view->offset };
    for (int64_t i = 0, elements = view_elements(view); i < elements; i++, step(view, &walk)) {
        if (cells_skipped(view, mask, i))
            continue;
        if (plain)
            write_cell(contents, cell, walk.offset, tile, i);
        else
            write_bytes(contents, cell, view, tile, i);
    }
}

void cells_take(Contents *contents, size_t cell, int64_t first, int64_t count, const void *block, bool parts)
{
    if (parts)
        want_parts(contents, cell);
    TileElements elements = contents_elements(contents, cell, first, count);
    elements.parts = parts;
    tile_block_take(block, &elements);
    if (!parts && contents->part != NULL)
        split(contents, cell, first, count);
}
