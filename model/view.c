/* view.c - offset and strides after each transform, as in any strided array library.
 *
 * A reshape matches groups of old and new dimensions with the same number of elements: if within each group the old dimensions are
 * contiguous, the result has strides; otherwise it needs a fold. Numbers come from the kernel and may be absurd (an index read from
 * garbage), so everything saturates at a size that no buffer reaches: such a view is outside in any case.
 */
#include "view_inside.h"
#include <glib.h>
#include <string.h>
#include "store.h"

int64_t view_saturate(__int128_t value)
{
    return (int64_t)(value > VIEW_EXTENT_MAX ? VIEW_EXTENT_MAX : value < -VIEW_EXTENT_MAX ? -VIEW_EXTENT_MAX : value);
}

size_t view_key_bytes(const View *view)
{
    return view->folds ? offsetof(View, fold) + view->folds * sizeof(ViewFold) : view->over ? offsetof(View, fold) : offsetof(View, excess);
}

static const char TOO_MANY_FOLDS[] = "one more reshape or bitcast of packed or strided rows than the 8 that are supported";

static void copy_view(View *view, const View *from)
{
    memcpy(view, from, view_key_bytes(from));
}

/* Row-major strides; stride: bytes of an item. */
static void lay_dense(View *view, int64_t stride)
{
    for (unsigned i = view->ndim; i-- > 0;) {
        view->stride[i] = stride;
        stride = view_saturate((__int128_t)stride * MAX(view->size[i], 1));
    }
}

void view_whole(View *view, DType dtype, unsigned ndim, const int64_t *size)
{
    g_assert(ndim <= VIEW_DIMS_MAX);
    memset(view, 0, offsetof(View, excess));
    view->ndim = ndim, view->dtype = (uint8_t)dtype;
    for (unsigned i = 0; i < ndim; i++) {
        g_assert(size[i] >= 0);
        view->size[i] = size[i];
        view->whole[i] = (uint8_t)(i + 1);
    }
    lay_dense(view, (int64_t)dtype_size_bytes(dtype));
}

static __int128_t last_index(const ViewIndex *index)
{
    return index->is_index ? index->start : index->start + (__int128_t)(index->size - 1) * index->stride;
}

static bool index_is_inside(const ViewIndex *index, int64_t limit)
{
    return (!index->is_index && index->size == 0) || (index->start >= 0 && last_index(index) < limit);
}

static bool takes_all(const ViewIndex *index, int64_t limit)
{
    return !index->is_index && index->start == 0 && index->stride == 1 && index->size == limit;
}

static void note_excess(ViewExcess *excess, const View *parent, unsigned dim, const ViewIndex *index)
{
    if (excess->size == 0)
        *excess = (ViewExcess){ .start = index->start, .size = index->is_index ? 1 : index->size, .dim = dim,
                                .stride = index->is_index ? 1 : index->stride, .limit = parent->size[dim], .site = NONE };
    if (parent->whole[dim] == 0 || parent->size[dim] == 0 || index->start < 0)
        excess->beyond = true;
    else
        excess->reach[parent->whole[dim] - 1] = view_saturate(last_index(index));
}

/* How many indices of a slice come before index `limit` of its dimension. */
static int64_t indices_before(const ViewIndex *index, int64_t limit)
{
    __int128_t distance = (__int128_t)limit - index->start;
    return distance <= 0 ? 0 : (int64_t)MIN((distance + index->stride - 1) / index->stride, index->size);
}

