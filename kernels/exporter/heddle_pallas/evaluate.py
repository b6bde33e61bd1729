"""Plain JAX around the kernels, computed here: before the first kernel and after the last one, on all devices at once.

One run under vmap with the mesh's axis names, so that axis_index and XLA's collectives mean what they mean in shard_map. Values are
stacked, a leading dimension for the devices.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from .demand import CALLS, called
from .errors import HeddleError, Unsupported
from .meshes import Mesh
from .source import place_of

SAME = frozenset(  # results are the operands, one by one
    {
        "pvary",
        "pcast",
        "pbroadcast",
        "reshard",
        "sharding_constraint",
        "layout_constraint",
        "mesh_cast",
        "with_memory_space_constraint",
        "optimization_barrier",
    }
)


def run_equations(eqns: Sequence[Any], read: Callable[[Any], Any], write: Callable[[Any, Any], None]) -> None:
    for eqn in eqns:
        values = [read(v) for v in eqn.invars]
        for v, value in zip(eqn.outvars, _bind(eqn, values)):
            write(v, value)


def _bind(eqn: Any, values: list[Any]) -> list[Any]:
    name = eqn.primitive.name
    if name in SAME:
        return values[: len(eqn.outvars)]
    inner = called(eqn) if name in CALLS else None
    if inner is not None:
        return run_jaxpr(inner, values)
    params = dict(eqn.params)
    if params.get("sharding") is not None:
        params["sharding"] = None
    try:
        bound = eqn.primitive.get_bind_params(params)
        subfuns, bound = bound if isinstance(bound, tuple) else ((), bound)  # JAX before 0.10 has functions apart
        found = eqn.primitive.bind(*subfuns, *values, **bound)
    except HeddleError:
        raise
    except Exception as wrong:
        raise Unsupported(
            f"computing {name} outside of the kernels ({_first_line(wrong)})", place_of(eqn), "compute it before, and hand over the arrays"
        ) from wrong
    return list(found) if eqn.primitive.multiple_results else [found]


def _first_line(wrong: BaseException) -> str:
    return (str(wrong).strip().splitlines() or [type(wrong).__name__])[0]


def run_jaxpr(jaxpr: Any, values: Sequence[Any]) -> list[Any]:
    from jax._src import core as jax_core

    inner = getattr(jaxpr, "jaxpr", jaxpr)
    env: dict[Any, Any] = dict(zip(inner.constvars, getattr(jaxpr, "consts", ())))
    env.update(zip(inner.invars, values))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, jax_core.Literal) else env[atom]

    run_equations(inner.eqns, read, env.__setitem__)
    return [read(v) for v in inner.outvars]


def on_all_devices(mesh: Mesh, function: Callable[..., list[Any]], stacked: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """function is of one device; operands and results have a leading dimension of devices."""
    import jax

    if not stacked:  # something to map over
        return on_all_devices(mesh, lambda _: function(), [np.zeros(mesh.devices, np.int32)])
    mapped: Any = function
    for name in reversed(mesh.names):
        mapped = jax.vmap(mapped, axis_name=name, axis_size=mesh.size(name))
    split = [np.asarray(s).reshape(*mesh.sizes, *np.shape(s)[1:]) for s in stacked]
    with jax.ensure_compile_time_eval():
        results = mapped(*split)
    return [np.asarray(r).reshape(mesh.devices, *np.shape(r)[len(mesh.sizes) :]) for r in results]
