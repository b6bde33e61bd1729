/* test_view.c - views against a model without strides: the list of their elements' byte addresses, in row-major order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/rng.h"
#include "../../model/view.h"

#define ELEMENTS_MAX 4096

typedef struct Model {
    unsigned ndim;
    int64_t size[VIEW_DIMS_MAX], elements, address[ELEMENTS_MAX];
} Model;

static int64_t product(unsigned ndim, const int64_t *size)
{
    int64_t result = 1;
    for (unsigned i = 0; i < ndim; i++)
        result *= size[i];
    return result;
}

/* Which coordinate the element-th element of a row-major array has. */
static void coordinates(unsigned ndim, const int64_t *size, int64_t element, int64_t *coordinate)
{
    for (unsigned i = ndim; i-- > 0; element /= size[i])
        coordinate[i] = element % size[i];
}

static int64_t view_address(const View *view, int64_t element)
{
    int64_t coordinate[VIEW_DIMS_MAX], address = view->offset;
    if (view->folds)
        return view_element_offset(view, element);
    coordinates(view->ndim, view->size, element, coordinate);
    for (unsigned i = 0; i < view->ndim; i++)
        address += coordinate[i] * view->stride[i];
    return address;
}

static void assert_is_modelled(const View *view, const Model *model)
{
    assert_int_equal(view->ndim, model->ndim);
    for (unsigned i = 0; i < VIEW_DIMS_MAX; i++)
        assert_int_equal(view->size[i], i < model->ndim ? model->size[i] : 0);
    for (unsigned i = model->ndim; i < VIEW_DIMS_MAX; i++)
        assert_int_equal(view->stride[i], 0);
    assert_int_equal(view_elements(view), model->elements);
    for (int64_t i = 0; i < model->elements; i++) {
        assert_int_equal(view_address(view, i), model->address[i]);
        assert_int_equal(view_element_offset(view, i), model->address[i]);
    }
}

static void model_at(Model *to, const Model *from, const ViewIndex *index)
{
    to->ndim = 0;
    for (unsigned i = 0; i < from->ndim; i++)
        if (!index[i].is_index)
            to->size[to->ndim++] = index[i].size;
    to->elements = product(to->ndim, to->size);
    for (int64_t e = 0; e < to->elements; e++) {
        int64_t coordinate[VIEW_DIMS_MAX], source = 0;
        coordinates(to->ndim, to->size, e, coordinate);
        for (unsigned i = 0, kept = 0; i < from->ndim; i++)
            source = source * from->size[i] + index[i].start + (index[i].is_index ? 0 : coordinate[kept++] * index[i].stride);
        to->address[e] = from->address[source];
    }
}

static ViewIndex random_index(Rng *rng, int64_t size)
{
    if (size > 0 && rng_below(rng, 3) == 0)
        return (ViewIndex){.start = (int64_t)rng_below(rng, (uint64_t)size), .is_index = true};
    int64_t stride = 1 + (int64_t)rng_below(rng, 3), start = (int64_t)rng_below(rng, (uint64_t)size + 1);
    int64_t most = start < size ? (size - start - 1) / stride + 1 : 0;
    if (rng_below(rng, 3))                      /* large ones, so that slices of slices are not all empty */
        return (ViewIndex){.start = (int64_t)rng_below(rng, 2), .size = MAX(size - 1, 0), .stride = 1};
    return (ViewIndex){.start = start, .size = (int64_t)rng_below(rng, (uint64_t)most + 1), .stride = stride};
}

static void random_whole(Rng *rng, View *view, Model *model, DType dtype)
{
    model->ndim = (unsigned)rng_below(rng, 5);
    for (unsigned i = 0; i < model->ndim; i++)
        model->size[i] = 1 + (int64_t)rng_below(rng, 6);
    view_whole(view, dtype, model->ndim, model->size);
    model->elements = product(model->ndim, model->size);
    for (int64_t i = 0; i < model->elements; i++)
        model->address[i] = i * (int64_t)dtype_size_bytes(dtype);
}

