/* test_compute.c - array computation on tiles: each program computes what is known by hand and asserts it.
 *
 * That all of it agrees with JAX is tested from Python (tests/exporter); here are the corners, and what is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <glib.h>
#include <heddle/pallas.h>

#include "../../kernels/pallas/module.h"
#include "../support/checked.h"

/* 0 1 2 / 3 4 5, of any type. */
static PlTile counting(PlType type)
{
    return pl_tile_cast(pl_tile_reshape(pl_tile_iota(PL_I32, 0, 6), 2, 3), type);
}

static PlTile one(PlType type, double value)
{
    return pl_tile_full(type, value);
}

#define INT(tile) ((long long)pl_tile_int(tile))
#define AT(tile, ...) ((long long)pl_tile_int(tile, __VA_ARGS__))

KERNEL(elementwise, block)
{
    (void)block;
    pl_assert(INT(pl_tile_neg(one(PL_I8, -128))) == -128 && INT(pl_tile_abs(one(PL_I8, -128))) == -128);
    pl_assert(INT(pl_tile_sign(one(PL_I32, -7))) == -1 && INT(pl_tile_sign(one(PL_U32, 7))) == 1);
    pl_assert(INT(pl_tile_not(one(PL_BOOL, 1))) == 0 && INT(pl_tile_not(one(PL_U8, 5))) == 250);
    pl_assert(INT(pl_tile_population_count(one(PL_I8, -1))) == 8 && INT(pl_tile_clz(one(PL_I16, 1))) == 15);
    pl_assert(INT(pl_tile_clz(one(PL_I32, 0))) == 32 && INT(pl_tile_is_finite(one(PL_F32, INFINITY))) == 0);
    pl_assert(pl_tile_float(pl_tile_round_even(one(PL_F32, 2.5))) == 2 && pl_tile_float(pl_tile_round(one(PL_F32, 2.5))) == 3);
    pl_assert(pl_tile_float(pl_tile_rsqrt(one(PL_F32, 4))) == 0.5 && pl_tile_float(pl_tile_logistic(one(PL_F32, 0))) == 0.5);

    pl_assert(INT(pl_tile_rem(one(PL_I32, -7), one(PL_I32, 3))) == -1 && INT(pl_tile_rem(one(PL_I32, 7), one(PL_I32, 0))) == 7);
    pl_assert(INT(pl_tile_rem(one(PL_I32, -2147483648.0), one(PL_I32, -1))) == 0 && INT(pl_tile_rem(one(PL_U8, 200), one(PL_U8, 7))) == 4);
    pl_assert(INT(pl_tile_shift_left(one(PL_I32, 1), one(PL_I32, 32))) == 0);
    pl_assert(INT(pl_tile_shift_right_logical(one(PL_I8, -1), one(PL_I8, 4))) == 15);
    pl_assert(INT(pl_tile_shift_right_arithmetic(one(PL_I32, -8), one(PL_I32, 40))) == -1);
    pl_assert(INT(pl_tile_shift_right_arithmetic(one(PL_I8, -128), one(PL_I8, 7))) == -1);
    pl_assert(INT(pl_tile_pow(one(PL_I32, 3), one(PL_I32, 4))) == 81 && INT(pl_tile_xor(one(PL_U8, 5), one(PL_U8, 6))) == 3);
    pl_assert(pl_tile_float(pl_tile_nextafter(one(PL_F32, 1), one(PL_F32, 2))) == 1 + ldexp(1, -23));

    pl_assert(INT(pl_tile_lt(one(PL_F32, NAN), one(PL_F32, 1))) == 0 && INT(pl_tile_ne(one(PL_F32, NAN), one(PL_F32, NAN))) == 1);
    pl_assert(INT(pl_tile_gt(pl_tile_not(one(PL_U64, 0)), one(PL_U64, 1))) == 1);
    pl_assert(INT(pl_tile_select(one(PL_BOOL, 1), one(PL_I32, 3), one(PL_I32, 4))) == 4);
    pl_assert(INT(pl_tile_select(one(PL_I32, 9), one(PL_I32, 3), one(PL_I32, 4), one(PL_I32, 5))) == 5);
}

