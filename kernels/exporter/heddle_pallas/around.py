"""What stands around kernels, written out: calls, loops of so many rounds, conditions that plain JAX decides.

A program is a sequence of launches. So a loop around a kernel becomes its rounds, and of a condition the branch that is taken remains.
Where devices take different branches, each branch is launched on its devices, and results are chosen among.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import numpy as np
from jax._src import core as jax_core

from .collectives import NAMES
from .demand import CALLS, called, jaxprs_of
from .errors import Unsupported
from .evaluate import SAME
from .source import place_of

if TYPE_CHECKING:
    from .plan import Plan

KERNELS = frozenset({"pallas_call", "core_map", "mpmd_map"})
ROUNDS_MAX = 256


@dataclasses.dataclass
class State:
    """The begin or the end of a run_state, among equations."""

    begins: bool
    invars: list[Any]
    outvars: list[Any]


class Around:
    def __init__(self, plan: "Plan") -> None:
        self.plan = plan
        self.alias: dict[Any, Any] = {}  # variable -> what it stands for, of calls that were written out
        self.seen: list[Any] = []  # equations so far, in order
        self.rounds = 0
        self.met = False  # a loop or a condition with a kernel inside
        self.among: tuple[int, ...] | None = None  # the devices that are here; None: all
        self.only: dict[int, tuple[int, ...]] = {}  # of equations that not all devices come to, by id

    def devices_of(self, eqn: Any) -> tuple[int, ...] | None:
        return self.only.get(id(eqn))

    def root(self, atom: Any) -> Any:
        while isinstance(atom, jax_core.Var) and atom in self.alias:
            atom = self.alias[atom]
        return atom

    def flat(self, jaxpr: Any, consts: Iterable[Any]) -> list[Any]:
        """All equations in order, without what is around kernels."""
        for v, c in zip(jaxpr.constvars, consts):
            self.plan.add_constant(v, c)
        found: list[Any] = []
        for eqn in jaxpr.eqns:
            name = eqn.primitive.name
            if name in SAME:
                self.alias.update(zip(eqn.outvars, map(self.root, eqn.invars)))
            elif name in KERNELS or not has_kernel(eqn):
                found.append(self._own(eqn))
            elif name in _WRITTEN_OUT:
                self.met = True
                found.extend(_WRITTEN_OUT[name](self, eqn))
            elif name in CALLS:
                eqns, results = self.written_out(called(eqn), eqn.invars)
                found.extend(eqns)
                self.alias.update(zip(eqn.outvars, results))
            else:
                raise Unsupported(f"a kernel inside {name} outside of any kernel", place_of(eqn), "call it from the function itself")
        return found

    def _own(self, eqn: Any) -> Any:
        """The equation as it is remembered, if those who are here can do it alone."""
        own = eqn.replace(invars=[self.root(v) for v in eqn.invars])
        if self.among is not None:
            self.only[id(own)] = self.among
            if _is_for_all(eqn) or eqn.primitive.name in ("swap", "addupdate"):
                raise Unsupported(
                    f"{eqn.primitive.name} on some of the devices only", place_of(eqn), "take it out of the condition, or into a kernel"
                )
        self.seen.append(own)
        return own

    def written_out(self, inner: Any, atoms: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The equations of a jaxpr that is called with these operands; and its results."""
        body = fresh(getattr(inner, "jaxpr", inner))
        self.alias.update((v, self.root(atom)) for v, atom in zip(body.invars, atoms))
        return self.flat(body, getattr(inner, "consts", ())), [self.root(v) for v in body.outvars]

    def traced(self, function: Callable[..., Any], atoms: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The equations of a function of ours."""
        import jax

        closed = jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(a.aval.shape, a.aval.dtype) for a in atoms))
        return self.written_out(closed, atoms)

    # Loops

    def _count(self, eqn: Any, rounds: int) -> None:
        self.rounds += rounds
        if self.rounds > ROUNDS_MAX:
            what = f"a loop of {rounds} rounds" if rounds > 1 else f"a loop of more than {ROUNDS_MAX} rounds"
            raise Unsupported(f"{what} around a kernel", place_of(eqn), f"check it with {ROUNDS_MAX} rounds or fewer")

    def scan(self, eqn: Any) -> list[Any]:
        params, found = eqn.params, []
        consts, count, length = params["num_consts"], params["num_carry"], int(params["length"])
        self._count(eqn, length)
        fixed, carry, arrays = eqn.invars[:consts], list(eqn.invars[consts : consts + count]), eqn.invars[consts + count :]
        rows: list[list[Any]] = [[] for _ in eqn.outvars[count:]]
        for i in reversed(range(length)) if params["reverse"] else range(length):
            slices: list[Any] = []
            for array in arrays:
                slicing, (row,) = self.traced(functools.partial(_row, i), [array])
                found.extend(slicing)
                slices.append(row)
            eqns, results = self.written_out(params["jaxpr"], [*fixed, *carry, *slices])
            found.extend(eqns)
            carry = results[:count]
            for collected, row in zip(rows, results[count:]):
                collected.append(row)
        self.alias.update(zip(eqn.outvars[:count], carry))
        for v, collected in zip(eqn.outvars[count:], rows):
            eqns, (stacked,) = self.traced(_stack, collected[::-1] if params["reverse"] else collected)
            found.extend(eqns)
            self.alias[v] = stacked
        return found

    def while_loop(self, eqn: Any) -> list[Any]:
        params = eqn.params
        a, b = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        found, carry = [], list(eqn.invars[b:])
        while self._goes_on(eqn, [*eqn.invars[:a], *carry]):
            self._count(eqn, 1)
            eqns, carry = self.written_out(params["body_jaxpr"], [*eqn.invars[a:b], *carry])
            found.extend(eqns)
        self.alias.update(zip(eqn.outvars, carry))
        return found

    def _goes_on(self, eqn: Any, operands: Sequence[Any]) -> bool:
        if any(has_kernel(e) for e in eqn.params["cond_jaxpr"].eqns):
            raise Unsupported("a kernel in the condition of a loop", place_of(eqn), "move it into the loop's body")
        _, (again,) = self.written_out(eqn.params["cond_jaxpr"], operands)
        values = self._decided(again, eqn, "give the loop a fixed number of rounds, or move it into the kernel")
        if (values != values[0]).any():
            raise Unsupported("a loop around a kernel, of more rounds on some devices than on others,", place_of(eqn))
        return bool(values[0])

    # Conditions

    def _decided(self, atom: Any, eqn: Any, advice: str) -> Any:
        """Its values on the devices that are here."""
        values = self.plan.decided(self.root(atom), self.seen)
        if values is None:
            name = eqn.primitive.name
            raise Unsupported(f"a kernel inside {name} outside of any kernel, where an earlier kernel decides", place_of(eqn), advice)
        return np.asarray(values)[list(self.among)] if self.among is not None else np.asarray(values)

    def cond(self, eqn: Any) -> list[Any]:
        branches, operands = eqn.params["branches"], eqn.invars[1:]
        which = self._decided(eqn.invars[0], eqn, "decide it in Python, or inside the kernel").astype(np.int64)
        taken = np.clip(which, 0, len(branches) - 1)
        if (taken == taken[0]).all():
            found, results = self.written_out(branches[int(taken[0])], operands)
            self.alias.update(zip(eqn.outvars, results))
            return found
        return self._on_some(eqn, [int(t) for t in taken], operands)

    def _on_some(self, eqn: Any, taken: list[int], operands: Sequence[Any]) -> list[Any]:
        """Each branch on the devices that take it."""
        outer, found, results = self.among, [], []
        here = outer if outer is not None else tuple(range(self.plan.mesh.devices))
        for number in sorted(set(taken)):
            self.among = tuple(d for d, t in zip(here, taken) if t == number)
            eqns, values = self.written_out(eqn.params["branches"][number], operands)
            found.extend(eqns)
            results.append(values)
        self.among = outer
        order = sorted(set(taken))
        for i, v in enumerate(eqn.outvars):
            if not hasattr(v.aval.dtype, "itemsize"):
                raise Unsupported("a condition that gives semaphores of some devices only", place_of(eqn))
            eqns, (chosen,) = self.traced(functools.partial(_chosen, order), [self.root(eqn.invars[0]), *(r[i] for r in results)])
            found.extend(eqns)
            self.alias[v] = chosen
        return found

    # State

    def run_state(self, eqn: Any) -> list[Any]:
        """Its operands become refs, and what these hold in the end are its results."""
        if not all(eqn.params.get("is_initialized") or (True,)):
            raise Unsupported("run_state with refs that hold nothing", place_of(eqn))
        if self.among is not None:
            raise Unsupported("run_state on some of the devices only", place_of(eqn))
        body = fresh(getattr(eqn.params["jaxpr"], "jaxpr", eqn.params["jaxpr"]))
        begin = State(True, [self.root(v) for v in eqn.invars], list(body.invars))
        end = State(False, list(body.invars), list(eqn.outvars))
        self.seen.append(begin)
        found = [begin, *self.flat(body, ()), end]
        self.seen.append(end)
        return found


_WRITTEN_OUT: dict[str, Callable[[Around, Any], list[Any]]] = {
    "scan": Around.scan,
    "while": Around.while_loop,
    "cond": Around.cond,
    "run_state": Around.run_state,
}


def _row(i: int, array: Any) -> Any:
    from jax import lax

    return lax.index_in_dim(array, i, keepdims=False)


def _stack(*rows: Any) -> Any:
    import jax.numpy as jnp

    return jnp.stack(rows)


def _chosen(order: Sequence[int], which: Any, *values: Any) -> Any:
    """Of the branches with these numbers, the one with the number (or, beyond all, the nearest)."""
    import jax.numpy as jnp

    found = values[0]
    for number, value in zip(order[1:], values[1:]):
        found = jnp.where(which >= number, value, found)
    return found


def _is_for_all(eqn: Any) -> bool:
    """A collective, or one inside."""
    return eqn.primitive.name in NAMES or any(_is_for_all(e) for inner in jaxprs_of(eqn) for e in inner.eqns)


def has_kernel(eqn: Any) -> bool:
    if eqn.primitive.name in KERNELS:
        return True
    return any(has_kernel(e) for inner in jaxprs_of(eqn) for e in inner.eqns)


def fresh(jaxpr: Any) -> Any:
    """The same jaxpr with variables of its own: one that is called twice must not meet itself."""
    renamed: dict[Any, Any] = {}

    def new(v: Any) -> Any:
        if not isinstance(v, jax_core.Var):
            return v
        if isinstance(v, getattr(jax_core, "DropVar", ())):
            return v
        if v not in renamed:
            renamed[v] = type(v)(v.aval)
        return renamed[v]

    constvars, invars = [new(v) for v in jaxpr.constvars], [new(v) for v in jaxpr.invars]
    eqns = [e.replace(invars=[new(v) for v in e.invars], outvars=[new(v) for v in e.outvars]) for e in jaxpr.eqns]
    return jaxpr.replace(constvars=constvars, invars=invars, eqns=eqns, outvars=[new(v) for v in jaxpr.outvars])