static void random_at(Rng *rng, View *view, Model *model)
{
    ViewIndex index[VIEW_DIMS_MAX];
    Model to;
    const char *why = NULL;
    for (unsigned i = 0; i < model->ndim; i++)
        index[i] = random_index(rng, model->size[i]);
    model_at(&to, model, index);
    assert_true(view_at(view, view, model->ndim, index, &why));
    *model = to;
}

static void composed_indexing_reaches_the_same_elements(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        View view;
        Model model;
        random_whole(&rng, &view, &model, DTYPE_F32);
        for (uint64_t depth = rng_below(&rng, 4); depth; depth--)
            random_at(&rng, &view, &model);
        assert_is_modelled(&view, &model);
        assert_false(view.over);
        assert_int_equal(view.folds, 0);
    }
}

/* Whether some strides give these addresses in this shape: those of the first element along each dimension decide. */
static bool model_has_strides(const Model *model)
{
    int64_t inner = 1, stride[VIEW_DIMS_MAX];
    for (unsigned i = model->ndim; i-- > 0; inner *= model->size[i])
        stride[i] = model->size[i] > 1 ? model->address[inner] - model->address[0] : 0;
    for (int64_t e = 0; e < model->elements; e++) {
        int64_t coordinate[VIEW_DIMS_MAX], address = model->address[0];
        coordinates(model->ndim, model->size, e, coordinate);
        for (unsigned i = 0; i < model->ndim; i++)
            address += coordinate[i] * stride[i];
        if (address != model->address[e])
            return false;
    }
    return true;
}

static void random_factors(Rng *rng, Model *model)
{
    int64_t left = model->elements;
    model->ndim = 0;
    while (left > 1 && model->ndim < VIEW_DIMS_MAX - 2) {
        int64_t factor = 1 + (int64_t)rng_below(rng, (uint64_t)MIN(left, 12));
        if (left % factor)
            continue;
        model->size[model->ndim++] = factor;
        left /= factor;
    }
    if (left > 1 || rng_below(rng, 2))
        model->size[model->ndim++] = left;
}

static void reshape_keeps_row_major_order_and_folds_only_where_no_strides_exist(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 2);
    int done = 0, folded = 0;
    for (int i = 0; i < 60000; i++) {
        View view;
        Model model;
        const char *why = NULL;
        random_whole(&rng, &view, &model, DTYPE_BF16);
        for (uint64_t depth = rng_below(&rng, 3); depth; depth--)
            random_at(&rng, &view, &model);
        if (model.elements == 0)
            continue;
        random_factors(&rng, &model);
        View reshaped;
        bool possible = model_has_strides(&model);
        assert_true(view_reshape(&reshaped, &view, model.ndim, model.size, &why));
        assert_int_equal(reshaped.folds == 0, possible);
        assert_is_modelled(&reshaped, &model);
        *(possible ? &done : &folded) += 1;
    }
    assert_true(done > 10000 && folded > 1000);
}

static void reshape_keeps_the_number_of_elements(void **state)
{
    (void)state;
    View view, out;
    const char *why = NULL;
    view_whole(&view, DTYPE_F32, 2, (int64_t[]){6, 4});
    assert_false(view_reshape(&out, &view, 2, (int64_t[]){5, 5}, &why));
    assert_non_null(why);
    assert_false(view_reshape(&out, &view, 2, (int64_t[]){-6, -4}, &why));
    view_whole(&view, DTYPE_F32, 2, (int64_t[]){0, 4});
    assert_true(view_reshape(&out, &view, 3, (int64_t[]){2, 0, 7}, &why));
    assert_int_equal(view_elements(&out), 0);
    assert_false(view_reshape(&out, &view, 1, (int64_t[]){1}, &why));
}

static ViewIndex slice(int64_t start, int64_t size, int64_t stride)
{
    return (ViewIndex){start, size, stride, false};
}

static ViewIndex at(int64_t index)
{
    return (ViewIndex){.start = index, .is_index = true};
}

