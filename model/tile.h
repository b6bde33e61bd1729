/* tile.h - a value that a core works with: a small dense array and, for each element, whether it was written and where it came from.
 *
 * The origin of an element is a commutative fingerprint: mix(device, input, index) for an input element, the sum of its terms' origins
 * modulo 2^64 for a sum, 0 for a zero; any other computation mixes its operands' (for products, minima and maxima so that neither order nor
 * grouping of a reduction matters). Two different sums of inputs collide with probability 2^-64.
 */
#pragma once
#include "dtype.h"
#include "view.h"

/* The state of one element. UNKNOWN: written with a value of an opaque buffer; copies preserve that, and a core that loads one gets an
 * opaque tile. Two marks: the value depends on the outcome of a race, or of a race that the program exempts (racing.h). */
enum { ELEMENT_UNWRITTEN, ELEMENT_WRITTEN, ELEMENT_UNKNOWN, ELEMENT_RACING = 64, ELEMENT_EXEMPT = 128,
       ELEMENT_MARKS = ELEMENT_RACING | ELEMENT_EXEMPT };

static inline uint8_t element_state(uint8_t element) { return element & (uint8_t)~ELEMENT_MARKS; }
static inline uint8_t element_marks(uint8_t element) { return element & ELEMENT_MARKS; }
/* The state of a result of both: written if both are, marked if either is. */
static inline uint8_t element_both(uint8_t a, uint8_t b)
{
    bool written = element_state(a) != ELEMENT_UNWRITTEN && element_state(b) != ELEMENT_UNWRITTEN;
    return (uint8_t)((written ? ELEMENT_WRITTEN : ELEMENT_UNWRITTEN) | element_marks(a | b));
}

typedef struct Tile {
    DType dtype;
    uint32_t ndim;
    int64_t size[VIEW_DIMS_MAX];
    int64_t elements;
    bool opaque;                                /* shape only: the arrays below are NULL */
    bool parts;                                 /* part is not NULL */
    unsigned char *bytes;
    uint8_t *written;                           /* one byte an element: ELEMENT_..., with marks */
    uint64_t *origin;
    uint64_t *part;                             /* origins of all bytes, of a load across elements; NULL: `origin` determines them */
} Tile;

/* Allocates the arrays of a tile: zeroed, owned by `owner`. */
typedef void *(*TileAlloc)(void *owner, size_t bytes);
void tile_init(Tile *tile, DType dtype, unsigned ndim, const int64_t *size, bool opaque, TileAlloc alloc, void *owner);

void tile_want_parts(Tile *tile, TileAlloc alloc, void *owner);         /* adds parts, all 0; alloc NULL: for a tile_new */
void tile_drop_parts(Tile *tile);               /* before an element changes; the memory stays its owner's */

/* A tile on the heap; NULL may be freed. */
Tile *tile_new(DType dtype, unsigned ndim, const int64_t *size, bool opaque);
void tile_free(Tile *tile);
/* Equal tiles as equal bytes (g_malloc), and such bytes as a new tile. */
void *tile_pack(const Tile *tile, size_t *bytes);
Tile *tile_unpack(const void *packed);
bool tile_is_packed(const void *packed, size_t bytes);          /* can tile_unpack read these bytes from a file? */

/* Elements packed in one block: origins, then values of `item` bytes each, then states of `mark` bytes each, then the origins of all bytes
 * if there are parts. */
typedef struct TileElements {
    size_t count, item, mark;
    bool parts;
    uint64_t *origin;
    unsigned char *bytes;
    void *written;
    uint64_t *part;
} TileElements;
size_t tile_block_bytes(const TileElements *elements);
void tile_block_put(void *block, const TileElements *elements);
void tile_block_take(const void *block, const TileElements *elements);

typedef enum TileOp { TILE_ADD, TILE_SUB, TILE_MUL, TILE_DIV, TILE_MIN, TILE_MAX, TILE_COPY_OP } TileOp;
/* out = a op b, element-wise; shapes and types must be equal. Opaque in, opaque out. COPY_OP: out = a. Integers wrap, and divide as in XLA:
 * towards 0, all bits set for a division by 0. Unwritten in, unwritten out. */
void tile_binary(Tile *out, TileOp op, const Tile *a, const Tile *b);
void tile_convert(Tile *out, const Tile *in);                   /* to out's type; provenance is kept */
void tile_fill_int(Tile *tile, int64_t value);                  /* origin 0 for 0, a mix of the value otherwise; written */
void tile_fill_double(Tile *tile, double value);
uint64_t tile_input_origin(uint32_t device, uint32_t input, uint64_t element);

/* The origin of one byte of an element, and the inverse: tile_origin_whole of all parts of an origin is that origin. */
uint64_t tile_origin_part(uint64_t origin, size_t byte, size_t item);
uint64_t tile_origin_whole(const uint64_t *part, size_t item);

/* Does the tile have one element for each byte of the view's elements? */
static inline bool tile_is_raw(const Tile *tile, const View *view)
{
    return tile->dtype == DTYPE_U8 && !tile->opaque && dtype_size_bytes(view->dtype) > 1;
}