KERNEL(shapes, block)
{
    PlTile t = counting(PL_I32), row = pl_tile_iota(PL_I32, 0, 3);
    (void)block;
    pl_assert(AT(pl_tile_broadcast(row, PL_SHAPE(2, 3), PL_SHAPE(1)), 1, 2) == 2);
    pl_assert(AT(pl_tile_broadcast(pl_tile_reshape(row, 3, 1), PL_SHAPE(3, 4), PL_SHAPE(0, 1)), 2, 3) == 2);
    pl_assert(AT(pl_tile_broadcast(one(PL_I32, 7), PL_SHAPE(2, 2), PL_SHAPE()), 1, 0) == 7);
    pl_assert(AT(pl_tile_transpose(t, 1, 0), 2, 1) == 5 && AT(pl_tile_transpose(t, 1, 0), 0, 1) == 3);
    pl_assert(AT(pl_tile_slice(t, PL_SHAPE(1, 0), PL_SHAPE(1, 2), PL_SHAPE(1, 2)), 0, 1) == 5);
    pl_assert(AT(pl_tile_dynamic_slice(t, PL_SHAPE(9, -4), PL_SHAPE(1, 2)), 0, 1) == 4);               /* moved inside */
    pl_assert(AT(pl_tile_update(t, pl_tile_full(PL_I32, 9, 1, 2), PL_SHAPE(5, 5)), 1, 1) == 9);
    pl_assert(AT(pl_tile_concatenate(1, t, t), 1, 4) == 4 && AT(pl_tile_concatenate(0, t, t), 3, 2) == 5);
    PlTile wide = pl_tile_pad(t, one(PL_I32, -1), PL_SHAPE(1, -1), PL_SHAPE(0, 0), PL_SHAPE(0, 1));
    pl_assert(AT(wide, 0, 0) == -1 && AT(wide, 1, 1) == 1 && AT(wide, 1, 0) == -1 && AT(wide, 2, 3) == 5);
    pl_assert(AT(pl_tile_reverse(t, 0, 1), 0, 0) == 5 && AT(pl_tile_reverse(t, 1), 1, 0) == 5);
    pl_assert(AT(pl_tile_roll(t, 1, -4), 0, 2) == 0 && AT(pl_tile_roll(t, 1, 1), 0, 0) == 2);
    pl_assert(AT(pl_tile_iota(PL_U8, 1, 2, 3), 1, 2) == 2);

    PlTile halves = pl_tile_bitcast(pl_tile_full(PL_I32, 65538, 1), PL_I16), rows = pl_tile_bitcast_rows(counting(PL_I16), PL_I32);
    pl_assert(AT(halves, 0, 0) == 2 && AT(halves, 0, 1) == 1 && AT(pl_tile_bitcast(halves, PL_I32), 0) == 65538);
    pl_assert(AT(rows, 0, 1) == 4 * 65536 + 1 && AT(pl_tile_bitcast_rows(rows, PL_I16), 1, 1) == 4);
    pl_assert(INT(pl_tile_bitcast(one(PL_F32, 1), PL_I32)) == 0x3f800000);
}