static void the_first_excess_is_remembered(void **state)
{
    (void)state;
    View whole, view;
    const char *why = NULL;
    view_whole(&whole, DTYPE_F32, 3, (int64_t[]){4, 8, 128});
    assert_true(view_at(&view, &whole, 2, (ViewIndex[]){at(1), slice(3, 3, 3)}, &why));
    assert_true(view.over);
    assert_int_equal(view.excess.dim, 1);
    assert_int_equal(view.excess.start, 3);
    assert_int_equal(view.excess.size, 3);
    assert_int_equal(view.excess.stride, 3);
    assert_int_equal(view.excess.limit, 8);
    assert_int_equal(view.offset, 4 * (1 * 8 * 128 + 3 * 128));
    View again;
    assert_true(view_at(&again, &view, 2, (ViewIndex[]){at(0), at(-5)}, &why));
    assert_true(again.over);
    assert_int_equal(again.excess.start, 3);
    assert_int_equal(again.offset, view.offset - 5 * 4);
    View flat;
    assert_true(view_reshape(&flat, &view, 3, (int64_t[]){3, 2, 64}, &why));
    assert_true(flat.over);
    assert_false(view_element_inside(&flat, 0));
}

/* Rows 8 to 11 of 10 are taken first; what is taken of them counts, and in which dimension. */
static void a_slice_of_a_slice_is_outside_where_its_own_indices_are(void **state)
{
    (void)state;
    View whole, over, view;
    const char *why = NULL;
    view_whole(&whole, DTYPE_F32, 2, (int64_t[]){4, 10});
    assert_true(view_at(&over, &whole, 2, (ViewIndex[]){slice(0, 2, 1), slice(8, 4, 1)}, &why));
    for (int64_t i = 0; i < 8; i++)
        assert_int_equal(view_element_inside(&over, i), i % 4 < 2);
    assert_true(view_at(&view, &over, 2, (ViewIndex[]){at(1), at(3)}, &why));
    assert_true(view.over && !view_element_inside(&view, 0));
    assert_true(view_at(&view, &over, 2, (ViewIndex[]){slice(0, 2, 1), slice(1, 2, 1)}, &why));
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(view_element_inside(&view, i), i % 2 == 0);
    assert_true(view_at(&view, &over, 2, (ViewIndex[]){slice(0, 2, 1), slice(0, 2, 1)}, &why));
    assert_false(view.over);
    View both;
    assert_true(view_at(&both, &whole, 2, (ViewIndex[]){slice(3, 2, 1), slice(-1, 2, 1)}, &why));
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(view_element_inside(&both, i), i == 1);
}

static void what_lies_inside_and_what_does_not(void **state)
{
    (void)state;
    static const struct { ViewIndex index; bool inside; } CASE[] = {
        {{.start = 0, .is_index = true}, true}, {{.start = 9, .is_index = true}, true}, {{.start = 10, .is_index = true}, false},
        {{.start = -1, .is_index = true}, false}, {{0, 10, 1, false}, true}, {{0, 11, 1, false}, false}, {{1, 10, 1, false}, false},
        {{1, 5, 2, false}, true}, {{0, 5, 2, false}, true}, {{2, 5, 2, false}, false}, {{-1, 2, 1, false}, false},
        {{10, 0, 1, false}, true}, {{50, 0, 1, false}, true}, {{0, -1, 1, false}, true}, {{INT64_MAX, 2, INT64_MAX, false}, false},
        {{INT64_MIN, 1, 1, false}, false}, {{1, INT64_MAX, INT64_MAX, false}, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++) {
        View whole, view;
        const char *why = NULL;
        view_whole(&whole, DTYPE_I32, 1, (int64_t[]){10});
        assert_true(view_at(&view, &whole, 1, &CASE[i].index, &why));
        assert_int_equal(!view.over, CASE[i].inside);
        size_t bytes;
        g_autofree Region *region = view_region(&view, &bytes);
        assert_true(region->hi >= region->lo);
    }
}

static void misuse_is_told(void **state)
{
    (void)state;
    View whole, view;
    const char *why;
    view_whole(&whole, DTYPE_I32, 1, (int64_t[]){10});
    assert_false(view_at(&view, &whole, 2, (ViewIndex[]){at(0), at(0)}, &why));
    assert_string_equal(why, "more indices than dimensions");
    assert_false(view_at(&view, &whole, 1, (ViewIndex[]){slice(0, -2, 1)}, &why));
    assert_string_equal(why, "a slice of negative size");
    assert_false(view_at(&view, &whole, 1, (ViewIndex[]){slice(0, 2, 0)}, &why));
    assert_string_equal(why, "a slice with a stride below 1");
    assert_false(view_reshape(&view, &whole, 9, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 10}, &why));
}

