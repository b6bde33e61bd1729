/* view.h - how a ref looks at its buffer: element type, shape and strides after indexing, slicing, reshaping, bitcasting.
 *
 * Source: Pallas' ref transforms (NDIndexer, RefReshaper, RefBitcaster). A view may reach outside its buffer: that is a fault only when it
 * is accessed, so the first excess is remembered here. Interned in the Program.
 */
#pragma once
#include "dtype.h"
#include "region.h"

#define VIEW_DIMS_MAX 8

typedef enum ViewOver { VIEW_INSIDE, VIEW_IN_PADDING, VIEW_OUTSIDE } ViewOver;

typedef struct View {
    int64_t offset;                             /* bytes from the start of the object; may be outside it */
    int64_t size[VIEW_DIMS_MAX], stride[VIEW_DIMS_MAX];                 /* elements; bytes */
    int64_t over_start, over_size, over_stride, over_limit;             /* the first index or slice that leaves its dimension */
    uint32_t ndim;
    uint8_t dtype, over, over_dim, packed;      /* packed: the item size changed by a bitcast of rows, see view_bitcast */
} View;

/* One index or slice of a dimension. is_index drops the dimension. PL_ALL is {0, -1, 1}. */
typedef struct ViewIndex { int64_t start, size, stride; bool is_index; } ViewIndex;

void view_whole(View *view, DType dtype, unsigned ndim, const int64_t *size);
/* Fewer indices than dimensions: the rest is taken whole. False: too many indices, a negative size, stride < 1 (usage error in *why). */
bool view_at(View *view, const View *parent, unsigned indices, const ViewIndex *index, const char **why);
bool view_reshape(View *view, const View *parent, unsigned ndim, const int64_t *size, const char **why);
/* Pallas' bitcast: the second-minor dimension shrinks or grows with the item size (a 1-d ref: its only one). Pallas packs the items of one
 * column of several rows; here the same rows lie behind each other. Whole rows are the same bytes in both, parts of rows are not: so the
 * minor dimension of a packed view cannot be indexed, sliced or reshaped (usage error), lest an overlap is missed. */
bool view_bitcast(View *view, const View *parent, DType dtype, const char **why);
int64_t view_elements(const View *view);
int64_t view_element_offset(const View *view, int64_t element);         /* bytes from the start of the object, row-major element */
void view_region(const View *view, Region *region);                     /* all its bytes, also those outside */
bool view_same_shape(const View *a, const View *b);                     /* sizes and item type; dimensions of 1 count */
