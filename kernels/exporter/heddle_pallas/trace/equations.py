"""Equations around kernels: which launch a kernel, use a ref or are collectives; what each depends on."""

from __future__ import annotations

import dataclasses
from typing import Any, Container, Iterable, Sequence, Union

from jax._src.core import DropVar
from jax.extend.core import Jaxpr, JaxprEqn, Var

from ..errors import TraceError
from ..lower.jaxprs import Atom, jaxprs_of

KERNELS = frozenset({"pallas_call", "core_map", "mpmd_map"})
REFS = frozenset({"new_ref", "mutable_array", "ref", "freeze", "empty_ref", "get", "swap", "addupdate"})
COLLECTIVES = frozenset(
    {
        "psum",
        "psum2",
        "psum_invariant",
        "pmax",
        "pmin",
        "ppermute",
        "all_gather",
        "all_gather_invariant",
        "all_to_all",
        "reduce_scatter",
    }
)


@dataclasses.dataclass
class State:
    """The begin or the end of a run_state, among equations."""

    begins: bool
    invars: list[Atom]
    outvars: list[Var]


Equation = Union[JaxprEqn, State]


def has_kernel(eqn: JaxprEqn) -> bool:
    return eqn.primitive.name in KERNELS or any(has_kernel(e) for inner in jaxprs_of(eqn) for e in inner.eqns)


def has_collective(eqn: JaxprEqn) -> bool:
    return eqn.primitive.name in COLLECTIVES or any(has_collective(e) for inner in jaxprs_of(eqn) for e in inner.eqns)


def variables(atoms: Iterable[Atom]) -> list[Var]:
    return [a for a in atoms if isinstance(a, Var)]


def inputs_of(eqns: Sequence[JaxprEqn]) -> list[Var]:
    """The variables that they read and do not compute, each once, in order."""
    inside = {v for e in eqns for v in e.outvars}
    return list(dict.fromkeys(v for e in eqns for v in variables(e.invars) if v not in inside))


def needed(eqns: Sequence[JaxprEqn], wanted: Iterable[Var], known: Container[Var]) -> list[JaxprEqn]:
    """The equations that compute the wanted variables, in order."""
    found, missing = [], {v for v in wanted if v not in known}
    for eqn in reversed(eqns):
        if any(v in missing for v in eqn.outvars):
            found.append(eqn)
            missing -= set(eqn.outvars)
            missing |= {v for v in variables(eqn.invars) if v not in known}
    if missing:
        raise TraceError("internal error: a value is computed nowhere")
    return found[::-1]


def fresh(jaxpr: Jaxpr) -> Jaxpr:
    """The same jaxpr with variables of its own: so that one which is called twice can be inlined twice."""
    renamed: dict[Var, Var] = {}

    def new(v: Any) -> Any:
        if not isinstance(v, Var) or isinstance(v, DropVar):
            return v
        if v not in renamed:
            renamed[v] = type(v)(v.aval)
        return renamed[v]

    def all_new(atoms: Iterable[Any]) -> list[Any]:
        return [new(v) for v in atoms]

    eqns = [e.replace(invars=all_new(e.invars), outvars=all_new(e.outvars)) for e in jaxpr.eqns]
    return jaxpr.replace(constvars=all_new(jaxpr.constvars), invars=all_new(jaxpr.invars), eqns=eqns, outvars=all_new(jaxpr.outvars))


class Aliases:
    """What the variables of inlined calls stand for."""

    def __init__(self) -> None:
        self._roots: dict[Var, Atom] = {}

    def bind(self, variables: Sequence[Var], atoms: Sequence[Atom]) -> None:
        self._roots.update(zip(variables, [self.root(a) for a in atoms]))

    def root(self, atom: Atom) -> Atom:
        while isinstance(atom, Var) and atom in self._roots:
            atom = self._roots[atom]
        return atom

    def roots(self, atoms: Sequence[Atom]) -> list[Atom]:
        return [self.root(a) for a in atoms]
