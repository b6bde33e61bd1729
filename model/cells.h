/* cells.h - the contents of one buffer: its elements as cells, and elements of views that lie across them.
 *
 * If all elements are accessed with the decl's own type, each cell has one origin. An element of a view may lie in a part of a cell, or in
 * several; then bytes have origins: tile_origin_part of the cell's origin, or those in `part` if that does not determine them.
 */
#pragma once
#include <glib.h>
#include "tile.h"

typedef struct Contents {                       /* of one buffer object; elements of the decl's own type */
    int64_t elements;
    unsigned char *bytes;
    uint32_t *written;                          /* bit b: byte b of the element has a value; 8 + b: an unknown one; then the marks */
    uint64_t *origin;
    uint64_t *part;                             /* origins of all bytes; NULL: those of the elements determine them */
} Contents;

/* The first bit of each kind. */
enum { CONTENTS_UNKNOWN = 8, CONTENTS_RACING = 16, CONTENTS_EXEMPT = 24 };

/* The state, with marks, of the bytes of an element that are in the mask. */
static inline uint8_t contents_state(const Contents *contents, int64_t element, unsigned mask)
{
    uint32_t written = contents->written[element];
    unsigned known = (written >> CONTENTS_UNKNOWN & mask) ? ELEMENT_UNKNOWN : ELEMENT_WRITTEN;
    unsigned racing = (written >> CONTENTS_RACING & mask) ? ELEMENT_RACING : 0;
    unsigned exempt = (written >> CONTENTS_EXEMPT & mask) ? ELEMENT_EXEMPT : 0;
    return (uint8_t)(((written & mask) != mask ? ELEMENT_UNWRITTEN : known) | racing | exempt);
}

/* Which bytes of an element have a mark. */
static inline uint8_t contents_marked(const Contents *contents, int64_t element)
{
    return (uint8_t)(contents->written[element] >> CONTENTS_RACING | contents->written[element] >> CONTENTS_EXEMPT);
}

static inline unsigned contents_mask(size_t item)
{
    return (1u << item) - 1;
}

/* `count` elements from `first` on; with parts only if the contents have any. */
static inline TileElements contents_elements(const Contents *contents, size_t item, int64_t first, int64_t count)
{
    return (TileElements){ (size_t)count, item, sizeof *contents->written, contents->part != NULL,
                           contents->origin + first, contents->bytes + first * (int64_t)item, contents->written + first,
                           contents->part ? contents->part + first * (int64_t)item : NULL };
}

static inline bool cells_skipped(const View *view, const uint8_t *mask, int64_t i)
{
    if (G_LIKELY(mask == NULL && !view->over))
        return false;
    return (mask != NULL && !mask[i]) || !view_element_inside(view, i);
}

Contents *cells_new(int64_t elements, size_t cell);
void cells_free(Contents *contents);            /* NULL may be freed */
/* Read or write the unmasked elements of a view; cell: bytes of an element of the contents. A tile of bytes (tile_is_raw) has one element
 * for each byte. */
bool cells_view_is_plain(const View *view, size_t cell);         /* is each of its elements one cell? */
void cells_read(const Contents *contents, size_t cell, const View *view, const uint8_t *mask, Tile *out);
void cells_write(Contents *contents, size_t cell, const View *view, const uint8_t *mask, const Tile *tile);
/* Do all bytes of each element of the view have the same state, and an origin that its cell's determines? */
bool cells_are_moved_whole(const Contents *contents, size_t cell, const View *view);
/* Does a tile loaded through the view need parts? */
static inline bool cells_want_parts(const View *view, size_t cell)
{
    return dtype_size_bytes(view->dtype) > 1 && !cells_view_is_plain(view, cell);
}
void cells_mark(Contents *contents, int64_t element, unsigned mask, uint8_t marks);     /* these bytes too */
bool cells_any_marked(const Contents *contents, uint8_t marks);
/* Does each element's origin determine those of its bytes, so that parts are redundant? */
bool cells_are_whole(const Contents *contents, size_t cell);
/* Restores elements from a block (tile_block_put of contents_elements), with or without parts. */
void cells_take(Contents *contents, size_t cell, int64_t first, int64_t count, const void *block, bool parts);