static void missing_indices_take_the_rest_whole(void **state)
{
    (void)state;
    View whole, one, all;
    const char *why = NULL;
    view_whole(&whole, DTYPE_F32, 3, (int64_t[]){2, 3, 4});
    assert_true(view_at(&one, &whole, 1, (ViewIndex[]){at(1)}, &why));
    assert_true(view_at(&all, &whole, 3, (ViewIndex[]){at(1), slice(0, -1, 1), slice(0, 4, 1)}, &why));
    assert_memory_equal(&one, &all, view_key_bytes(&one));
    assert_true(view_at(&all, &whole, 0, NULL, &why));
    assert_memory_equal(&whole, &all, view_key_bytes(&whole));
}

static void bitcast_scales_the_second_minor_dimension(void **state)
{
    (void)state;
    View view, out, back;
    const char *why = NULL;
    view_whole(&view, DTYPE_I8, 3, (int64_t[]){2, 16, 128});
    assert_true(view_bitcast(&out, &view, DTYPE_F32, &why));
    assert_int_equal(out.size[0], 2);
    assert_int_equal(out.size[1], 4);
    assert_int_equal(out.size[2], 128);
    assert_true(view_bitcast(&back, &out, DTYPE_I8, &why));
    assert_memory_equal(back.size, view.size, sizeof view.size);
    assert_memory_equal(back.stride, view.stride, sizeof view.stride);
    assert_int_equal(back.folds, 0);
    assert_true(view_bitcast(&out, &view, DTYPE_F8E5M2, &why));
    assert_memory_equal(out.size, view.size, sizeof view.size);

    view_whole(&view, DTYPE_F32, 1, (int64_t[]){6});
    assert_true(view_bitcast(&out, &view, DTYPE_BF16, &why));
    assert_int_equal(out.size[0], 12);
    assert_true(view_bitcast(&out, &view, DTYPE_I64, &why));
    assert_int_equal(out.size[0], 3);
}

static void bitcast_refuses_what_does_not_fit(void **state)
{
    (void)state;
    View whole, view, out;
    const char *why = NULL;
    view_whole(&whole, DTYPE_I8, 2, (int64_t[]){6, 128});
    assert_false(view_bitcast(&out, &whole, DTYPE_I32, &why));
    assert_true(view_at(&view, &whole, 2, (ViewIndex[]){at(1), at(1)}, &why));
    assert_false(view_bitcast(&out, &view, DTYPE_I32, &why));
    assert_true(view_bitcast(&out, &view, DTYPE_U8, &why));
}

/* Item (2, 5) of the 32-bit view is column 5 of rows 8 to 11; row 5 of the 8-bit view is byte 1 of all words of row 1. */
static void a_bitcast_packs_items_of_one_column(void **state)
{
    (void)state;
    View whole, packed, item, row;
    const char *why = NULL;
    view_whole(&whole, DTYPE_I8, 2, (int64_t[]){16, 128});
    assert_true(view_bitcast(&packed, &whole, DTYPE_I32, &why));
    assert_true(view_at(&item, &packed, 2, (ViewIndex[]){at(2), at(5)}, &why));
    for (int64_t byte = 0; byte < 4; byte++)
        assert_int_equal(view_byte_offset(&item, 0, byte), (8 + byte) * 128 + 5);
    size_t bytes;
    g_autofree Region *region = view_region(&packed, &bytes);
    assert_true(region_is_contiguous(region) && region->bytes == 16 * 128);

    view_whole(&whole, DTYPE_I32, 2, (int64_t[]){3, 8});
    assert_true(view_bitcast(&packed, &whole, DTYPE_U8, &why));
    assert_true(view_at(&row, &packed, 1, (ViewIndex[]){at(5)}, &why));
    assert_int_equal(row.folds, 0);
    for (int64_t column = 0; column < 8; column++)
        assert_int_equal(view_element_offset(&row, column), 32 + column * 4 + 1);
}

