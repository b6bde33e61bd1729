/* dtype.c - one table of types; the small floats by their fields.
 *
 * A binary float with m mantissa bits is an integer code: sign, exponent field, mantissa. Encoding shifts the 53-bit significand of a
 * double to the right place, rounds to nearest even once, and lets the carry run into the exponent; codes above the largest finite one
 * become infinity, or NaN where the type (float8_e4m3fn) has no infinity.
 */
#include "dtype.h"
#include <glib.h>
#include <math.h>
#include <string.h>

typedef struct Type { const char *name; uint8_t bytes; bool is_float, is_signed; } Type;

static const Type TYPE[DTYPE_COUNT] = {
    [DTYPE_BOOL] = {"bool", 1, false, false},
    [DTYPE_I8] = {"int8", 1, false, true},
    [DTYPE_I16] = {"int16", 2, false, true},
    [DTYPE_I32] = {"int32", 4, false, true},
    [DTYPE_I64] = {"int64", 8, false, true},
    [DTYPE_U8] = {"uint8", 1, false, false},
    [DTYPE_U16] = {"uint16", 2, false, false},
    [DTYPE_U32] = {"uint32", 4, false, false},
    [DTYPE_U64] = {"uint64", 8, false, false},
    [DTYPE_F8E4M3FN] = {"float8_e4m3fn", 1, true, true},
    [DTYPE_F8E5M2] = {"float8_e5m2", 1, true, true},
    [DTYPE_BF16] = {"bfloat16", 2, true, true},
    [DTYPE_F16] = {"float16", 2, true, true},
    [DTYPE_F32] = {"float32", 4, true, true},
    [DTYPE_F64] = {"float64", 8, true, true},
};

/* overflow: the code of values above the largest finite one; nan: the code of the quiet NaN. Both without sign. */
typedef struct SmallFloat { int mantissa_bits, bias; uint32_t overflow, nan; } SmallFloat;

static const SmallFloat SMALL_E4M3FN = {3, 7, 0x7f, 0x7f}, SMALL_E5M2 = {2, 15, 0x7c, 0x7e}, SMALL_BF16 = {7, 127, 0x7f80, 0x7fc0},
                        SMALL_F16 = {10, 15, 0x7c00, 0x7e00};

const char *dtype_name(DType dtype)
{
    g_assert(dtype < DTYPE_COUNT);
    return TYPE[dtype].name;
}

size_t dtype_size_bytes(DType dtype)
{
    g_assert(dtype < DTYPE_COUNT);
    return TYPE[dtype].bytes;
}

bool dtype_is_float(DType dtype)
{
    g_assert(dtype < DTYPE_COUNT);
    return TYPE[dtype].is_float;
}

bool dtype_is_signed(DType dtype)
{
    g_assert(dtype < DTYPE_COUNT);
    return TYPE[dtype].is_signed;
}

static uint64_t shift_right_to_even(uint64_t value, int shift)
{
    if (shift <= 0)
        return value;
    if (shift > 63)
        return 0;
    uint64_t half = UINT64_C(1) << (shift - 1), rest = value & (half * 2 - 1), quotient = value >> shift;
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}

static uint32_t small_encode(const SmallFloat *small, double value, uint32_t sign_bit)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 63 ? sign_bit : 0;
    if (isnan(value))
        return sign | small->nan;
    if (isinf(value))
        return sign | small->overflow;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == -1023)                      /* zero, or a double too small for any of these types */
        return sign;
    uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int least = 1 - small->bias, scale = MAX(exponent, least);
    if (scale + small->bias > 255)
        return sign | small->overflow;
    uint64_t rounded = shift_right_to_even(significand, 52 - small->mantissa_bits + scale - exponent);
    uint64_t code = ((uint64_t)(scale - least) << small->mantissa_bits) + rounded;
    return sign | (uint32_t)MIN(code, small->overflow);
}

static double small_decode(const SmallFloat *small, uint32_t code, uint32_t sign_bit)
{
    double sign = code & sign_bit ? -1 : 1;
    uint32_t magnitude = code & (sign_bit - 1), mantissa = magnitude & ((1u << small->mantissa_bits) - 1);
    int field = (int)(magnitude >> small->mantissa_bits);
    if (magnitude >= small->overflow)
        return magnitude == small->overflow && small->overflow != small->nan ? sign * INFINITY : copysign(NAN, sign);
    uint32_t significand = field ? mantissa | 1u << small->mantissa_bits : mantissa;
    return sign * ldexp(significand, (field ? field : 1) - small->bias - small->mantissa_bits);
}

#define FETCH(T) ({ T fetched; memcpy(&fetched, element, sizeof fetched); fetched; })
#define PUT(T, expression) do { T put = (T)(expression); memcpy(element, &put, sizeof put); } while (0)

double dtype_read_double(DType dtype, const void *element)
{
    switch (dtype) {
    case DTYPE_F8E4M3FN: return small_decode(&SMALL_E4M3FN, FETCH(uint8_t), 0x80);
    case DTYPE_F8E5M2: return small_decode(&SMALL_E5M2, FETCH(uint8_t), 0x80);
    case DTYPE_BF16: return small_decode(&SMALL_BF16, FETCH(uint16_t), 0x8000);
    case DTYPE_F16: return small_decode(&SMALL_F16, FETCH(uint16_t), 0x8000);
    case DTYPE_F32: return FETCH(float);
    case DTYPE_F64: return FETCH(double);
    case DTYPE_U64: return (double)FETCH(uint64_t);
    case DTYPE_BOOL: case DTYPE_I8: case DTYPE_I16: case DTYPE_I32: case DTYPE_I64: case DTYPE_U8: case DTYPE_U16: case DTYPE_U32:
        return (double)dtype_read_int(dtype, element);
    case DTYPE_COUNT: break;
    }
    g_assert_not_reached();
}

