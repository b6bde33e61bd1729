"""jax.lax on scalars, as C expressions.

Integers wrap (modules are compiled with -fwrapv). Where XLA defines what C does not (division by zero or of the least number by -1, shifts
beyond the width, floats out of an integer's range) a small helper function is written into the file, unless a constant rules it out.
"""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np
from numpy.typing import DTypeLike

from ..c.types import bits, c_type, is_float, is_signed, literal
from ..c.writer import Helpers
from .values import ADD, ALL, AND, ANY, CHOICE, EQUALITY, MULTIPLY, OR, PRIMARY, RELATION, SHIFT, UNARY, XOR, Scalar

_COMPARE = {
    "eq": ("==", EQUALITY),
    "ne": ("!=", EQUALITY),
    "lt": ("<", RELATION),
    "le": ("<=", RELATION),
    "gt": (">", RELATION),
    "ge": (">=", RELATION),
}
_ARITHMETIC = {"add": ("+", ADD), "sub": ("-", ADD), "mul": ("*", MULTIPLY)}
_LOGIC = {"and": ("&&", ALL, "&", AND), "or": ("||", ANY, "|", OR), "xor": ("!=", EQUALITY, "^", XOR)}
_SHIFTS = ("shift_left", "shift_right_logical", "shift_right_arithmetic")
_FLOAT_FUNCTIONS = frozenset(  # of math.h, under their names
    "exp exp2 log log1p expm1 sqrt tanh sin cos tan floor ceil erf cbrt asin acos atan sinh cosh".split()
)


def _wrap(text: str, level: int, dtype: DTypeLike) -> Scalar:
    """C computes in int at least: back to the width of the type."""
    if not is_float(dtype) and bits(dtype) < 32:
        return Scalar(f"({c_type(dtype)})({text})", dtype, UNARY)
    return Scalar(text, dtype, level)


def _left(op: str, level: int, a: Scalar, b: Scalar, dtype: DTypeLike) -> Scalar:
    return _wrap(f"{a.at(level)} {op} {b.at(level + 1)}", level, dtype)


_KNOWN: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "max": max,
    "min": min,
}


def known(value: Any, dtype: DTypeLike) -> Scalar | None:
    """A constant, if the type can hold it without wrapping."""
    if str(dtype) == "bool":
        return Scalar(literal(value, dtype), dtype, PRIMARY, bool(value))
    limits = np.iinfo(np.dtype(dtype))
    if not limits.min <= value <= limits.max:
        return None
    return Scalar(literal(value, dtype), dtype, PRIMARY if value >= 0 else UNARY, int(value))


