/* test_dtype.c - sizes, wrapping and rounding. Small floats are checked against their definition, value by value: every code is decoded
 * by exact arithmetic, and every value between two neighbours must become the nearer one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/dtype.h"
#include "../../model/rng.h"

static double decode(DType dtype, uint32_t code)
{
    uint16_t two = (uint16_t)code;
    uint8_t one = (uint8_t)code;
    return dtype_read_double(dtype, dtype_size_bytes(dtype) == 1 ? (void *)&one : (void *)&two);
}

static uint32_t encode(DType dtype, double value)
{
    uint16_t two = 0;
    uint8_t one = 0;
    if (dtype_size_bytes(dtype) == 1)
        return dtype_write_double(dtype, &one, value), one;
    return dtype_write_double(dtype, &two, value), two;
}

/* overflow: code of the first value that is not finite. */
static const struct Small { DType dtype; int exponent_bits, mantissa_bits; uint32_t codes, overflow; bool infinite; } SMALL[] = {
    {DTYPE_F8E4M3FN, 4, 3, 0x80, 0x7f, false},
    {DTYPE_F8E5M2, 5, 2, 0x80, 0x7c, true},
    {DTYPE_BF16, 8, 7, 0x8000, 0x7f80, true},
    {DTYPE_F16, 5, 10, 0x8000, 0x7c00, true},
};

static void every_code_has_the_value_of_its_fields(void **state)
{
    (void)state;
    for (size_t s = 0; s < G_N_ELEMENTS(SMALL); s++) {
        const struct Small *small = &SMALL[s];
        int bias = (1 << (small->exponent_bits - 1)) - 1;
        for (uint32_t code = 0; code < small->overflow; code++) {
            int field = (int)(code >> small->mantissa_bits);
            double fraction = (code & ((1u << small->mantissa_bits) - 1)) / exp2(small->mantissa_bits);
            double value = field ? (1 + fraction) * exp2(field - bias) : fraction * exp2(1 - bias);
            assert_true(decode(small->dtype, code) == value);
            assert_true(decode(small->dtype, code | small->codes) == -value);
            assert_int_equal(encode(small->dtype, value), code);
            assert_int_equal(encode(small->dtype, -value), code | small->codes);
        }
        for (uint32_t code = small->overflow; code < small->codes; code++) {
            bool is_infinity = small->infinite && code == small->overflow;
            assert_true(is_infinity ? decode(small->dtype, code) == INFINITY : isnan(decode(small->dtype, code)));
        }
    }
}

static void values_between_two_codes_become_the_nearer_one_or_the_even_one(void **state)
{
    (void)state;
    for (size_t s = 0; s < G_N_ELEMENTS(SMALL); s++) {
        const struct Small *small = &SMALL[s];
        for (uint32_t code = 0; code + 1 < small->overflow; code++) {
            double low = decode(small->dtype, code), high = decode(small->dtype, code + 1), middle = (low + high) / 2;
            assert_int_equal(encode(small->dtype, middle), code + (code & 1));
            assert_int_equal(encode(small->dtype, nextafter(middle, low)), code);
            assert_int_equal(encode(small->dtype, nextafter(middle, high)), code + 1);
            assert_int_equal(encode(small->dtype, -nextafter(middle, low)), code | small->codes);
            assert_int_equal(encode(small->dtype, nextafter(low, high)), code);
        }
    }
}

