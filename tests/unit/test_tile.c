/* test_tile.c - arithmetic, what was written, and where elements come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include <math.h>

#include "../../model/rng.h"
#include "../../model/tile.h"

/* Tiles of a test exist until its end. */
static GPtrArray *blocks;

static void *alloc_block(void *owner, size_t bytes)
{
    void *block = g_malloc0(bytes + 1);
    g_ptr_array_add(owner, block);
    return block;
}

static int begin(void **state)
{
    (void)state;
    blocks = g_ptr_array_new_with_free_func(g_free);
    return 0;
}

static int end(void **state)
{
    (void)state;
    g_ptr_array_unref(blocks);
    return 0;
}

static Tile line(DType dtype, int64_t elements)
{
    Tile tile;
    tile_init(&tile, dtype, 1, &elements, false, alloc_block, blocks);
    return tile;
}

static void *element(const Tile *tile, int64_t i)
{
    return tile->bytes + (size_t)i * dtype_size_bytes(tile->dtype);
}

/* One element that holds value and comes from device's input 0. */
static Tile term(DType dtype, double value, uint32_t device)
{
    Tile tile = line(dtype, 1);
    tile_fill_double(&tile, value);
    tile.origin[0] = tile_input_origin(device, 0, 0);
    return tile;
}

static Tile compute(TileOp op, Tile a, Tile b)
{
    Tile out = line(a.dtype, a.elements);
    tile_binary(&out, op, &a, &b);
    return out;
}

static void a_new_tile_is_unwritten(void **state)
{
    (void)state;
    Tile tile;
    tile_init(&tile, DTYPE_BF16, 3, (int64_t[]){2, 3, 4}, false, alloc_block, blocks);
    assert_int_equal(tile.elements, 24);
    for (int i = 0; i < 24; i++) {
        assert_int_equal(tile.written[i], 0);
        assert_true(tile.origin[i] == 0);
    }
    tile_init(&tile, DTYPE_F32, 0, NULL, false, alloc_block, blocks);
    assert_int_equal(tile.elements, 1);
    tile_init(&tile, DTYPE_F32, 2, (int64_t[]){0, 4}, false, alloc_block, blocks);
    assert_int_equal(tile.elements, 0);
}

static int64_t int_result(DType dtype, TileOp op, int64_t a, int64_t b)
{
    Tile left = line(dtype, 1), right = line(dtype, 1);
    tile_fill_int(&left, a);
    tile_fill_int(&right, b);
    Tile out = compute(op, left, right);
    return dtype_read_int(dtype, element(&out, 0));
}

static void integers_wrap_and_divide_without_trapping(void **state)
{
    (void)state;
    assert_int_equal(int_result(DTYPE_I8, TILE_ADD, 100, 100), 200 - 256);
    assert_int_equal(int_result(DTYPE_U8, TILE_SUB, 3, 5), 254);
    assert_int_equal(int_result(DTYPE_I32, TILE_MUL, 1 << 20, 1 << 20), 0);
    assert_int_equal(int_result(DTYPE_I64, TILE_ADD, INT64_MAX, 1), INT64_MIN);
    assert_int_equal(int_result(DTYPE_I32, TILE_DIV, -7, 2), -3);
    assert_int_equal(int_result(DTYPE_I32, TILE_DIV, 7, 0), -1);
    assert_int_equal(int_result(DTYPE_U8, TILE_DIV, 7, 0), 255);
    assert_int_equal(int_result(DTYPE_I64, TILE_DIV, INT64_MIN, -1), INT64_MIN);
    assert_int_equal(int_result(DTYPE_I8, TILE_DIV, -128, -1), -128);
    assert_int_equal(int_result(DTYPE_U64, TILE_DIV, -1, 2), INT64_MAX);
    assert_int_equal(int_result(DTYPE_I16, TILE_MIN, -5, 3), -5);
    assert_int_equal(int_result(DTYPE_I16, TILE_MAX, -5, 3), 3);
    assert_int_equal(int_result(DTYPE_U64, TILE_MAX, -1, 3), -1);
    assert_int_equal(int_result(DTYPE_U64, TILE_MIN, -1, 3), 3);
    assert_int_equal(int_result(DTYPE_U32, TILE_MAX, -1, 3), UINT32_MAX);
    assert_int_equal(int_result(DTYPE_BOOL, TILE_ADD, 1, 1), 1);
    assert_int_equal(int_result(DTYPE_BOOL, TILE_MUL, 1, 0), 0);
    assert_int_equal(int_result(DTYPE_I32, TILE_COPY_OP, 4, 9), 4);
}

static double float_result(DType dtype, TileOp op, double a, double b)
{
    Tile out = compute(op, term(dtype, a, 0), term(dtype, b, 1));
    return dtype_read_double(dtype, element(&out, 0));
}

