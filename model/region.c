/* region.c - exact queries about strided boxes, by descending one dimension at a time.
 *
 * A box is a run of bytes repeated along dimensions, the widest stride first. Two boxes are compared by their bounding intervals; where
 * those meet, the dimension with the wider stride is split and only the parts that can reach the other box are visited. If both have the
 * same stride only the *difference* of the two indices matters, and only two or three differences bring the parts together, so boxes cut
 * from one array take constant time, whatever their counts. Strides need not be nested, so the box of a slice that leaves its dimension is
 * handled exactly, too.
 */
#include "region.h"
#include "sane.h"
#include <glib.h>
#include <string.h>

#define EXTENT_MAX (INT64_C(1) << 58)           /* of a dimension: no buffer is so large, and the sum of ten still fits */

/* The rest of a region during the descent. span: bytes from its first to its end. */
typedef struct Box { int64_t lo, span, run; uint32_t ndim; const RegionDim *dim; } Box;
typedef bool (*Visit)(void *data, int64_t lo, int64_t length);

static Box box_of(const Region *region)
{
    return (Box){region->lo, region->hi - region->lo, region->run_bytes, region->ndim, region->dim};
}

static Box box_run(int64_t lo, int64_t length)
{
    return (Box){.lo = lo, .span = length, .run = length};
}

/* The index-th part along the outermost dimension. */
static Box box_part(const Box *box, int64_t index)
{
    const RegionDim *outer = box->dim;
    return (Box){box->lo + index * outer->stride, box->span - (outer->count - 1) * outer->stride, box->run, box->ndim - 1, outer + 1};
}

static int64_t divide_down(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient - (a % b < 0);
}

/* Which parts along the outermost dimension have a bounding interval that meets [lo, hi): first..last, none if first > last. */
static void box_parts_near(const Box *box, int64_t lo, int64_t hi, int64_t *first, int64_t *last)
{
    int64_t stride = box->dim->stride, span = box_part(box, 0).span;
    *first = MAX(0, divide_down(lo - box->lo - span, stride) + 1);
    *last = MIN(box->dim->count - 1, divide_down(hi - 1 - box->lo, stride));
}

/* Adds a dimension, no narrower than those before it, to the dimensions kept so far, the narrowest first. */
static void fold_dimension(RegionDim *kept, uint32_t *ndim, int64_t *run, RegionDim dim)
{
    RegionDim *inner = *ndim ? &kept[*ndim - 1] : NULL;
    if (!inner && dim.stride <= *run)
        *run += (dim.count - 1) * dim.stride;
    else if (inner && dim.stride % inner->stride == 0 && dim.stride / inner->stride <= inner->count)
        inner->count += (dim.count - 1) * (dim.stride / inner->stride);
    else
        kept[(*ndim)++] = dim;
}

