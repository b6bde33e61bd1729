"""Scratch that lives in a block, and where in the grid and in the mesh the kernel stands."""

from __future__ import annotations

from typing import Any

from .emitter import Emitter, handles
from .errors import Unsupported
from .spaces import kind_of, space_of
from .types import c_type, pl_type
from .values import ADD, PRIMARY, Scalar, Tile, Value, View, number


@handles("run_scoped")
def _run_scoped(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    if eqn.params.get("collective_axes"):
        raise Unsupported("run_scoped with collective_axes", e.place)
    if any(eqn.params.get("ref_transforms") or ()):
        raise Unsupported("run_scoped of transformed refs", e.place)
    jaxpr = eqn.params["jaxpr"]
    arguments = list(getattr(jaxpr.debug_info, "arg_names", None) or ())
    results = [_outlives(e, eqn, i) for i in range(len(eqn.outvars))]
    with e.inside(""):
        refs = []
        for i, v in enumerate(jaxpr.invars):
            wanted = arguments[i] if i < len(arguments) and arguments[i] else "scratch"
            refs.append(allocate(e, v.aval, wanted))
        values = e.run(jaxpr, refs, operands, [v in e.block.steers for v in eqn.outvars])
        for result, value in zip(results, values):
            if isinstance(result, Tile) and result.text:
                e.out(f"pl_tile_assign({result.text}, {e.tile(value).text});")
            elif isinstance(result, Scalar):
                e.out(f"{result.text} = {e.steering(value).text};")
    return results


@handles("empty_ref")
def _empty_ref(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    """Scratch without a scope: it lives to the end of the block that it stands in."""
    var = eqn.outvars[0]
    return [allocate(e, var.aval, e.block.names.get(var) or "scratch")]


def _outlives(e: Emitter, eqn: Any, i: int) -> Value:
    """Tiles that a scope makes end with it; its results are copied out."""
    var = eqn.outvars[i]
    shape, dtype = tuple(var.aval.shape), var.aval.dtype
    if e.block.uses[var] == 0:
        return Tile("", shape, dtype)
    if shape == () and var in e.block.steers and c_type(dtype):
        name = e.scope.take(e.block.names.get(var) or "result", "v")
        e.out(f"{c_type(dtype)} {name};")
        return Scalar(name, dtype)
    dims = "".join(f", {d}" for d in shape)
    return e.tile_variable(e.block.names.get(var) or "result", Tile(f"pl_tile_empty({pl_type(dtype, e.place)}{dims})", shape, dtype))


def allocate(e: Emitter, aval: Any, wanted: str) -> View:
    """Scratch of the block that is open."""
    name = e.scope.take(wanted, "scratch")
    e.out(f"PL_SCOPED PlRef {name} = {allocation(aval, e)};")
    kind = kind_of(aval)
    return View(name, tuple(aval.shape), aval.dtype, "semaphore" if kind else space_of(aval, place=e.place), kind, name)


def allocation(aval: Any, e: Emitter) -> str:
    kind, dims = kind_of(aval), [str(d) for d in aval.shape]
    if kind == "barrier":
        raise Unsupported("a BARRIER semaphore in a scope", e.place, "use get_barrier_semaphore")
    if kind:
        return f"pl_{kind}_semaphore({', '.join(dims)})"
    space = space_of(aval, place=e.place)
    if space == "semaphore":
        raise Unsupported(f"a semaphore of type {aval.dtype}", e.place)
    return f"pl_{space}({', '.join([pl_type(aval.dtype, e.place), *dims])})"


# The grid


@handles("program_id", pure=True)
def _program_id(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    axis = int(eqn.params["axis"])
    return [e.grid[axis] if e.grid is not None else Scalar(f"pl_program_id({axis})", "int32")]


@handles("num_programs", pure=True)
def _num_programs(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    axis = int(eqn.params["axis"])
    return [number(e.sizes[axis]) if e.sizes is not None else Scalar(f"pl_num_programs({axis})", "int32")]


@handles("axis_index", pure=True)
def _axis_index(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    name = eqn.params["axis_name"]
    if name == e.core_axis:
        return [Scalar("pl_core_index()", "int32")]
    names = name if isinstance(name, (tuple, list)) else (name,)
    if any(n not in e.mesh.names for n in names):
        raise Unsupported(f"the index along axis {name}, which the mesh {e.mesh} lacks,", e.place)
    text, level = f'pl_axis_index("{names[0]}")', PRIMARY
    for n in names[1:]:
        text, level = f'{text} * {e.mesh.size(n)} + pl_axis_index("{n}")', ADD
        text, level = f"({text})", PRIMARY
    return [Scalar(text, "int32", level)]


@handles("axis_size", pure=True)
def _axis_size(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    return [number(e.mesh.size(eqn.params["axis_name"]))]
