"""jax.lax on arrays, as calls of the kernel API's tile operations; on scalars, as C expressions (scalars.py)."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import scalars
from .emitter import Emitter, handles
from .errors import Unsupported
from .types import c_type, pl_type
from .values import Scalar, Tile, Value, View

_UNARY = {
    "neg": "neg",
    "abs": "abs",
    "sign": "sign",
    "not": "not",
    "exp": "exp",
    "exp2": "exp2",
    "log": "log",
    "log1p": "log1p",
    "expm1": "expm1",
    "logistic": "logistic",
    "reciprocal": "reciprocal",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "cbrt": "cbrt",
    "tanh": "tanh",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "erf": "erf",
    "floor": "floor",
    "ceil": "ceil",
    "is_finite": "is_finite",
    "square": "square",
    "population_count": "population_count",
    "clz": "clz",
}
_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "min": "min",
    "max": "max",
    "rem": "rem",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "shift_left": "shift_left",
    "shift_right_logical": "shift_right_logical",
    "shift_right_arithmetic": "shift_right_arithmetic",
    "pow": "pow",
    "atan2": "atan2",
    "nextafter": "nextafter",
    "add_any": "add",
}
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
_REDUCE = {
    "reduce_sum": "PL_ADD",
    "reduce_max": "PL_MAX",
    "reduce_min": "PL_MIN",
    "reduce_prod": "PL_MUL",
    "reduce_and": "PL_AND",
    "reduce_or": "PL_OR",
    "reduce_xor": "PL_XOR",
}
_CUMULATE = {"cumsum": "PL_ADD", "cummax": "PL_MAX", "cummin": "PL_MIN", "cumprod": "PL_MUL"}


def shape_text(sizes: Sequence[Any]) -> str:
    return f"PL_SHAPE({', '.join(str(s) for s in sizes)})"


def _dims(sizes: Sequence[Any]) -> str:
    return "".join(f", {s}" for s in sizes)


def _aval(eqn: Any) -> Any:
    return eqn.outvars[0].aval


def on_scalars(e: Emitter, eqn: Any, operands: list[Value]) -> Scalar | None:
    """The C expression, if all operands are (or may become) C expressions."""
    if _aval(eqn).shape != () or not c_type(_aval(eqn).dtype) or any(isinstance(o, View) for o in operands):
        return None
    steers = eqn.outvars[0] in e.block.steers
    if any(isinstance(o, Tile) and (o.shape != () or not c_type(o.dtype) or not steers) for o in operands):
        return None
    plain = [e.steering(o) for o in operands]
    if scalars.simple_operands(eqn.primitive.name):
        plain = [e.simple(p) for p in plain]
    return scalars.compute(eqn.primitive.name, e.helpers, plain, _aval(eqn).dtype, eqn.params)


def _as_tiles(e: Emitter, operands: Sequence[Value], shape: tuple[int, ...]) -> list[str]:
    return [e.tile(o, shape).text for o in operands]


@handles(*_UNARY, *_BINARY, *_COMPARE, "convert_element_type", "select_n", "clamp", "integer_pow", "round", "erf_inv", pure=True)
def _elementwise(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    scalar = on_scalars(e, eqn, operands)
    if scalar is not None:
        return [scalar]
    aval, name = _aval(eqn), eqn.primitive.name
    shape = tuple(aval.shape)
    text = _tile_text(e, eqn, name, operands, shape)
    if text is None:
        raise Unsupported(f"{name} of {aval.dtype}", e.place, "compute it before the kernel")
    return [Tile(text, shape, aval.dtype)]


def _tile_text(e: Emitter, eqn: Any, name: str, operands: list[Value], shape: tuple[int, ...]) -> str | None:
    if name == "select_n":
        which, *cases = operands
        if isinstance(which, Scalar) and len(cases) == 2 and shape != ():
            chosen = [e.tile(c, shape).text for c in cases]
            return f"{Scalar(which.truth or which.text, 'bool', which.level).at(3)} ? {chosen[1]} : {chosen[0]}"
        return f"pl_tile_select({', '.join(_as_tiles(e, operands, shape))})"
    tiles = _as_tiles(e, operands, shape)
    if name == "convert_element_type":
        return f"pl_tile_cast({tiles[0]}, {pl_type(_aval(eqn).dtype, e.place)})"
    if name == "clamp":
        return f"pl_tile_min(pl_tile_max({tiles[1]}, {tiles[0]}), {tiles[2]})"
    if name == "integer_pow":
        return _integer_pow(e, tiles[0], int(eqn.params["y"]), shape, _aval(eqn).dtype)
    if name == "round":
        even = "EVEN" in str(eqn.params.get("rounding_method")).upper()
        return f"pl_tile_{'round_even' if even else 'round'}({tiles[0]})"
    if name in _UNARY:
        return f"pl_tile_{_UNARY[name]}({tiles[0]})"
    if name in _BINARY:
        return f"pl_tile_{_BINARY[name]}({tiles[0]}, {tiles[1]})"
    return f"pl_tile_{name}({tiles[0]}, {tiles[1]})" if name in _COMPARE else None


def _integer_pow(e: Emitter, base: str, power: int, shape: tuple[int, ...], dtype: Any) -> str:
    """By repeated multiplication, as XLA does."""
    if power == 0:
        return f"pl_tile_full({pl_type(dtype)}, 1{_dims(shape)})"
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


@handles(
    "stop_gradient",
    "copy",
    "copy_p",
    "pvary",
    "pcast",
    "reshard",
    "sharding_constraint",
    "pbroadcast",
    "add_dependency",
    "name",
    "device_put",
    "layout_constraint",
    "reduce_precision",
    pure=True,
)
def _same(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    if eqn.primitive.name == "reduce_precision":
        aval, params = _aval(eqn), eqn.params
        kinds = {(8, 7): "bfloat16", (5, 10): "float16", (8, 23): "float32"}
        narrow = kinds.get((params["exponent_bits"], params["mantissa_bits"]))
        if narrow is None:
            raise Unsupported("reduce_precision to a type that is none", e.place)
        inner = f"pl_tile_cast({e.tile(operands[0]).text}, {pl_type(narrow)})"
        return [Tile(f"pl_tile_cast({inner}, {pl_type(aval.dtype)})", tuple(aval.shape), aval.dtype)]
    return operands[: len(eqn.outvars)]


@handles("optimization_barrier", pure=True)
def _barrier(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    return operands


@handles("multiple_of")
def _multiple_of(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    value = operands[0]
    if isinstance(value, Scalar) and value.value is None:
        value = e.simple(value)
        for divisor in eqn.params["values"]:
            if divisor != 1:
                e.out(f"pl_assert({value.at(12)} % {int(divisor)} == 0);")
    return [value]


@handles("broadcast_in_dim", pure=True)
def _broadcast(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, value = _aval(eqn), operands[0]
    if len(operands) > 1:
        raise Unsupported("a broadcast to a computed size", e.place)
    shape = tuple(aval.shape)
    if isinstance(value, Scalar):
        return [value if shape == () else e.tile(value, shape)]
    tile = e.tile(value)
    if tile.shape == shape:
        return [tile]
    return [
        Tile(f"pl_tile_broadcast({tile.text}, {shape_text(shape)}, {shape_text(eqn.params['broadcast_dimensions'])})", shape, aval.dtype)
    ]


@handles("tile", pure=True)
def _repeat(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    """jnp.tile: a dimension for the copies before each that is repeated, then joined with it."""
    aval, tile, reps = _aval(eqn), e.tile(operands[0]), [int(r) for r in eqn.params["reps"]]
    sizes = [*(1,) * (len(reps) - len(tile.shape)), *tile.shape]
    wide: list[int] = []
    axes: list[int] = []
    for i, (size, times) in enumerate(zip(sizes, reps)):
        wide += [times] if times != 1 else []
        axes += [len(wide)] if i >= len(sizes) - len(tile.shape) else []
        wide.append(size)
    if len(wide) > 8:
        raise Unsupported(f"tile of {len(sizes)} dimensions", e.place, "take fewer dimensions for the check")
    text = f"pl_tile_broadcast({tile.text}, {shape_text(wide)}, {shape_text(axes)})"
    return [Tile(f"pl_tile_reshape({text}{_dims(aval.shape)})", tuple(aval.shape), aval.dtype)]


@handles("reshape", "squeeze", "expand_dims", pure=True)
def _reshape(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, value = _aval(eqn), operands[0]
    if eqn.params.get("dimensions") is not None and eqn.primitive.name == "reshape":
        raise Unsupported("a reshape that also transposes", e.place)
    if isinstance(value, Scalar):
        return [value if aval.shape == () else e.tile(value, tuple(aval.shape))]
    if isinstance(value, Tile) and value.shape == tuple(aval.shape):
        return [value]
    tile = Tile(f"pl_tile_reshape({e.tile(value).text}{_dims(aval.shape)})", tuple(aval.shape), aval.dtype)
    return [_settle_scalar(e, eqn, tile)]


def _settle_scalar(e: Emitter, eqn: Any, tile: Tile) -> Value:
    """A result of no dimensions that steers becomes a C variable at once."""
    if tile.shape == () and eqn.outvars[0] in e.block.steers and c_type(tile.dtype):
        return e.steering(tile)
    return tile


@handles("transpose", pure=True)
def _transpose(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    if isinstance(operands[0], Scalar):
        return operands
    aval = _aval(eqn)
    return [Tile(f"pl_tile_transpose({e.tile(operands[0]).text}{_dims(eqn.params['permutation'])})", tuple(aval.shape), aval.dtype)]


@handles("slice", pure=True)
def _slice(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, params = _aval(eqn), eqn.params
    strides = params["strides"] or (1,) * len(aval.shape)
    text = (
        f"pl_tile_slice({e.tile(operands[0]).text}, {shape_text(params['start_indices'])}, {shape_text(aval.shape)}, {shape_text(strides)})"
    )
    return [Tile(text, tuple(aval.shape), aval.dtype)]


@handles("dynamic_slice", pure=True)
def _dynamic_slice(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval = _aval(eqn)
    if len(operands) != 1 + len(aval.shape):
        raise Unsupported("a slice of computed size", e.place)
    starts = [e.steering(s, "an index").text for s in operands[1:]]
    return [
        Tile(
            f"pl_tile_dynamic_slice({e.tile(operands[0]).text}, {shape_text(starts)}, {shape_text(aval.shape)})",
            tuple(aval.shape),
            aval.dtype,
        )
    ]


@handles("dynamic_update_slice", pure=True)
def _dynamic_update_slice(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, (whole, part, *starts) = _aval(eqn), operands
    at = [e.steering(s, "an index").text for s in starts]
    text = f"pl_tile_update({e.tile(whole, tuple(aval.shape)).text}, {e.tile(part).text}, {shape_text(at)})"
    return [Tile(text, tuple(aval.shape), aval.dtype)]


@handles("concatenate", pure=True)
def _concatenate(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval = _aval(eqn)
    tiles = ", ".join(e.tile(o).text for o in operands)
    return [Tile(f"pl_tile_concatenate({eqn.params['dimension']}, {tiles})", tuple(aval.shape), aval.dtype)]


@handles("stack", pure=True)
def _stack(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval = _aval(eqn)
    axis = int(eqn.params.get("axis", eqn.params.get("dimension", 0))) % len(aval.shape)
    part = [1 if d == axis else n for d, n in enumerate(aval.shape)]
    tiles = ", ".join(f"pl_tile_reshape({e.tile(o).text}{_dims(part)})" for o in operands)
    return [Tile(f"pl_tile_concatenate({axis}, {tiles})", tuple(aval.shape), aval.dtype)]


@handles("unstack", pure=True)
def _unstack(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    tile = e.tile(operands[0])
    tile = tile if tile.text.isidentifier() else e.tile_variable("t", tile)
    axis, found = int(eqn.params["axis"]) % len(tile.shape), []
    size = [1 if d == axis else n for d, n in enumerate(tile.shape)]
    for i, var in enumerate(eqn.outvars):
        start = [i if d == axis else 0 for d in range(len(tile.shape))]
        part = f"pl_tile_slice({tile.text}, {shape_text(start)}, {shape_text(size)}, {shape_text([1] * len(size))})"
        found.append(Tile(f"pl_tile_reshape({part}{_dims(var.aval.shape)})", tuple(var.aval.shape), tile.dtype))
    return list(found)


@handles("split", pure=True)
def _split(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    axis, at, found = eqn.params["axis"], 0, []
    tile = e.tile(operands[0])
    tile = tile if tile.text.isidentifier() else e.tile_variable("t", tile)
    for size, var in zip(eqn.params["sizes"], eqn.outvars):
        start = [at if d == axis else 0 for d in range(len(tile.shape))]
        text = f"pl_tile_slice({tile.text}, {shape_text(start)}, {shape_text(var.aval.shape)}, {shape_text([1] * len(tile.shape))})"
        found.append(Tile(text, tuple(var.aval.shape), tile.dtype))
        at += size
    return list(found)


@handles("pad", pure=True)
def _pad(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, config = _aval(eqn), eqn.params["padding_config"]
    low, high, inner = (shape_text([c[i] for c in config]) for i in range(3))
    text = f"pl_tile_pad({e.tile(operands[0]).text}, {e.tile(operands[1]).text}, {low}, {high}, {inner})"
    return [Tile(text, tuple(aval.shape), aval.dtype)]


@handles("iota", pure=True)
def _iota(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval = _aval(eqn)
    return [
        Tile(f"pl_tile_iota({pl_type(aval.dtype, e.place)}, {eqn.params['dimension']}{_dims(aval.shape)})", tuple(aval.shape), aval.dtype)
    ]


@handles("rev", pure=True)
def _reverse(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval = _aval(eqn)
    return [Tile(f"pl_tile_reverse({e.tile(operands[0]).text}{_dims(eqn.params['dimensions'])})", tuple(aval.shape), aval.dtype)]


@handles("roll", pure=True)
def _roll(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, params = _aval(eqn), eqn.params
    if params.get("stride") not in (None, 0):
        raise Unsupported("a roll with a stride", e.place)
    shift = e.steering(operands[1], "a shift").text
    return [Tile(f"pl_tile_roll({e.tile(operands[0]).text}, {params['axis']}, {shift})", tuple(aval.shape), aval.dtype)]


@handles(*_REDUCE, pure=True)
def _reduce(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval = _aval(eqn)
    tile = Tile(
        f"pl_tile_reduce({_REDUCE[eqn.primitive.name]}, {e.tile(operands[0]).text}{_dims(eqn.params['axes'])})",
        tuple(aval.shape),
        aval.dtype,
    )
    return [_settle_scalar(e, eqn, tile)]


@handles("argmax", "argmin", pure=True)
def _arg(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval = _aval(eqn)
    (axis,) = eqn.params["axes"]
    tile = Tile(f"pl_tile_{eqn.primitive.name}({e.tile(operands[0]).text}, {axis}, {pl_type(aval.dtype)})", tuple(aval.shape), aval.dtype)
    return [_settle_scalar(e, eqn, tile)]


@handles(*_CUMULATE, pure=True)
def _cumulate(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, back = _aval(eqn), "true" if eqn.params["reverse"] else "false"
    text = f"pl_tile_cumulate({_CUMULATE[eqn.primitive.name]}, {e.tile(operands[0]).text}, {eqn.params['axis']}, {back})"
    return [Tile(text, tuple(aval.shape), aval.dtype)]


@handles("dot_general", pure=True)
def _dot(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, ((ca, cb), (ba, bb)) = _aval(eqn), eqn.params["dimension_numbers"]
    a, b = e.tile(operands[0]).text, e.tile(operands[1]).text
    axes = ", ".join(shape_text(x) for x in (ca, cb, ba, bb))
    tile = Tile(f"pl_tile_dot({a}, {b}, {pl_type(aval.dtype, e.place)}, {axes})", tuple(aval.shape), aval.dtype)
    return [_settle_scalar(e, eqn, tile)]


@handles("bitcast_convert_type", "bitcast", pure=True)
def _bitcast(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval, source = _aval(eqn), eqn.invars[0].aval
    same = np.dtype(source.dtype).itemsize == np.dtype(aval.dtype).itemsize
    if not same and eqn.primitive.name == "bitcast":
        function = "pl_tile_bitcast_rows"  # Mosaic's: rows of the second-minor dimension are packed together
    else:
        function = "pl_tile_bitcast"
    tile = Tile(f"{function}({e.tile(operands[0]).text}, {pl_type(aval.dtype, e.place)})", tuple(aval.shape), aval.dtype)
    return [_settle_scalar(e, eqn, tile)]


@handles("empty", "empty2", pure=True)
def _empty(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    aval = _aval(eqn)
    return [Tile(f"pl_tile_empty({pl_type(aval.dtype, e.place)}{_dims(aval.shape)})", tuple(aval.shape), aval.dtype)]
