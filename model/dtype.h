/* dtype.h - element types, in JAX's names: sizes, and the arithmetic that collectives need.
 *
 * Source: jax.numpy's scalar types and ml_dtypes for the 1-byte floats and bfloat16. Floating values are computed in double and rounded
 * to nearest even when stored; integers wrap.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum DType {
    DTYPE_BOOL, DTYPE_I8, DTYPE_I16, DTYPE_I32, DTYPE_I64, DTYPE_U8, DTYPE_U16, DTYPE_U32, DTYPE_U64,
    DTYPE_F8E4M3FN, DTYPE_F8E5M2, DTYPE_BF16, DTYPE_F16, DTYPE_F32, DTYPE_F64,
    DTYPE_COUNT
} DType;

const char *dtype_name(DType dtype);            /* "int32", "bfloat16", ... */
size_t dtype_size_bytes(DType dtype);
bool dtype_is_float(DType dtype);
bool dtype_is_signed(DType dtype);
double dtype_read_double(DType dtype, const void *element);
int64_t dtype_read_int(DType dtype, const void *element);               /* floats truncate; u64 as its bits */
void dtype_write_double(DType dtype, void *element, double value);
void dtype_write_int(DType dtype, void *element, int64_t value);        /* wraps to the width */
/* Any type to any other, rounded once; integers wrap, a float too large for an integer becomes the nearest one, NaN becomes 0. */
void dtype_convert(DType to, void *element, DType from, const void *source);
