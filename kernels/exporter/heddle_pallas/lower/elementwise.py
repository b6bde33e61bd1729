"""jax.lax element by element: on arrays as calls of the kernel API's tile operations, on scalars as C expressions."""

from __future__ import annotations

from typing import Sequence

from jax.extend.core import JaxprEqn
from numpy.typing import DTypeLike

from ..c.types import c_type, pl_type
from ..errors import Unsupported
from . import scalars
from .emitter import Emitter
from .jaxprs import SAME
from .table import handles
from .tiles import aval_of, dims, result
from .values import CHOICE, Scalar, Tile, Value, View

_UNARY = frozenset(
    """neg abs sign not exp exp2 log log1p expm1 logistic reciprocal sqrt rsqrt cbrt tanh sin cos tan asin acos atan sinh cosh erf floor
    ceil is_finite square population_count clz""".split()
)
_BINARY = frozenset(
    """add sub mul div min max rem and or xor shift_left shift_right_logical shift_right_arithmetic pow atan2 nextafter
    add_any""".split()
)
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


def _on_scalars(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> Scalar | None:
    """The C expression, if all operands are (or may become) C expressions."""
    if aval_of(eqn).shape != () or not c_type(aval_of(eqn).dtype) or any(isinstance(o, View) for o in operands):
        return None
    steers = eqn.outvars[0] in e.block.steers
    if any(isinstance(o, Tile) and (o.shape != () or not c_type(o.dtype) or not steers) for o in operands):
        return None
    plain = [e.steering(o) for o in operands]
    if scalars.simple_operands(eqn.primitive.name):
        plain = [e.simple(p) for p in plain]
    return scalars.compute(eqn.primitive.name, e.helpers, plain, aval_of(eqn).dtype, eqn.params)


def _as_tiles(e: Emitter, operands: Sequence[Value], shape: tuple[int, ...]) -> list[str]:
    return [e.tile(o, shape).text for o in operands]


@handles(*_UNARY, *_BINARY, *_COMPARE, "convert_element_type", "select_n", "clamp", "integer_pow", "round", "erf_inv", pure=True)
def _elementwise(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    scalar = _on_scalars(e, eqn, operands)
    if scalar is not None:
        return [scalar]
    aval, name = aval_of(eqn), eqn.primitive.name
    shape = tuple(aval.shape)
    text = _tile_text(e, eqn, name, operands, shape)
    if text is None:
        raise Unsupported(f"{name} of {aval.dtype}", e.place, "compute it before the kernel")
    return [Tile(text, shape, aval.dtype)]


def _tile_text(e: Emitter, eqn: JaxprEqn, name: str, operands: list[Value], shape: tuple[int, ...]) -> str | None:
    if name == "select_n":
        which, *cases = operands
        if isinstance(which, Scalar) and len(cases) == 2 and shape != ():
            chosen = [e.tile(c, shape).text for c in cases]
            return f"{Scalar(which.truth or which.text, 'bool', which.level).at(CHOICE + 1)} ? {chosen[1]} : {chosen[0]}"
        return f"pl_tile_select({', '.join(_as_tiles(e, operands, shape))})"
    tiles = _as_tiles(e, operands, shape)
    if name == "convert_element_type":
        return f"pl_tile_cast({tiles[0]}, {pl_type(aval_of(eqn).dtype, e.place)})"
    if name == "clamp":
        return f"pl_tile_min(pl_tile_max({tiles[1]}, {tiles[0]}), {tiles[2]})"
    if name == "integer_pow":
        return _integer_pow(e, tiles[0], int(eqn.params["y"]), shape, aval_of(eqn).dtype)
    if name == "round":
        even = "EVEN" in str(eqn.params.get("rounding_method")).upper()
        return f"pl_tile_{'round_even' if even else 'round'}({tiles[0]})"
    if name in _UNARY:
        return f"pl_tile_{name}({tiles[0]})"
    if name in _BINARY or name in _COMPARE:
        return f"pl_tile_{'add' if name == 'add_any' else name}({tiles[0]}, {tiles[1]})"
    return None


def _integer_pow(e: Emitter, base: str, power: int, shape: tuple[int, ...], dtype: DTypeLike) -> str:
    """By repeated multiplication, as XLA does."""
    if power == 0:
        return f"pl_tile_full({pl_type(dtype)}, 1{dims(shape)})"
    square = e.tile_variable("t", Tile(base, shape, dtype))
    result: Tile | None = None
    left = abs(power)
    while left:
        if left & 1:
            text = square.text if result is None else f"pl_tile_mul({result.text}, {square.text})"
            result = Tile(text, shape, dtype)
            if left > 1 and not text.isidentifier():
                result = e.tile_variable("t", result)
        left >>= 1
        if left:
            square = e.tile_variable("t", Tile(f"pl_tile_mul({square.text}, {square.text})", shape, dtype))
    assert result is not None
    return result.text if power > 0 else f"pl_tile_reciprocal({result.text})"


@handles(*SAME, "stop_gradient", "copy", "copy_p", "add_dependency", "name", "device_put", pure=True)
def _same(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    return operands[: len(eqn.outvars)]


@handles("reduce_precision", pure=True)
def _reduce_precision(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    kinds = {(8, 7): "bfloat16", (5, 10): "float16", (8, 23): "float32"}
    narrow = kinds.get((eqn.params["exponent_bits"], eqn.params["mantissa_bits"]))
    if narrow is None:
        raise Unsupported(
            f"reduce_precision to {eqn.params['exponent_bits']} exponent and {eqn.params['mantissa_bits']} mantissa bits", e.place
        )
    inner = f"pl_tile_cast({e.tile(operands[0]).text}, {pl_type(narrow)})"
    return [result(eqn, f"pl_tile_cast({inner}, {pl_type(aval_of(eqn).dtype)})")]
