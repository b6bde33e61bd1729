/* view.h - the view of a buffer through a ref: element type, shape and strides after indexing, slicing, reshaping, bitcasting.
 *
 * Source: Pallas' ref transforms (NDIndexer, RefReshaper, RefBitcaster). A bitcast to an item of another size packs, as on TPUs, items of
 * one column of several rows of the second-minor dimension into one wider item, the first row in its lowest bytes. Buffers are stored row
 * by row, so the result of a bitcast or a reshape is often no strided array. Then it is a strided array of *another* space, in which the
 * elements are laid out as the new shape needs, and a fold maps each byte of that space to the one below; the lowest space is the buffer.
 * A fold is dropped as soon as the view has strides without it.
 *
 * A view may reach outside its buffer: only an access is a fault, so the view records what is outside. Interned in the Program.
 */
#pragma once
#include "dtype.h"
#include "region.h"

#define VIEW_DIMS_MAX 8
#define VIEW_FOLDS_MAX 8

/* Byte sum of i_k * (product of the counts after k), i_k < count_k, of a space is byte offset + sum i_k * stride_k of the one below. */
typedef struct ViewFold { int64_t offset, ndim; RegionDim dim[VIEW_DIMS_MAX + 1]; } ViewFold;

/* Of a view that reaches outside its buffer. */
typedef struct ViewExcess {
    int64_t start, size, stride, limit;         /* the first index or slice that leaves its dimension; the size of that dimension */
    int64_t from[VIEW_DIMS_MAX], to[VIEW_DIMS_MAX];                     /* per dimension, the indices inside */
    int64_t reach[VIEW_DIMS_MAX];               /* per dimension of the buffer, the last index that leaves it at its end; 0: none */
    uint32_t dim;                               /* the dimension that is left first */
    uint32_t site, unused;                      /* of the call that leaves it; NONE: unknown */
    uint16_t nowhere, beyond;                   /* no element is inside; padding of the buffer's dimensions cannot contain it */
} ViewExcess;

typedef struct View {
    int64_t offset;                             /* bytes from the start of the space; may be outside it */
    int64_t size[VIEW_DIMS_MAX], stride[VIEW_DIMS_MAX];                 /* elements; bytes */
    uint32_t ndim;
    uint8_t dtype, over, folds, unused;         /* over: it reaches outside the buffer */
    uint8_t whole[VIEW_DIMS_MAX];               /* the buffer's dimension of which this is the whole, counted from 1; 0: none */
    ViewExcess excess;                          /* zero unless over; part of the key only if over or folds: see view_key_bytes */
    ViewFold fold[VIEW_FOLDS_MAX];              /* `folds` of them, the buffer's space first */
} View;

/* One index or slice of a dimension. is_index drops the dimension. PL_ALL is {0, -1, 1}. */
typedef struct ViewIndex { int64_t start, size, stride; bool is_index; } ViewIndex;

void view_whole(View *view, DType dtype, unsigned ndim, const int64_t *size);
/* Fewer indices than dimensions: the rest is taken whole. False: too many indices, a negative size, stride < 1 (the reason in *why). */
bool view_at(View *view, const View *parent, unsigned indices, const ViewIndex *index, const char **why);
bool view_reshape(View *view, const View *parent, unsigned ndim, const int64_t *size, const char **why);
/* The second-minor dimension shrinks or grows with the item size. Pallas defines this from two dimensions on; consecutive items of a 1-d
 * ref are joined or split. */
bool view_bitcast(View *view, const View *parent, DType dtype, const char **why);
size_t view_key_bytes(const View *view);
int64_t view_elements(const View *view);
bool view_element_inside(const View *view, int64_t element);            /* of the buffer, and of every slice that led to it */
/* Bytes from the start of the object to the first byte of a row-major element; to any of its bytes, which may be scattered if folds. */
int64_t view_element_offset(const View *view, int64_t element);
int64_t view_byte_offset(const View *view, int64_t element, int64_t byte);
/* All its bytes, including those outside: a new block for intern_add, of *bytes bytes, freed by g_free. NULL: more than 4194304 pieces. */
Region *view_region(const View *view, size_t *bytes);
bool view_same_shape(const View *a, const View *b);                     /* sizes and item type; dimensions of 1 count */
