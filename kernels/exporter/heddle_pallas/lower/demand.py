"""Which scalars of a block steer the kernel: an index, a size, a count, a device, a condition, and all that these are computed from.

Those are read into C variables, and reading one that nobody wrote is a fault. Other scalars only travel from place to place; they stay
tiles, which carry along that they were never written.
"""

from __future__ import annotations

from typing import Callable, Sequence

from jax.extend.core import Jaxpr, JaxprEqn, Var

from .jaxprs import Atom, called, is_scalar, opened

_STEERED = frozenset(
    {
        "get",
        "swap",
        "addupdate",
        "masked_load",
        "masked_swap",
        "dma_start",
        "dma_wait",
        "semaphore_signal",
        "semaphore_wait",
        "semaphore_read",
        "delay",
        "dynamic_slice",
        "dynamic_update_slice",
        "debug_print",
        "roll",
    }
)
_OPAQUE = frozenset({"scan", "while", "cond", "run_scoped", "pallas_call", "custom_jvp_call", "custom_vjp_call"})


def _operands(eqn: JaxprEqn) -> list[Atom]:
    """The scalars that the equation itself looks at."""
    name = eqn.primitive.name
    if name in ("swap", "addupdate"):
        return [*eqn.invars[:1], *eqn.invars[2:]]
    if name == "masked_swap":
        ref, transforms, value, mask = eqn.params["args_tree"].unflatten(eqn.invars)
        return [v for v in eqn.invars if v is not value]
    if name == "cond":
        return list(eqn.invars[:1])
    if name == "while":
        consts, carry = eqn.params["cond_nconsts"], eqn.params["cond_nconsts"] + eqn.params["body_nconsts"]
        test = eqn.params["cond_jaxpr"].jaxpr
        wanted = demanded(test, [True])
        atoms = [*eqn.invars[:consts], *eqn.invars[carry:]]
        return [a for a, v in zip(atoms, test.invars) if v in wanted]
    return list(eqn.invars) if name in _STEERED else []


def _inner(eqn: JaxprEqn) -> Jaxpr | None:
    """The jaxpr of a call that is written out in place."""
    if eqn.primitive.name in _OPAQUE:
        return None
    inner = called(eqn)
    return None if inner is None else opened(inner)


def demanded(jaxpr: Jaxpr, outputs: Sequence[bool] = ()) -> set[Var]:
    """Variables of this block; outputs: which of its results steer too."""
    wanted: set[Var] = set()

    def want(atom: Atom) -> None:
        if isinstance(atom, Var) and is_scalar(atom):
            wanted.add(atom)

    for atom, steers in zip(jaxpr.outvars, outputs):
        if steers:
            want(atom)
    for eqn in reversed(jaxpr.eqns):
        for atom in _operands(eqn):
            want(atom)
        inner = _inner(eqn)
        if inner is not None:
            _through_call(eqn, inner, wanted, want)
        elif eqn.primitive.name not in _OPAQUE and eqn.primitive.name not in _STEERED:
            if any(v in wanted for v in eqn.outvars):
                for atom in eqn.invars:
                    want(atom)
    return wanted


def _through_call(eqn: JaxprEqn, inner: Jaxpr, wanted: set[Var], want: Callable[[Atom], None]) -> None:
    asked = [v for v, o in zip(inner.outvars, eqn.outvars) if o in wanted and isinstance(v, Var)]
    deep = demanded(inner)
    for v in asked:
        deep |= _sources(inner, v)
    for atom, v in zip(eqn.invars, inner.invars):
        if v in deep:
            want(atom)


def _sources(jaxpr: Jaxpr, target: Var) -> set[Var]:
    """All scalars that one result is computed from."""
    found = {target}
    for eqn in reversed(jaxpr.eqns):
        if any(v in found for v in eqn.outvars):
            found.update(a for a in eqn.invars if isinstance(a, Var) and is_scalar(a))
    return found