/* Out of range is undefined in C; in XLA it is the nearest representable integer, and 0 for NaN. */
static int64_t double_to_int(double value, double least, double above, int64_t min, int64_t max)
{
    if (isnan(value))
        return 0;
    return value < least ? min : value >= above ? max : (int64_t)value;
}

int64_t dtype_read_int(DType dtype, const void *element)
{
    switch (dtype) {
    case DTYPE_BOOL: return FETCH(uint8_t) != 0;
    case DTYPE_I8: return FETCH(int8_t);
    case DTYPE_I16: return FETCH(int16_t);
    case DTYPE_I32: return FETCH(int32_t);
    case DTYPE_I64: return FETCH(int64_t);
    case DTYPE_U8: return FETCH(uint8_t);
    case DTYPE_U16: return FETCH(uint16_t);
    case DTYPE_U32: return FETCH(uint32_t);
    case DTYPE_U64: return (int64_t)FETCH(uint64_t);
    case DTYPE_F8E4M3FN: case DTYPE_F8E5M2: case DTYPE_BF16: case DTYPE_F16: case DTYPE_F32: case DTYPE_F64:
        return double_to_int(dtype_read_double(dtype, element), -0x1p63, 0x1p63, INT64_MIN, INT64_MAX);
    case DTYPE_COUNT: break;
    }
    g_assert_not_reached();
}

static void write_double_as_int(DType dtype, void *element, double value)
{
    int bits = 8 * (int)dtype_size_bytes(dtype);
    if (dtype == DTYPE_BOOL) {
        PUT(uint8_t, value != 0);
    } else if (dtype == DTYPE_U64) {
        PUT(uint64_t, isnan(value) || value < 0 ? 0 : value >= 0x1p64 ? UINT64_MAX : (uint64_t)value);
    } else if (dtype_is_signed(dtype)) {
        int64_t max = (int64_t)(UINT64_MAX >> (65 - bits));
        dtype_write_int(dtype, element, double_to_int(value, -ldexp(1, bits - 1), ldexp(1, bits - 1), -max - 1, max));
    } else {
        int64_t max = (INT64_C(1) << bits) - 1;
        dtype_write_int(dtype, element, double_to_int(value, 0, ldexp(1, bits), 0, max));
    }
}

void dtype_write_double(DType dtype, void *element, double value)
{
    switch (dtype) {
    case DTYPE_F8E4M3FN: PUT(uint8_t, small_encode(&SMALL_E4M3FN, value, 0x80)); return;
    case DTYPE_F8E5M2: PUT(uint8_t, small_encode(&SMALL_E5M2, value, 0x80)); return;
    case DTYPE_BF16: PUT(uint16_t, small_encode(&SMALL_BF16, value, 0x8000)); return;
    case DTYPE_F16: PUT(uint16_t, small_encode(&SMALL_F16, value, 0x8000)); return;
    case DTYPE_F32: PUT(float, value); return;
    case DTYPE_F64: PUT(double, value); return;
    case DTYPE_BOOL: case DTYPE_I8: case DTYPE_I16: case DTYPE_I32: case DTYPE_I64: case DTYPE_U8: case DTYPE_U16: case DTYPE_U32:
    case DTYPE_U64: write_double_as_int(dtype, element, value); return;
    case DTYPE_COUNT: break;
    }
    g_assert_not_reached();
}

/* A 64-bit integer as a double that later rounds as the integer itself would: lost bits set the last bit ("round to odd"). */
static double magnitude_to_odd(uint64_t magnitude)
{
    int excess = MAX(0, 11 - __builtin_clzll(magnitude | 1));
    uint64_t lost = magnitude & ((UINT64_C(1) << excess) - 1), kept = magnitude >> excess;
    return ldexp((double)(kept | (lost != 0)), excess);
}

void dtype_write_int(DType dtype, void *element, int64_t value)
{
    switch (dtype) {
    case DTYPE_BOOL: PUT(uint8_t, value != 0); return;
    case DTYPE_I8: case DTYPE_U8: PUT(uint8_t, value); return;
    case DTYPE_I16: case DTYPE_U16: PUT(uint16_t, value); return;
    case DTYPE_I32: case DTYPE_U32: PUT(uint32_t, value); return;
    case DTYPE_I64: case DTYPE_U64: PUT(uint64_t, value); return;
    case DTYPE_F64: PUT(double, value); return;
    case DTYPE_F8E4M3FN: case DTYPE_F8E5M2: case DTYPE_BF16: case DTYPE_F16: case DTYPE_F32: {
        double magnitude = magnitude_to_odd(value < 0 ? -(uint64_t)value : (uint64_t)value);
        dtype_write_double(dtype, element, value < 0 ? -magnitude : magnitude);
        return;
    }
    case DTYPE_COUNT: break;
    }
    g_assert_not_reached();
}

void dtype_convert(DType to, void *element, DType from, const void *source)
{
    if (to == from)
        memcpy(element, source, dtype_size_bytes(to));
    else if (dtype_is_float(from))
        dtype_write_double(to, element, dtype_read_double(from, source));
    else if (from == DTYPE_U64 && to == DTYPE_F64)
        dtype_write_double(to, element, dtype_read_double(from, source));
    else if (from == DTYPE_U64 && dtype_is_float(to))
        dtype_write_double(to, element, magnitude_to_odd((uint64_t)dtype_read_int(from, source)));
    else
        dtype_write_int(to, element, dtype_read_int(from, source));
}
