/* view.c - offset and strides after each transform, in the manner of any strided array library.
 *
 * Reshaping walks old and new dimensions together: groups with the same number of elements must correspond, and within a group the old
 * dimensions must lie behind each other without a gap. Numbers come from the kernel and may be absurd (an index read from garbage), so
 * everything saturates at a size that no buffer reaches: such a view is outside in any case.
 */
#include "view.h"
#include <glib.h>

#define EXTENT_MAX (INT64_C(1) << 50)

static int64_t saturate(__int128_t value)
{
    return (int64_t)(value > EXTENT_MAX ? EXTENT_MAX : value < -EXTENT_MAX ? -EXTENT_MAX : value);
}

/* Row-major strides for items of so many bytes. */
static void lay_dense(View *view, int64_t stride)
{
    for (unsigned i = view->ndim; i-- > 0;) {
        view->stride[i] = stride;
        stride = saturate((__int128_t)stride * MAX(view->size[i], 1));
    }
}

void view_whole(View *view, DType dtype, unsigned ndim, const int64_t *size)
{
    g_assert(ndim <= VIEW_DIMS_MAX);
    *view = (View){.ndim = ndim, .dtype = dtype};
    for (unsigned i = 0; i < ndim; i++) {
        g_assert(size[i] >= 0);
        view->size[i] = size[i];
    }
    lay_dense(view, (int64_t)dtype_size_bytes(dtype));
}

static bool index_is_inside(const ViewIndex *index, int64_t limit)
{
    if (index->is_index)
        return index->start >= 0 && index->start < limit;
    return index->size == 0 || (index->start >= 0 && index->start + (__int128_t)(index->size - 1) * index->stride < limit);
}

static bool takes_all(const ViewIndex *index, int64_t limit)
{
    return !index->is_index && index->start == 0 && index->stride == 1 && (index->size == -1 || index->size == limit);
}

static bool apply_index(View *view, const View *parent, unsigned dim, const ViewIndex *given, const char **why)
{
    ViewIndex index = *given;
    int64_t limit = parent->size[dim], stride = parent->stride[dim];
    if (takes_all(given, limit))
        index.size = limit;
    if (!index.is_index && index.size < 0)
        return *why = "a slice of negative size", false;
    if (!index.is_index && index.stride < 1)
        return *why = "a slice with a stride below 1", false;
    if (view->over != VIEW_OUTSIDE && !index_is_inside(&index, limit)) {
        view->over = VIEW_OUTSIDE;
        view->over_dim = (uint8_t)dim;
        view->over_start = index.start;
        view->over_size = index.is_index ? 1 : index.size;
        view->over_stride = index.is_index ? 1 : index.stride;
        view->over_limit = limit;
    }
    view->offset = saturate(view->offset + (__int128_t)index.start * stride);
    if (!index.is_index) {
        view->size[view->ndim] = MIN(index.size, EXTENT_MAX);
        view->stride[view->ndim++] = saturate((__int128_t)index.stride * stride);
    }
    return true;
}

bool view_at(View *view, const View *parent, unsigned indices, const ViewIndex *index, const char **why)
{
    if (indices > parent->ndim)
        return *why = "more indices than dimensions", false;
    if (parent->packed && indices == parent->ndim && !takes_all(&index[indices - 1], parent->size[indices - 1]))
        return *why = "a part of the minor dimension of a ref whose item size a bitcast changed: select it first", false;
    View result = *parent;
    result.ndim = 0;
    for (unsigned i = 0; i < indices; i++)
        if (!apply_index(&result, parent, i, &index[i], why))
            return false;
    for (unsigned i = indices; i < parent->ndim; i++) {
        result.size[result.ndim] = parent->size[i];
        result.stride[result.ndim++] = parent->stride[i];
    }
    for (unsigned i = result.ndim; i < parent->ndim; i++)
        result.size[i] = result.stride[i] = 0;  /* views are keys: what is unused is zero */
    *view = result;
    return true;
}

int64_t view_elements(const View *view)
{
    int64_t elements = 1;
    for (unsigned i = 0; i < view->ndim; i++) {
        if (view->size[i] == 0)
            return 0;
        elements = saturate((__int128_t)elements * view->size[i]);
    }
    return elements;
}

/* Gives result (whose sizes are set) strides that reach the same bytes as parent's; false if there are none. Dimensions of 1 aside, the
 * groups are the finest ones: each ends where the products of old and new sizes meet. */