/* Determines the inside part of a new view that leaves the buffer, or whose parent does. */
static void take_excess(View *view, const View *parent, const ViewIndex *index)
{
    ViewExcess before = parent->over ? parent->excess : (ViewExcess){ 0 }, after = before;
    unsigned kept = 0;
    for (unsigned d = 0; d < parent->ndim; d++)
        if (!index_is_inside(&index[d], parent->size[d]))
            note_excess(&after, parent, d, &index[d]);
    memset(after.from, 0, sizeof after.from), memset(after.to, 0, sizeof after.to);
    view->over = false;
    for (unsigned d = 0; d < parent->ndim; d++) {
        int64_t from = parent->over ? before.from[d] : 0, to = parent->over ? before.to[d] : parent->size[d];
        if (index[d].is_index) {
            after.nowhere |= index[d].start < from || index[d].start >= to;
            continue;
        }
        after.from[kept] = indices_before(&index[d], from);
        after.to[kept] = indices_before(&index[d], to);
        view->over |= after.from[kept] > 0 || after.to[kept] < view->size[kept];
        kept++;
    }
    view->over |= after.nowhere;
    view->excess = view->over ? after : (ViewExcess){ 0 };
}

static bool complete_index(ViewIndex *index, const ViewIndex *given, int64_t limit, const char **why)
{
    *index = given ? *given : (ViewIndex){ 0, -1, 1, false };
    if (!index->is_index && index->start == 0 && index->stride == 1 && index->size == -1)
        index->size = limit;
    if (!index->is_index && index->size < 0)
        return *why = "a slice of negative size", false;
    if (!index->is_index && index->stride < 1)
        return *why = "a slice with a stride below 1", false;
    return true;
}

bool view_at(View *view, const View *parent, unsigned indices, const ViewIndex *given, const char **why)
{
    if (indices > parent->ndim)
        return *why = "more indices than dimensions", false;
    View result;
    ViewIndex index[VIEW_DIMS_MAX];
    bool over = parent->over;
    copy_view(&result, parent);
    result.ndim = 0;
    for (unsigned i = 0; i < parent->ndim; i++) {
        if (!complete_index(&index[i], i < indices ? &given[i] : NULL, parent->size[i], why))
            return false;
        over |= !index_is_inside(&index[i], parent->size[i]);
        result.offset = view_saturate(result.offset + (__int128_t)index[i].start * parent->stride[i]);
        if (index[i].is_index)
            continue;
        result.whole[result.ndim] = takes_all(&index[i], parent->size[i]) ? parent->whole[i] : 0;
        result.size[result.ndim] = MIN(index[i].size, VIEW_EXTENT_MAX);
        result.stride[result.ndim++] = view_saturate((__int128_t)index[i].stride * parent->stride[i]);
    }
    for (unsigned i = result.ndim; i < parent->ndim; i++)
        result.size[i] = result.stride[i] = result.whole[i] = 0;        /* views are keys: unused members are zero */
    if (over)
        take_excess(&result, parent, index);
    view_unfold(&result);
    copy_view(view, &result);
    return true;
}

int64_t view_elements(const View *view)
{
    int64_t elements = 1;
    for (unsigned i = 0; i < view->ndim; i++) {
        if (view->size[i] == 0)
            return 0;
        elements = view_saturate((__int128_t)elements * view->size[i]);
    }
    return elements;
}

/* Gives result, whose sizes are set, strides that reach the same bytes as parent's; false if there are none. Dimensions of size 1 aside,
 * groups are minimal: each ends where the products of old and new sizes meet. */
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
        int64_t item = 0, extent = 0;           /* stride of the group's last dimension above 1; bytes after which the next must begin */
        for (unsigned i = old; i-- > old_from;) {
            if (parent->size[i] == 1)
                continue;
            if (item && parent->stride[i] != extent)
                return false;
            if (!item)
                item = parent->stride[i];
            extent = view_saturate((__int128_t)parent->stride[i] * parent->size[i]);
        }
        if (!item)
            item = (int64_t)dtype_size_bytes((DType)parent->dtype);
        for (unsigned i = new; i-- > new_from;) {
            result->stride[i] = item;
            item = view_saturate((__int128_t)item * result->size[i]);
        }
    }
    return true;
}

/* Slices that leave the buffer are not tracked through a change of shape: none of their elements counts as inside. */
static void lose_excess(View *view)
{
    if (!view->over)
        return;
    memset(view->excess.from, 0, sizeof view->excess.from), memset(view->excess.to, 0, sizeof view->excess.to);
    view->excess.nowhere = view->excess.beyond = true;
}

