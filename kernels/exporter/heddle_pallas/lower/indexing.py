"""Indexing arrays with arrays: gather and scatter as loops over the indices."""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np
from jax.extend.core import JaxprEqn

from ..c.types import literal
from ..errors import Unsupported
from .emitter import Emitter
from .table import handles
from .tiles import dims, named, shape_text
from .values import Tile, Value

INDICES_MAX = 1 << 14

_COMBINE = {
    "scatter": "",
    "scatter-add": "add",
    "scatter_add": "add",
    "scatter-mul": "mul",
    "scatter_mul": "mul",
    "scatter-min": "min",
    "scatter_min": "min",
    "scatter-max": "max",
    "scatter_max": "max",
    "scatter-sub": "sub",
    "scatter_sub": "sub",
}


class Places:
    """Where in an array the i-th index vector points."""

    def __init__(
        self,
        e: Emitter,
        eqn: JaxprEqn,
        indices: Value,
        whole: tuple[int, ...],
        window: Sequence[int],
        axes: Sequence[int],
        batching: Sequence[int],
        index_batching: Sequence[int],
    ) -> None:
        shape = tuple(eqn.invars[1].aval.shape)
        self.batch, self.count = shape[:-1], math.prod(shape[:-1])
        if self.count > INDICES_MAX:
            raise Unsupported(f"{eqn.primitive.name} with {self.count} indices", e.place, f"use at most {INDICES_MAX} for the check")
        self.whole, self.window, self.axes = whole, list(window), list(axes)
        self.batching = dict(zip(batching, index_batching))
        self.drops = "FILL" in str(eqn.params.get("mode")).upper()
        flat = e.tile(indices)
        self.text = e.tile_variable(
            "at", Tile(f"pl_tile_reshape({flat.text}, {self.count}, {shape[-1]})", (self.count, shape[-1]), flat.dtype)
        ).text

    def starts(self, e: Emitter, i: str) -> tuple[list[str], str]:
        """The start along each dimension, as variables; and whether all of the window is inside (empty: it is moved inside)."""
        found, tests = [], []
        for d, size in enumerate(self.whole):
            if d in self.axes:
                name = e.scope.take(f"start_{d}", "start")
                e.out(f"int64_t {name} = (int64_t)pl_tile_int({self.text}, {i}, {self.axes.index(d)});")
                found.append(name)
                tests.append(f"{name} >= 0 && {name} <= {size - self.window[d]}")
            elif d in self.batching:
                axis = self.batching[d]
                found.append(f"{i} / {math.prod(self.batch[axis + 1 :])} % {self.batch[axis]}")
            else:
                found.append("0")
        return found, " && ".join(tests) if self.drops else ""


def _fill(eqn: JaxprEqn) -> str:
    """The value of an element whose index is out of bounds, as in XLA."""
    dtype, value = eqn.outvars[0].aval.dtype, eqn.params.get("fill_value")
    if value is None:
        name = str(dtype)
        value = (
            float("nan")
            if "float" in name
            else True
            if name == "bool"
            else np.iinfo(dtype).max
            if name.startswith("u")
            else np.iinfo(dtype).min
        )
    return literal(value, dtype)


@handles("gather", pure=True)
def _gather(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    numbers, sizes, aval = eqn.params["dimension_numbers"], list(eqn.params["slice_sizes"]), eqn.outvars[0].aval
    source, batching = named(e, operands[0], "source"), tuple(getattr(numbers, "operand_batching_dims", ()))
    index_batching = tuple(getattr(numbers, "start_indices_batching_dims", ()))
    places = Places(e, eqn, operands[1], source.shape, sizes, numbers.start_index_map, batching, index_batching)
    kept = [n for d, n in enumerate(sizes) if d not in numbers.collapsed_slice_dims and d not in batching]
    kind = e.pl_type(aval.dtype)
    if places.count == 0 or math.prod(aval.shape) == 0:
        return [Tile(f"pl_tile_empty({kind}{dims(aval.shape)})", tuple(aval.shape), aval.dtype)]
    parts, i = e.scope.take("part", "part"), e.scope.take("i", "i")
    e.out(f"PlTile {parts}[{places.count}] = {{ 0 }};")
    with e.inside(f"for (int {i} = 0; {i} < {places.count}; {i}++)"):
        starts, inside = places.starts(e, i)
        text = f"pl_tile_dynamic_slice({source.text}, {shape_text(starts)}, {shape_text(sizes)})"
        if inside:
            text = f"{inside} ? {text} : pl_tile_full({kind}, {_fill(eqn)}{dims(sizes)})"
        e.out(f"PlTile slice = {text};")
        e.out(f"{parts}[{i}] = pl_tile_reshape(slice{dims([1, *kept])});")
    shape = (*places.batch, *kept)
    text = f"pl_tile_reshape(pl_tile_concatenate_all(0, {places.count}, {parts}){dims(shape)})"
    order = _order(len(places.batch), list(numbers.offset_dims), len(shape))
    if order != list(range(len(shape))):
        text = f"pl_tile_transpose({text}{dims(order)})"
    tile = Tile(text, tuple(aval.shape), aval.dtype)
    if aval.shape == () and eqn.outvars[0] in e.block.steers:
        return [e.steering(tile)]
    return [tile]


def _order(batches: int, offsets: list[int], dims: int) -> list[int]:
    """Which dimension of (batch, window) becomes the i-th of the result."""
    order, batch, window = [], iter(range(batches)), iter(range(batches, dims))
    for d in range(dims):
        order.append(next(window) if d in offsets else next(batch))
    return order


@handles(*_COMBINE, pure=True)
def _scatter(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    numbers, aval, combine = eqn.params["dimension_numbers"], eqn.outvars[0].aval, _COMBINE[eqn.primitive.name]
    batching = tuple(getattr(numbers, "operand_batching_dims", ()))
    index_batching = tuple(getattr(numbers, "scatter_indices_batching_dims", ()))
    updates, windows = eqn.invars[2].aval.shape, list(numbers.update_window_dims)
    sizes, window = [], iter(windows)
    for d in range(len(aval.shape)):
        sizes.append(1 if d in numbers.inserted_window_dims or d in batching else int(updates[next(window)]))
    result = e.tile_variable(e.block.names.get(eqn.outvars[0]) or "scattered", e.tile(operands[0], tuple(aval.shape)))
    places = Places(e, eqn, operands[1], tuple(aval.shape), sizes, numbers.scatter_dims_to_operand_dims, batching, index_batching)
    order = [d for d in range(len(updates)) if d not in windows] + windows
    part = e.tile(operands[2], tuple(updates)).text
    if order != list(range(len(order))):
        part = f"pl_tile_transpose({part}{dims(order)})"
    rows = e.tile_variable("rows", Tile(f"pl_tile_reshape({part}{dims([places.count, *sizes])})", (places.count, *sizes), aval.dtype))
    i = e.scope.take("i", "i")
    with e.inside(f"for (int {i} = 0; {i} < {places.count}; {i}++)"):
        starts, inside = places.starts(e, i)
        zeros = ["0"] * len(sizes)
        e.out(f"PlTile row = pl_tile_dynamic_slice({rows.text}, {shape_text([i, *zeros])}, {shape_text([1, *sizes])});")
        new = f"pl_tile_reshape(row{dims(sizes)})"
        if combine:
            new = f"pl_tile_{combine}(pl_tile_dynamic_slice({result.text}, {shape_text(starts)}, {shape_text(sizes)}), {new})"
        e.out(f"{f'if ({inside}) ' if inside else ''}{result.text} = pl_tile_update({result.text}, {new}, {shape_text(starts)});")
    return [result]
