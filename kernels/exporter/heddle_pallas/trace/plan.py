"""What a traced function does, as a plan: arrays, launches of kernels, steps of plain computation between them, and what comes back.

Plain computation that needs no kernel's result is done here, at once. What needs one is put off: if a later kernel asks for it, it
becomes a step of the program (pl_host); if only the caller does, it is done here too, from the arrays that the checked run computed.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

import jax
import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Literal, Var
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..c.kernel import Kernel
from ..c.names import Scope
from ..c.program import Array, Expected, GridSize, Host, Launch, Program
from ..errors import HeddleError, Unsupported
from ..lower.core_maps import agreed_cores, core_map
from ..lower.hosts import Bound, host_kernel
from ..lower.jaxprs import Atom, opened
from ..lower.kernels import RESIDENT, KernelBuilder, aliases_of
from ..lower.source import place_of
from ..lower.spaces import kind_of, space_of
from ..mesh import Mesh
from . import collectives
from .around import Around
from .domains import Ints, Many, constraint, domain_of
from .equations import COLLECTIVES, KERNELS, REFS, State, fresh, inputs_of, needed, variables
from .known import Known
from .terms import Terms


class Plan:
    def __init__(self, mesh: Mesh, cores: int | None = None) -> None:
        self.mesh = mesh
        self.told_cores = cores  # None: as the kernels say
        self.program = Program(mesh, cores or 1)
        self.taken = Scope()  # names of kernels
        self.names = Scope()  # names of arrays
        self.known = Known(mesh)
        self.made: dict[Var, Array] = {}  # variables that are arrays of the program
        self.around = Around(self.known)
        self.put_off: list[JaxprEqn] = []  # equations that wait for a kernel's result
        self.uses: dict[Var, int] = {}
        self.results: list[Atom] = []
        self.exchanges = 0  # of collectives between kernels
        self.many: list[Many] = []  # inputs with a domain
        self.kernels: dict[tuple[object, ...], tuple[Kernel, JaxprEqn]] = {}  # those that were written, by what they were written from

    # Building

    def add_input(self, v: Var, name: str, values: NDArray[Any] | None) -> None:
        """values None: only the shape is known."""
        if values is not None:
            self.known.values[v] = values = np.asarray(values)
        array = Array(self.names.take(name, "x"), tuple(v.aval.shape), v.aval.dtype, True, values, kind_of(v.aval))
        self.made[v] = self.known.inputs[v] = array

    def add_many(self, v: Var, name: str, wanted: Ints, numbers: NDArray[Any]) -> None:
        """An input with a domain. numbers: of the argument's elements, on each device."""
        self.add_input(v, name, None)
        array = self._add(self.made[v])
        array.domain = domain_of(wanted, numbers, array.name)
        self.many.append(Many(array, wanted, numbers))
        holds = constraint(wanted, array, numbers, self.program.helpers)
        self.program.constraints += [holds] if holds is not None else []

    def walk(self, jaxpr: Jaxpr, consts: Iterable[Any]) -> None:
        eqns = self.around.flat(jaxpr, consts)
        self.results = self.around.aliases.roots(jaxpr.outvars)
        for v in variables([*(v for e in eqns for v in e.invars), *self.results]):
            self.uses[v] = self.uses.get(v, 0) + 1
        for eqn in eqns:
            if not isinstance(eqn, State) and eqn.primitive.name in ("core_map", "mpmd_map"):
                self.told_cores = self.program.cores = agreed_cores(eqn, self.told_cores)
        for eqn in eqns:
            if isinstance(eqn, State):
                self._state(eqn)
            elif eqn.primitive.name in KERNELS:
                self._launch(eqn)
            elif eqn.primitive.name in REFS:
                self._ref(eqn)
            else:
                self._plain(eqn)

    def _plain(self, eqn: JaxprEqn) -> None:
        if all(self.known.find(v) for v in variables(eqn.invars)):
            self.known.compute([eqn], eqn.outvars)
        else:
            self.put_off.append(eqn)

    # Refs outside of kernels

    def _state(self, state: State) -> None:
        for atom, v in zip(state.invars, state.outvars):
            self.made[v] = self._own(atom, "x") if state.begins else self.made[atom]

    def _own(self, atom: Atom, name: str) -> Array:
        """Memory that starts with this value and may be written."""
        array = self._array(atom, name)
        if array.semaphore or (array.given and self.uses.get(atom, 0) <= 1):
            return array
        return self._copy(atom, array, self._new(atom, f"{array.name}_ref"))

    def _copy(self, atom: Atom, source: Array, target: Array) -> Array:
        """A step that copies the present contents of the source to the target."""
        self._host([], [(atom, source)], [(atom, target)])
        return target

    def _ref(self, eqn: JaxprEqn) -> None:
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
            new = self._array(value, "x")
            if self.uses.get(out, 0) > 0:
                self.made[out] = self._now(ref, out)
            self._copy(ref, new, self.made[ref])
        else:
            raise Unsupported(f"{name} of a part of a ref outside of any kernel", place_of(eqn), "read or write it inside a kernel")

    def _now(self, ref: Var, out: Var) -> Array:
        """What the whole ref holds now."""
        array = self.made[ref]
        return self._copy(ref, array, self._new(out, f"{array.name}_now"))

    # Kernels

    def _launch(self, eqn: JaxprEqn) -> None:
        operands = list(eqn.invars)
        bounds: list[int | None] = []
        sizes: list[GridSize] = []
        if eqn.primitive.name == "pallas_call":  # refs that it closes over, sizes of the grid, and the rest
            count, closed = eqn.params["grid_mapping"].num_dynamic_grid_bounds, len(opened(eqn.params["jaxpr"]).constvars)
            bounds = [self._bound(eqn, v, sizes) for v in operands[closed : closed + count]]
            operands = [*operands[:closed], *operands[closed + count :]]
        kernel, devices = self._kernel(eqn, bounds, operands), self.around.devices_of(eqn)
        if devices is not None and kernel.meets_all():
            raise Unsupported(
                "a kernel that begins with the barrier of all devices, launched on some of them,",
                kernel.place,
                "use get_barrier_semaphore, or let all devices call it",
            )
        arrays = [self._array(v, kernel.parameter("operand", i)) for i, v in enumerate(operands)]
        results = []
        for i, v in enumerate(eqn.outvars):
            source = next((a for a, r in kernel.aliases.items() if r == i), None)
            if source is not None:
                results.append(self._alias(operands[source], arrays, source))
            else:
                results.append(self._new(v, kernel.parameter("result", i)))
                results[-1].space = _result_space(eqn, i)
            self.made[v] = results[-1]
        self.program.steps.append(Launch(kernel, arrays, results, devices, sizes))

    def _kernel(self, eqn: JaxprEqn, bounds: list[int | None], operands: Sequence[Atom]) -> Kernel:
        """A kernel that is launched several times is written once."""
        bodies = eqn.params["jaxprs"] if "jaxprs" in eqn.params else [eqn.params["jaxpr"]]
        own = [self.made[v].space if isinstance(v, Var) and v in self.made else "any" for v in operands]
        sources = {o: i for i, o in aliases_of(eqn).items()}
        made = [own[sources[i]] if i in sources else _result_space(eqn, i) for i in range(len(eqn.outvars))]
        key = (*map(id, bodies), *map(id, eqn.params.values()), *bounds, *own)
        if key not in self.kernels:
            builder = KernelBuilder(self.mesh, self.program.helpers, self.taken, bounds, self.program.cores, (own, made))
            kernel = builder.pallas_call(eqn) if eqn.primitive.name == "pallas_call" else core_map(builder, eqn)
            self.kernels[key] = (kernel, eqn)  # the equation is kept: ids are those of living objects
        return self.kernels[key][0]

    def _bound(self, eqn: JaxprEqn, atom: Atom, sizes: list[GridSize]) -> int | None:
        """None: PROGRAM computes it, by the next of `sizes`."""
        if isinstance(atom, Literal):
            return int(atom.val)
        if not self.known.find(atom):
            sizes.append(self._computed_bound(eqn, atom))
            return None
        values = self.known.values[atom].reshape(-1)
        if (values != values[0]).any():
            raise Unsupported("a grid whose size differs among devices", place_of(eqn))
        return int(values[0])

    def _computed_bound(self, eqn: JaxprEqn, atom: Var) -> GridSize:
        eqns = self._needed([atom])
        terms, known = Terms(), {}
        for v in [atom] if not eqns else inputs_of(eqns):
            array = self.made.get(v)
            if v in self.known:
                known[v] = self.known.values[v][0]
            elif array is None or array.domain is None:
                raise Unsupported(
                    "a grid whose size is computed by an earlier kernel", place_of(eqn), "use the largest, and skip steps in the kernel"
                )
            elif not array.domain.same:
                raise Unsupported(f"a grid whose size depends on {array.name}, which differs among devices,", place_of(eqn))
            else:
                known[v] = terms.whole(array)
        terms.run_equations(eqns, known)
        return GridSize(terms.define(self.program.helpers, "grid_size", str(known[atom][()])), list(terms.arrays))

    def _alias(self, atom: Atom, arrays: list[Array], position: int) -> Array:
        """The result takes the operand's memory: the operand itself if nothing reads it later, else a copy of it."""
        array = arrays[position]
        if array.semaphore or self.uses.get(atom, 0) <= 1:
            return array
        arrays[position] = self._own_array(f"{array.name}_copy", array.shape, array.dtype, space=array.space)
        return self._copy(atom, array, arrays[position])

    # Arrays

    def _new(self, v: Var, name: str) -> Array:
        return self._own_array(name, tuple(v.aval.shape), v.aval.dtype, kind_of(v.aval))

    def _own_array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike, kind: str = "", space: str = "any") -> Array:
        return self._add(Array(self.names.take(name, "y"), shape, dtype, False, None, kind, space))

    def _array(self, atom: Atom, name: str) -> Array:
        """The operand as an array of the program."""
        if isinstance(atom, Literal):
            return self._add(self._given(atom, name))
        if atom not in self.made and atom in self.known:
            self.made[atom] = self._given(atom, name)
        if atom not in self.made:
            self._compute_on_devices(atom, name)
        return self._add(self.made[atom])

    def _given(self, atom: Atom, name: str) -> Array:
        constant = not self.known.is_of_argument(atom)
        return Array(self.names.take(name, "x"), tuple(atom.aval.shape), atom.aval.dtype, True, self.known.value(atom), constant=constant)

    def _add(self, array: Array) -> Array:
        if not any(a is array for a in self.program.arrays):
            self.program.arrays.append(array)
        return array

    # Steps between kernels

    def _host(self, eqns: Sequence[JaxprEqn], inputs: Bound, outputs: Bound) -> None:
        name = self.taken.take(f"between_{len(self.program.steps)}")
        kernel = host_kernel(self.mesh, self.program.helpers, name, eqns, inputs, outputs)
        self.program.steps.append(Host(kernel, [array for _, array in [*inputs, *outputs]]))

    def _compute_on_devices(self, atom: Var, name: str) -> None:
        eqns = self._without_collectives(atom)
        if atom in self.made:
            return
        inputs = [(v, self._array(v, "x")) for v in inputs_of(eqns)]
        array = self._new(atom, name)
        self._host(eqns, inputs, [(atom, array)])
        self.made[atom] = array

    def _without_collectives(self, atom: Var) -> list[JaxprEqn]:
        """What each device computes alone for this value, after the exchanges that it depends on."""
        while True:
            eqns = self._needed([atom])
            talking = next((e for e in eqns if e.primitive.name in COLLECTIVES), None)
            if talking is None:
                return eqns
            for operand, result in zip(talking.invars, talking.outvars):
                self._exchange(talking, operand, result)

    def _needed(self, wanted: Iterable[Var]) -> list[JaxprEqn]:
        return needed(self.put_off, wanted, self.known.values.keys() | self.made.keys())

    def _exchange(self, eqn: JaxprEqn, operand: Atom, result: Var) -> None:
        """One operand of a collective: a launch, and a step of plain computation on what arrives."""
        kind, name = (collectives.permute if eqn.primitive.name == "ppermute" else collectives.exchange), eqn.primitive.name
        source = self._array(operand, "x")
        self.exchanges += 1
        kernel = kind(self.taken.take(name, "exchange"), eqn, self.mesh, self.program.cores, collectives.FIRST_ID + self.exchanges)
        size = () if kind is collectives.permute else (collectives.group_size(collectives.axes_of(eqn, self.mesh), self.mesh),)
        struct = jax.ShapeDtypeStruct((*size, *source.shape), source.dtype)
        arrived = self._own_array(f"{source.name}_{name}", struct.shape, struct.dtype)
        self.program.steps.append(Launch(kernel, [source], [arrived]))
        rest = collectives.afterwards(eqn, self.mesh, struct)
        self.made[result] = arrived
        if rest is not None:
            body = fresh(rest)
            self.made[result] = self._new(result, f"{source.name}_{name}_done")
            self._host(body.eqns, [(body.invars[0], arrived)], [(body.outvars[0], self.made[result])])

    # What comes back

    def promise(self, result: int, values: ArrayLike, tolerance: float) -> None:
        """The checker compares this result, if it is an array of the program."""
        atom, values = self.results[result], np.asarray(values)
        array = self.made.get(atom) if isinstance(atom, Var) and atom not in self.known else None
        if array is None or not any(a is array for a in self.program.arrays) or values.shape != (self.mesh.devices, *array.shape):
            return
        exact = np.issubdtype(values.dtype, np.integer)
        self.program.expected.append(Expected(array, values.astype(np.dtype(array.dtype)), 0.0 if exact else tolerance))

    def promise_equal(self, result: int, wanted: int, tolerance: float) -> None:
        """The checker compares two results, both computed by the program."""
        found, due = (self._array(self.results[i], name) for i, name in ((result, "result"), (wanted, "wanted")))
        if found.shape != due.shape or found.dtype != due.dtype:
            raise HeddleError(f"expect gives {due.dtype}{list(due.shape)} for a result that is {found.dtype}{list(found.shape)} on each device")
        exact = np.issubdtype(np.dtype(due.dtype), np.integer)
        self.program.expected.append(Expected(found, due, 0.0 if exact else tolerance))

    def finish(self, values: Callable[[Array], NDArray[Any]]) -> list[NDArray[Any]]:
        """What the function returns on each device, stacked, from the arrays that the run left."""
        missing = [v for v in dict.fromkeys(variables(self.results)) if v not in self.known and v not in self.made]
        eqns = self._needed(missing)
        for v in dict.fromkeys([*inputs_of(eqns), *variables(self.results)]):
            array = self.made.get(v)
            if array is not None and not any(a is array for a in self.program.arrays):  # no kernel reads it
                self.known.find(v)
            elif array is not None and (v not in self.known or not array.given):
                self.known.values[v] = values(array)
        if eqns:
            self.known.compute(eqns, missing)
        return [self.known.value(v) for v in self.results]


def _result_space(eqn: JaxprEqn, i: int) -> str:
    """VMEM or SMEM if the result stays there for a later kernel."""
    avals = eqn.params.get("out_avals") or ()
    space = space_of(avals[i], "any", place_of(eqn)) if i < len(avals) else "any"
    return space if space in RESIDENT else "any"
