"""Indexing arrays with arrays: gather and scatter as loops over the indices; sort and top_k as ranks, and a gather by them."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from .emitter import Emitter, handles
from .errors import Unsupported
from .types import literal, pl_type
from .values import Scalar, Tile, Value

INDICES_MAX = 1 << 14
SORTED_MAX = 1 << 11  # elements along the axis: all are compared with all

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


def _shape(sizes: Sequence[Any]) -> str:
    return f"PL_SHAPE({', '.join(map(str, sizes))})"


def _dims(sizes: Sequence[Any]) -> str:
    return "".join(f", {s}" for s in sizes)


def _named(e: Emitter, value: Value, wanted: str) -> Tile:
    tile = e.tile(value)
    return tile if tile.text.isidentifier() else e.tile_variable(wanted, tile)


class Places:
    """Where in an array the i-th index vector points."""

    def __init__(
        self,
        e: Emitter,
        eqn: Any,
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
            raise Unsupported(
                f"{eqn.primitive.name} with {self.count} indices", e.place, f"{INDICES_MAX} are the most: take smaller arrays for the check"
            )
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


def _fill(eqn: Any) -> str:
    """What stands where an index points nowhere, as XLA has it."""
    import numpy as np

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
def _gather(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    numbers, sizes, aval = eqn.params["dimension_numbers"], list(eqn.params["slice_sizes"]), eqn.outvars[0].aval
    source, batching = _named(e, operands[0], "source"), tuple(getattr(numbers, "operand_batching_dims", ()))
    index_batching = tuple(getattr(numbers, "start_indices_batching_dims", ()))
    places = Places(e, eqn, operands[1], source.shape, sizes, numbers.start_index_map, batching, index_batching)
    kept = [n for d, n in enumerate(sizes) if d not in numbers.collapsed_slice_dims and d not in batching]
    kind = pl_type(aval.dtype, e.place)
    if places.count == 0 or math.prod(aval.shape) == 0:
        return [Tile(f"pl_tile_empty({kind}{_dims(aval.shape)})", tuple(aval.shape), aval.dtype)]
    parts, i = e.scope.take("part", "part"), e.scope.take("i", "i")
    e.out(f"PlTile {parts}[{places.count}];")
    with e.inside(f"for (int {i} = 0; {i} < {places.count}; {i}++)"):
        starts, inside = places.starts(e, i)
        text = f"pl_tile_dynamic_slice({source.text}, {_shape(starts)}, {_shape(sizes)})"
        if inside:
            text = f"{inside} ? {text} : pl_tile_full({kind}, {_fill(eqn)}{_dims(sizes)})"
        e.out(f"PlTile slice = {text};")
        e.out(f"{parts}[{i}] = pl_tile_reshape(slice{_dims([1, *kept])});")
    shape = (*places.batch, *kept)
    text = f"pl_tile_reshape(pl_tile_concatenate_all(0, {places.count}, {parts}){_dims(shape)})"
    order = _order(len(places.batch), list(numbers.offset_dims), len(shape))
    if order != list(range(len(shape))):
        text = f"pl_tile_transpose({text}{_dims(order)})"
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
def _scatter(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
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
        part = f"pl_tile_transpose({part}{_dims(order)})"
    rows = e.tile_variable("rows", Tile(f"pl_tile_reshape({part}{_dims([places.count, *sizes])})", (places.count, *sizes), aval.dtype))
    i = e.scope.take("i", "i")
    with e.inside(f"for (int {i} = 0; {i} < {places.count}; {i}++)"):
        starts, inside = places.starts(e, i)
        zeros = ["0"] * len(sizes)
        e.out(f"PlTile row = pl_tile_dynamic_slice({rows.text}, {_shape([i, *zeros])}, {_shape([1, *sizes])});")
        new = f"pl_tile_reshape(row{_dims(sizes)})"
        if combine:
            new = f"pl_tile_{combine}(pl_tile_dynamic_slice({result.text}, {_shape(starts)}, {_shape(sizes)}), {new})"
        e.out(f"{f'if ({inside}) ' if inside else ''}{result.text} = pl_tile_update({result.text}, {new}, {_shape(starts)});")
    return [result]


# Sorting: how many elements come before this one? That is its place.


def _written_as(e: Emitter, function: Callable[..., Any], eqn: Any, operands: list[Value]) -> list[Value]:
    """A primitive that is written as a function of others."""
    import jax

    with jax.numpy_dtype_promotion("standard"):
        closed = jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars))
    tiles = [_named(e, o, "unsorted") if not isinstance(o, Scalar) else o for o in operands]
    results = e.run(closed.jaxpr, tiles, closed.consts, named=False)
    return [_named(e, r, e.block.names.get(v) or "sorted") for v, r in zip(eqn.outvars, results)]


def _check_length(e: Emitter, eqn: Any, axis: int) -> None:
    length = eqn.invars[0].aval.shape[axis]
    if length > SORTED_MAX:
        raise Unsupported(
            f"{eqn.primitive.name} of {length} elements", e.place, f"{SORTED_MAX} are the most: take smaller arrays for the check"
        )


def _less(a: Any, b: Any) -> Any:
    """NaN comes last."""
    import jax.numpy as jnp

    return (a < b) | ((a == a) & (b != b)) if jnp.issubdtype(a.dtype, jnp.floating) else a < b


def _order_of(ranks: Any) -> Any:
    """Which element has the k-th place, along the last axis."""
    import jax.numpy as jnp
    from jax import lax

    n = ranks.shape[-1]
    square = (*ranks.shape, n)
    is_kth = ranks[..., None] == lax.broadcasted_iota(jnp.int32, square, len(square) - 1)
    return jnp.sum(jnp.where(is_kth, lax.broadcasted_iota(jnp.int32, square, len(square) - 2), 0), axis=-2)


def _ranks(keys: Sequence[Any], descending: bool = False) -> Any:
    """Of the elements along the last axis; equal ones keep their order."""
    import jax.numpy as jnp
    from jax import lax

    n = keys[0].shape[-1]
    square = (*keys[0].shape, n)
    row, column = (lax.broadcasted_iota(jnp.int32, square, len(square) - k) for k in (2, 1))
    before = column < row
    for key in reversed(keys):
        mine, other = jnp.broadcast_to(key[..., :, None], square), jnp.broadcast_to(key[..., None, :], square)
        first, second = (mine, other) if descending else (other, mine)
        before = _less(first, second) | (~_less(second, first) & before)
    return jnp.sum(before.astype(jnp.int32), axis=-1)


@handles("sort", pure=True)
def _sort(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    import jax.numpy as jnp

    axis, keys = int(eqn.params["dimension"]), int(eqn.params["num_keys"])
    _check_length(e, eqn, axis)

    def in_order(*values: Any) -> list[Any]:
        rows = [jnp.moveaxis(v, axis, -1) for v in values]
        order = _order_of(_ranks(rows[:keys]))
        return [jnp.moveaxis(jnp.take_along_axis(r, order, axis=-1, mode="clip"), -1, axis) for r in rows]

    return _written_as(e, in_order, eqn, operands)


@handles("top_k", pure=True)
def _top_k(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    import jax.numpy as jnp

    axis, count = int(eqn.params.get("axis", -1)) % len(eqn.invars[0].aval.shape), int(eqn.params["k"])
    _check_length(e, eqn, axis)

    def largest(values: Any) -> list[Any]:
        rows = jnp.moveaxis(values, axis, -1)
        order = _order_of(_ranks([rows], descending=True))[..., :count]
        found = jnp.take_along_axis(rows, order, axis=-1, mode="clip")
        return [jnp.moveaxis(found, -1, axis), jnp.moveaxis(order, -1, axis)]

    return _written_as(e, largest, eqn, operands)
