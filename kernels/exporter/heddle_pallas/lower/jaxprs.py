"""Facts about equations and jaxprs that hold in every version of JAX."""

from __future__ import annotations

from typing import Any, Iterable, Union

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

Atom = Union[Var, Literal]
Aval = Any  # of an array, a ref or a semaphore: JAX's AbstractValue declares neither shape nor dtype
CALLS = frozenset({"jit", "pjit", "closed_call", "core_call", "remat", "checkpoint", "custom_jvp_call", "custom_vjp_call"})
SAME = frozenset(  # results are the operands, one by one
    {
        "pvary",
        "pcast",
        "pbroadcast",
        "reshard",
        "sharding_constraint",
        "layout_constraint",
        "mesh_cast",
        "with_memory_space_constraint",
        "optimization_barrier",
    }
)


def opened(jaxpr: Jaxpr | ClosedJaxpr) -> Jaxpr:
    """The jaxpr itself, closed or not."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def constants_of(jaxpr: Jaxpr | ClosedJaxpr) -> list[Any]:
    """What a jaxpr closes over; none, if it is open."""
    return list(getattr(jaxpr, "consts", ()))


def called(eqn: JaxprEqn) -> Jaxpr | ClosedJaxpr | None:
    """The jaxpr that a call calls, closed or not; None: it has none."""
    return eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr") or eqn.params.get("fun_jaxpr")


def jaxprs_of(eqn: JaxprEqn) -> Iterable[Jaxpr]:
    """All jaxprs among its parameters."""
    for value in eqn.params.values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            inner = getattr(part, "jaxpr", part)
            if hasattr(inner, "eqns"):
                yield inner


def is_ref(atom: Atom) -> bool:
    return hasattr(atom.aval, "inner_aval")


def is_scalar(atom: Atom) -> bool:
    return getattr(atom.aval, "shape", None) == () and not is_ref(atom)


def argument_names(jaxpr: Jaxpr) -> list[str]:
    """As the author calls the parameters; empty: not known."""
    given = getattr(jaxpr.debug_info, "arg_names", None)
    names = list((given() if callable(given) else given) or ())
    return [n or "" for n in names] + [""] * (len(jaxpr.invars) - len(names))
