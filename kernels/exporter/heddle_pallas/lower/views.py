"""Refs and views of them: indices, slices, reshape, bitcast, select; loads and stores through them."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import numpy as np
from jax.extend.core import JaxprEqn
from jax.tree_util import tree_unflatten
from numpy.typing import DTypeLike

from ..c.types import is_float
from ..errors import Unsupported
from .emitter import Emitter
from .jaxprs import Aval
from .spaces import kind_of
from .table import handles
from .values import PRIMARY, Scalar, Tile, Value, View, number


def is_ref_group(group: Any) -> bool:
    return hasattr(group, "transforms") and hasattr(group, "ref")


def resolve(e: Emitter, group: Any, transforms: Sequence[Any] = ()) -> View:
    """A ref with its transforms, as unflattened from an equation's operands (leaves are our values)."""
    if isinstance(group, (tuple, list)) and all(isinstance(g, View) or is_ref_group(g) for g in group):
        return _select(e, [resolve(e, g) for g in group], transforms)
    if is_ref_group(group):
        inner = group.ref
        if isinstance(inner, (tuple, list)):
            view = _select(e, [resolve(e, g) for g in inner], group.transforms)
        else:
            view = resolve(e, inner, group.transforms)
    elif isinstance(group, View):
        view = group
    else:
        raise Unsupported("an operand that is not a ref", e.place)
    for transform in transforms:
        view = _transform(e, view, transform)
    return view


def _select(e: Emitter, views: list[View], transforms: Sequence[Any]) -> View:
    which, *rest = transforms
    if not hasattr(which, "idx") or rest:
        raise Unsupported("several refs at once", e.place, "choose one with pltpu's select_ref")
    return dataclasses.replace(views[0], text=f"pl_select_ref({_scalar(e, which.idx).text}, {', '.join(v.text for v in views)})")


def _transform(e: Emitter, view: View, transform: Any) -> View:
    kind = type(transform).__name__
    if hasattr(transform, "indices") and hasattr(transform, "int_indexer_shape"):
        return _index(e, view, transform)
    if kind in ("RefReshaper", "ReshapeTransform"):
        shape = tuple(int(d) for d in transform.shape)
        return dataclasses.replace(view, text=f"pl_reshape({', '.join([view.text, *map(str, shape)])})", shape=shape)
    if kind in ("RefBitcaster", "BitcastTransform"):
        return _bitcast(e, view, transform.dtype)
    raise Unsupported(f"the view {kind} of a ref", e.place, "indices, slices, reshape and bitcast are")


def _bitcast(e: Emitter, view: View, dtype: DTypeLike) -> View:
    old, new = np.dtype(view.dtype).itemsize, np.dtype(dtype).itemsize
    shape = list(view.shape)
    if old != new:
        at = -2 if len(shape) > 1 else -1
        size = shape[at]
        if isinstance(size, Scalar):
            raise Unsupported("a bitcast of a slice of computed size", e.place)
        shape[at] = size * old // new
    return dataclasses.replace(view, text=f"pl_bitcast({view.text}, {e.pl_type(dtype)})", shape=tuple(shape), dtype=dtype)


def _scalar(e: Emitter, index: Any) -> Scalar:
    if isinstance(index, (int, bool)) or (hasattr(index, "item") and getattr(index, "shape", None) == ()):
        return number(int(index))
    if isinstance(index, Tile) and index.shape != ():
        raise Unsupported("indexing a ref with an array", e.place, "use a loop over scalar indices")
    if isinstance(index, (View,)) or is_ref_group(index):
        raise Unsupported("indexing a ref with a ref", e.place, "load the index first")
    return e.steering(index, "an index")


def _index(e: Emitter, view: View, indexer: Any) -> View:
    parts: list[str] = []
    shape: list[int | Scalar] = []
    for dimension, index in zip(view.shape, indexer.indices):
        if hasattr(index, "start") and hasattr(index, "size"):
            start, size = _scalar(e, index.start), _scalar(e, index.size)
            stride = int(getattr(index, "stride", 1))
            whole = start.value == 0 and stride == 1 and size.value is not None and size.value == dimension
            if whole:
                parts.append("PL_ALL")
            elif stride == 1:
                parts.append(f"pl_ds({start.text}, {size.text})")
            else:
                parts.append(f"pl_dslice({start.text}, {size.text}, {stride})")
            shape.append(size if size.value is None else int(size.value))
        else:
            parts.append(_scalar(e, index).text)
    while parts and parts[-1] == "PL_ALL":
        parts.pop()
    if not parts:
        return view
    return dataclasses.replace(view, text=f"pl_at({view.text}, {', '.join(parts)})", shape=tuple(shape))


def view_of(name: str, aval: Aval, space: str) -> View:
    """The whole ref of this name in C; space is the memory space of an array."""
    kind = kind_of(aval)
    return View(name, tuple(int(n) for n in aval.shape), aval.dtype, "semaphore" if kind else space, kind, name)


