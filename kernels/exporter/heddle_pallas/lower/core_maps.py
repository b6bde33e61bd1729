"""Kernels over the cores of a device: core_map on refs, and pl.kernel's mpmd_map."""

from __future__ import annotations

from typing import Sequence

from jax.extend.core import Jaxpr, JaxprEqn, Var

from ..c.kernel import Argument, Kernel
from ..errors import TraceError, Unsupported
from .emitter import Emitter
from .jaxprs import Aval, is_ref, opened
from .kernels import KernelBuilder, aliases_of, compiler_options, kernel_place, ref_names
from .source import place_of
from .spaces import kind_of, space_of
from .values import Value, View
from .views import load


def cores_of(eqn: JaxprEqn) -> tuple[str, int]:
    """The axis under which a kernel knows its core, and how many there are."""
    meshes = eqn.params["meshes"] if "meshes" in eqn.params else [eqn.params["mesh"]]
    shape, kind = dict(meshes[0].shape), type(meshes[0]).__name__
    if kind != "TensorCoreMesh" or len(shape) != 1:
        raise Unsupported(f"a kernel on a {kind}", place_of(eqn), "kernels on TensorCores are")
    if len(meshes) != 1 or eqn.params.get("external_meshes"):
        raise Unsupported("a kernel of several programs at once", place_of(eqn))
    ((name, cores),) = shape.items()
    return str(name), int(cores)


def core_map(builder: KernelBuilder, eqn: JaxprEqn) -> Kernel:
    if eqn.primitive.name == "core_map":
        return _of_refs(builder, eqn, opened(eqn.params["jaxpr"]), cores_of(eqn)[0])
    return _of_values(builder, eqn, opened(eqn.params["jaxprs"][0]), cores_of(eqn)[0])


def _of_refs(builder: KernelBuilder, eqn: JaxprEqn, jaxpr: Jaxpr, axis: str) -> Kernel:
    e = builder.emitter(place_of(eqn), axis)
    builder.place = kernel_place(jaxpr, eqn)
    refs: list[Value] = []
    for i, v in enumerate(jaxpr.constvars):
        if not is_ref(v):
            refs.append(_captured(builder, e, v.aval, i))
            continue
        kind = kind_of(v.aval)
        space = space_of(v.aval, "any", e.place)
        if not kind and space not in ("any", "hbm"):
            raise Unsupported(f"an array in {space.upper()} outside of any kernel", e.place)
        refs.append(builder.ref(f"ref_{i}", Argument("operand", i), v.aval, space))
    scratch: list[Value] = [builder.scratch(e, v.aval, name) for v, name in zip(jaxpr.invars, ref_names(jaxpr))]
    e.run(jaxpr, scratch, _loaded(e, jaxpr.constvars, refs))
    return builder.finish(eqn, jaxpr, e, (), compiler_options(eqn.params))


def _of_values(builder: KernelBuilder, eqn: JaxprEqn, jaxpr: Jaxpr, axis: str) -> Kernel:
    e = builder.emitter(place_of(eqn), axis)
    builder.place = kernel_place(jaxpr, eqn)
    inputs, outputs = len(eqn.invars), len(eqn.outvars)
    refs: list[Value] = []
    for i, (v, name) in enumerate(zip(jaxpr.invars, ref_names(jaxpr))):
        if i >= inputs + outputs:
            refs.append(builder.scratch(e, v.aval, name))
            continue
        if not is_ref(v):
            refs.append(_captured(builder, e, v.aval, i))
            continue
        argument = Argument("operand", i) if i < inputs else Argument("result", i - inputs)
        refs.append(_argument(builder, e, v.aval, name, argument))
    e.run(jaxpr, _loaded(e, jaxpr.invars, refs), [])
    kernel = builder.finish(eqn, jaxpr, e, (), compiler_options(eqn.params))
    kernel.aliases = aliases_of(eqn)
    return kernel


def _argument(builder: KernelBuilder, e: Emitter, aval: Aval, name: str, argument: Argument) -> View:
    kind, space = kind_of(aval), space_of(aval, "any", e.place)
    if kind or space in ("any", "hbm", builder.stays(argument.kind, argument.index)):
        return builder.ref(name, argument, aval, space)
    return builder.window(aval, name, argument, space)


def _captured(builder: KernelBuilder, e: Emitter, aval: Aval, i: int) -> View:
    """A scalar that the kernel closes over is passed to each core through SMEM."""
    if aval.shape:
        raise Unsupported("an array that a kernel closes over", e.place, "pass it as an argument, or store it in a ref")
    return builder.window(aval, f"scalar_{i}", Argument("operand", i), "smem")


def _loaded(e: Emitter, variables: Sequence[Var], values: Sequence[Value]) -> list[Value]:
    """The values, with captured scalars loaded."""
    return [load(e, value, None, True) if isinstance(value, View) and not is_ref(v) else value for v, value in zip(variables, values)]


def agreed_cores(eqn: JaxprEqn, told: int | None) -> int:
    """How many cores a device has, according to the caller and the kernels."""
    cores = cores_of(eqn)[1]
    if told is not None and told != cores:
        raise TraceError(f"{place_of(eqn)}: the kernel runs on {cores} cores, but a device has {told}: give cores={cores}")
    return cores