bool view_reshape(View *view, const View *parent, unsigned ndim, const int64_t *size, const char **why)
{
    static const unsigned ORDER[VIEW_DIMS_MAX] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    if (ndim > VIEW_DIMS_MAX)
        return *why = "a reshape to more than 8 dimensions", false;
    View result;
    copy_view(&result, parent);
    result.ndim = ndim;
    for (unsigned i = 0; i < VIEW_DIMS_MAX; i++) {
        result.size[i] = i < ndim ? size[i] : 0;
        result.stride[i] = result.whole[i] = 0;
        if (result.size[i] < 0)
            return *why = "a reshape to a negative size", false;
    }
    int64_t elements = view_elements(parent);
    if (view_elements(&result) != elements || elements == VIEW_EXTENT_MAX)
        return *why = "a reshape to another number of elements", false;
    if (elements == 0) {
        lay_dense(&result, (int64_t)dtype_size_bytes((DType)parent->dtype));
    } else if (!reshape_strides(&result, parent)) {
        View folded;
        copy_view(&folded, parent);
        if (!view_fold(&folded, ORDER))
            return *why = TOO_MANY_FOLDS, false;
        memcpy(folded.size, result.size, sizeof result.size), memset(folded.whole, 0, sizeof folded.whole);
        memset(folded.stride, 0, sizeof folded.stride);
        folded.ndim = ndim;
        lay_dense(&folded, (int64_t)dtype_size_bytes((DType)parent->dtype));
        copy_view(&result, &folded);
    }
    lose_excess(&result);
    view_unfold(&result);
    copy_view(view, &result);
    return true;
}

/* Makes the items of each column contiguous along dimension `scaled`, for a bitcast. */
static bool gather_columns(View *view, unsigned scaled, int64_t item)
{
    unsigned order[VIEW_DIMS_MAX], kept = 0;
    int64_t elements = view_elements(view);
    if (view->size[scaled] <= 1 || view->stride[scaled] == item || elements == 0 || elements == VIEW_EXTENT_MAX)
        return true;
    for (unsigned d = 0; d < view->ndim; d++)
        if (d != scaled)
            order[kept++] = d;
    order[kept] = scaled;
    return view_fold(view, order);
}

bool view_bitcast(View *view, const View *parent, DType dtype, const char **why)
{
    int64_t old_bytes = (int64_t)dtype_size_bytes((DType)parent->dtype), new_bytes = (int64_t)dtype_size_bytes(dtype);
    View result;
    copy_view(&result, parent);
    if (old_bytes != new_bytes) {
        if (parent->ndim == 0)
            return *why = "a bitcast of a scalar to an item of another size", false;
        unsigned scaled = parent->ndim >= 2 ? parent->ndim - 2 : 0;
        int64_t bytes = view_saturate((__int128_t)parent->size[scaled] * old_bytes);
        if (bytes % new_bytes != 0)
            return *why = "a bitcast whose second-minor dimension (of a 1-d ref: its only one) does not divide", false;
        if (!gather_columns(&result, scaled, old_bytes))
            return *why = TOO_MANY_FOLDS, false;
        result.size[scaled] = bytes / new_bytes;
        result.stride[scaled] = new_bytes;
        memset(result.whole, 0, sizeof result.whole);
        lose_excess(&result);
    }
    result.dtype = (uint8_t)dtype;
    view_unfold(&result);
    copy_view(view, &result);
    return true;
}

bool view_element_inside(const View *view, int64_t element)
{
    if (!view->over)
        return true;
    if (view->excess.nowhere)
        return false;
    for (unsigned d = view->ndim; d-- > 0; element /= view->size[d]) {
        int64_t index = element % view->size[d];
        if (index < view->excess.from[d] || index >= view->excess.to[d])
            return false;
    }
    return true;
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