KERNEL(reductions, block)
{
    PlTile t = counting(PL_I32), f = pl_tile_cast(t, PL_F32);
    (void)block;
    pl_assert(INT(pl_tile_reduce(PL_ADD, t, 0, 1)) == 15 && AT(pl_tile_reduce(PL_ADD, t, 0), 2) == 7);
    pl_assert(AT(pl_tile_reduce(PL_MAX, t, 1), 0) == 2 && AT(pl_tile_reduce(PL_MIN, t, 1), 1) == 3);
    pl_assert(INT(pl_tile_reduce(PL_MUL, pl_tile_full(PL_I8, 2, 7), 0)) == -128 && INT(pl_tile_reduce(PL_XOR, t, 0, 1)) == 1);
    pl_assert(INT(pl_tile_reduce(PL_AND, pl_tile_full(PL_BOOL, 1, 3), 0)) == 1);
    pl_assert(INT(pl_tile_reduce(PL_MAX, pl_tile_zeros(PL_I32, 0), 0)) == INT32_MIN);
    pl_assert(INT(pl_tile_reduce(PL_AND, pl_tile_zeros(PL_BOOL, 0), 0)) == 1);
    pl_assert(isinf(pl_tile_float(pl_tile_reduce(PL_MIN, pl_tile_zeros(PL_F32, 0), 0))));
    PlTile with_nan = pl_tile_concatenate(0, pl_tile_full(PL_F32, NAN, 1), pl_tile_zeros(PL_F32, 1));
    pl_assert(isnan(pl_tile_float(pl_tile_reduce(PL_MAX, with_nan, 0))));
    pl_assert(AT(pl_tile_cumulate(PL_ADD, t, 1, false), 1, 2) == 12 && AT(pl_tile_cumulate(PL_ADD, t, 0, true), 0, 1) == 5);
    pl_assert(AT(pl_tile_argmax(t, 1, PL_I32), 1) == 2 && AT(pl_tile_argmin(t, 0, PL_I32), 2) == 0);
    pl_assert(AT(pl_tile_argmax(pl_tile_zeros(PL_F32, 2, 3), 1, PL_I32), 1) == 0);                      /* ties: the first */
    PlTile square = pl_tile_dot(t, t, PL_I32, PL_SHAPE(1), PL_SHAPE(1), PL_SHAPE(), PL_SHAPE());
    pl_assert(AT(square, 0, 1) == 14 && AT(square, 1, 1) == 50);
    PlTile batch = pl_tile_dot(f, f, PL_F32, PL_SHAPE(1), PL_SHAPE(1), PL_SHAPE(0), PL_SHAPE(0));
    pl_assert(pl_tile_float(batch, 1) == 50);
}

/* Elements of no round value, whose products and sums are rounded in double. */
static PlTile fractions(PlType type, int64_t batches, int64_t rows, int64_t columns)
{
    PlTile count = pl_tile_reshape(pl_tile_iota(type, 0, batches * rows * columns), batches, rows, columns);
    return pl_tile_div(pl_tile_full(type, 1e6, batches, rows, columns), pl_tile_add(count, pl_tile_full(type, 3, batches, rows, columns)));
}

/* The sizes fill no group of rows or columns that is computed at once. */
KERNEL(products, block)
{
    (void)block;
    PlTile a = fractions(PL_F64, 2, 7, 37), b = fractions(PL_F64, 2, 37, 6), i = pl_tile_cast(a, PL_I32), j = pl_tile_cast(b, PL_I32);
    PlTile floats = pl_tile_dot(a, b, PL_F64, PL_SHAPE(2), PL_SHAPE(1), PL_SHAPE(0), PL_SHAPE(0));
    PlTile integers = pl_tile_dot(i, j, PL_I32, PL_SHAPE(2), PL_SHAPE(1), PL_SHAPE(0), PL_SHAPE(0));
    for (int batch = 0; batch < 2; batch++)
        for (int row = 0; row < 7; row++)
            for (int column = 0; column < 6; column++) {
                double sum = 0;
                uint32_t whole = 0;
                for (int k = 0; k < 37; k++) {
                    sum += pl_tile_float(a, batch, row, k) * pl_tile_float(b, batch, k, column);
                    whole += (uint32_t)pl_tile_int(i, batch, row, k) * (uint32_t)pl_tile_int(j, batch, k, column);
                }
                pl_assert(pl_tile_float(floats, batch, row, column) == sum);
                pl_assert(pl_tile_int(integers, batch, row, column) == (int32_t)whole);
            }
}

