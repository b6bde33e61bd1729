"""Element types: JAX's names, the kernel API's, and C's."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from ..errors import NOWHERE, Place, Unsupported

_NAMES = {
    "bool": ("PL_BOOL", "bool"),
    "int8": ("PL_I8", "int8_t"),
    "int16": ("PL_I16", "int16_t"),
    "int32": ("PL_I32", "int"),
    "int64": ("PL_I64", "int64_t"),
    "uint8": ("PL_U8", "uint8_t"),
    "uint16": ("PL_U16", "uint16_t"),
    "uint32": ("PL_U32", "uint32_t"),
    "uint64": ("PL_U64", "uint64_t"),
    "float8_e4m3fn": ("PL_F8E4M3FN", ""),
    "float8_e5m2": ("PL_F8E5M2", ""),
    "bfloat16": ("PL_BF16", ""),
    "float16": ("PL_F16", ""),
    "float32": ("PL_F32", "float"),
    "float64": ("PL_F64", "double"),
}
_SHORT = {
    "i1": "bool",
    "pred": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}


def parse_dtype(name: str) -> np.dtype[Any] | None:
    """f32, float32, bf16, i32, ..."""
    full = _SHORT.get(name, name)
    if full not in _NAMES:
        return None
    return np.dtype(getattr(ml_dtypes, full)) if full in ("bfloat16", "float8_e4m3fn", "float8_e5m2") else np.dtype(full)


def pl_type(dtype: DTypeLike, place: Place = NOWHERE) -> str:
    name = str(dtype)
    if name not in _NAMES:
        raise Unsupported(f"element type {name}", place, "use one of " + ", ".join(_NAMES))
    return _NAMES[name][0]


def c_type(dtype: DTypeLike) -> str:
    """The C type of a scalar that steers the kernel; empty for the small floats, which are kept as tiles."""
    return _NAMES.get(str(dtype), ("", ""))[1]


def is_float(dtype: DTypeLike) -> bool:
    return str(dtype).startswith(("float", "bfloat"))


def is_signed(dtype: DTypeLike) -> bool:
    return str(dtype).startswith("int")


def bits(dtype: DTypeLike) -> int:
    return int(np.dtype(dtype).itemsize) * 8


def literal(value: Any, dtype: DTypeLike) -> str:
    """A C constant of that type."""
    name = str(dtype)
    if name == "bool":
        return "true" if bool(value) else "false"
    if is_float(dtype):
        return float_literal(value, dtype)
    number = int(value)
    if name == "int64":
        return "INT64_MIN" if number == -(2**63) else f"INT64_C({number})"
    if name == "uint64":
        return f"UINT64_C({number})"
    if name == "uint32":
        return f"{number}u"
    return "INT32_MIN" if name == "int32" and number == -(2**31) else str(number)


def float_literal(value: Any, dtype: DTypeLike) -> str:
    single = str(dtype) != "float64"
    number = float(value)
    if math.isnan(number):
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    text = str(np.float32(number)) if str(dtype) == "float32" else repr(number)
    if not any(c in text for c in ".e"):
        text += ".0"
    return text + ("f" if single else "")