def static_shape(e: Emitter, view: View) -> tuple[int, ...]:
    sizes = tuple(d for d in view.shape if not isinstance(d, Scalar))
    if len(sizes) < len(view.shape):
        raise Unsupported("loading or storing a slice of computed size", e.place, "copy it with a DMA, or use a mask")
    return sizes


def load(e: Emitter, view: View, wanted: str | None, steers: bool, mask: Tile | None = None) -> Value:
    shape = static_shape(e, view)
    if shape == () and steers and mask is None and not _small_float(view.dtype):
        if is_float(view.dtype):
            return e.variable(wanted or "value", Scalar(f"(float)pl_load_float({view.text})", view.dtype, PRIMARY - 1))
        return e.variable(wanted or "value", Scalar(f"pl_load_int({view.text})", view.dtype))
    text = f"pl_load({view.text})" if mask is None else f"pl_load_masked({view.text}, {mask.text})"
    return e.tile_variable(wanted or _loaded_name(view), Tile(text, shape, view.dtype))


def _loaded_name(view: View) -> str:
    return f"{view.name}_tile" if view.name else "t"


def _small_float(dtype: DTypeLike) -> bool:
    return is_float(dtype) and str(dtype) not in ("float32", "float64")


def store(e: Emitter, view: View, value: Value, mask: Tile | None = None) -> None:
    shape = static_shape(e, view)
    if isinstance(value, Scalar) and mask is None and shape == ():
        function = "pl_store_float" if is_float(view.dtype) else "pl_store_int"
        e.out(f"{function}({view.text}, {value.text});")
    elif mask is None:
        e.out(f"pl_store({view.text}, {e.tile(value, shape).text});")
    else:
        e.out(f"pl_store_masked({view.text}, {e.tile(value, shape).text}, {mask.text});")


def _wanted(e: Emitter, eqn: JaxprEqn) -> str | None:
    return e.block.names.get(eqn.outvars[0])


@handles("get")
def _get(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    ref, *rest = operands
    view = resolve(e, ref, tree_unflatten(eqn.params["tree"], rest))
    return [load(e, view, _wanted(e, eqn), eqn.outvars[0] in e.block.steers)]


def _swap_through(e: Emitter, eqn: JaxprEqn, view: View, value: Value, mask: Tile | None) -> list[Value]:
    out = eqn.outvars[0]
    shape = static_shape(e, view)
    if e.block.uses[out] == 0:
        store(e, view, value, mask)
        return [Tile("", shape, view.dtype)]
    suffix, extra = ("", "") if mask is None else ("_masked", f", {mask.text}")
    text = f"pl_swap{suffix}({view.text}, {e.tile(value, shape).text}{extra})"
    return [e.tile_variable(_wanted(e, eqn) or "t", Tile(text, shape, view.dtype))]


@handles("swap")
def _swap(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    ref, value, *rest = operands
    view = resolve(e, ref, tree_unflatten(eqn.params["tree"], rest))
    return _swap_through(e, eqn, view, value, None)


@handles("addupdate")
def _addupdate(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    ref, value, *rest = operands
    view = resolve(e, ref, tree_unflatten(eqn.params["tree"], rest))
    shape = static_shape(e, view)
    old = e.tile_variable("t", Tile(f"pl_load({view.text})", shape, view.dtype))
    e.out(f"pl_store({view.text}, pl_tile_add({old.text}, {e.tile(value, shape).text}));")
    return []


def _mask(e: Emitter, view: View, mask: Value | None) -> Tile | None:
    return None if mask is None else e.tile(mask, static_shape(e, view)) if not _needs_broadcast(mask, view) else _broadcast(e, mask, view)


def _needs_broadcast(mask: Value, view: View) -> bool:
    return isinstance(mask, Tile) and mask.shape not in ((), view.shape)


def _broadcast(e: Emitter, mask: Value, view: View) -> Tile:
    assert isinstance(mask, Tile)
    shape, skip = static_shape(e, view), len(view.shape) - len(mask.shape)
    axes = ", ".join(str(skip + i) for i in range(len(mask.shape)))
    text = f"pl_tile_broadcast({mask.text}, PL_SHAPE({', '.join(map(str, shape))}), PL_SHAPE({axes}))"
    return e.tile_variable("mask", Tile(text, shape, mask.dtype))


@handles("masked_load", "load")
def _masked_load(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    ref, transforms, mask, other = eqn.params["args_tree"].unflatten(operands)
    view = resolve(e, ref, transforms)
    tile = _mask(e, view, mask)
    if tile is not None and other is not None and not tile.text.isidentifier():
        tile = e.tile_variable("mask", tile)
    found = load(e, view, _wanted(e, eqn), eqn.outvars[0] in e.block.steers, tile)
    if tile is None or other is None:
        return [found]
    assert isinstance(found, Tile)
    text = f"pl_tile_select({tile.text}, {e.tile(other, found.shape).text}, {found.text})"
    return [Tile(text, found.shape, found.dtype)]


@handles("masked_swap")
def _masked_swap(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    ref, transforms, value, mask = eqn.params["args_tree"].unflatten(operands)
    view = resolve(e, ref, transforms)
    return _swap_through(e, eqn, view, value, _mask(e, view, mask))
