"""What a traced function does, as a plan: arrays, launches of kernels, steps of plain computation between them, and what comes back.

Plain computation that needs no kernel's result is done here, at once. What needs one is put off: if a later kernel asks for it, it
becomes a step of the program (pl_host); if only the caller does, it is done here too, from the arrays that the checked run computed.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterable, Sequence

import numpy as np
from jax._src import core as jax_core

from . import collectives, evaluate
from .around import KERNELS, Around, State, fresh
from .emitter import load_handlers
from .errors import TraceError, Unsupported
from .kernels import RESIDENT, Kernel, KernelBuilder, aliases_of
from .meshes import Mesh
from .names import Scope
from .scalars import Helpers
from .source import place_of
from .spaces import kind_of, space_of

REFS = frozenset({"new_ref", "mutable_array", "ref", "freeze", "empty_ref", "get", "swap", "addupdate"})


@dataclasses.dataclass
class Array:
    """One array of each device: handed in, or made by a kernel."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    given: bool  # an input
    values: Any = None  # of an input: stacked; None: left to the checker's generator
    semaphore: str = ""  # its kind, if it is one
    space: str = "any"  # "vmem" or "smem" if a kernel's result stays there


@dataclasses.dataclass
class Launch:
    kernel: Kernel
    operands: list[Array]
    results: list[Array]
    devices: tuple[int, ...] | None = None  # None: all


@dataclasses.dataclass
class Host:
    """Plain computation on each device: equations from arrays to arrays."""

    eqns: list[Any]
    inputs: list[tuple[Any, Array]]  # variable, array
    outputs: list[tuple[Any, Array]]


