/* view_fold.c - views of a space other than their buffer's: where their bytes are, and when they have strides in the space below.
 *
 * Offset, strides and item of a view are a sum of terms i * stride, i < count. A fold maps each term digit by digit, the innermost first:
 * as long as the digits of all terms together never carry, the sum of the terms' images is the image of their sum. Where they may carry, a
 * region is cut in two, or a term is split into one that runs within a whole number of periods and one that counts periods.
 */
#include "view_inside.h"
#include <glib.h>
#include <string.h>

enum { TERMS_MAX = 24, PIECES_MAX = 1 << 22 };

/* Bytes at + sum i_k * term[k].stride, i_k < term[k].count, of the space above `folds` folds. */
typedef struct Terms { int64_t at; unsigned folds, terms; RegionDim term[TERMS_MAX]; } Terms;

static int64_t take_digit(int64_t *value, int64_t count)
{
    int64_t digit = *value % count;
    digit += digit < 0 ? count : 0;
    *value = (*value - digit) / count;
    return digit;
}

/* Maps terms to the space below their last fold. False: the digits of a dimension may carry; *period: its extent. */
static bool go_down(const ViewFold *fold, Terms *terms, int64_t *period)
{
    Terms above = *terms;
    __int128_t at = fold->offset;
    *period = 1;
    for (unsigned t = 0; t < terms->terms; t++)
        terms->term[t].stride = 0;
    for (unsigned d = (unsigned)fold->ndim; d-- > 0;) {
        RegionDim dim = fold->dim[d];
        int64_t digit = d ? take_digit(&above.at, dim.count) : above.at;
        __int128_t last = digit;
        for (unsigned t = 0; t < terms->terms; t++) {
            int64_t step = d ? take_digit(&above.term[t].stride, dim.count) : above.term[t].stride;
            last += (__int128_t)step * MAX(above.term[t].count - 1, 0);
            terms->term[t].stride = view_saturate(terms->term[t].stride + (__int128_t)step * dim.stride);
        }
        *period = view_saturate((__int128_t)*period * dim.count);
        if (d && last >= dim.count)
            return false;
        at += (__int128_t)digit * dim.stride;
    }
    terms->at = view_saturate(at);
    terms->folds--;
    return true;
}

static Terms terms_of(const View *view)
{
    Terms terms = { view->offset, view->folds, view->ndim + 1, { [0] = { 0 } } };
    for (unsigned d = 0; d < view->ndim; d++)
        terms.term[d] = (RegionDim){ view->size[d], view->stride[d] };
    terms.term[view->ndim] = (RegionDim){ (int64_t)dtype_size_bytes((DType)view->dtype), 1 };
    return terms;
}

void view_unfold(View *view)
{
    while (view->folds) {
        Terms terms = terms_of(view);
        int64_t period;
        const RegionDim *item = &terms.term[view->ndim];
        if (!go_down(&view->fold[view->folds - 1], &terms, &period) || (item->count > 1 && item->stride != 1))
            return;
        view->offset = terms.at;
        for (unsigned d = 0; d < view->ndim; d++)
            view->stride[d] = terms.term[d].stride;
        view->folds--;
    }
}

static void add_dim(ViewFold *fold, RegionDim dim)
{
    RegionDim *outer = fold->ndim ? &fold->dim[fold->ndim - 1] : NULL;
    if (dim.count == 1)
        return;
    if (outer && outer->stride == view_saturate((__int128_t)dim.stride * dim.count))
        *outer = (RegionDim){ outer->count * dim.count, dim.stride };
    else
        fold->dim[fold->ndim++] = dim;
}

bool view_fold(View *view, const unsigned *order)
{
    int64_t item = (int64_t)dtype_size_bytes((DType)view->dtype);
    if (view->folds == VIEW_FOLDS_MAX)
        return false;
    ViewFold fold = { .offset = view->offset };
    for (unsigned i = 0; i < view->ndim; i++)
        add_dim(&fold, (RegionDim){ view->size[order[i]], view->stride[order[i]] });
    add_dim(&fold, (RegionDim){ item, 1 });
    for (unsigned i = view->ndim; i-- > 0; item *= view->size[order[i]])
        view->stride[order[i]] = item;
    view->offset = 0;
    if (view->folds == 0 && !view->over)
        memset(&view->excess, 0, sizeof view->excess);
    view->fold[view->folds++] = fold;
    return true;
}

int64_t view_byte_offset(const View *view, int64_t element, int64_t byte)
{
    int64_t at = view->offset + byte;
    for (unsigned d = view->ndim; d-- > 0;) {
        at += element % view->size[d] * view->stride[d];
        element /= view->size[d];
    }
    for (unsigned f = view->folds; f-- > 0;) {
        const ViewFold *fold = &view->fold[f];
        __int128_t below = fold->offset;
        for (unsigned d = (unsigned)fold->ndim; d-- > 0;)
            below += (__int128_t)(d ? take_digit(&at, fold->dim[d].count) : at) * fold->dim[d].stride;
        at = view_saturate(below);
    }
    return at;
}

int64_t view_element_offset(const View *view, int64_t element)
{
    return view_byte_offset(view, element, 0);
}

