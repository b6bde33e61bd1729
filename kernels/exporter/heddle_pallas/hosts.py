"""Plain computation: constants, and the steps between kernels that a pl_host kernel does on each device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .emitter import Emitter
from .errors import Unsupported
from .types import literal, pl_type
from .values import Scalar, Tile, Value

_ELEMENTS_MAX = 64


def constant(e: Emitter, value: Any) -> Value:
    """A constant that a jaxpr closed over: a number, or a small array written out element by element."""
    array = np.asarray(value)
    if array.shape == ():
        return Scalar(literal(array.item(), array.dtype), array.dtype, value=array.item())
    first = array.reshape(-1)[0] if array.size else 0
    dims = "".join(f", {d}" for d in array.shape)
    name = pl_type(array.dtype, e.place)
    if array.size == 0 or bool((array == first).all()):
        return Tile(f"pl_tile_full({name}, {literal(first, array.dtype)}{dims})", array.shape, array.dtype)
    if array.size > _ELEMENTS_MAX:
        raise Unsupported(f"a constant array of {array.size} elements inside a computation", e.place, "hand it over as an input")
    tile = e.tile_variable("constant", Tile(f"pl_tile_empty({name}{dims})", array.shape, array.dtype))
    for index in np.ndindex(*array.shape):
        e.out(f"pl_tile_put({tile.text}, {literal(array[index], array.dtype)}{''.join(f', {i}' for i in index)});")
    return tile
