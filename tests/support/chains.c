/* chains.c - the rules of views, as lists of addresses. */
#include "chains.h"
#include <glib.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

static const DType TYPE[TYPES] = { DTYPE_U8, DTYPE_I16, DTYPE_F32, DTYPE_I64, DTYPE_BF16, DTYPE_I32, DTYPE_BOOL };
static const int WIDTH[TYPES] = { 1, 2, 4, 8, 2, 4, 1 };

int below(Rng *rng, int limit)
{
    return (int)rng_below(rng, (uint64_t)limit);
}

static int count_elements(int ndim, const int *size)
{
    int elements = 1;
    for (int d = 0; d < ndim; d++)
        elements *= size[d];
    return elements;
}

static void split_element(int element, int ndim, const int *size, int *at)
{
    for (int d = ndim - 1; d >= 0; d--) {
        at[d] = element % size[d];
        element /= size[d];
    }
}

static int join_element(int ndim, const int *size, const int *at)
{
    int element = 0;
    for (int d = 0; d < ndim; d++)
        element = element * size[d] + at[d];
    return element;
}

static void plain_whole(Plain *plain, const PlainShape *shape)
{
    *plain = (Plain){ .dtype = shape->dtype, .item = shape->item, .ndim = shape->ndim };
    memcpy(plain->size, shape->size, sizeof plain->size);
    plain->elements = count_elements(plain->ndim, plain->size);
    for (int e = 0; e < plain->elements; e++)
        for (int b = 0; b < plain->item; b++)
            plain->address[e][b] = (int16_t)(e * plain->item + b);
}

PlainShape random_shape(Rng *rng)
{
    int type = below(rng, TYPES);
    PlainShape shape = { .dtype = TYPE[type], .item = WIDTH[type], .ndim = 1 + below(rng, 4) };
    do
        for (int d = 0; d < shape.ndim; d++)
            shape.size[d] = below(rng, 4) ? 1 + below(rng, 8) : 4 * (1 + below(rng, 4));
    while (count_elements(shape.ndim, shape.size) * shape.item > BYTES);
    return shape;
}

/* An index or slice per dimension; out of range in a dimension: outside, with no address. */
void plain_at(Plain *to, const Plain *from, const ViewIndex *index)
{
    *to = (Plain){ .dtype = from->dtype, .item = from->item };
    for (int d = 0; d < from->ndim; d++)
        if (!index[d].is_index)
            to->size[to->ndim++] = (int)index[d].size;
    to->elements = count_elements(to->ndim, to->size);
    for (int e = 0; e < to->elements; e++) {
        int at[DIMS], source[DIMS];
        split_element(e, to->ndim, to->size, at);
        for (int d = 0, kept = 0; d < from->ndim; d++) {
            source[d] = (int)index[d].start + (index[d].is_index ? 0 : at[kept++] * (int)index[d].stride);
            to->outside[e] |= source[d] < 0 || source[d] >= from->size[d];
        }
        int element = to->outside[e] ? 0 : join_element(from->ndim, from->size, source);
        to->outside[e] |= !to->outside[e] && from->outside[element];
        if (!to->outside[e])
            memcpy(to->address[e], from->address[element], sizeof to->address[e]);
    }
}

/* Byte n of a column is byte n % item of its row n / item, in the old items as in the new. A 1-d ref is one column. */
static bool plain_bitcast(Plain *to, const Plain *from, DType dtype, int item)
{
    int rows = from->ndim >= 2 ? from->ndim - 2 : 0;
    *to = *from;
    to->dtype = dtype, to->item = item;
    if (item == from->item)
        return true;
    if (from->ndim == 0 || from->size[rows] * from->item % item != 0)
        return false;
    to->size[rows] = from->size[rows] * from->item / item;
    to->elements = count_elements(to->ndim, to->size);
    for (int e = 0; e < to->elements; e++) {
        int at[DIMS];
        split_element(e, to->ndim, to->size, at);
        int row = at[rows];
        for (int b = 0; b < item; b++) {
            int n = row * item + b;
            at[rows] = n / from->item;
            to->address[e][b] = from->address[join_element(from->ndim, from->size, at)][n % from->item];
        }
    }
    return true;
}

