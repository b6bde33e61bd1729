"""jax.lax that moves elements: reshape, broadcast, slices, concatenation; constants and bits."""

from __future__ import annotations

import numpy as np
from jax.extend.core import JaxprEqn

from ..errors import Unsupported
from .emitter import Emitter
from .table import handles
from .tiles import aval_of, dims, named, result, shape_text, steering_result
from .values import MULTIPLY, Scalar, Tile, Value

DIMENSIONS_MAX = 8


@handles("multiple_of")
def _multiple_of(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    value = operands[0]
    if isinstance(value, Scalar) and value.value is None:
        value = e.simple(value)
        for divisor in eqn.params["values"]:
            if divisor != 1:
                e.out(f"pl_assert({value.at(MULTIPLY)} % {int(divisor)} == 0);")
    return [value]


@handles("broadcast_in_dim", pure=True)
def _broadcast(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    value, shape = operands[0], tuple(aval_of(eqn).shape)
    if len(operands) > 1:
        raise Unsupported("a broadcast to a computed size", e.place)
    if isinstance(value, Scalar):
        return [value if shape == () else e.tile(value, shape)]
    tile = e.tile(value)
    if tile.shape == shape:
        return [tile]
    return [result(eqn, f"pl_tile_broadcast({tile.text}, {shape_text(shape)}, {shape_text(eqn.params['broadcast_dimensions'])})")]


@handles("tile", pure=True)
def _repeat(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    """jnp.tile: a dimension for the copies before each that is repeated, then joined with it."""
    tile, reps = e.tile(operands[0]), [int(r) for r in eqn.params["reps"]]
    sizes = [*(1,) * (len(reps) - len(tile.shape)), *tile.shape]
    wide: list[int] = []
    axes: list[int] = []
    for i, (size, times) in enumerate(zip(sizes, reps)):
        wide += [times] if times != 1 else []
        axes += [len(wide)] if i >= len(sizes) - len(tile.shape) else []
        wide.append(size)
    if len(wide) > DIMENSIONS_MAX:
        raise Unsupported(f"tile of {len(sizes)} dimensions", e.place, "use fewer dimensions for the check")
    text = f"pl_tile_broadcast({tile.text}, {shape_text(wide)}, {shape_text(axes)})"
    return [result(eqn, f"pl_tile_reshape({text}{dims(aval_of(eqn).shape)})")]


@handles("reshape", "squeeze", "expand_dims", pure=True)
def _reshape(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    value, shape = operands[0], tuple(aval_of(eqn).shape)
    if eqn.params.get("dimensions") is not None and eqn.primitive.name == "reshape":
        raise Unsupported("a reshape that also transposes", e.place)
    if isinstance(value, Scalar):
        return [value if shape == () else e.tile(value, shape)]
    if isinstance(value, Tile) and value.shape == shape:
        return [value]
    return [steering_result(e, eqn, f"pl_tile_reshape({e.tile(value).text}{dims(shape)})")]


@handles("transpose", pure=True)
def _transpose(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    if isinstance(operands[0], Scalar):
        return operands
    return [result(eqn, f"pl_tile_transpose({e.tile(operands[0]).text}{dims(eqn.params['permutation'])})")]


# Slices


def _slice_text(tile: Tile, start: list[int], shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> str:
    return f"pl_tile_slice({tile.text}, {shape_text(start)}, {shape_text(shape)}, {shape_text(strides or (1,) * len(shape))})"


@handles("slice", pure=True)
def _slice(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    params = eqn.params
    return [result(eqn, _slice_text(e.tile(operands[0]), params["start_indices"], aval_of(eqn).shape, params["strides"]))]


@handles("dynamic_slice", pure=True)
def _dynamic_slice(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    shape = aval_of(eqn).shape
    if len(operands) != 1 + len(shape):
        raise Unsupported("a slice of computed size", e.place)
    starts = [e.steering(s, "an index").text for s in operands[1:]]
    return [result(eqn, f"pl_tile_dynamic_slice({e.tile(operands[0]).text}, {shape_text(starts)}, {shape_text(shape)})")]


@handles("dynamic_update_slice", pure=True)
def _dynamic_update_slice(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    whole, part, *starts = operands
    at = [e.steering(s, "an index").text for s in starts]
    return [result(eqn, f"pl_tile_update({e.tile(whole, tuple(aval_of(eqn).shape)).text}, {e.tile(part).text}, {shape_text(at)})")]


@handles("unstack", pure=True)
def _unstack(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    tile = named(e, operands[0], "t")
    axis, found = int(eqn.params["axis"]) % len(tile.shape), []
    size = tuple(1 if d == axis else n for d, n in enumerate(tile.shape))
    for i, var in enumerate(eqn.outvars):
        part = _slice_text(tile, [i if d == axis else 0 for d in range(len(tile.shape))], size)
        found.append(Tile(f"pl_tile_reshape({part}{dims(var.aval.shape)})", tuple(var.aval.shape), tile.dtype))
    return list(found)


@handles("split", pure=True)
def _split(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    axis, at, found = eqn.params["axis"], 0, []
    tile = named(e, operands[0], "t")
    for size, var in zip(eqn.params["sizes"], eqn.outvars):
        shape = tuple(var.aval.shape)
        found.append(Tile(_slice_text(tile, [at if d == axis else 0 for d in range(len(tile.shape))], shape), shape, tile.dtype))
        at += size
    return list(found)


# Joining and rearranging


@handles("concatenate", pure=True)
def _concatenate(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    tiles = ", ".join(e.tile(o).text for o in operands)
    return [result(eqn, f"pl_tile_concatenate({eqn.params['dimension']}, {tiles})")]


@handles("stack", pure=True)
def _stack(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    shape = aval_of(eqn).shape
    axis = int(eqn.params.get("axis", eqn.params.get("dimension", 0))) % len(shape)
    part = [1 if d == axis else n for d, n in enumerate(shape)]
    tiles = ", ".join(f"pl_tile_reshape({e.tile(o).text}{dims(part)})" for o in operands)
    return [result(eqn, f"pl_tile_concatenate({axis}, {tiles})")]


@handles("pad", pure=True)
def _pad(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    low, high, inner = (shape_text([c[i] for c in eqn.params["padding_config"]]) for i in range(3))
    return [result(eqn, f"pl_tile_pad({e.tile(operands[0]).text}, {e.tile(operands[1]).text}, {low}, {high}, {inner})")]


@handles("rev", pure=True)
def _reverse(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    return [result(eqn, f"pl_tile_reverse({e.tile(operands[0]).text}{dims(eqn.params['dimensions'])})")]


@handles("roll", pure=True)
def _roll(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    if eqn.params.get("stride") not in (None, 0):
        raise Unsupported("a roll with a stride", e.place)
    shift = e.steering(operands[1], "a shift").text
    return [result(eqn, f"pl_tile_roll({e.tile(operands[0]).text}, {eqn.params['axis']}, {shift})")]


# Constants and bits


@handles("iota", pure=True)
def _iota(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    aval = aval_of(eqn)
    return [result(eqn, f"pl_tile_iota({e.pl_type(aval.dtype)}, {eqn.params['dimension']}{dims(aval.shape)})")]


@handles("empty", "empty2", pure=True)
def _empty(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    aval = aval_of(eqn)
    return [result(eqn, f"pl_tile_empty({e.pl_type(aval.dtype)}{dims(aval.shape)})")]


@handles("bitcast_convert_type", "bitcast", pure=True)
def _bitcast(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    """Mosaic's bitcast packs rows of the second-minor dimension together."""
    aval, source = aval_of(eqn), eqn.invars[0].aval
    same = np.dtype(source.dtype).itemsize == np.dtype(aval.dtype).itemsize
    function = "pl_tile_bitcast_rows" if eqn.primitive.name == "bitcast" and not same else "pl_tile_bitcast"
    return [steering_result(e, eqn, f"{function}({e.tile(operands[0]).text}, {e.pl_type(aval.dtype)})")]