/* 0 1 2 ... in a square, times itself: the first row by the first column, or by the first row, and then with another first element. */
KERNEL(large_products, block)
{
    enum { SIZE = 128 };
    (void)block;
    PlTile a = pl_tile_reshape(pl_tile_iota(PL_I32, 0, SIZE * SIZE), SIZE, SIZE);
    PlTile b = pl_tile_update(a, pl_tile_full(PL_I32, 5, 1, 1), PL_SHAPE(0, 0));
    int64_t by_column = 0, by_row = 0;
    for (int64_t k = 0; k < SIZE; k++)
        by_column += k * k * SIZE, by_row += k * k;
    for (int again = 0; again < 2; again++) {
        pl_assert(AT(pl_tile_dot(a, a, PL_I32, PL_SHAPE(1), PL_SHAPE(0), PL_SHAPE(), PL_SHAPE()), 0, 0) == by_column);
        pl_assert(AT(pl_tile_dot(a, a, PL_I32, PL_SHAPE(1), PL_SHAPE(0), PL_SHAPE(), PL_SHAPE()), 0, 0) == by_column);
        pl_assert(AT(pl_tile_dot(a, a, PL_I32, PL_SHAPE(1), PL_SHAPE(1), PL_SHAPE(), PL_SHAPE()), 0, 0) == by_row);
        pl_assert(AT(pl_tile_dot(b, a, PL_I32, PL_SHAPE(1), PL_SHAPE(1), PL_SHAPE(), PL_SHAPE()), 0, 0) == by_row);
        pl_assert(AT(pl_tile_dot(b, b, PL_I32, PL_SHAPE(1), PL_SHAPE(1), PL_SHAPE(), PL_SHAPE()), 0, 0) == by_row + 25);
        pl_assert(AT(pl_tile_dot(a, b, PL_I8, PL_SHAPE(1), PL_SHAPE(0), PL_SHAPE(), PL_SHAPE()), 0, 0) == (int8_t)by_column);
    }
}

/* What was never written is carried along, and steers nothing. */
KERNEL(unwritten, out)
{
    PlTile hole = pl_tile_empty(PL_I32, 2), full = pl_tile_zeros(PL_I32, 2);
    PlTile both = pl_tile_concatenate(0, full, hole);
    pl_store(out, pl_tile_add(both, both));
    pl_assert(AT(both, 1) == 0);
    pl_assert(INT(pl_tile_reduce(PL_ADD, pl_tile_slice(both, PL_SHAPE(0), PL_SHAPE(2), PL_SHAPE(1)), 0)) == 0);
    pl_assert(AT(pl_tile_select(one(PL_BOOL, 0), full, hole), 1) == 0);
    (void)INT(pl_tile_reduce(PL_ADD, both, 0));
}

/* Values of a scope that outlive it; the edges of a grid. */
KERNEL(outlives, out)
{
    PlTile kept = pl_tile_empty(PL_I32, 4);
    pl_assert(pl_first_step() == (pl_program_id(0) == 0 && pl_program_id(1) == 0));
    pl_assert(pl_last_step() == (pl_program_id(0) == 1 && pl_program_id(1) == 2));
    {
        PL_SCOPED PlRef scratch = pl_vmem(PL_I32, 4);
        pl_store(scratch, pl_tile_iota(PL_I32, 0, 4));
        pl_tile_assign(kept, pl_load(scratch));
    }
    pl_store(out, kept);
    pl_assert(AT(pl_load(out), 3) == 3);
}

KERNEL(own_fault, out)
{
    (void)out;
    pl_fault(PL_REVISIT, "block %d is visited again", 3);
}