static void only_so_many_folds_are_kept(void **state)
{
    (void)state;
    View view;
    const char *why = NULL;
    view_whole(&view, DTYPE_I8, 3, (int64_t[]){4, 24, 4});
    int done = 0;
    while (done < 50 && view_bitcast(&view, &view, DTYPE_I16, &why) && view_reshape(&view, &view, 3, (int64_t[]){4, 4, 12}, &why)
           && view_bitcast(&view, &view, DTYPE_I8, &why) && view_reshape(&view, &view, 3, (int64_t[]){4, 24, 4}, &why))
        done++;
    assert_true(done >= 2 && done < 50);
    assert_non_null(strstr(why, "one more reshape or bitcast"));
}

typedef struct Sought { int64_t lo, hi; bool found; } Sought;

static bool seek_bytes(void *data, int64_t lo, int64_t length)
{
    Sought *sought = data;
    sought->found |= lo <= sought->lo && sought->hi <= lo + length;
    return !sought->found;
}

static void the_region_of_a_view_holds_all_its_bytes(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 4);
    for (int i = 0; i < 5000; i++) {
        View view;
        Model model;
        random_whole(&rng, &view, &model, DTYPE_F32);
        random_at(&rng, &view, &model);
        size_t bytes;
        g_autofree Region *region = view_region(&view, &bytes);
        assert_int_equal(region->bytes, model.elements * 4);
        for (int64_t e = 0; e < model.elements; e++) {
            Sought item = { .lo = model.address[e], .hi = model.address[e] + 4 };
            region_each_run(region, seek_bytes, &item);
            assert_true(item.found);
        }
    }
}

static void shapes_differ_in_dimensions_of_one_and_in_type(void **state)
{
    (void)state;
    View a, b, c, d;
    view_whole(&a, DTYPE_F32, 2, (int64_t[]){8, 128});
    view_whole(&b, DTYPE_F32, 3, (int64_t[]){1, 8, 128});
    view_whole(&c, DTYPE_I32, 2, (int64_t[]){8, 128});
    view_whole(&d, DTYPE_F32, 2, (int64_t[]){8, 128});
    d.offset = 4096;
    assert_false(view_same_shape(&a, &b));
    assert_false(view_same_shape(&a, &c));
    assert_true(view_same_shape(&a, &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composed_indexing_reaches_the_same_elements),
        cmocka_unit_test(reshape_keeps_row_major_order_and_folds_only_where_no_strides_exist),
        cmocka_unit_test(reshape_keeps_the_number_of_elements),
        cmocka_unit_test(the_first_excess_is_remembered),
        cmocka_unit_test(a_slice_of_a_slice_is_outside_where_its_own_indices_are),
        cmocka_unit_test(what_lies_inside_and_what_does_not),
        cmocka_unit_test(misuse_is_told),
        cmocka_unit_test(missing_indices_take_the_rest_whole),
        cmocka_unit_test(bitcast_scales_the_second_minor_dimension),
        cmocka_unit_test(bitcast_refuses_what_does_not_fit),
        cmocka_unit_test(a_bitcast_packs_items_of_one_column),
        cmocka_unit_test(only_so_many_folds_are_kept),
        cmocka_unit_test(the_region_of_a_view_holds_all_its_bytes),
        cmocka_unit_test(shapes_differ_in_dimensions_of_one_and_in_type),
    };
    return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
