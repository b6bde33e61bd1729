"""Calls, loops and conditions around kernels, unrolled as far as plain JAX decides them.

A program is a sequence of launches. So a loop around a kernel becomes its rounds, and of a condition the branch that is taken remains.
Where devices take different branches, each branch is launched on its devices, and results are chosen among.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from numpy.typing import NDArray

from ..errors import Unsupported
from ..lower.jaxprs import CALLS, SAME, Atom, called, constants_of, opened
from ..lower.source import place_of
from .equations import KERNELS, Aliases, Equation, State, fresh, has_collective, has_kernel
from .known import Known

ROUNDS_MAX = 256


class Around:
    def __init__(self, known: Known) -> None:
        self.known = known
        self.aliases = Aliases()
        self.seen: list[Equation] = []  # equations so far, in order
        self.rounds = 0
        self.met = False  # a loop or a condition with a kernel inside
        self.among: tuple[int, ...] | None = None  # the devices that are here; None: all
        self.only: dict[int, tuple[int, ...]] = {}  # of equations that not all devices come to, by id

    def devices_of(self, eqn: JaxprEqn) -> tuple[int, ...] | None:
        return self.only.get(id(eqn))

    def flat(self, jaxpr: Jaxpr, consts: Iterable[Any]) -> list[Equation]:
        """All equations in order; control flow around kernels is unrolled."""
        for v, c in zip(jaxpr.constvars, consts):
            self.known.add_constant(v, c)
        found: list[Equation] = []
        for eqn in jaxpr.eqns:
            name = eqn.primitive.name
            if name in SAME:
                self.aliases.bind(eqn.outvars, eqn.invars)
            elif name in KERNELS or not has_kernel(eqn):
                found.append(self._own(eqn))
            elif name in _WRITTEN_OUT:
                self.met = True
                found.extend(_WRITTEN_OUT[name](self, eqn))
            elif name in CALLS:
                eqns, results = self.written_out(called(eqn), eqn.invars)
                found.extend(eqns)
                self.aliases.bind(eqn.outvars, results)
            else:
                raise Unsupported(f"a kernel inside {name}", place_of(eqn), "call it from the function itself")
        return found

    def _own(self, eqn: JaxprEqn) -> JaxprEqn:
        """The equation on its operands' roots, if the devices that are here can do it alone."""
        own = eqn.replace(invars=self.aliases.roots(eqn.invars))
        if self.among is not None:
            self.only[id(own)] = self.among
            if has_collective(eqn) or eqn.primitive.name in ("swap", "addupdate"):
                raise Unsupported(
                    f"{eqn.primitive.name} on some of the devices only", place_of(eqn), "take it out of the condition, or into a kernel"
                )
        self.seen.append(own)
        return own

    def written_out(self, inner: Jaxpr | ClosedJaxpr, atoms: Sequence[Atom]) -> tuple[list[Equation], list[Atom]]:
        """The equations of a jaxpr that is called with these operands; and its results."""
        body = fresh(opened(inner))
        self.aliases.bind(body.invars, atoms)
        return self.flat(body, constants_of(inner)), self.aliases.roots(body.outvars)

    def traced(self, function: Callable[..., Any], atoms: Sequence[Atom]) -> tuple[list[Equation], list[Atom]]:
        """The equations of a function of this module."""
        closed = jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(a.aval.shape, a.aval.dtype) for a in atoms))
        return self.written_out(closed, atoms)

    # Loops

    def _count(self, eqn: JaxprEqn, rounds: int) -> None:
        self.rounds += rounds
        if self.rounds > ROUNDS_MAX:
            what = f"a loop of {rounds} iterations" if rounds > 1 else f"a loop of more than {ROUNDS_MAX} iterations"
            raise Unsupported(f"{what} around a kernel", place_of(eqn), f"check it with {ROUNDS_MAX} iterations or fewer")

    def scan(self, eqn: JaxprEqn) -> list[Equation]:
        params, found = eqn.params, []
        consts, count, length = params["num_consts"], params["num_carry"], int(params["length"])
        self._count(eqn, length)
        fixed, carry, arrays = eqn.invars[:consts], list(eqn.invars[consts : consts + count]), eqn.invars[consts + count :]
        rows: list[list[Atom]] = [[] for _ in eqn.outvars[count:]]
        for i in reversed(range(length)) if params["reverse"] else range(length):
            slices: list[Atom] = []
            for array in arrays:
                slicing, (row,) = self.traced(functools.partial(_row, i), [array])
                found.extend(slicing)
                slices.append(row)
            eqns, results = self.written_out(params["jaxpr"], [*fixed, *carry, *slices])
            found.extend(eqns)
            carry = results[:count]
            for collected, row in zip(rows, results[count:]):
                collected.append(row)
        self.aliases.bind(eqn.outvars[:count], carry)
        for v, collected in zip(eqn.outvars[count:], rows):
            eqns, (stacked,) = self.traced(_stack, collected[::-1] if params["reverse"] else collected)
            found.extend(eqns)
            self.aliases.bind([v], [stacked])
        return found

    def while_loop(self, eqn: JaxprEqn) -> list[Equation]:
        params = eqn.params
        a, b = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        found, carry = [], list(eqn.invars[b:])
        while self._goes_on(eqn, [*eqn.invars[:a], *carry]):
            self._count(eqn, 1)
            eqns, carry = self.written_out(params["body_jaxpr"], [*eqn.invars[a:b], *carry])
            found.extend(eqns)
        self.aliases.bind(eqn.outvars, carry)
        return found

    def _goes_on(self, eqn: JaxprEqn, operands: Sequence[Atom]) -> bool:
        if any(has_kernel(e) for e in eqn.params["cond_jaxpr"].eqns):
            raise Unsupported("a kernel in the condition of a loop", place_of(eqn), "move it into the loop's body")
        _, (again,) = self.written_out(eqn.params["cond_jaxpr"], operands)
        values = self._decided(again, eqn, "give the loop a fixed number of iterations, or move it into the kernel")
        if (values != values[0]).any():
            raise Unsupported("a loop around a kernel with more iterations on some devices than on others", place_of(eqn))
        return bool(values[0])

    # Conditions

    def _decided(self, atom: Atom, eqn: JaxprEqn, advice: str) -> NDArray[Any]:
        """Its values on the devices that are here."""
        values = self.known.decided(self.aliases.root(atom), self.seen)
        if values is None:
            name = eqn.primitive.name
            what = "an input with a domain" if any(a.domain is not None for a in self.known.inputs.values()) else "an earlier kernel"
            raise Unsupported(f"a kernel inside a {name} that depends on {what}", place_of(eqn), advice)
        return np.asarray(values)[list(self.among)] if self.among is not None else np.asarray(values)

    def cond(self, eqn: JaxprEqn) -> list[Equation]:
        branches, operands = eqn.params["branches"], eqn.invars[1:]
        which = self._decided(eqn.invars[0], eqn, "decide it in Python, or inside the kernel").astype(np.int64)
        taken = np.clip(which, 0, len(branches) - 1)
        if (taken == taken[0]).all():
            found, results = self.written_out(branches[int(taken[0])], operands)
            self.aliases.bind(eqn.outvars, results)
            return found
        return self._on_some(eqn, [int(t) for t in taken], operands)

    def _on_some(self, eqn: JaxprEqn, taken: list[int], operands: Sequence[Atom]) -> list[Equation]:
        """Each branch on the devices that take it."""
        outer, found, results = self.among, [], []
        here = outer if outer is not None else tuple(range(self.known.mesh.devices))
        for number in sorted(set(taken)):
            self.among = tuple(d for d, t in zip(here, taken) if t == number)
            eqns, values = self.written_out(eqn.params["branches"][number], operands)
            found.extend(eqns)
            results.append(values)
        self.among = outer
        order = sorted(set(taken))
        for i, v in enumerate(eqn.outvars):
            if not hasattr(v.aval.dtype, "itemsize"):
                raise Unsupported("a cond that returns semaphores of some devices only", place_of(eqn))
            eqns, (chosen,) = self.traced(functools.partial(_chosen, order), [self.aliases.root(eqn.invars[0]), *(r[i] for r in results)])
            found.extend(eqns)
            self.aliases.bind([v], [chosen])
        return found

    # State

    def run_state(self, eqn: JaxprEqn) -> list[Equation]:
        """Its operands become refs; its results are what the refs hold at the end."""
        if not all(eqn.params.get("is_initialized") or (True,)):
            raise Unsupported("run_state with refs that hold nothing", place_of(eqn))
        if self.among is not None:
            raise Unsupported("run_state on some of the devices only", place_of(eqn))
        body = fresh(opened(eqn.params["jaxpr"]))
        begin = State(True, self.aliases.roots(eqn.invars), list(body.invars))
        end = State(False, list(body.invars), list(eqn.outvars))
        self.seen.append(begin)
        found = [begin, *self.flat(body, ()), end]
        self.seen.append(end)
        return found


_WRITTEN_OUT: dict[str, Callable[[Around, JaxprEqn], list[Equation]]] = {
    "scan": Around.scan,
    "while": Around.while_loop,
    "cond": Around.cond,
    "run_state": Around.run_state,
}


def _row(i: int, array: jax.Array) -> jax.Array:
    return lax.index_in_dim(array, i, keepdims=False)


def _stack(*rows: jax.Array) -> jax.Array:
    return jnp.stack(rows)


def _chosen(order: Sequence[int], which: jax.Array, *values: jax.Array) -> jax.Array:
    """The value of the branch with this number, or with the nearest one."""
    found = values[0]
    for number, value in zip(order[1:], values[1:]):
        found = jnp.where(which >= number, value, found)
    return found