static bool reshape_strides(View *result, const View *parent)
{
    unsigned old = 0, new = 0;
    while (old < parent->ndim || new < result->ndim) {
        unsigned old_from = old, new_from = new;
        int64_t old_count = 1, new_count = 1;
        do {
            if (new < result->ndim && (new_count <= old_count || old == parent->ndim))
                new_count *= result->size[new++];
            else
                old_count *= parent->size[old++];
        } while (old_count != new_count || (old_count == 1 && (old < parent->ndim || new < result->ndim)));
        int64_t item = 0, extent = 0;           /* stride of the group's last dimension above 1; bytes behind which the next must begin */
        for (unsigned i = old; i-- > old_from;) {
            if (parent->size[i] == 1)
                continue;
            if (item && parent->stride[i] != extent)
                return false;
            if (!item)
                item = parent->stride[i];
            extent = saturate((__int128_t)parent->stride[i] * parent->size[i]);
        }
        if (!item)
            item = (int64_t)dtype_size_bytes((DType)parent->dtype);
        for (unsigned i = new; i-- > new_from;) {
            result->stride[i] = item;
            item = saturate((__int128_t)item * result->size[i]);
        }
    }
    return true;
}

bool view_reshape(View *view, const View *parent, unsigned ndim, const int64_t *size, const char **why)
{
    if (ndim > VIEW_DIMS_MAX)
        return *why = "a reshape to more than 8 dimensions", false;
    View result = *parent;
    result.ndim = ndim;
    for (unsigned i = 0; i < VIEW_DIMS_MAX; i++) {
        result.size[i] = i < ndim ? size[i] : 0;
        result.stride[i] = 0;
        if (result.size[i] < 0)
            return *why = "a reshape to a negative size", false;
    }
    if (parent->packed && (ndim == 0 || size[ndim - 1] != parent->size[parent->ndim - 1]))
        return *why = "a reshape of the minor dimension of a ref whose item size a bitcast changed: reshape first", false;
    int64_t elements = view_elements(parent);
    if (view_elements(&result) != elements || elements == EXTENT_MAX)
        return *why = "a reshape to another number of elements", false;
    if (elements == 0)
        lay_dense(&result, (int64_t)dtype_size_bytes((DType)parent->dtype));
    else if (!reshape_strides(&result, parent))
        return *why = "a reshape of a slice whose elements do not lie behind each other", false;
    *view = result;
    return true;
}

bool view_bitcast(View *view, const View *parent, DType dtype, const char **why)
{
    int64_t old_bytes = (int64_t)dtype_size_bytes((DType)parent->dtype), new_bytes = (int64_t)dtype_size_bytes(dtype);
    View result = *parent;
    result.dtype = dtype;
    if (old_bytes != new_bytes) {
        if (parent->ndim == 0)
            return *why = "a bitcast of a scalar to an item of another size", false;
        unsigned scaled = parent->ndim >= 2 ? parent->ndim - 2 : 0;
        int64_t bytes = saturate((__int128_t)parent->size[scaled] * old_bytes), dense = old_bytes;
        if (bytes % new_bytes != 0)
            return *why = "a bitcast whose second-minor dimension (of a 1-d ref: its only one) does not divide", false;
        for (unsigned i = parent->ndim; i-- > scaled;) {
            if (parent->size[i] > 1 && parent->stride[i] != dense)
                return *why = "a bitcast of a slice whose elements do not lie behind each other", false;
            dense = saturate((__int128_t)dense * MAX(parent->size[i], 1));
        }
        result.size[scaled] = bytes / new_bytes;
        result.packed = parent->packed || parent->ndim >= 2;
        int64_t stride = new_bytes;
        for (unsigned i = parent->ndim; i-- > scaled;) {
            result.stride[i] = stride;
            stride = saturate((__int128_t)stride * MAX(result.size[i], 1));
        }
    }
    *view = result;
    return true;
}

void view_region(const View *view, Region *region)
{
    region_box(region, view->offset, dtype_size_bytes((DType)view->dtype), view->ndim, view->size, view->stride);
}

bool view_same_shape(const View *a, const View *b)
{
    if (a->ndim != b->ndim || a->dtype != b->dtype)
        return false;
    for (unsigned i = 0; i < a->ndim; i++)
        if (a->size[i] != b->size[i])
            return false;
    return true;
}

int64_t view_element_offset(const View *view, int64_t element)
{
    int64_t offset = view->offset;
    for (unsigned d = view->ndim; d-- > 0;) {
        offset += element % view->size[d] * view->stride[d];
        element /= view->size[d];
    }
    return offset;
}