def _compute_now(name: str, a: Scalar, b: Scalar, dtype: DTypeLike) -> Scalar | None:
    """Both are constants."""
    if a.value is None or b.value is None or is_float(a.dtype) or is_float(dtype):
        return None
    if name in _KNOWN:
        return known(_KNOWN[name](a.value, b.value), dtype)
    if name in ("div", "rem") and b.value > 0 and a.value >= 0:
        return known(a.value // b.value if name == "div" else a.value % b.value, dtype)
    return None


def _fold(name: str, a: Scalar, b: Scalar) -> Scalar | None:
    """x + 0, x * 1 and the like."""
    if is_float(a.dtype):
        return None
    if name in ("and", "or") and str(a.dtype) == "bool":
        for x, y in ((a, b), (b, a)):
            if x.value is not None:
                return (y if x.value else x) if name == "and" else (x if x.value else y)
    if name in ("ne", "xor") and str(a.dtype) == "bool":
        for x, y in ((a, b), (b, a)):
            if x.value is False:
                return y
    if name in ("add", "sub") and b.value == 0:
        return a
    if name == "add" and a.value == 0:
        return b
    if name == "mul" and b.value == 1:
        return a
    if name == "mul" and a.value == 1:
        return b
    return None


def _divide(name: str, helpers: Helpers, a: Scalar, b: Scalar) -> Scalar:
    dtype, sign = a.dtype, "/" if name == "div" else "%"
    if is_float(dtype):
        if name == "div":
            return _left("/", MULTIPLY, a, b, dtype)
        return Scalar(f"fmod{'' if str(dtype) == 'float64' else 'f'}({a.text}, {b.text})", dtype)
    safe = b.value is not None and b.value != 0 and (b.value != -1 or not is_signed(dtype))
    if safe:
        return _left(sign, MULTIPLY, a, b, dtype)
    c, word = c_type(dtype), "divide" if name == "div" else "modulo"
    least = f"b == -1 ? ({c})({'-(uint64_t)a' if name == 'div' else '0'}) : " if is_signed(dtype) else ""
    zero = f"({c})-1" if name == "div" else "a"
    helper = helpers.use(
        f"{word}_{dtype}",
        f"""/* As XLA: {"all bits for a division by 0" if name == "div" else "the number itself for 0"}. */
static inline {c} {word}_{dtype}({c} a, {c} b)
{{
    return b == 0 ? {zero} : {least}({c})(a {sign} b);
}}
""",
    )
    return Scalar(f"{helper}({a.text}, {b.text})", dtype)


def _shift(name: str, helpers: Helpers, a: Scalar, b: Scalar) -> Scalar:
    dtype, width = a.dtype, bits(a.dtype)
    c, unsigned = c_type(dtype), c_type(f"uint{width}")
    arithmetic = name == "shift_right_arithmetic"
    inside = b.value is not None and 0 <= int(b.value) < width
    if inside and name == "shift_left":
        return _wrap(f"{a.at(SHIFT)} << {b.at(ADD)}", SHIFT, dtype)
    if inside and (arithmetic and is_signed(dtype) or not arithmetic and not is_signed(dtype)):
        return _wrap(f"{a.at(SHIFT)} >> {b.at(ADD)}", SHIFT, dtype)
    sign = c_type(f"int{width}")
    body = {
        "shift_left": f"b >= {width} ? 0 : ({c})(({unsigned})a << b)",
        "shift_right_logical": f"b >= {width} ? 0 : ({c})(({unsigned})a >> b)",
        "shift_right_arithmetic": f"({c})(({sign})a >> (b >= {width} ? {width - 1} : b))",
    }[name]
    helper = helpers.use(
        f"{name}_{dtype}",
        f"""/* As XLA: a shift beyond the width leaves {"the sign" if arithmetic else "0"}. */
static inline {c} {name}_{dtype}({c} a, {unsigned} b)
{{
    return {body};
}}
""",
    )
    return Scalar(f"{helper}({a.text}, {b.text})", dtype)


def _convert(helpers: Helpers, a: Scalar, to: DTypeLike) -> Scalar | None:
    source = str(a.dtype)
    if source == str(to):
        return a
    if a.value is not None and not is_float(to):
        with np.errstate(all="ignore"):
            value = np.asarray(a.value).astype(np.dtype(to)).item() if not is_float(source) else None
        if value is not None:
            return Scalar(literal(value, to), to, PRIMARY if value >= 0 else UNARY, value)
    if str(to) == "bool":
        return Scalar(f"{a.at(EQUALITY)} != 0", to, EQUALITY)
    if source == "bool":
        text = a.text if str(to) == "int32" else f"({c_type(to)}){a.at(UNARY)}"
        return Scalar(text, to, a.level if str(to) == "int32" else UNARY, truth=a.text)
    if is_float(source) and not is_float(to):
        return _float_to_int(helpers, a, to)
    return Scalar(f"({c_type(to)}){a.at(UNARY)}", to, UNARY)


def _float_to_int(helpers: Helpers, a: Scalar, to: DTypeLike) -> Scalar:
    c, limits = c_type(to), np.iinfo(np.dtype(to))
    above = f"{float(int(limits.max) + 1):.1f}"
    helper = helpers.use(
        f"truncate_{to}",
        f"""/* As XLA: the nearest number that there is, 0 for NaN. */
static inline {c} truncate_{to}(double x)
{{
    return x != x ? 0 : x >= {above} ? {literal(limits.max, to)} : x <= {float(limits.min):.1f} ? {literal(limits.min, to)} : ({c})x;
}}
""",
    )
    return Scalar(f"{helper}({a.text})", to)


def _unary(name: str, helpers: Helpers, a: Scalar, params: dict[str, Any]) -> Scalar | None:
    dtype, f = a.dtype, "" if str(a.dtype) == "float64" else "f"
    if name == "neg":
        return _wrap(f"-{a.at(PRIMARY)}", UNARY, dtype)
    if name == "not" and a.value is not None and str(dtype) == "bool":
        return known(not a.value, dtype)
    if name == "not":
        return Scalar(f"!{a.at(UNARY)}", dtype, UNARY) if str(dtype) == "bool" else _wrap(f"~{a.at(UNARY)}", UNARY, dtype)
    if name == "sign":
        if is_float(dtype):
            return None
        return Scalar(
            f"({a.at(RELATION + 1)} > 0) - ({a.at(RELATION + 1)} < 0)" if is_signed(dtype) else f"{a.at(RELATION + 1)} > 0",
            dtype,
            ADD if is_signed(dtype) else RELATION,
        )
    if name == "abs":
        return (
            Scalar(f"fabs{f}({a.text})", dtype)
            if is_float(dtype)
            else _wrap(f"{a.at(RELATION + 1)} < 0 ? -{a.at(PRIMARY)} : {a.at(CHOICE + 1)}", CHOICE, dtype)
        )
    if name == "square" or (name == "integer_pow" and params["y"] == 2):
        return _left("*", MULTIPLY, a, a, dtype)
    if name == "population_count":
        return Scalar(f"({c_type(dtype)})__builtin_popcountll(({c_type(f'uint{bits(dtype)}')}){a.at(UNARY)})", dtype, UNARY)
    if not is_float(dtype):
        return None
    if name in _FLOAT_FUNCTIONS:
        return Scalar(f"{name}{f}({a.text})", dtype)
    if name == "rsqrt":
        return Scalar(f"1.0{f} / sqrt{f}({a.text})", dtype, MULTIPLY)
    if name == "logistic":
        return Scalar(f"1.0{f} / (1.0{f} + exp{f}(-{a.at(PRIMARY)}))", dtype, MULTIPLY)
    if name == "is_finite":
        return Scalar(f"isfinite({a.text})", "bool")
    if name == "round" and "EVEN" in str(params.get("rounding_method")).upper():
        return Scalar(f"rint{f}({a.text})", dtype)
    if name == "round":
        return Scalar(f"round{f}({a.text})", dtype)
    return None


def _extreme(name: str, a: Scalar, b: Scalar) -> Scalar:
    """NaN wins, as in XLA."""
    op = ">" if name == "max" else "<"
    nan = f"{a.text} != {a.text} || " if is_float(a.dtype) else ""
    return Scalar(f"{nan}{a.at(RELATION)} {op} {b.at(RELATION + 1)} ? {a.at(CHOICE + 1)} : {b.at(CHOICE + 1)}", a.dtype, CHOICE)


def _select(a: list[Scalar], dtype: DTypeLike) -> Scalar:
    which, cases = a[0], a[1:]
    if which.value is not None:
        return cases[min(max(int(which.value), 0), len(cases) - 1)]
    if len(cases) == 2:
        condition = which.truth or which.text
        inner = Scalar(condition, "bool", which.level)
        return Scalar(f"{inner.at(CHOICE + 1)} ? {cases[1].at(CHOICE + 1)} : {cases[0].at(CHOICE + 1)}", dtype, CHOICE)
    text = cases[-1].at(CHOICE)
    for i in range(len(cases) - 2, -1, -1):
        text = f"{which.at(EQUALITY)} == {i} ? {cases[i].at(CHOICE + 1)} : {text}"
    return Scalar(text, dtype, CHOICE)


def simple_operands(name: str) -> bool:
    """Are operands written twice, so that they should be names or constants?"""
    return name in ("max", "min", "clamp", "abs", "sign", "integer_pow", "square", "select_n")


def compute(name: str, helpers: Helpers, a: list[Scalar], dtype: DTypeLike, params: dict[str, Any]) -> Scalar | None:
    """The C expression; None: not on scalars."""
    if name == "convert_element_type":
        return _convert(helpers, a[0], dtype)
    if len(a) == 1:
        return _unary(name, helpers, a[0], params)
    if name == "select_n":
        return _select(a, dtype)
    if name == "clamp":
        return Scalar(
            f"{a[1].at(RELATION)} < {a[0].at(RELATION + 1)} ? {a[0].at(CHOICE + 1)} : {a[1].at(RELATION)} > {a[2].at(RELATION + 1)} ? "
            f"{a[2].at(CHOICE + 1)} : {a[1].at(CHOICE + 1)}",
            a[1].dtype,
            CHOICE,
        )
    if len(a) != 2:
        return None
    return _binary(name, helpers, a[0], a[1], dtype)


def _binary(name: str, helpers: Helpers, a: Scalar, b: Scalar, dtype: DTypeLike) -> Scalar | None:
    found = _compute_now(name, a, b, dtype) or _fold(name, a, b)
    if found is not None:
        return found
    if name in _COMPARE:
        op, level = _COMPARE[name]
        return Scalar(f"{a.at(level + 1)} {op} {b.at(level + 1)}", "bool", level)
    if name in _ARITHMETIC and str(dtype) != "bool":
        return _left(_ARITHMETIC[name][0], _ARITHMETIC[name][1], a, b, dtype)
    if name in _LOGIC:
        op, level, bitwise, bit_level = _LOGIC[name]
        if str(dtype) == "bool":
            return Scalar(f"{a.at(level + 1)} {op} {b.at(level + 1)}", dtype, level)
        return _left(bitwise, bit_level, a, b, dtype)
    if name in ("div", "rem"):
        return _divide(name, helpers, a, b)
    if name in _SHIFTS:
        return _shift(name, helpers, a, b)
    if name in ("max", "min"):
        return _extreme(name, a, b)
    if name == "pow" and is_float(dtype) and is_float(b.dtype):
        return Scalar(f"pow{'' if str(dtype) == 'float64' else 'f'}({a.text}, {b.text})", dtype)
    return None
