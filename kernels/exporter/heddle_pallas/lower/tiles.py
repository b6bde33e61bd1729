"""Texts that the lowering of arrays shares."""

from __future__ import annotations

from typing import Iterable

from jax.extend.core import JaxprEqn, Var

from ..c.types import c_type
from .emitter import Emitter
from .jaxprs import Aval
from .values import Scalar, Tile, Value


def shape_text(sizes: Iterable[object]) -> str:
    return f"PL_SHAPE({', '.join(map(str, sizes))})"


def dims(sizes: Iterable[object]) -> str:
    """Further arguments of a call."""
    return "".join(f", {s}" for s in sizes)


def aval_of(eqn: JaxprEqn) -> Aval:
    return eqn.outvars[0].aval


def result(eqn: JaxprEqn, text: str) -> Tile:
    """The equation's first result, computed by that text."""
    aval = aval_of(eqn)
    return Tile(text, tuple(aval.shape), aval.dtype)


def steering_result(e: Emitter, eqn: JaxprEqn, text: str) -> Tile | Scalar:
    """Like result, but a scalar that steers becomes a C expression at once."""
    tile = result(eqn, text)
    if tile.shape == () and eqn.outvars[0] in e.block.steers and c_type(tile.dtype):
        return e.steering(tile)
    return tile


def named(e: Emitter, value: Value, wanted: str) -> Tile:
    """As a variable."""
    tile = e.tile(value)
    return tile if tile.text.isidentifier() else e.tile_variable(wanted, tile)


def empty_tile(e: Emitter, var: Var, wanted: str) -> Tile:
    """A variable for that result, all elements unwritten."""
    aval = var.aval
    text = f"pl_tile_empty({e.pl_type(aval.dtype)}{dims(aval.shape)})"
    return e.tile_variable(e.block.names.get(var) or wanted, Tile(text, tuple(aval.shape), aval.dtype))
