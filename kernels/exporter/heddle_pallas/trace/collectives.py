"""XLA's collectives between kernels: a kernel that exchanges the operands, and plain computation on what arrives.

All devices of the group meet first, then each sends its operand to each; so nobody is through before all have come, as a collective has it.
A ppermute meets its two partners only.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Jaxpr, JaxprEqn
from jax.sharding import PartitionSpec

from ..c.kernel import Argument, Kernel
from ..c.writer import Writer
from ..errors import Place, TraceError, Unsupported
from ..lower.jaxprs import opened
from ..lower.source import place_of
from ..mesh import Mesh
from .tpus import abstract_mesh

After = Callable[[jax.Array], jax.Array]  # plain computation on what came

FIRST_ID = 1 << 20  # of barrier semaphores: beyond those that authors choose


def axes_of(eqn: JaxprEqn, mesh: Mesh) -> tuple[str, ...]:
    """The mesh axes of the collective."""
    params = eqn.params
    given = params["axes"] if "axes" in params else params["axis_name"]
    names = given if isinstance(given, (tuple, list)) else (given,)
    if params.get("axis_index_groups") is not None:
        raise Unsupported(
            f"{eqn.primitive.name} with axis_index_groups between kernels", place_of(eqn), "give the mesh an axis for the groups"
        )
    if any(n not in mesh.names for n in names):
        raise Unsupported(f"{eqn.primitive.name} over {names} between kernels", place_of(eqn), f"the mesh is {mesh}")
    return tuple(names)


def group_size(axes: Sequence[str], mesh: Mesh) -> int:
    return math.prod(mesh.size(n) for n in axes)


def _rank(axes: Sequence[str], mesh: Mesh) -> str:
    text = f'pl_axis_index("{axes[0]}")'
    for n in axes[1:]:
        text = f'({text}) * {mesh.size(n)} + pl_axis_index("{n}")'
    return text


def _device(axes: Sequence[str], mesh: Mesh, rank: str) -> str:
    if tuple(axes) == mesh.names and len(axes) == 1:
        return f"pl_device({rank})"
    if len(axes) == 1:
        return f'pl_along("{axes[0]}", {rank})'
    inner, parts = group_size(axes, mesh), {n: f'pl_axis_index("{n}")' for n in mesh.names}
    for n in axes:
        inner //= mesh.size(n)
        parts[n] = f"{rank} / {inner} % {mesh.size(n)}"
    return f"pl_mesh({', '.join(parts[n] for n in mesh.names)})"


def _begin(place: Place, cores: int) -> Writer:
    out = Writer(depth=1, place=place)
    if cores > 1:
        out("if (pl_core_index() != 0)")
        out("    return;")
    return out


def _kernel(name: str, body: Writer, place: Place, collective_id: int) -> Kernel:
    scratch = [Argument("scratch", text="pl_dma_semaphore()")] * 2
    arguments = [Argument("operand", 0), Argument("result", 0), *scratch]
    return Kernel(name, ["x", "y", "send_sem", "recv_sem"], arguments, body, place, (), [f".collective_id = {collective_id}"])


def exchange(name: str, eqn: JaxprEqn, mesh: Mesh, cores: int, collective_id: int) -> Kernel:
    """Each device copies its x into the y of each device, one after the other."""
    place, axes = place_of(eqn), axes_of(eqn, mesh)
    out, size, to = _begin(place, cores), group_size(axes, mesh), _device(axes, mesh, "to")
    out(f"int me = {_rank(axes, mesh)};")
    out("PlRef barrier = pl_get_barrier_semaphore();")
    out(f"for (int to = 0; to < {size}; to++)")
    out(f"    pl_semaphore_signal(barrier, 1, {to});")
    out(f"pl_semaphore_wait(barrier, {size});")
    out(f"for (int to = 0; to < {size}; to++)")
    out(f"    pl_async_remote_copy(x, pl_at(y, me), send_sem, recv_sem, {to});")
    out("pl_copy_wait(pl_make_async_copy(y, y, send_sem));  /* as many bytes went as come */")
    out("pl_copy_wait(pl_make_async_copy(y, y, recv_sem));")
    return _kernel(name, out, place, collective_id)


def permute(name: str, eqn: JaxprEqn, mesh: Mesh, cores: int, collective_id: int) -> Kernel:
    """Each device copies its x into the y of one other device."""
    place, axes = place_of(eqn), axes_of(eqn, mesh)
    size, pairs = group_size(axes, mesh), [(int(a), int(b)) for a, b in eqn.params["perm"]]
    if any(not 0 <= d < size for pair in pairs for d in pair) or any(len({p[i] for p in pairs}) < len(pairs) for i in (0, 1)):
        raise TraceError(
            f"{place}: ppermute with {pairs}: each device is at most once a source and once a target, and the last is {size - 1}"
        )
    target, source = dict(pairs), {b: a for a, b in pairs}
    out = _begin(place, cores)
    out(f"static const int target[] = {{ {', '.join(str(target.get(d, -1)) for d in range(size))} }};")
    out(f"static const int source[] = {{ {', '.join(str(source.get(d, -1)) for d in range(size))} }};")
    out(f"int me = {_rank(axes, mesh)};")
    out("PlRef barrier = pl_get_barrier_semaphore();")
    out("if (source[me] >= 0)")
    out(f"    pl_semaphore_signal(barrier, 1, {_device(axes, mesh, 'source[me]')});")
    with out.block("if (target[me] >= 0)"):
        out("pl_semaphore_wait(barrier, 1);")
        out(f"PlCopy pass_on = pl_async_remote_copy(x, y, send_sem, recv_sem, {_device(axes, mesh, 'target[me]')});")
        out("pl_copy_wait_send(pass_on);")
    out("if (source[me] >= 0)")
    out("    pl_copy_wait(pl_make_async_copy(y, y, recv_sem));")
    return _kernel(name, out, place, collective_id)


def afterwards(eqn: JaxprEqn, mesh: Mesh, struct: jax.ShapeDtypeStruct) -> Jaxpr | None:
    """What is computed from the data that arrived, as a jaxpr; None: that data is the result."""
    axes = axes_of(eqn, mesh)
    function = _after_permute(eqn, axes, mesh) if eqn.primitive.name == "ppermute" else _after_exchange(eqn, axes)
    return None if function is None else _traced(function, mesh, struct)


def _traced(function: After, mesh: Mesh, struct: jax.ShapeDtypeStruct) -> Jaxpr:
    nowhere: Any = PartitionSpec()
    mapped = jax.shard_map(function, mesh=abstract_mesh(mesh), in_specs=nowhere, out_specs=nowhere, check_vma=False)
    (found,) = jax.make_jaxpr(mapped)(struct).eqns
    return opened(found.params["jaxpr"])


def _after_permute(eqn: JaxprEqn, axes: tuple[str, ...], mesh: Mesh) -> After | None:
    targets = [int(b) for _, b in eqn.params["perm"]]
    if len(targets) == group_size(axes, mesh):
        return None

    def zero_elsewhere(y: jax.Array) -> jax.Array:
        me, got = lax.axis_index(axes), jnp.bool_(False)
        for target in targets:
            got = got | (me == target)
        return jnp.where(got, y, jnp.zeros_like(y))

    return zero_elsewhere


def _after_exchange(eqn: JaxprEqn, axes: tuple[str, ...]) -> After | None:
    name, params = eqn.primitive.name, eqn.params

    def own_part(y: jax.Array, axis: int, count: int) -> jax.Array:
        """This device's part along an axis; an axis that is not tiled is dropped."""
        me = lax.axis_index(axes)
        if not params["tiled"]:
            return lax.dynamic_index_in_dim(y, me, axis, keepdims=False)
        size = y.shape[axis] // count
        return lax.dynamic_slice_in_dim(y, me * size, size, axis)

    def along(y: jax.Array, axis: int) -> jax.Array:
        """The dimension of the devices becomes that axis, or is joined with it."""
        y = jnp.moveaxis(y, 0, axis)
        return y.reshape(*y.shape[:axis], -1, *y.shape[axis + 2 :]) if params["tiled"] else y

    if name.startswith("psum"):
        return lambda y: jnp.sum(y, axis=0)
    if name in ("pmax", "pmin"):
        return lambda y: (jnp.max if name == "pmax" else jnp.min)(y, axis=0)
    if name == "reduce_scatter":
        return lambda y: own_part(jnp.sum(y, axis=0), params["scatter_dimension"], y.shape[0])
    if name == "all_to_all":
        return lambda y: along(own_part(y, params["split_axis"] + 1, y.shape[0]), params["concat_axis"])
    axis = params["all_gather_dimension"]
    return None if axis == 0 and not params["tiled"] else lambda y: along(y, axis)