class Plan:
    def __init__(self, mesh: Mesh, cores: int | None = None) -> None:
        load_handlers()
        self.mesh = mesh
        self.told_cores = cores  # None: as the kernels say
        self.helpers = Helpers()
        self.taken = Scope()  # names of kernels
        self.names = Scope()  # names of arrays
        self.arrays: list[Array] = []
        self.steps: list[Launch | Host] = []
        self.known: dict[Any, Any] = {}  # variable -> stacked values
        self.made: dict[Any, Array] = {}  # variable -> array of the program
        self.inputs: set[Any] = set()  # variables that were handed in
        self.around = Around(self)
        self.put_off: list[Any] = []  # equations that wait for a kernel's result
        self.uses: dict[Any, int] = {}
        self.results: list[Any] = []
        self.promises: list[tuple[Array, Any, float]] = []  # what arrays must hold in the end: stacked values, tolerance
        self.exchanges = 0  # of collectives between kernels
        self.kernels: dict[Any, tuple[Kernel, Any]] = {}  # those that were written already, by what they were written from
        self.materialised: list[str] = []  # inputs whose values were generated here, since plain JAX looks at them

    # Building

    def add_input(self, v: Any, name: str, values: Any) -> None:
        """values None: only the shape is known."""
        if values is not None:
            self.known[v] = np.asarray(values)
        array = Array(self.names.take(name, "x"), tuple(v.aval.shape), v.aval.dtype, True, values, kind_of(v.aval))
        self.made[v] = array
        self.inputs.add(v)

    def add_constant(self, v: Any, value: Any) -> None:
        """The same on all devices."""
        self.known[v] = np.broadcast_to(np.asarray(value), (self.mesh.devices, *np.shape(value)))

    @property
    def cores(self) -> int:
        return self.told_cores or 1

    def walk(self, jaxpr: Any, consts: Iterable[Any]) -> None:
        eqns = self.around.flat(jaxpr, consts)
        self.results = [self.around.root(v) for v in jaxpr.outvars]
        for v in [*(v for e in eqns for v in e.invars), *self.results]:
            if isinstance(v, jax_core.Var):
                self.uses[v] = self.uses.get(v, 0) + 1
        for eqn in eqns:
            if not isinstance(eqn, State) and eqn.primitive.name in ("core_map", "mpmd_map"):
                self.told_cores = _cores(eqn, self.told_cores)
        for eqn in eqns:
            if isinstance(eqn, State):
                self._state(eqn)
            elif eqn.primitive.name in KERNELS:
                self._launch(eqn)
            elif eqn.primitive.name in REFS:
                self._ref(eqn)
            else:
                self._plain(eqn)

    # Refs outside of kernels

    def _state(self, state: "State") -> None:
        for atom, v in zip(state.invars, state.outvars):
            self.made[v] = self._own(atom, "x") if state.begins else self.made[atom]

    def _own(self, atom: Any, name: str) -> Array:
        """Memory that begins with the value and may be written."""
        array = self._array(atom, name)
        if array.given and self.uses.get(atom, 0) <= 1 and not array.semaphore:
            return array
        if array.semaphore:
            return array
        copy = self._new(atom, f"{array.name}_ref")
        self.steps.append(Host([], [(atom, array)], [(atom, copy)]))
        return copy

    def _ref(self, eqn: Any) -> None:
        name: str = eqn.primitive.name
        out: Any = eqn.outvars[0] if eqn.outvars else None
        if name == "empty_ref" or not eqn.invars:
            self.made[out] = self._new(out, "ref")
        elif name in ("new_ref", "mutable_array", "ref"):
            self.made[out] = self._own(eqn.invars[0], "ref")
        elif name == "freeze":
            self.made[out] = self.made[eqn.invars[0]]
        elif name == "get" and len(eqn.invars) == 1 and out.aval.shape == eqn.invars[0].aval.shape:
            self.made[out] = self._now(eqn.invars[0], out)
        elif name == "swap" and len(eqn.invars) == 2 and out.aval.shape == eqn.invars[0].aval.shape:
            ref, value = eqn.invars
            array, new = self.made[ref], self._array(value, "x")
            if self.uses.get(out, 0) > 0:
                self.made[out] = self._now(ref, out)
            self.steps.append(Host([], [(ref, new)], [(ref, array)]))
        else:
            raise Unsupported(f"{name} of a part of a ref outside of any kernel", place_of(eqn), "read or write it inside a kernel")

    def _now(self, ref: Any, out: Any) -> Array:
        """What the whole ref holds now."""
        array = self.made[ref]
        copy = self._new(out, f"{array.name}_now")
        self.steps.append(Host([], [(ref, array)], [(ref, copy)]))
        return copy

    def _plain(self, eqn: Any) -> None:
        wanted = [v for v in eqn.invars if isinstance(v, jax_core.Var)]
        if all(self._known(v) for v in wanted):
            self._evaluate([eqn], wanted, list(eqn.outvars))
        else:
            self.put_off.append(eqn)

    def _known(self, v: Any) -> bool:
        """Values that only the checker's generator would know are made up here instead."""
        if v in self.known:
            return True
        array = self.made.get(v)
        if array is None or v not in self.inputs or array.semaphore:  # a kernel's result may be in an input's memory: it is not that input
            return False
        if array.values is None:
            array.values = generated(self.mesh.devices, len(self.materialised), array.shape, array.dtype)
            self.materialised.append(array.name)
        self.known[v] = array.values
        return True

    def decided(self, atom: Any, before: Sequence[Any]) -> Any:
        """Its values on all devices, if plain JAX alone computes it, by equations that came before; else None."""
        if isinstance(atom, jax_core.Literal):
            return np.broadcast_to(np.asarray(atom.val), (self.mesh.devices, *np.shape(atom.val)))
        needed: list[Any] = []
        missing = {atom} - self.known.keys()
        for eqn in reversed(before):
            if any(v in missing for v in eqn.outvars):
                if isinstance(eqn, State) or eqn.primitive.name in KERNELS | REFS:
                    return None
                needed.append(eqn)
                missing -= set(eqn.outvars)
                missing |= {v for v in eqn.invars if isinstance(v, jax_core.Var) and v not in self.known}
        if not all(self._known(v) for v in missing):
            return None
        if needed:
            inside = {v for e in needed for v in e.outvars}
            inputs = dict.fromkeys(v for e in needed for v in e.invars if isinstance(v, jax_core.Var) and v not in inside)
            self._evaluate(needed[::-1], list(inputs), [atom])
        return self.known[atom]

    def _evaluate(self, eqns: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        found = evaluate.on_all_devices(self.mesh, _one_device(eqns, inputs, outputs), [self.known[v] for v in inputs])
        self.known.update(zip(outputs, found))

    # Kernels

    def _launch(self, eqn: Any) -> None:
        operands = list(eqn.invars)
        bounds: list[int] = []
        if eqn.primitive.name == "pallas_call":  # refs that it closes over, sizes of the grid, and the rest
            count, closed = eqn.params["grid_mapping"].num_dynamic_grid_bounds, len(_of(eqn.params["jaxpr"]).constvars)
            bounds = [self._bound(eqn, v) for v in operands[closed : closed + count]]
            operands = [*operands[:closed], *operands[closed + count :]]
        kernel, devices = self._kernel(eqn, bounds, operands), self.around.devices_of(eqn)
        if devices is not None and kernel.meets_all():
            raise Unsupported(
                "a kernel that begins with the barrier of all devices, on some of them only,",
                kernel.place,
                "use get_barrier_semaphore, or let all devices call it",
            )
        arrays = [self._array(v, _name_of(kernel, "operand", i)) for i, v in enumerate(operands)]
        results = []
        for i, v in enumerate(eqn.outvars):
            source = next((a for a, r in kernel.aliases.items() if r == i), None)
            if source is not None:
                results.append(self._alias(operands[source], arrays, source))
            else:
                results.append(self._new(v, _name_of(kernel, "result", i)))
                results[-1].space = _result_space(eqn, i)
            self.made[v] = results[-1]
        self.steps.append(Launch(kernel, arrays, results, devices))

    def _kernel(self, eqn: Any, bounds: list[int], operands: Sequence[Any]) -> Kernel:
        """One that is launched again, such as in a loop, is written once."""
        from .core_maps import core_map

        bodies = eqn.params["jaxprs"] if "jaxprs" in eqn.params else [eqn.params["jaxpr"]]
        own = [self.made[v].space if isinstance(v, jax_core.Var) and v in self.made else "any" for v in operands]
        sources = {o: i for i, o in aliases_of(eqn).items()}
        made = [own[sources[i]] if i in sources else _result_space(eqn, i) for i in range(len(eqn.outvars))]
        key = (*map(id, bodies), *map(id, eqn.params.values()), *bounds, *own)
        if key not in self.kernels:
            builder = KernelBuilder(self.mesh, self.helpers, self.taken, bounds, self.cores, (own, made))
            kernel = builder.pallas_call(eqn) if eqn.primitive.name == "pallas_call" else core_map(builder, eqn)[0]
            self.kernels[key] = (kernel, eqn)  # the equation is kept: ids are those of living objects
        return self.kernels[key][0]

    def _bound(self, eqn: Any, atom: Any) -> int:
        if isinstance(atom, jax_core.Literal):
            return int(atom.val)
        if not self._known(atom):
            raise Unsupported(
                "a grid whose size is computed by an earlier kernel", place_of(eqn), "take the largest, and skip steps in the kernel"
            )
        values = np.asarray(self.known[atom]).reshape(-1)
        if (values != values[0]).any():
            raise Unsupported("a grid whose size differs among devices", place_of(eqn))
        return int(values[0])

    def _new(self, v: Any, name: str) -> Array:
        return self._own_array(name, tuple(v.aval.shape), v.aval.dtype, kind_of(v.aval))

    def _own_array(self, name: str, shape: tuple[int, ...], dtype: Any, kind: str = "") -> Array:
        array = Array(self.names.take(name, "y"), shape, dtype, False, None, kind)
        self.arrays.append(array)
        return array

    def _array(self, atom: Any, name: str) -> Array:
        """The operand as an array of the program."""
        if isinstance(atom, jax_core.Literal):
            values = np.broadcast_to(np.asarray(atom.val, atom.aval.dtype), (self.mesh.devices, *np.shape(atom.val)))
            return self._add(Array(self.names.take(name, "x"), tuple(atom.aval.shape), atom.aval.dtype, True, values))
        if atom not in self.made and atom in self.known:
            self.made[atom] = Array(self.names.take(name, "x"), tuple(atom.aval.shape), atom.aval.dtype, True, self.known[atom])
        if atom not in self.made:
            self._compute_on_devices(atom, name)
        return self._add(self.made[atom])

    def _add(self, array: Array) -> Array:
        if not any(a is array for a in self.arrays):
            self.arrays.append(array)
        return array

    def _alias(self, atom: Any, arrays: list[Array], position: int) -> Array:
        """The result takes the operand's memory: the operand itself if nobody looks at it later, else a copy of it."""
        array = arrays[position]
        if array.semaphore or self.uses.get(atom, 0) <= 1:
            return array
        copy = Array(self.names.take(f"{array.name}_copy"), array.shape, array.dtype, False, space=array.space)
        self.arrays.append(copy)
        self.steps.append(Host([], [(atom, array)], [(atom, copy)]))
        arrays[position] = copy
        return copy

    def _compute_on_devices(self, atom: Any, name: str) -> None:
        eqns = self._without_collectives(atom)
        if atom in self.made:
            return
        inputs: list[tuple[Any, Array]] = []
        inside = {v for e in eqns for v in e.outvars}
        for e in eqns:
            for v in e.invars:
                if isinstance(v, jax_core.Var) and v not in inside and all(v is not w for w, _ in inputs):
                    inputs.append((v, self._array(v, "x")))
        array = self._new(atom, name)
        self.steps.append(Host(eqns, inputs, [(atom, array)]))
        self.made[atom] = array

    def _without_collectives(self, atom: Any) -> list[Any]:
        """What is left to be computed on each device alone, once what devices must exchange for it is exchanged."""
        while True:
            eqns = _needed(self.put_off, {atom}, self.known.keys() | self.made.keys())
            talking = next((e for e in eqns if e.primitive.name in collectives.NAMES), None)
            if talking is None:
                return eqns
            for operand, result in zip(talking.invars, talking.outvars):
                self._exchange(talking, operand, result)

    def _exchange(self, eqn: Any, operand: Any, result: Any) -> None:
        """One operand of a collective: a launch, and a step of plain computation on what came."""
        import jax

        kind, name = (collectives.permute if eqn.primitive.name == "ppermute" else collectives.exchange), eqn.primitive.name
        source = self._array(operand, "x")
        self.exchanges += 1
        kernel = kind(self.taken.take(name, "exchange"), eqn, self.mesh, self.cores, collectives.FIRST_ID + self.exchanges)
        size = () if kind is collectives.permute else (collectives.group_size(collectives.axes_of(eqn, self.mesh), self.mesh),)
        struct = jax.ShapeDtypeStruct((*size, *source.shape), source.dtype)
        arrived = self._own_array(f"{source.name}_{name}", struct.shape, struct.dtype)
        self.steps.append(Launch(kernel, [source], [arrived]))
        rest = collectives.afterwards(eqn, self.mesh, struct)
        self.made[result] = arrived
        if rest is not None:
            body = fresh(getattr(rest, "jaxpr", rest))
            self.made[result] = self._new(result, f"{source.name}_{name}_done")
            self.steps.append(Host(body.eqns, [(body.invars[0], arrived)], [(body.outvars[0], self.made[result])]))

    def promise(self, result: int, values: Any, tolerance: float) -> None:
        """What the function must return, for the checker to judge, if it is an array of the program."""
        atom = self.results[result]
        array = self.made.get(atom) if isinstance(atom, jax_core.Var) else None
        if array is not None and atom not in self.known and any(a is array for a in self.arrays):
            values = np.asarray(values)
            if values.shape == (self.mesh.devices, *array.shape):
                self.promises.append(
                    (array, values.astype(np.dtype(array.dtype)), 0.0 if np.issubdtype(values.dtype, np.integer) else tolerance)
                )

    # After the run

    def finish(self, values: Callable[[Array], Any]) -> list[np.ndarray[Any, Any]]:
        """What the function returns on each device, stacked, from the arrays that the run left."""
        missing = {v for v in self.results if isinstance(v, jax_core.Var) and v not in self.known and v not in self.made}
        eqns = _needed(self.put_off, missing, self.known.keys() | self.made.keys())
        inside = {v for e in eqns for v in e.outvars}
        inputs = [v for e in eqns for v in e.invars if isinstance(v, jax_core.Var) and v not in inside]
        for v in dict.fromkeys([*inputs, *(r for r in self.results if isinstance(r, jax_core.Var))]):
            array = self.made.get(v)
            if array is not None and (v not in self.known or not array.given):
                self.known[v] = values(array)
        inputs = list(dict.fromkeys(inputs))
        if eqns:
            self._evaluate(eqns, inputs, list(missing))
        return [self._result(v) for v in self.results]

    def _result(self, atom: Any) -> Any:
        if isinstance(atom, jax_core.Literal):
            return np.broadcast_to(np.asarray(atom.val, atom.aval.dtype), (self.mesh.devices, *np.shape(atom.val)))
        return self.known[atom]


def _of(jaxpr: Any) -> Any:
    """Closed or not."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def _result_space(eqn: Any, i: int) -> str:
    """VMEM or SMEM if the result is said to stay there until a later kernel takes it."""
    avals = eqn.params.get("out_avals") or ()
    space = space_of(avals[i], "any", place_of(eqn)) if i < len(avals) else "any"
    return space if space in RESIDENT else "any"


def _cores(eqn: Any, told: int | None) -> int:
    from .core_maps import agree, cores_of

    mesh = eqn.params["mesh"] if eqn.primitive.name == "core_map" else eqn.params["meshes"][0]
    return agree(told, cores_of(mesh, eqn)[1], eqn)


def _one_device(eqns: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[..., list[Any]]:
    def function(*values: Any) -> list[Any]:
        env = dict(zip(inputs, values))

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, jax_core.Literal) else env[atom]

        for eqn in eqns:
            evaluate.run_equations([eqn], read, env.__setitem__)
        return [env[v] for v in outputs]

    return function


def _needed(eqns: Sequence[Any], wanted: set[Any], known: Any) -> list[Any]:
    """Those that the wanted variables are computed with, in order."""
    found, missing = [], {v for v in wanted if v not in known}
    for eqn in reversed(eqns):
        if any(v in missing for v in eqn.outvars):
            found.append(eqn)
            missing -= set(eqn.outvars)
            missing |= {v for v in eqn.invars if isinstance(v, jax_core.Var) and v not in known}
    if missing:
        raise TraceError("internal error: a value is computed nowhere")
    return found[::-1]


def _name_of(kernel: Kernel, kind: str, index: int) -> str:
    for name, argument in zip(kernel.parameters, kernel.arguments):
        if argument.kind == kind and argument.index == index:
            return name
    return "x"


def generated(devices: int, ordinal: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Small whole numbers, different from place to place and from device to device, the same each time."""
    count = int(np.prod(shape, dtype=np.int64)) * devices
    mixed = (np.arange(count, dtype=np.uint64) + np.uint64(ordinal * 7919 + 1)) * np.uint64(0x9E3779B97F4A7C15)
    small = ((mixed >> np.uint64(40)) % np.uint64(64)).astype(np.int64)
    found: np.ndarray[Any, Any] = (small % 2 if str(dtype) == "bool" else small).astype(np.dtype(dtype))
    return found.reshape(devices, *shape)
