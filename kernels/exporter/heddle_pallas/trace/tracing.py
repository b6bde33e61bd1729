"""From a Python function to a plan, without a device.

A function is one of two kinds: it holds its own shard_map and takes global arrays, or it is what one device does, and is wrapped in one
here. Which, is found out by tracing it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import os
import re
import traceback
from typing import Any, Callable, Iterator, Sequence

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from jax.sharding import AbstractMesh, PartitionSpec
from numpy.typing import ArrayLike, DTypeLike

from ..c.program import Launch
from ..errors import NOWHERE, HeddleError, Place, TraceError, short_path
from ..lower.jaxprs import CALLS, Atom, called, constants_of, opened
from ..lower.source import PACKAGE
from ..mesh import Mesh, as_mesh
from . import evaluate
from .domains import Ints
from .equations import Aliases, fresh, has_kernel, inputs_of, variables
from .plan import Plan
from .shards import joined, shards, specs_of
from .tpus import abstract_mesh, as_if_tpus, as_on_tpu, on_tpu


@dataclasses.dataclass(frozen=True)
class Shape:
    """An argument of which only the shape is given: f32[8,128]."""

    shape: tuple[int, ...]
    dtype: DTypeLike


@dataclasses.dataclass(frozen=True)
class PerDevice:
    """An argument whose first dimension is the devices."""

    values: ArrayLike | Ints


@dataclasses.dataclass
class Traced:
    plan: Plan
    name: str
    place: Place
    place_results: Callable[[list[Any]], Any]  # stacked results of the devices -> what the function returns
    split_result: Callable[[int, Any], tuple[int, Any] | None]  # of it, the i-th value -> which result of the devices, stacked

    def promise(self, expected: Sequence[Any], tolerance: float) -> None:
        """What the function must return, value by value; the checker compares what is an array of the program."""
        for i, value in enumerate(expected):
            found = self.split_result(i, np.asarray(value))
            if found is not None:
                self.plan.promise(found[0], found[1], tolerance)


def _struct(argument: Any) -> Any:
    if isinstance(argument, (Shape, Ints)):
        return jax.ShapeDtypeStruct(argument.shape, argument.dtype)
    if isinstance(argument, PerDevice) and isinstance(argument.values, Ints):
        return jax.ShapeDtypeStruct(argument.values.shape[1:], argument.values.dtype)
    if isinstance(argument, PerDevice):
        return jax.ShapeDtypeStruct(np.shape(argument.values)[1:], np.asarray(argument.values).dtype)
    if isinstance(argument, jax.ShapeDtypeStruct):
        return argument
    array = argument if hasattr(argument, "dtype") else np.asarray(argument)
    return jax.ShapeDtypeStruct(np.shape(array), jax.dtypes.canonicalize_dtype(array.dtype))


def _is_known(argument: Any) -> bool:
    return not isinstance(argument, (Shape, Ints, PerDevice, jax.ShapeDtypeStruct))


@contextlib.contextmanager
def _traced_errors(name: str) -> Iterator[None]:
    try:
        yield
    except HeddleError:
        raise
    except Exception as wrong:
        text = (str(wrong).strip().splitlines() or [""])[0]
        raise TraceError(f"{_place_of_exception(wrong, name)}: {type(wrong).__name__}: {text}") from wrong


def _no_such_axis(wrong: TraceError, mesh: Mesh) -> TraceError:
    """In place of JAX's advice to use shard_map, which is not needed here."""
    place, _, rest = str(wrong).partition(": ")
    name = re.search(r"unbound axis name:? *['\"]?(\w+)", rest, re.IGNORECASE)
    if name is None:
        return wrong
    return TraceError(
        f'{place}: it asks for the axis "{name[1]}", but the mesh is {mesh}: '
        f'call it with --axis {name[1]}, or --mesh {name[1]}=2 (mesh="{name[1]}=2" from Python)'
    )


def _make_jaxpr(function: Callable[..., Any], structs: Sequence[Any], name: str) -> Any:
    with _traced_errors(name), as_on_tpu():
        return jax.make_jaxpr(function, return_shape=True)(*structs)


def _unbound_axis(wrong: BaseException) -> bool:
    return "unbound axis" in str(wrong).lower()