static void too_large_becomes_infinity_or_nan(void **state)
{
    (void)state;
    assert_int_equal(encode(DTYPE_F8E4M3FN, 448), 0x7e);
    assert_int_equal(encode(DTYPE_F8E4M3FN, 464), 0x7e);        /* half way to what would be 480: even */
    assert_int_equal(encode(DTYPE_F8E4M3FN, nextafter(464, 500)), 0x7f);
    assert_int_equal(encode(DTYPE_F8E4M3FN, -1e9), 0xff);
    assert_int_equal(encode(DTYPE_F8E4M3FN, INFINITY), 0x7f);
    assert_int_equal(encode(DTYPE_F8E5M2, 57344), 0x7b);
    assert_int_equal(encode(DTYPE_F8E5M2, nextafter(61440, 0)), 0x7b);
    assert_int_equal(encode(DTYPE_F8E5M2, 61440), 0x7c);
    assert_int_equal(encode(DTYPE_F8E5M2, -1e300), 0xfc);
    assert_int_equal(encode(DTYPE_F16, 65504), 0x7bff);
    assert_int_equal(encode(DTYPE_F16, nextafter(65520, 0)), 0x7bff);
    assert_int_equal(encode(DTYPE_F16, 65520), 0x7c00);
    assert_int_equal(encode(DTYPE_BF16, 0x1.fep127), 0x7f7f);
    assert_int_equal(encode(DTYPE_BF16, 0x1.ffp127), 0x7f80);
    assert_int_equal(encode(DTYPE_BF16, -1.7e308), 0xff80);
}

static void nan_stays_nan_and_the_smallest_round_to_zero(void **state)
{
    (void)state;
    for (size_t s = 0; s < G_N_ELEMENTS(SMALL); s++) {
        double least = decode(SMALL[s].dtype, 1);
        assert_true(isnan(decode(SMALL[s].dtype, encode(SMALL[s].dtype, NAN))));
        assert_true(isnan(decode(SMALL[s].dtype, encode(SMALL[s].dtype, -NAN))));
        assert_int_equal(encode(SMALL[s].dtype, least / 2), 0);
        assert_int_equal(encode(SMALL[s].dtype, nextafter(least / 2, 1)), 1);
        assert_int_equal(encode(SMALL[s].dtype, 5e-324), 0);
        assert_int_equal(encode(SMALL[s].dtype, -0.0), SMALL[s].codes);
    }
}

/* bfloat16 is the upper half of float32. */
static void bfloat16_is_a_float_cut_in_half(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x10000; code++) {
        uint32_t bits = code << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        double got = decode(DTYPE_BF16, code);
        assert_true(isnan(value) ? isnan(got) : (float)got == value);
    }
}

static void integers_wrap_to_their_width(void **state)
{
    (void)state;
    static const struct { DType dtype; int64_t in, out; } CASE[] = {
        {DTYPE_I8, 128, -128}, {DTYPE_I8, -129, 127}, {DTYPE_U8, 256, 0}, {DTYPE_U8, -1, 255}, {DTYPE_I16, 40000, 40000 - 65536},
        {DTYPE_U16, 65536 + 5, 5}, {DTYPE_I32, INT64_C(1) << 31, -(INT64_C(1) << 31)}, {DTYPE_U32, -1, UINT32_MAX},
        {DTYPE_I64, INT64_MIN, INT64_MIN}, {DTYPE_U64, -1, -1}, {DTYPE_BOOL, 256, 1}, {DTYPE_BOOL, 0, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++) {
        unsigned char element[8];
        dtype_write_int(CASE[i].dtype, element, CASE[i].in);
        assert_int_equal(dtype_read_int(CASE[i].dtype, element), CASE[i].out);
    }
}

static void floats_become_integers_towards_zero_and_never_out_of_range(void **state)
{
    (void)state;
    static const struct { DType dtype; double in; int64_t out; } CASE[] = {
        {DTYPE_I8, -1.9, -1}, {DTYPE_I8, 1e9, 127}, {DTYPE_I8, -1e9, -128}, {DTYPE_U8, -3, 0}, {DTYPE_U8, 255.9, 255}, {DTYPE_U8, 256, 255},
        {DTYPE_I32, NAN, 0}, {DTYPE_I32, INFINITY, INT32_MAX}, {DTYPE_U32, 0x1p32, UINT32_MAX}, {DTYPE_I64, 0x1p63, INT64_MAX},
        {DTYPE_I64, -0x1p63, INT64_MIN}, {DTYPE_U64, 0x1p63, INT64_MIN}, {DTYPE_U64, 1e30, -1}, {DTYPE_U64, NAN, 0}, {DTYPE_BOOL, 0.5, 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++) {
        unsigned char element[8];
        dtype_write_double(CASE[i].dtype, element, CASE[i].in);
        assert_int_equal(dtype_read_int(CASE[i].dtype, element), CASE[i].out);
    }
    double large = 1e300, nan = NAN;
    assert_int_equal(dtype_read_int(DTYPE_F64, &large), INT64_MAX);
    assert_int_equal(dtype_read_int(DTYPE_F64, &nan), 0);
    uint64_t high = UINT64_C(1) << 63;
    assert_true(dtype_read_double(DTYPE_U64, &high) == 0x1p63);
}

static void integers_become_floats_with_one_rounding(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 1);
    for (int i = 0; i < 200000; i++) {
        int64_t value = (int64_t)rng_next(&rng) >> rng_below(&rng, 64);
        if (rng_below(&rng, 2))                 /* near the middle between two floats */
            value = (value & ~INT64_C(0x7fffffffff)) + 0x4000000000 + (int64_t)rng_below(&rng, 3) - 1;
        float got, want = (float)value, wanted_unsigned = (float)(uint64_t)value;
        double got_double;
        dtype_write_int(DTYPE_F32, &got, value);
        assert_true(got == want);
        dtype_convert(DTYPE_F32, &got, DTYPE_U64, &value);
        assert_true(got == wanted_unsigned);
        dtype_convert(DTYPE_F64, &got_double, DTYPE_U64, &value);
        assert_true(got_double == (double)(uint64_t)value);
        dtype_convert(DTYPE_F64, &got_double, DTYPE_I64, &value);
        assert_true(got_double == (double)value);
    }
}

static void conversion_to_the_same_type_keeps_every_bit(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 2);
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        for (int i = 0; i < 1000; i++) {
            uint64_t from = rng_next(&rng), to = from;
            memset(&to, 0, dtype_size_bytes((DType)dtype));
            dtype_convert((DType)dtype, &to, (DType)dtype, &from);
            assert_true(from == to);
        }
}

