"""Where in the grid and in the mesh a kernel stands."""

from __future__ import annotations

from jax.extend.core import JaxprEqn

from ..errors import Unsupported
from .emitter import Emitter
from .table import handles
from .values import Scalar, Value, number


@handles("program_id", pure=True)
def _program_id(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    return [_grid_index(e, int(eqn.params["axis"]))]


def _grid_index(e: Emitter, axis: int) -> Scalar:
    return e.grid[axis] if e.grid is not None else Scalar(f"pl_program_id({axis})", "int32")


@handles("num_programs", pure=True)
def _num_programs(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    axis = int(eqn.params["axis"])
    return [number(e.sizes[axis]) if e.sizes is not None else Scalar(f"pl_num_programs({axis})", "int32")]


@handles("axis_index", pure=True)
def _axis_index(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    name = eqn.params["axis_name"]
    if name == e.core_axis:
        return [Scalar("pl_core_index()", "int32")]
    if name in e.grid_axes:
        return [_grid_index(e, e.grid_axes.index(name))]
    names = name if isinstance(name, (tuple, list)) else (name,)
    if any(n not in e.mesh.names for n in names):
        raise Unsupported(f"the index along axis {name}, which the mesh {e.mesh} lacks,", e.place)
    text = f'pl_axis_index("{names[0]}")'
    for n in names[1:]:
        text = f'({text} * {e.mesh.size(n)} + pl_axis_index("{n}"))'
    return [Scalar(text, "int32")]


@handles("axis_size", pure=True)
def _axis_size(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    return [number(e.mesh.size(eqn.params["axis_name"]))]