static void floats_round_to_their_type_and_nan_wins(void **state)
{
    (void)state;
    assert_true(float_result(DTYPE_BF16, TILE_ADD, 256, 1) == 256);     /* 8 bits: half way, to even */
    assert_true(float_result(DTYPE_BF16, TILE_ADD, 258, 1) == 260);
    assert_true(float_result(DTYPE_F16, TILE_MUL, 256, 256) == INFINITY);
    assert_true(isnan(float_result(DTYPE_F8E4M3FN, TILE_ADD, 448, 448)));
    assert_true(float_result(DTYPE_F64, TILE_SUB, 1, 3) == -2);
    assert_true(float_result(DTYPE_F32, TILE_DIV, 1, 0) == INFINITY);
    assert_true(float_result(DTYPE_F32, TILE_MIN, -1, 2) == -1);
    assert_true(float_result(DTYPE_F32, TILE_MAX, -1, 2) == 2);
    assert_true(isnan(float_result(DTYPE_F32, TILE_MAX, NAN, 2)));
    assert_true(isnan(float_result(DTYPE_F32, TILE_MIN, 2, NAN)));
}

static double unit(Rng *rng)
{
    return (double)rng_below(rng, UINT64_C(1) << 53) * 0x1p-53;
}

static void float32_arithmetic_is_that_of_the_processor(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        float a = (float)(unit(&rng) * exp2((double)rng_below(&rng, 40))), b = (float)(unit(&rng) - 0.5);
        Tile left = line(DTYPE_F32, 1), right = line(DTYPE_F32, 1);
        memcpy(left.bytes, &a, sizeof a);
        memcpy(right.bytes, &b, sizeof b);
        float want[] = {a + b, a - b, a * b, a / b}, got;
        for (int op = TILE_ADD; op <= TILE_DIV; op++) {
            Tile out = compute((TileOp)op, left, right);
            memcpy(&got, out.bytes, sizeof got);
            assert_true(got == want[op]);
        }
        g_ptr_array_set_size(blocks, 0);
    }
}

static void unwritten_in_is_unwritten_out(void **state)
{
    (void)state;
    Tile a = line(DTYPE_I32, 4), b = line(DTYPE_I32, 4);
    a.written[1] = a.written[3] = 1;
    b.written[2] = b.written[3] = 1;
    Tile sum = compute(TILE_ADD, a, b), copied = compute(TILE_COPY_OP, a, b), wide = line(DTYPE_F64, 4);
    tile_convert(&wide, &a);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sum.written[i], i == 3);
        assert_int_equal(copied.written[i], a.written[i]);
        assert_int_equal(wide.written[i], a.written[i]);
    }
}

static void a_sum_comes_from_its_terms_in_any_order(void **state)
{
    (void)state;
    static const TileOp REDUCTION[] = {TILE_ADD, TILE_MUL, TILE_MIN, TILE_MAX};
    uint64_t origin[4];
    for (size_t i = 0; i < 4; i++) {
        TileOp op = REDUCTION[i];
        Tile a = term(DTYPE_F32, 1, 0), b = term(DTYPE_F32, 2, 1), c = term(DTYPE_F32, 3, 2), d = term(DTYPE_F32, 4, 3);
        Tile left = compute(op, compute(op, compute(op, a, b), c), d), right = compute(op, compute(op, d, b), compute(op, c, a));
        assert_true(left.origin[0] == right.origin[0]);
        assert_true(left.origin[0] != compute(op, compute(op, compute(op, a, b), c), c).origin[0]);
        assert_true(left.origin[0] != compute(op, compute(op, a, b), c).origin[0]);
        origin[i] = left.origin[0];
        for (size_t j = 0; j < i; j++)
            assert_true(origin[i] != origin[j]);
    }
}

static void differences_know_which_came_first(void **state)
{
    (void)state;
    Tile a = term(DTYPE_F32, 1, 0), b = term(DTYPE_F32, 2, 1);
    assert_true(compute(TILE_SUB, a, b).origin[0] != compute(TILE_SUB, b, a).origin[0]);
    assert_true(compute(TILE_DIV, a, b).origin[0] != compute(TILE_DIV, b, a).origin[0]);
    assert_true(compute(TILE_SUB, a, b).origin[0] != compute(TILE_DIV, a, b).origin[0]);
}

static void zero_adds_nothing_to_where_a_sum_comes_from(void **state)
{
    (void)state;
    Tile zero = line(DTYPE_F32, 1), minus_zero = line(DTYPE_F32, 1), a = term(DTYPE_F32, 5, 3);
    tile_fill_int(&zero, 0);
    tile_fill_double(&minus_zero, -0.0);
    assert_int_equal(zero.written[0], 1);
    assert_true(zero.origin[0] == 0 && minus_zero.origin[0] == 0);
    assert_true(compute(TILE_ADD, zero, a).origin[0] == a.origin[0]);
    Tile wrapped = line(DTYPE_I8, 1), one = line(DTYPE_I8, 1), wrapped_one = line(DTYPE_I8, 1), one_float = line(DTYPE_F32, 1);
    tile_fill_int(&wrapped, 256);
    tile_fill_int(&one, 1);
    tile_fill_int(&wrapped_one, 257);
    tile_fill_double(&one_float, 1);
    assert_true(wrapped.origin[0] == 0);
    assert_true(one.origin[0] != 0 && one.origin[0] == wrapped_one.origin[0] && one.origin[0] == one_float.origin[0]);
}