static void names_and_sizes_are_those_of_jax(void **state)
{
    (void)state;
    static const struct { DType dtype; const char *name; size_t bytes; bool is_float, is_signed; } CASE[] = {
        {DTYPE_BOOL, "bool", 1, false, false}, {DTYPE_I8, "int8", 1, false, true}, {DTYPE_I16, "int16", 2, false, true},
        {DTYPE_I32, "int32", 4, false, true}, {DTYPE_I64, "int64", 8, false, true}, {DTYPE_U8, "uint8", 1, false, false},
        {DTYPE_U16, "uint16", 2, false, false}, {DTYPE_U32, "uint32", 4, false, false}, {DTYPE_U64, "uint64", 8, false, false},
        {DTYPE_F8E4M3FN, "float8_e4m3fn", 1, true, true}, {DTYPE_F8E5M2, "float8_e5m2", 1, true, true},
        {DTYPE_BF16, "bfloat16", 2, true, true}, {DTYPE_F16, "float16", 2, true, true}, {DTYPE_F32, "float32", 4, true, true},
        {DTYPE_F64, "float64", 8, true, true},
    };
    assert_int_equal(G_N_ELEMENTS(CASE), DTYPE_COUNT);
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++) {
        assert_string_equal(dtype_name(CASE[i].dtype), CASE[i].name);
        assert_int_equal(dtype_size_bytes(CASE[i].dtype), CASE[i].bytes);
        assert_int_equal(dtype_is_float(CASE[i].dtype), CASE[i].is_float);
        assert_int_equal(dtype_is_signed(CASE[i].dtype), CASE[i].is_signed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_the_value_of_its_fields),
        cmocka_unit_test(values_between_two_codes_become_the_nearer_one_or_the_even_one),
        cmocka_unit_test(too_large_becomes_infinity_or_nan),
        cmocka_unit_test(nan_stays_nan_and_the_smallest_round_to_zero),
        cmocka_unit_test(bfloat16_is_a_float_cut_in_half),
        cmocka_unit_test(integers_wrap_to_their_width),
        cmocka_unit_test(floats_become_integers_towards_zero_and_never_out_of_range),
        cmocka_unit_test(integers_become_floats_with_one_rounding),
        cmocka_unit_test(conversion_to_the_same_type_keeps_every_bit),
        cmocka_unit_test(names_and_sizes_are_those_of_jax),
    };
    return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
