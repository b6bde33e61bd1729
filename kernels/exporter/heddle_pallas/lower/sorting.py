"""Sorting: the place of an element is the number of elements that come before it."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import JaxprEqn

from ..errors import Unsupported
from .emitter import Emitter
from .table import handles
from .tiles import named
from .values import Scalar, Value

SORTED_MAX = 1 << 11  # elements along the axis: all are compared with all


def _written_as(e: Emitter, function: Callable[..., Any], eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    """A primitive that is written as a function of others."""
    with jax.numpy_dtype_promotion("standard"):
        closed = jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars))
    tiles = [named(e, o, "unsorted") if not isinstance(o, Scalar) else o for o in operands]
    results = e.run(closed.jaxpr, tiles, closed.consts, named=False)
    return [named(e, r, e.block.names.get(v) or "sorted") for v, r in zip(eqn.outvars, results)]


def _check_length(e: Emitter, eqn: JaxprEqn, axis: int) -> None:
    length = eqn.invars[0].aval.shape[axis]
    if length > SORTED_MAX:
        raise Unsupported(f"{eqn.primitive.name} of {length} elements", e.place, f"use at most {SORTED_MAX} for the check")


def _less(a: jax.Array, b: jax.Array) -> jax.Array:
    """NaN comes last."""
    return (a < b) | ((a == a) & (b != b)) if jnp.issubdtype(a.dtype, jnp.floating) else a < b


def _order_of(ranks: jax.Array) -> jax.Array:
    """Which element has the k-th place, along the last axis."""
    n = ranks.shape[-1]
    square = (*ranks.shape, n)
    is_kth = ranks[..., None] == lax.broadcasted_iota(jnp.int32, square, len(square) - 1)
    return jnp.sum(jnp.where(is_kth, lax.broadcasted_iota(jnp.int32, square, len(square) - 2), 0), axis=-2)


def _ranks(keys: Sequence[jax.Array], descending: bool = False) -> jax.Array:
    """Of the elements along the last axis; equal ones keep their order."""
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
def _sort(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    axis, keys = int(eqn.params["dimension"]), int(eqn.params["num_keys"])
    _check_length(e, eqn, axis)

    def in_order(*values: jax.Array) -> list[jax.Array]:
        rows = [jnp.moveaxis(v, axis, -1) for v in values]
        order = _order_of(_ranks(rows[:keys]))
        return [jnp.moveaxis(jnp.take_along_axis(r, order, axis=-1, mode="clip"), -1, axis) for r in rows]

    return _written_as(e, in_order, eqn, operands)


@handles("top_k", pure=True)
def _top_k(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    axis, count = int(eqn.params.get("axis", -1)) % len(eqn.invars[0].aval.shape), int(eqn.params["k"])
    _check_length(e, eqn, axis)

    def largest(values: jax.Array) -> list[jax.Array]:
        rows = jnp.moveaxis(values, axis, -1)
        order = _order_of(_ranks([rows], descending=True))[..., :count]
        found = jnp.take_along_axis(rows, order, axis=-1, mode="clip")
        return [jnp.moveaxis(found, -1, axis), jnp.moveaxis(order, -1, axis)]

    return _written_as(e, largest, eqn, operands)