static ViewIndex random_index(Rng *rng, int size, bool may_leave)
{
    if (below(rng, 4) == 0)
        return (ViewIndex){ 0, size, 1, false };
    if (may_leave && below(rng, 8) == 0)
        return below(rng, 3) ? (ViewIndex){ below(rng, size + 3) - 1, below(rng, 4), 1 + below(rng, 2), false }
            : (ViewIndex){ .start = below(rng, size + 4) - 2, .is_index = true };
    if (size > 0 && below(rng, 4) == 0)
        return (ViewIndex){ .start = below(rng, size), .is_index = true };
    int stride = 1 + below(rng, 2) * below(rng, 4), start = below(rng, size / 3 + 1);
    int most = size > start ? (size - start - 1) / stride + 1 : 0;
    return (ViewIndex){ start, below(rng, 5) ? most : below(rng, most + 1), stride, false };
}

static void note(Chain *chain, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(Chain *chain, const char *format, ...)
{
    size_t length = strlen(chain->text);
    va_list arguments;
    va_start(arguments, format);
    g_vsnprintf(chain->text + length, sizeof chain->text - length, format, arguments);
    va_end(arguments);
}

static bool step_at(Rng *rng, Chain *chain, bool may_leave)
{
    ViewIndex index[DIMS];
    const char *why = NULL;
    int ndim = chain->plain.ndim;
    Plain before = chain->plain;
    int64_t elements = 1;
    for (int d = 0; d < ndim; d++) {
        index[d] = random_index(rng, before.size[d], may_leave);
        elements *= index[d].is_index ? 1 : index[d].size;
        note(chain, "%s%d+%dx%d%s", d ? ", " : " at(", (int)index[d].start, (int)index[d].size, (int)index[d].stride,
             index[d].is_index ? "i" : "");
    }
    note(chain, ")");
    if (elements > BYTES)
        return false;
    plain_at(&chain->plain, &before, index);
    return view_at(&chain->view, &chain->view, (unsigned)ndim, index, &why);
}

static bool step_reshape(Rng *rng, Chain *chain)
{
    Plain *plain = &chain->plain;
    int left = plain->elements, ndim = 0, size[DIMS];
    int64_t wide[DIMS] = { 0 };
    const char *why = NULL;
    while (ndim < DIMS - 1 && below(rng, 5)) {
        int factor = 1 + below(rng, MIN(left, 12));
        while (left % factor)
            factor--;
        size[ndim++] = factor;
        left /= factor;
    }
    size[ndim++] = left;
    for (int d = 0; d < ndim; d++) {
        note(chain, "%s%d", d ? ", " : " reshape(", size[d]);
        wide[d] = size[d];
    }
    note(chain, ")");
    memcpy(plain->size, size, sizeof(int) * (size_t)ndim);
    plain->ndim = ndim;
    return view_reshape(&chain->view, &chain->view, (unsigned)ndim, wide, &why);
}

static bool step_bitcast(Rng *rng, Chain *chain)
{
    Plain before = chain->plain;
    const char *why = NULL;
    int type = below(rng, TYPES);
    bool possible = plain_bitcast(&chain->plain, &before, TYPE[type], WIDTH[type]);
    note(chain, " bitcast(%d)", WIDTH[type]);
    bool done = view_bitcast(&chain->view, &chain->view, TYPE[type], &why);
    if (!possible) {
        assert_false(done);
        chain->plain = before;
    }
    return !possible || done;
}

bool any_outside(const Plain *plain)
{
    for (int e = 0; e < plain->elements; e++)
        if (plain->outside[e])
            return true;
    return false;
}

void random_chain(Rng *rng, Chain *chain, const PlainShape *shape, bool may_leave)
{
    int64_t wide[DIMS] = { 0 };
    for (int d = 0; d < shape->ndim; d++)
        wide[d] = shape->size[d];
    chain->text[0] = 0;
    view_whole(&chain->view, shape->dtype, (unsigned)shape->ndim, wide);
    plain_whole(&chain->plain, shape);
    int steps = below(rng, CHAIN + 1);
    for (chain->steps = 0; chain->steps < steps && chain->plain.elements > 0; chain->steps++) {
        bool leaves = may_leave && chain->steps >= steps - 2;
        Chain before = *chain;
        int kind = leaves || any_outside(&chain->plain) ? 0 : below(rng, 3);
        if (!(kind == 0 ? step_at(rng, chain, leaves) : kind == 1 ? step_reshape(rng, chain) : step_bitcast(rng, chain)))
            *chain = before;                    /* too large for the reference, or more folds than are supported */
    }
}