static void conversion_keeps_origins_and_rounds_values(void **state)
{
    (void)state;
    Tile a = term(DTYPE_F32, 300.7, 2), narrow = line(DTYPE_I16, 1), rounded = line(DTYPE_BF16, 1);
    tile_convert(&narrow, &a);
    tile_convert(&rounded, &a);
    assert_int_equal(dtype_read_int(DTYPE_I16, narrow.bytes), 300);
    assert_true(dtype_read_double(DTYPE_BF16, rounded.bytes) == 300);
    assert_true(narrow.origin[0] == a.origin[0] && rounded.origin[0] == a.origin[0]);
}

static void opaque_in_is_opaque_out(void **state)
{
    (void)state;
    Tile opaque;
    int64_t one = 1;
    tile_init(&opaque, DTYPE_F32, 1, &one, true, alloc_block, blocks);
    assert_null(opaque.bytes);
    Tile a = term(DTYPE_F32, 1, 0);
    assert_true(compute(TILE_ADD, a, opaque).opaque);
    assert_true(compute(TILE_ADD, opaque, a).opaque);
    Tile out = line(DTYPE_I8, 1);
    tile_convert(&out, &opaque);
    assert_true(out.opaque && !out.bytes && !out.written && !out.origin);
    tile_fill_int(&opaque, 3);
    assert_true(opaque.opaque);
}

static void a_tile_may_be_its_own_operand(void **state)
{
    (void)state;
    Tile a = term(DTYPE_I32, 5, 0);
    uint64_t origin = a.origin[0];
    tile_binary(&a, TILE_ADD, &a, &a);
    assert_int_equal(dtype_read_int(DTYPE_I32, a.bytes), 10);
    assert_true(a.origin[0] == 2 * origin);
}

static void input_elements_have_origins_of_their_own(void **state)
{
    (void)state;
    GHashTable *seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (uint32_t device = 0; device < 20; device++)
        for (uint32_t input = 0; input < 5; input++)
            for (uint64_t i = 0; i < 1000; i++) {
                uint64_t origin = tile_input_origin(device, input, i);
                assert_true(origin != 0);
                assert_true(g_hash_table_add(seen, g_memdup2(&origin, sizeof origin)));
            }
    g_hash_table_unref(seen);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, begin, end)

/* Also those that were never written, and those of which only the shape is known. */
static void equal_tiles_are_equal_bytes_which_make_the_tile_again(void **state)
{
    (void)state;
    static const int64_t size[] = { 2, 3 };
    for (unsigned opaque = 0; opaque < 2; opaque++) {
        Tile *tile = tile_new(DTYPE_I32, 2, size, opaque);
        tile_fill_int(tile, 7);
        size_t bytes, bytes_again;
        g_autofree void *packed = tile_pack(tile, &bytes);
        Tile *again = tile_unpack(packed);
        g_autofree void *packed_again = tile_pack(again, &bytes_again);
        assert_int_equal(bytes, bytes_again);
        assert_memory_equal(packed, packed_again, bytes);
        assert_memory_equal(again->size, size, sizeof size);
        assert_int_equal(again->opaque, opaque);
        if (!opaque) {
            assert_memory_equal(again->bytes, tile->bytes, 24);
            assert_memory_equal(again->origin, tile->origin, 6 * sizeof *tile->origin);
            again->written[5] = ELEMENT_UNWRITTEN;
            g_autofree void *other = tile_pack(again, &bytes_again);
            assert_int_equal(bytes, bytes_again);
            assert_memory_not_equal(packed, other, bytes);
        }
        tile_free(tile);
        tile_free(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_tile_is_unwritten),
        TEST(integers_wrap_and_divide_without_trapping),
        TEST(floats_round_to_their_type_and_nan_wins),
        TEST(float32_arithmetic_is_that_of_the_processor),
        TEST(unwritten_in_is_unwritten_out),
        TEST(a_sum_comes_from_its_terms_in_any_order),
        TEST(differences_know_which_came_first),
        TEST(zero_adds_nothing_to_where_a_sum_comes_from),
        TEST(conversion_keeps_origins_and_rounds_values),
        TEST(opaque_in_is_opaque_out),
        TEST(a_tile_may_be_its_own_operand),
        TEST(input_elements_have_origins_of_their_own),
        TEST(equal_tiles_are_equal_bytes_which_make_the_tile_again),
    };
    return cmocka_run_group_tests_name("tile", tests, NULL, NULL);
}
