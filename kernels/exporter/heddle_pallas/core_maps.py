"""Kernels over the cores of a device: core_map on refs, and pl.kernel's mpmd_map."""

from __future__ import annotations

from typing import Any, Sequence

from .emitter import Emitter
from .errors import TraceError, Unsupported
from .kernels import Argument, Kernel, KernelBuilder, aliases_of, argument_names, compiler_options, kernel_place
from .source import place_of
from .spaces import kind_of, space_of
from .values import Value, View
from .views import load


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
    builder.place = kernel_place(jaxpr, eqn)
    refs: list[Value] = []
    for i, v in enumerate(jaxpr.constvars):
        if not hasattr(v.aval, "inner_aval"):
            refs.append(_captured(builder, e, v.aval, i))
            continue
        kind = kind_of(v.aval)
        space = space_of(v.aval, "any", e.place)
        if not kind and space not in ("any", "hbm"):
            raise Unsupported(f"an array in {space.upper()} outside of any kernel", e.place)
        c = builder.parameter(f"ref_{i}", Argument("operand", i))
        refs.append(View(c, tuple(v.aval.shape), v.aval.dtype, "semaphore" if kind else space, kind, c))
    scratch: list[Value] = [builder.scratch(e, v.aval, name) for v, name in zip(jaxpr.invars, argument_names(jaxpr))]
    e.run(jaxpr, scratch, _loaded(e, jaxpr.constvars, refs))
    return builder.finish(eqn, jaxpr, e, (), compiler_options(eqn.params))


def _of_values(builder: KernelBuilder, eqn: Any, jaxpr: Any, axis: str) -> Kernel:
    e = builder.emitter(place_of(eqn), axis)
    builder.place = kernel_place(jaxpr, eqn)
    inputs, outputs = len(eqn.invars), len(eqn.outvars)
    refs: list[Value] = []
    for i, (v, name) in enumerate(zip(jaxpr.invars, argument_names(jaxpr))):
        if i >= inputs + outputs:
            refs.append(builder.scratch(e, v.aval, name))
            continue
        if not hasattr(v.aval, "inner_aval"):
            refs.append(_captured(builder, e, v.aval, i))
            continue
        argument = Argument("operand", i) if i < inputs else Argument("result", i - inputs)
        refs.append(_argument(builder, e, v.aval, name, argument))
    e.run(jaxpr, _loaded(e, jaxpr.invars, refs), [])
    kernel = builder.finish(eqn, jaxpr, e, (), compiler_options(eqn.params))
    kernel.aliases = aliases_of(eqn)
    return kernel


def _argument(builder: KernelBuilder, e: Emitter, aval: Any, name: str, argument: Argument) -> View:
    kind, space = kind_of(aval), space_of(aval, "any", e.place)
    if kind or space in ("any", "hbm", builder.stays(argument.kind, argument.index)):
        c = builder.parameter(name, argument)
        return View(c, tuple(aval.shape), aval.dtype, "semaphore" if kind else space, kind, c)
    return builder.window(aval, name, argument, space)


def _captured(builder: KernelBuilder, e: Emitter, aval: Any, i: int) -> View:
    """A scalar that the kernel closes over comes through SMEM, to each core."""
    if aval.shape:
        raise Unsupported("an array that a kernel closes over", e.place, "hand it over as an argument, or put it into a ref")
    return builder.window(aval, f"scalar_{i}", Argument("operand", i), "smem")


def _loaded(e: Emitter, variables: Sequence[Any], values: Sequence[Value]) -> list[Value]:
    """With the scalars themselves in place of where they came to."""
    return [
        load(e, value, None, True) if isinstance(value, View) and not hasattr(v.aval, "inner_aval") else value
        for v, value in zip(variables, values)
    ]


def agree(planned: int | None, wanted: int, eqn: Any) -> int:
    """How many cores a device has, told by the caller or by the kernels."""
    if planned is not None and planned != wanted:
        raise TraceError(f"{place_of(eqn)}: the kernel runs on {wanted} cores, but a device has {planned}: give cores={wanted}")
    return wanted
