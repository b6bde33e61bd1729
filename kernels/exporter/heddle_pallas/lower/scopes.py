"""Scratch that lives in a block."""

from __future__ import annotations

from jax.extend.core import JaxprEqn

from ..c.types import c_type
from ..errors import Unsupported
from .emitter import Emitter
from .jaxprs import Aval, argument_names
from .spaces import kind_of, space_of
from .table import handles
from .tiles import empty_tile
from .values import Scalar, Tile, Value, View
from .views import view_of


@handles("run_scoped")
def _run_scoped(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    if eqn.params.get("collective_axes"):
        raise Unsupported("run_scoped with collective_axes", e.place)
    if any(eqn.params.get("ref_transforms") or ()):
        raise Unsupported("run_scoped of transformed refs", e.place)
    jaxpr = eqn.params["jaxpr"]
    results = [_outlives(e, eqn, i) for i in range(len(eqn.outvars))]
    with e.inside(""):
        refs = [allocate(e, v.aval, name or "scratch") for v, name in zip(jaxpr.invars, argument_names(jaxpr))]
        values = e.run(jaxpr, refs, operands, [v in e.block.steers for v in eqn.outvars])
        for result, value in zip(results, values):
            if isinstance(result, Tile) and result.text:
                e.out(f"pl_tile_assign({result.text}, {e.tile(value).text});")
            elif isinstance(result, Scalar):
                e.out(f"{result.text} = {e.steering(value).text};")
    return results


@handles("empty_ref")
def _empty_ref(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    """Scratch without a scope: it lives to the end of the block that it stands in."""
    var = eqn.outvars[0]
    return [allocate(e, var.aval, e.block.names.get(var) or "scratch")]


def _outlives(e: Emitter, eqn: JaxprEqn, i: int) -> Value:
    """Tiles that a scope makes end with it; its results are copied out."""
    var = eqn.outvars[i]
    shape, dtype = tuple(var.aval.shape), var.aval.dtype
    if e.block.uses[var] == 0:
        return Tile("", shape, dtype)
    if shape == () and var in e.block.steers and c_type(dtype):
        name = e.scope.take(e.block.names.get(var) or "result", "v")
        e.out(f"{c_type(dtype)} {name};")
        return Scalar(name, dtype)
    return empty_tile(e, var, "result")


def allocate(e: Emitter, aval: Aval, wanted: str) -> View:
    """Scratch of the block that is open."""
    name = e.scope.take(wanted, "scratch")
    e.out(f"PL_SCOPED PlRef {name} = {allocation(aval, e)};")
    return view_of(name, aval, space_of(aval, place=e.place))


def allocation(aval: Aval, e: Emitter) -> str:
    kind, dims = kind_of(aval), [str(d) for d in aval.shape]
    if kind == "barrier":
        raise Unsupported("a BARRIER semaphore in a scope", e.place, "use get_barrier_semaphore")
    if kind:
        return f"pl_{kind}_semaphore({', '.join(dims)})"
    space = space_of(aval, place=e.place)
    if space == "semaphore":
        raise Unsupported(f"a semaphore of type {aval.dtype}", e.place)
    return f"pl_{space}({', '.join([e.pl_type(aval.dtype), *dims])})"