void region_box(Region *region, int64_t offset, size_t item_bytes, unsigned ndim, const int64_t *count, const int64_t *stride)
{
    g_assert(ndim <= REGION_DIMS_MAX);
    *region = (Region){0};
    RegionDim sorted[REGION_DIMS_MAX], kept[REGION_DIMS_MAX];
    unsigned used = 0;
    for (unsigned i = 0; i < ndim; i++) {
        g_assert(count[i] >= 0 && stride[i] >= 0);
        if (count[i] == 0)
            return;
        if (count[i] == 1 || stride[i] == 0)
            continue;
        unsigned at = used++;
        for (; at > 0 && sorted[at - 1].stride > stride[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = (RegionDim){MIN(count[i], 1 + EXTENT_MAX / stride[i]), stride[i]};
    }
    if (item_bytes == 0)
        return;
    region->run_bytes = (int64_t)item_bytes;
    for (unsigned i = 0; i < used; i++)
        fold_dimension(kept, &region->ndim, &region->run_bytes, sorted[i]);
    int64_t span = region->bytes = region->run_bytes;
    for (unsigned i = 0; i < region->ndim; i++) {
        region->dim[region->ndim - 1 - i] = kept[i];
        span += (kept[i].count - 1) * kept[i].stride;
        if (__builtin_mul_overflow(region->bytes, kept[i].count, &region->bytes))
            region->bytes = INT64_MAX;
    }
    region->lo = offset;
    region->hi = offset + span;
    SANE(region_assert_sane(region));
}

static void assert_box_sane(const Region *region)
{
    int64_t span = region->run_bytes;
    for (uint32_t i = region->ndim; i-- > 0; span += (region->dim[i].count - 1) * region->dim[i].stride) {
        const RegionDim *at = &region->dim[i], *inner = i + 1 < region->ndim ? at + 1 : NULL;
        g_assert(at->count > 1 && at->stride > (inner ? inner->stride : region->run_bytes));
        g_assert(inner == NULL || at->stride % inner->stride != 0 || at->stride / inner->stride > inner->count);
    }
    g_assert(region->runs == 0 && region->hi - region->lo == span);
}

void region_assert_sane(const Region *region)
{
    if (region->runs == 0) {
        assert_box_sane(region);
        return;
    }
    const RegionDim *run = region->dim, *last = run + region->runs - 1;         /* of each: its start, its length */
    g_assert(region->run_bytes == 0 && region->ndim == 0 && region->runs > 1);
    g_assert(region->lo == run->count && region->hi == last->count + last->stride);
    for (uint32_t i = 0; i < region->runs; i++)
        g_assert(run[i].stride > 0 && (i == 0 || run[i].count > run[i - 1].count + run[i - 1].stride));
}

size_t region_key_bytes(const Region *region)
{
    return offsetof(Region, dim) + sizeof(RegionDim) * (region->run_bytes ? region->ndim : region->runs);
}

Region *region_from_runs(const RegionDim *run, uint32_t runs, size_t *bytes)
{
    Region *region = g_malloc0(sizeof(Region) + sizeof(RegionDim) * runs);
    if (runs == 1) {
        region_box(region, run->count, (size_t)run->stride, 0, NULL, NULL);
    } else if (runs > 1) {
        region->lo = run[0].count;
        region->hi = run[runs - 1].count + run[runs - 1].stride;
        region->runs = runs;
        for (uint32_t i = 0; i < runs; i++)
            region->bytes += run[i].stride;
        memcpy(region->dim, run, sizeof(RegionDim) * runs);
        SANE(region_assert_sane(region));
    }
    *bytes = region_key_bytes(region);
    return region;
}

static int compare_starts(const void *a, const void *b)
{
    int64_t x = ((const RegionDim *)a)->count, y = ((const RegionDim *)b)->count;
    return x < y ? -1 : x > y;
}

Region *region_from_pieces(GArray *pieces, size_t *bytes)
{
    RegionDim *run = (RegionDim *)(void *)pieces->data;
    uint32_t runs = 0;
    g_array_sort(pieces, compare_starts);
    for (guint i = 0; i < pieces->len; i++) {
        RegionDim piece = run[i], *top = runs ? &run[runs - 1] : NULL;
        if (top != NULL && top->count + top->stride >= piece.count)
            top->stride = MAX(top->stride, piece.count + piece.stride - top->count);
        else
            run[runs++] = piece;
    }
    return region_from_runs(run, runs, bytes);
}

bool region_is_contiguous(const Region *region)
{
    return region->run_bytes == region->hi - region->lo;
}

static bool boxes_overlap(const Box *a, const Box *b);

/* Compares part i of a with part j of b: all pairs with the same difference i - j have one answer. */
static bool boxes_overlap_in_step(const Box *a, const Box *b)
{
    Box part_a = box_part(a, 0), part_b = box_part(b, 0);
    int64_t stride = a->dim->stride, distance = part_b.lo - part_a.lo;
    int64_t first = MAX(1 - b->dim->count, divide_down(distance - part_a.span, stride) + 1);
    int64_t last = MIN(a->dim->count - 1, divide_down(distance + part_b.span - 1, stride));
    for (int64_t difference = first; difference <= last; difference++) {
        Box shifted = part_a;
        shifted.lo += difference * stride;
        if (boxes_overlap(&shifted, &part_b))
            return true;
    }
    return false;
}

static bool parts_overlap(const Box *split, const Box *whole)
{
    int64_t first, last, stride = split->dim->stride, whole_end = whole->lo + whole->span;
    box_parts_near(split, whole->lo, whole_end, &first, &last);
    if (whole->ndim == 0 && first <= last) {
        int64_t inside = MAX(first, divide_down(whole->lo - split->lo + stride - 1, stride));
        if (inside <= last && box_part(split, inside).lo + box_part(split, inside).span <= whole_end)
            return true;                        /* a run contains a whole part; so few other parts remain */
    }
    for (int64_t i = first; i <= last; i++) {
        Box part = box_part(split, i);
        if (boxes_overlap(&part, whole))
            return true;
    }
    return false;
}

static bool boxes_overlap(const Box *a, const Box *b)
{
    if (a->lo >= b->lo + b->span || b->lo >= a->lo + a->span)
        return false;
    if (a->ndim == 0 && b->ndim == 0)
        return true;
    if (a->ndim && b->ndim && a->dim->stride == b->dim->stride)
        return boxes_overlap_in_step(a, b);
    bool split_b = a->ndim == 0 || (b->ndim && b->dim->stride > a->dim->stride);
    return split_b ? parts_overlap(b, a) : parts_overlap(a, b);
}

static bool runs_overlap_runs(const Region *a, const Region *b)
{
    const RegionDim *run_a = a->dim, *run_b = b->dim;
    for (uint32_t i = 0, j = 0; i < a->runs && j < b->runs;) {
        if (run_a[i].count >= run_b[j].count + run_b[j].stride)
            j++;
        else if (run_b[j].count >= run_a[i].count + run_a[i].stride)
            i++;
        else
            return true;
    }
    return false;
}

bool region_overlaps(const Region *a, const Region *b)
{
    if (a->lo >= b->hi || b->lo >= a->hi)       /* true if one of them is empty */
        return false;
    if (a->runs && b->runs)
        return runs_overlap_runs(a, b);
    if (b->runs)
        return region_overlaps(b, a);
    Box box = box_of(b);
    if (!a->runs) {
        Box other = box_of(a);
        return boxes_overlap(&other, &box);
    }
    const RegionDim *run = a->dim;
    for (uint32_t i = 0; i < a->runs; i++) {
        Box piece = box_run(run[i].count, run[i].stride);
        if (boxes_overlap(&piece, &box))
            return true;
    }
    return false;
}

/* Runs that touch form one maximal run; the last one is held back until its end is known. */
typedef struct Merger { Visit visit; void *data; int64_t lo, end; } Merger;

static bool merge_run(Merger *merger, int64_t lo, int64_t length)
{
    if (merger->end > merger->lo && lo >= merger->lo && lo <= merger->end) {
        merger->end = MAX(merger->end, lo + length);
        return true;
    }
    bool go_on = merger->end == merger->lo || merger->visit(merger->data, merger->lo, merger->end - merger->lo);
    merger->lo = lo;
    merger->end = lo + length;
    return go_on;
}

static bool box_each_run(const Box *box, Merger *merger)
{
    if (box->ndim == 0)
        return merge_run(merger, box->lo, box->run);
    for (int64_t i = 0; i < box->dim->count; i++) {
        Box part = box_part(box, i);
        if (!box_each_run(&part, merger))
            return false;
    }
    return true;
}

bool region_each_run(const Region *region, Visit visit, void *data)
{
    const RegionDim *run = region->dim;
    for (uint32_t i = 0; i < region->runs; i++)
        if (!visit(data, run[i].count, run[i].stride))
            return false;
    if (region->runs || region->lo == region->hi)
        return true;
    Merger merger = {.visit = visit, .data = data};
    Box box = box_of(region);
    return box_each_run(&box, &merger) && visit(data, merger.lo, merger.end - merger.lo);
}
