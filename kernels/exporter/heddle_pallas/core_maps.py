"""Kernels over the cores of a device: core_map on refs, and pl.kernel's mpmd_map."""

from __future__ import annotations

from typing import Any

from . import windows as win
from .emitter import Emitter
from .errors import TraceError, Unsupported
from .kernels import Argument, Kernel, KernelBuilder, argument_names, compiler_options
from .source import place_of
from .spaces import kind_of, space_of
from .values import Value, View


def cores_of(mesh: Any, eqn: Any) -> tuple[str, int]:
    """The axis under which a kernel knows its core, and how many there are."""
    shape = dict(mesh.shape)
    if type(mesh).__name__ not in ("TensorCoreMesh",) or len(shape) != 1:
        raise Unsupported(f"a kernel on a {type(mesh).__name__}", place_of(eqn), "kernels on TensorCores are")
    ((name, cores),) = shape.items()
    return str(name), int(cores)


def core_map(builder: KernelBuilder, eqn: Any) -> tuple[Kernel, int]:
    """The kernel, and on how many cores of each device it runs."""
    if eqn.primitive.name == "core_map":
        axis, cores = cores_of(eqn.params["mesh"], eqn)
        jaxpr = eqn.params["jaxpr"]
        jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
        return _of_refs(builder, eqn, jaxpr, axis), cores
    jaxprs, meshes = eqn.params["jaxprs"], eqn.params["meshes"]
    if len(jaxprs) != 1 or eqn.params.get("external_meshes"):
        raise Unsupported("a kernel of several programs at once", place_of(eqn))
    axis, cores = cores_of(meshes[0], eqn)
    jaxpr = getattr(jaxprs[0], "jaxpr", jaxprs[0])
    return _of_values(builder, eqn, jaxpr, axis), cores


def _of_refs(builder: KernelBuilder, eqn: Any, jaxpr: Any, axis: str) -> Kernel:
    e = builder.emitter(place_of(eqn), axis)
    refs: list[Value] = []
    for i, v in enumerate(jaxpr.constvars):
        kind = kind_of(v.aval)
        if not hasattr(v.aval, "inner_aval"):
            raise Unsupported("a value that a core_map closes over", e.place, "put it into a ref")
        space = space_of(v.aval, "any", e.place)
        if not kind and space not in ("any", "hbm"):
            raise Unsupported(f"an array in {space.upper()} outside of any kernel", e.place)
        c = builder.parameter(f"ref_{i}", Argument("operand", i))
        refs.append(View(c, tuple(v.aval.shape), v.aval.dtype, "semaphore" if kind else space, kind, c))
    scratch: list[Value] = [builder.scratch(e, v.aval, name) for v, name in zip(jaxpr.invars, argument_names(jaxpr))]
    e.run(jaxpr, scratch, refs)
    return builder.finish(eqn, jaxpr, e, (), compiler_options(eqn.params))


def _of_values(builder: KernelBuilder, eqn: Any, jaxpr: Any, axis: str) -> Kernel:
    e = builder.emitter(place_of(eqn), axis)
    inputs, outputs = len(eqn.invars), len(eqn.outvars)
    found: list[win.Window] = []
    refs: list[Value] = []
    for i, (v, name) in enumerate(zip(jaxpr.invars, argument_names(jaxpr))):
        if i >= inputs + outputs:
            refs.append(builder.scratch(e, v.aval, name))
            continue
        argument = Argument("operand", i) if i < inputs else Argument("result", i - inputs)
        refs.append(_argument(builder, e, v.aval, name, argument, found))
    if found:
        builder.parameter("window_sem", Argument("scratch", text="pl_dma_semaphore()"))
        win.enter(e, found, [], [], 1)
    e.run(jaxpr, refs, [])
    if found:
        win.leave(e, found, 1)
    kernel = builder.finish(eqn, jaxpr, e, (), compiler_options(eqn.params))
    kernel.aliases = {int(i): int(o) for i, o in dict(eqn.params.get("input_output_aliases") or {}).items()}
    return kernel


def _argument(builder: KernelBuilder, e: Emitter, aval: Any, name: str, argument: Argument, found: list[win.Window]) -> View:
    kind, space = kind_of(aval), space_of(aval, "any", e.place)
    if kind or space in ("any", "hbm"):
        c = builder.parameter(name, argument)
        return View(c, tuple(aval.shape), aval.dtype, "semaphore" if kind else space, kind, c)
    whole = [win.Dimension(n, n, False, n) for n in aval.shape]
    return builder.window(e, aval, name, argument, whole, None, space, found, ())


def agree(planned: int | None, wanted: int, eqn: Any) -> int:
    """How many cores a device has, told by the caller or by the kernels."""
    if planned is not None and planned != wanted:
        raise TraceError(f"{place_of(eqn)}: the kernel runs on {wanted} cores, but a device has {planned}: give cores={wanted}")
    return wanted