def trace(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    mesh: Any,
    cores: int | None = None,
    name: str = "",
    told: bool = True,
    tpu: str | None = None,
) -> Traced:
    """told: the caller chose this mesh; else it is the default of functions without a mesh of their own. tpu: what devices say they are."""
    with on_tpu(tpu):
        ours = as_mesh(mesh)
        function = given_mesh(function, ours, cores or 1)
        try:
            return _trace(function, arguments, ours, cores, name, told)
        except Exception as wrong:  # code that asks what devices there are, and does not like the answer
            try:
                with as_if_tpus():
                    return _trace(function, arguments, ours, cores, name, told)
            except Exception:
                raise wrong from None


def given_mesh(function: Callable[..., Any], mesh: Mesh, cores: int = 1) -> Callable[..., Any]:
    """The function of its other parameters: one that is called mesh is given the mesh."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function
    names = list(signature.parameters)
    bound = isinstance(function, functools.partial) and "mesh" in function.keywords
    if (
        bound
        or "mesh" not in names
        or signature.parameters["mesh"].kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ):
        return function
    ours = abstract_mesh(mesh, cores)
    by_name = signature.parameters["mesh"].kind is inspect.Parameter.KEYWORD_ONLY
    at = names.index("mesh")

    @functools.wraps(function)
    def with_mesh(*values: Any, **named: Any) -> Any:
        if by_name or len(values) < at:
            return function(*values, mesh=ours, **named)
        return function(*values[:at], ours, *values[at:], **named)

    others = [p for n, p in signature.parameters.items() if n != "mesh"]
    with_mesh.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
    return with_mesh


def _trace(function: Callable[..., Any], arguments: Sequence[Any], ours: Mesh, cores: int | None, name: str, told: bool) -> Traced:
    label = name or name_of(function)
    structs = [jax.tree.map(_struct, a, is_leaf=_is_leaf) for a in arguments]
    flat, tree = jax.tree.flatten(list(arguments), is_leaf=_is_leaf)
    global_jaxpr: Any = None
    try:
        global_jaxpr = _make_jaxpr(function, structs, label)
    except TraceError as wrong:
        if not _unbound_axis(wrong) and not _wants_mesh(wrong):
            raise
    if global_jaxpr is not None and _find_shard_map(global_jaxpr[0].jaxpr) is not None:
        traced = _from_global(global_jaxpr, flat, cores, label, function)
        if told and traced.plan.mesh != ours:
            raise TraceError(
                f"{_place(function)}: {label} has a mesh of its own, {traced.plan.mesh}, but {ours} was requested: "
                "leave that out, or let the function take a parameter called mesh"
            )
    else:
        traced = _from_device(function, structs, flat, ours, cores, label)
    if not any(isinstance(step, Launch) for step in traced.plan.program.steps):
        why = f"there is no kernel in {label}: no pallas_call, pl.kernel or core_map"
        if traced.plan.around.met:
            why = f"with these arguments {label} calls no kernel: its conditions and loops skip them all"
        raise TraceError(f"{_place(function)}: {why}")
    return traced


def _wants_mesh(wrong: BaseException) -> bool:
    """Did the function ask for the hardware outside of any mesh?"""
    return "device kind" in str(wrong) or "abstract_device" in str(wrong) or "empty mesh" in str(wrong).lower()


def _is_leaf(argument: Any) -> bool:
    return isinstance(argument, (Shape, Ints, PerDevice))


# What one device does


def _from_device(
    function: Callable[..., Any], structs: Sequence[Any], flat: Sequence[Any], mesh: Mesh, cores: int | None, label: str
) -> Traced:
    axes = mesh.names if len(mesh.names) > 1 else mesh.names[0]

    def whole(s: Any) -> Any:
        return jax.ShapeDtypeStruct((s.shape[0] * mesh.devices, *s.shape[1:]) if s.shape else (), s.dtype)

    def spec(s: Any) -> Any:
        return PartitionSpec(axes) if s.shape else PartitionSpec()

    shaped = jax.tree.map(whole, list(structs))
    specs = tuple(jax.tree.map(spec, list(structs)))
    mapped = _shard_map(function, abstract_mesh(mesh, cores or 1), specs, PartitionSpec())
    try:
        jaxpr, shapes = _make_jaxpr(mapped, shaped, label)
    except TraceError as wrong:
        raise _no_such_axis(wrong, mesh) from None
    eqn = _find_shard_map(jaxpr.jaxpr)
    if eqn is None:
        raise TraceError(f"{label}: nothing in it depends on its arguments or runs on devices")
    plan = Plan(mesh, cores)
    body, names, outer = opened(eqn.params["jaxpr"]), _argument_names(function, structs), jaxpr.jaxpr
    constants: evaluate.Environment = dict(zip(outer.constvars, jaxpr.consts))
    _compute(_split(outer.eqns, outer.eqns.index(eqn))[0], constants, ())
    for v, atom in zip(body.invars, eqn.invars):
        if isinstance(atom, Literal) or atom in constants:  # an array that the function closes over
            plan.known.add_constant(v, evaluate.value_of(atom, constants))
        else:
            i = outer.invars.index(atom)
            _add_argument(plan, v, names[i], flat[i])
    plan.walk(body, constants_of(eqn.params["jaxpr"]))
    tree = jax.tree.structure(shapes)
    return Traced(plan, label, _place(function), lambda results: jax.tree.unflatten(tree, results), lambda i, value: (i, value))


def _shard_map(function: Callable[..., Any], mesh: AbstractMesh, in_specs: Any, out_specs: Any) -> Callable[..., Any]:
    mapped: Callable[..., Any] = jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)
    return mapped


def _add_argument(plan: Plan, v: Var, name: str, argument: Any) -> None:
    wanted = argument.values if isinstance(argument, PerDevice) else argument
    if isinstance(wanted, Ints):
        plan.add_many(v, name, wanted, _stacked(_numbered(argument), plan.mesh, np.int32))
    else:
        plan.add_input(v, name, _stacked(argument, plan.mesh, v.aval.dtype))


def _numbered(argument: Any) -> Any:
    """In place of the elements, their numbers."""
    wanted = argument.values if isinstance(argument, PerDevice) else argument
    numbers = np.arange(int(np.prod(wanted.shape, dtype=np.int64)), dtype=np.int32).reshape(wanted.shape)
    return PerDevice(numbers) if isinstance(argument, PerDevice) else numbers


def _stacked(argument: Any, mesh: Mesh, dtype: DTypeLike) -> Any:
    if isinstance(argument, PerDevice):
        values = np.asarray(argument.values)
        if values.shape[0] != mesh.devices:
            raise TraceError(f"an argument for {values.shape[0]} devices, the mesh has {mesh.devices}")
        return values
    if not _is_known(argument):
        return None
    values = np.asarray(argument).astype(np.dtype(dtype))
    return np.broadcast_to(values, (mesh.devices, *values.shape))


# With a shard_map of its own


def _find_shard_map(jaxpr: Jaxpr) -> JaxprEqn | None:
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "shard_map":
            return eqn
        inner = called(eqn) if eqn.primitive.name in CALLS else None
        found = None if inner is None else _find_shard_map(opened(inner))
        if found is not None:
            return found
    return None


def _flatten_calls(jaxpr: ClosedJaxpr, known: evaluate.Environment) -> tuple[list[JaxprEqn], list[Atom]]:
    """The equations around the shard_map, with the calls that contain it inlined; and the results."""
    aliases = Aliases()

    def walk(body: Jaxpr, given: Sequence[Any]) -> list[JaxprEqn]:
        known.update(zip(body.constvars, given))
        found: list[JaxprEqn] = []
        for eqn in body.eqns:
            inner = called(eqn) if eqn.primitive.name in CALLS else None
            if inner is not None and _find_shard_map(opened(inner)) is not None:
                own = fresh(opened(inner))
                aliases.bind(own.invars, eqn.invars)
                found.extend(walk(own, constants_of(inner)))
                aliases.bind(eqn.outvars, own.outvars)
            else:
                found.append(eqn.replace(invars=aliases.roots(eqn.invars)))
        return found

    eqns = walk(jaxpr.jaxpr, jaxpr.consts)
    return eqns, aliases.roots(jaxpr.jaxpr.outvars)


def _from_global(traced: Any, flat: Sequence[Any], cores: int | None, label: str, function: Callable[..., Any]) -> Traced:
    closed, shapes = traced
    known: evaluate.Environment = {}
    eqns, outputs = _flatten_calls(closed, known)
    maps = [e for e in eqns if e.primitive.name == "shard_map"]
    if len(maps) != 1 or any(has_kernel(e) for e in eqns if e.primitive.name != "shard_map"):
        raise TraceError(
            f"{label}: {len(maps)} shard_maps in one function, or kernels outside of them: check each in a function of its own"
        )
    position = next(i for i, e in enumerate(eqns) if e.primitive.name == "shard_map")
    for v, argument in zip(closed.jaxpr.invars, flat):
        if _is_known(argument):
            known[v] = np.asarray(argument).astype(np.dtype(v.aval.dtype))
    before, after = _split(eqns, position)
    for v, argument in zip(closed.jaxpr.invars, flat):
        if isinstance(argument, Ints) and v in {*inputs_of(before), *inputs_of(after), *outputs}:
            name = _argument_names(function, flat)[list(closed.jaxpr.invars).index(v)]
            raise TraceError(f"{_place(function)}: plain JAX reads {name} outside of the shard_map: it has a domain, so do that inside")
    _compute(before, known, closed.jaxpr.invars)
    mesh = as_mesh(maps[0].params["mesh"])
    plan = Plan(mesh, cores)
    body = fresh(opened(maps[0].params["jaxpr"]))
    names = _argument_names(function, flat)
    for i, (v, atom) in enumerate(zip(body.invars, maps[0].invars)):
        values = atom.val if isinstance(atom, Literal) else known.get(atom)
        stacked = None if values is None else shards(np.asarray(values), specs_of(maps[0], "in")[i], mesh)
        at = closed.jaxpr.invars.index(atom) if isinstance(atom, Var) and atom in closed.jaxpr.invars else -1
        if at >= 0 and isinstance(flat[at], Ints):
            plan.add_many(v, names[at], flat[at], shards(_numbered(flat[at]), specs_of(maps[0], "in")[i], mesh))
        else:
            plan.add_input(v, names[at] if 0 <= at < len(names) else "x", stacked)
    plan.walk(body, constants_of(maps[0].params["jaxpr"]))
    tree = jax.tree.structure(shapes)

    def place_results(results: list[Any]) -> Any:
        for v, spec, stacked in zip(maps[0].outvars, specs_of(maps[0], "out"), results):
            known[v] = joined(np.asarray(stacked), spec, mesh)
        _compute(after, known, ())
        return jax.tree.unflatten(tree, [evaluate.value_of(v, known) for v in outputs])

    def split_result(i: int, value: Any) -> tuple[int, Any] | None:
        at = next((k for k, v in enumerate(maps[0].outvars) if v is outputs[i]), None)
        return None if at is None else (at, shards(value, specs_of(maps[0], "out")[at], mesh))

    return Traced(plan, label, _place(function), place_results, split_result)


def _split(eqns: Sequence[JaxprEqn], position: int) -> tuple[list[JaxprEqn], list[JaxprEqn]]:
    """The equations that the shard_map depends on, and all others."""
    wanted = set(variables(eqns[position].invars))
    before: list[JaxprEqn] = []
    for eqn in reversed(eqns[:position]):
        if any(v in wanted for v in eqn.outvars):
            before.append(eqn)
            wanted.update(variables(eqn.invars))
    chosen = {id(e) for e in before}
    return before[::-1], [e for i, e in enumerate(eqns) if i != position and id(e) not in chosen]


def _compute(eqns: Sequence[JaxprEqn], known: evaluate.Environment, inputs: Sequence[Var]) -> None:
    for v in inputs_of(eqns):
        if v not in known and v in inputs:  # plain JAX reads an argument of which only the shape was given
            known[v] = evaluate.generated(1, list(inputs).index(v), v.aval.shape, v.aval.dtype)[0]
    with jax.ensure_compile_time_eval():
        evaluate.run_equations(eqns, known)


# Names and places


def name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "") or getattr(getattr(function, "func", None), "__name__", type(function).__name__)


def _argument_names(function: Callable[..., Any], arguments: Sequence[Any]) -> list[str]:
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for i, argument in enumerate(arguments):
        base = parameters[i] if i < len(parameters) else f"x{i}"
        leaves = len(jax.tree.leaves(argument, is_leaf=_is_leaf))
        names += [base] if leaves == 1 else [f"{base}_{k}" for k in range(leaves)]
    return names


def _place(function: Callable[..., Any]) -> Place:
    inner: Any = function
    while hasattr(inner, "__wrapped__") or hasattr(inner, "func"):
        inner = getattr(inner, "__wrapped__", None) or inner.func
    code = getattr(inner, "__code__", None)
    return Place(code.co_filename, code.co_firstlineno, code.co_name) if inspect.iscode(code) else NOWHERE


def _place_of_exception(wrong: BaseException, name: str) -> str:
    """The innermost line of the author's code in the traceback."""
    places = [f for f in traceback.extract_tb(wrong.__traceback__) if not _is_foreign(f.filename)]
    return f"{short_path(places[-1].filename)}:{places[-1].lineno}" if places else name


def _is_foreign(path: str) -> bool:
    """Ours, or of a library."""
    return path.startswith((str(PACKAGE), "<")) or f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}lib{os.sep}python" in path