/* The boxes of a region: the first one; if there are more, the runs of all. */
typedef struct Pieces { Region first; unsigned boxes; GArray *runs; } Pieces;

static bool add_run(void *data, int64_t lo, int64_t length)
{
    GArray *runs = data;
    RegionDim run = { lo, length };
    g_array_append_val(runs, run);
    return runs->len < PIECES_MAX;
}

static bool add_box(Pieces *pieces, const Region *box)
{
    if (pieces->boxes++ == 0)
        return pieces->first = *box, true;
    if (pieces->boxes == 2 && !region_each_run(&pieces->first, add_run, pieces->runs))
        return false;
    return region_each_run(box, add_run, pieces->runs);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

static void drop_single(Terms *terms)
{
    unsigned kept = 0;
    for (unsigned t = 0; t < terms->terms; t++)
        if (terms->term[t].count != 1)
            terms->term[kept++] = terms->term[t];
    terms->terms = kept;
}

static bool add_pieces(const View *view, Terms terms, Pieces *pieces);

/* Splits a term: its first `first` steps, and the rest. */
static bool cut(const View *view, const Terms *terms, unsigned term, int64_t first, Pieces *pieces)
{
    Terms rest = *terms, some = *terms;
    some.term[term].count = first;
    rest.term[term].count -= first;
    rest.at += first * rest.term[term].stride;
    return add_pieces(view, some, pieces) && add_pieces(view, rest, pieces);
}

/* The term that moves farthest within a period, and so may carry. */
static unsigned widest_term(const Terms *terms, int64_t period)
{
    unsigned widest = 0;
    __int128_t most = -1;
    for (unsigned t = 0; t < terms->terms; t++) {
        __int128_t moves = (__int128_t)(terms->term[t].stride % period) * (terms->term[t].count - 1);
        if (moves > most)
            widest = t, most = moves;
    }
    return widest;
}

/* For terms that may carry out of a period: cuts one where it enters a period, or after the last whole period, or into two factors. */
static bool take_apart(const View *view, const Terms *terms, int64_t period, Pieces *pieces)
{
    unsigned t = widest_term(terms, period);
    RegionDim term = terms->term[t];
    int64_t turn = period / common_divisor(period, term.stride), at = terms->at, into = take_digit(&at, period);
    int64_t enter = (period - into + term.stride - 1) / term.stride;
    bool clean = (into + (__int128_t)enter * term.stride) % period == 0;
    if (into > 0 && clean && enter < term.count)
        return cut(view, terms, t, enter, pieces);
    if (term.count <= turn || terms->terms == TERMS_MAX)
        return cut(view, terms, t, CLAMP(enter, 1, term.count - 1), pieces);
    if (term.count % turn)
        return cut(view, terms, t, term.count - term.count % turn, pieces);
    Terms factors = *terms;
    factors.term[t].count = turn;
    factors.term[factors.terms++] = (RegionDim){ term.count / turn, turn * term.stride };
    return add_pieces(view, factors, pieces);
}

static bool add_pieces(const View *view, Terms terms, Pieces *pieces)
{
    while (terms.folds) {
        Terms above = terms;
        int64_t period;
        drop_single(&above);
        terms = above;
        if (!go_down(&view->fold[terms.folds - 1], &terms, &period))
            return take_apart(view, &above, period, pieces);
    }
    drop_single(&terms);
    if (terms.terms > REGION_DIMS_MAX)
        return cut(view, &terms, 0, 1, pieces);
    int64_t count[REGION_DIMS_MAX], stride[REGION_DIMS_MAX];
    for (unsigned t = 0; t < terms.terms; t++)
        count[t] = terms.term[t].count, stride[t] = terms.term[t].stride;
    Region box;
    region_box(&box, terms.at, 1, terms.terms, count, stride);
    return add_box(pieces, &box);
}

/* Does each part of the box end before the next begins? */
static bool is_nested(const Region *region)
{
    int64_t span = region->run_bytes;
    for (unsigned d = region->ndim; d-- > 0; span += (region->dim[d].count - 1) * region->dim[d].stride)
        if (region->dim[d].stride < span)
            return false;
    return true;
}

/* The box of a view that leaves its buffer may be absurdly large, and is kept as it is. */
Region *view_region(const View *view, size_t *bytes)
{
    g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(RegionDim));
    Pieces pieces = { .boxes = 1, .runs = runs };
    if (view->folds && view_elements(view) > 0) {
        pieces.boxes = 0;
        if (!add_pieces(view, terms_of(view), &pieces))
            return NULL;
    } else {
        region_box(&pieces.first, view->offset, dtype_size_bytes((DType)view->dtype), view->ndim, view->size, view->stride);
    }
    if (pieces.boxes == 1 && (view->over || is_nested(&pieces.first))) {
        *bytes = region_key_bytes(&pieces.first);
        return g_memdup2(&pieces.first, sizeof pieces.first);
    }
    if (pieces.boxes == 1 && !region_each_run(&pieces.first, add_run, runs))
        return NULL;
    return region_from_pieces(runs, bytes);
}