KERNEL(other_shapes, out) { (void)out, (void)pl_tile_and(pl_tile_zeros(PL_I32, 2), pl_tile_zeros(PL_I32, 3)); }
KERNEL(and_of_floats, out) { (void)out, (void)pl_tile_and(pl_tile_zeros(PL_F32, 2), pl_tile_zeros(PL_F32, 2)); }
KERNEL(slice_outside, out) { (void)out, (void)pl_tile_slice(counting(PL_I32), PL_SHAPE(1, 0), PL_SHAPE(2, 1), PL_SHAPE(1, 1)); }
KERNEL(axis_twice, out) { (void)out, (void)pl_tile_reduce(PL_ADD, counting(PL_I32), 0, 0); }
KERNEL(dot_of_strangers, out)
{
    (void)out, (void)pl_tile_dot(counting(PL_I32), counting(PL_I32), PL_I32, PL_SHAPE(0), PL_SHAPE(1), PL_SHAPE(), PL_SHAPE());
}

#define ON_SMEM(name) PROGRAM(name, "array computation") { pl_launch(name, .args = {pl_smem(PL_I32, 4)}); }
ON_SMEM(elementwise)
ON_SMEM(shapes)
ON_SMEM(reductions)
ON_SMEM(products)
ON_SMEM(large_products)
ON_SMEM(unwritten)
ON_SMEM(own_fault)
ON_SMEM(other_shapes)
ON_SMEM(and_of_floats)
ON_SMEM(slice_outside)
ON_SMEM(axis_twice)
ON_SMEM(dot_of_strangers)
PROGRAM(outlives, "tiles that outlive a scope")
{
    pl_launch(outlives, .grid = {2, 3}, .args = {pl_smem(PL_I32, 4)});
}

static const Finding *first_of(const CheckResult *result)
{
    return result->outcome != NULL && result->outcome->findings->len > 0 ? result->outcome->findings->pdata[0] : NULL;
}

static void what_is_computed_is_right(void **state)
{
    static const char *const program[] = { "elementwise", "shapes", "reductions", "products", "large_products", "outlives" };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(program); i++) {
        const CheckSpec spec = checked_spec(program[i], 1, 1, SEARCH_PROVE);
        CheckResult *result = checked(&spec);
        const Finding *first = first_of(result);
        if (result->verdict != VERDICT_VERIFIED)
            fail_msg("%s: %s, line %u: %s", program[i], verdict_name(result->verdict),
                     first ? program_get_site(result->program, first->place[0].site)->line : 0,
                     first && first->message ? first->message : result->error ? result->error : "nothing said");
        checked_free(result);
    }
}

static void faults_of_kernels(void **state)
{
    static const struct { const char *program; FaultId fault; } wrong[] = {
        { "unwritten", FAULT_UNINITIALISED }, { "own_fault", FAULT_REVISIT },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        const CheckSpec spec = checked_spec(wrong[i].program, 1, 1, SEARCH_PROVE);
        CheckResult *result = checked(&spec);
        assert_int_equal(result->verdict, VERDICT_FAULTY);
        assert_int_equal(first_of(result)->id, wrong[i].fault);
        checked_free(result);
    }
}

static void misuse_is_one_line(void **state)
{
    static const struct { const char *program, *part; } wrong[] = {
        { "other_shapes", "2 elements of int32 and 3 of int32: shapes and types must agree" },
        { "and_of_floats", "not defined on float32" },
        { "slice_outside", "a slice that begins at 1 in a dimension of 2" },
        { "axis_twice", "axis 0 is out of range or given twice" },
        { "dot_of_strangers", "contracted and batch dimensions of the operands must agree" },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        const CheckSpec spec = checked_spec(wrong[i].program, 1, 1, SEARCH_PROVE);
        CheckResult *result = checked(&spec);
        if (result->verdict != VERDICT_ERROR || strstr(result->error, wrong[i].part) == NULL || strchr(result->error, '\n') != NULL)
            fail_msg("%s: %s: %s", wrong[i].program, verdict_name(result->verdict), result->error ? result->error : "no error");
        checked_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_computed_is_right),
        cmocka_unit_test(faults_of_kernels),
        cmocka_unit_test(misuse_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
