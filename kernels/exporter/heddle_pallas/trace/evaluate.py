"""Plain JAX around the kernels, computed here: before the first kernel and after the last one, on all devices at once.

One run under vmap with the mesh's axis names, so that axis_index and XLA's collectives mean what they mean in shard_map. Values are
stacked, a leading dimension for the devices.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import jax
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from numpy.typing import DTypeLike, NDArray

from ..errors import HeddleError, Unsupported
from ..lower.jaxprs import CALLS, SAME, Atom, called, constants_of, opened
from ..lower.source import place_of
from ..mesh import Mesh

Environment = dict[Var, Any]  # variables, and their values of JAX or numpy


def value_of(atom: Atom, known: Environment) -> Any:
    return atom.val if isinstance(atom, Literal) else known[atom]


def run_equations(eqns: Sequence[JaxprEqn], known: Environment) -> None:
    """Evaluates the equations, and adds their results to `known`."""
    for eqn in eqns:
        known.update(zip(eqn.outvars, bind(eqn, [value_of(v, known) for v in eqn.invars])))


def bind(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
    """The results of one equation."""
    name = eqn.primitive.name
    if name in SAME:
        return values[: len(eqn.outvars)]
    inner = called(eqn) if name in CALLS else None
    if inner is not None:
        return _run_jaxpr(inner, values)
    params = dict(eqn.params)
    if name in _OVER_JOINT_AXES and isinstance(params["axis_name"], tuple) and len(params["axis_name"]) > 1:
        return [_OVER_JOINT_AXES[name](values[0], params)]
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
            f"computing {name} outside of the kernels ({_first_line(wrong)})", place_of(eqn), "compute it beforehand, and pass the arrays"
        ) from wrong
    return list(found) if eqn.primitive.multiple_results else [found]


def _all_gather(x: Any, params: dict[str, Any]) -> Any:
    """One axis after another, the last one first: vmap has no all_gather over several axes."""
    at, names = params["all_gather_dimension"], params["axis_name"]
    for name in reversed(names):
        x = lax.all_gather(x, name, axis=at, tiled=params["tiled"])
    return x if params["tiled"] else x.reshape(*x.shape[:at], -1, *x.shape[at + len(names) :])


def _reduce_scatter(x: Any, params: dict[str, Any]) -> Any:
    """The same, the first axis first."""
    at, names = params["scatter_dimension"], params["axis_name"]
    for name in names:
        x = lax.psum_scatter(x, name, scatter_dimension=at, tiled=True)
    return x if params["tiled"] else x.reshape(*x.shape[:at], *x.shape[at + 1 :])


_OVER_JOINT_AXES = {"all_gather": _all_gather, "all_gather_invariant": _all_gather, "reduce_scatter": _reduce_scatter}


def _first_line(wrong: BaseException) -> str:
    return (str(wrong).strip().splitlines() or [type(wrong).__name__])[0]


def _run_jaxpr(jaxpr: Jaxpr | ClosedJaxpr, values: Sequence[Any]) -> list[Any]:
    inner = opened(jaxpr)
    known: Environment = dict(zip(inner.constvars, constants_of(jaxpr)))
    known.update(zip(inner.invars, values))
    run_equations(inner.eqns, known)
    return [value_of(v, known) for v in inner.outvars]


def on_all_devices(mesh: Mesh, function: Callable[..., list[Any]], stacked: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """function is of one device; operands and results have a leading dimension of devices."""
    if not stacked:  # something to map over
        return on_all_devices(mesh, lambda _: function(), [np.zeros(mesh.devices, np.int32)])
    mapped: Callable[..., list[Any]] = function
    for name in reversed(mesh.names):
        mapped = jax.vmap(mapped, axis_name=name, axis_size=mesh.size(name))
    split = [np.asarray(s).reshape(*mesh.sizes, *np.shape(s)[1:]) for s in stacked]
    with jax.ensure_compile_time_eval():
        results = mapped(*split)
    return [np.asarray(r).reshape(mesh.devices, *np.shape(r)[len(mesh.sizes) :]) for r in results]


def generated(devices: int, ordinal: int, shape: Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
    """Small integers that differ between elements and between devices; the same in each run."""
    count = int(np.prod(shape, dtype=np.int64)) * devices
    mixed = (np.arange(count, dtype=np.uint64) + np.uint64(ordinal * 7919 + 1)) * np.uint64(0x9E3779B97F4A7C15)
    small = ((mixed >> np.uint64(40)) % np.uint64(64)).astype(np.int64)
    found: NDArray[Any] = (small % 2 if str(dtype) == "bool" else small).astype(np.dtype(dtype))
    return found.reshape(devices, *shape)
