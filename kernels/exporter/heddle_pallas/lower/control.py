"""Calls and conditions. A value that a branch returns is a C variable if it is one in every branch, else a tile."""

from __future__ import annotations

from typing import Sequence

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Var

from ..c.names import Scope, c_name
from ..c.types import c_type
from ..c.writer import Writer
from ..errors import Unsupported
from .emitter import Emitter, is_pure
from .jaxprs import CALLS, called, constants_of, is_scalar, opened
from .table import handles
from .values import EQUALITY, RELATION, Scalar, Tile, Value, View


def condition(value: Scalar) -> str:
    return value.truth if value.truth is not None else value.text if str(value.dtype) == "bool" else f"{value.at(EQUALITY + 1)} != 0"


# Calls that are written out in place


@handles(*CALLS, "custom_vjp_call_jaxpr", "jaxpr_call", "remat2")
def _call(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    inner = called(eqn)
    if inner is None:
        raise Unsupported(f"the call {eqn.primitive.name}", e.place)
    steers = [v in e.block.steers for v in eqn.outvars]
    text = function_of_scalars(e, eqn, inner, operands)
    if text is not None:
        return [Scalar(text, eqn.outvars[0].aval.dtype)]
    return e.run(inner, operands, None, steers)


def function_of_scalars(e: Emitter, eqn: JaxprEqn, closed: Jaxpr | ClosedJaxpr, operands: list[Value]) -> str | None:
    """A call that makes one number of several, such as jnp's % : a C function, written once."""
    jaxpr = opened(closed)
    plain = all(isinstance(o, Scalar) and c_type(o.dtype) for o in operands) and len(operands) == len(jaxpr.invars) > 0
    if not plain or len(eqn.outvars) != 1 or not is_pure(eqn) or len(jaxpr.eqns) < 3 or not c_type(eqn.outvars[0].aval.dtype):
        return None
    if constants_of(closed) or not is_scalar(eqn.outvars[0]) or not all(_plain_equation(q) for q in jaxpr.eqns):
        return None
    if all(isinstance(o, Scalar) and o.value is not None for o in operands):
        return None  # a constant, it will turn out
    kept, out, scope = e.scope, e.out, Scope()
    e.scope, e.out = scope, Writer(depth=1)
    names = [scope.take("abcdefgh"[i] if i < 8 else f"a{i}") for i in range(len(operands))]
    inner, e.known_copies = e.known_copies, []
    (result,) = e.run(jaxpr, [Scalar(n, v.aval.dtype) for n, v in zip(names, jaxpr.invars)], (), [True])
    body, e.known_copies, e.scope, e.out = e.out, inner, kept, out
    if not isinstance(result, Scalar) or "pl_" in body.text(lines=False):
        return None
    given = ", ".join(f"{c_type(v.aval.dtype)} {n}" for n, v in zip(names, jaxpr.invars))
    text = body.text(lines=False) if len(body) else ""
    body_text = f"({given})\n{{\n{text}    return {result.text};\n}}\n"
    name = e.helpers.function(
        c_name(f"{eqn.params.get('name') or 'call'}_{jaxpr.invars[0].aval.dtype}"),
        f"static inline {c_type(eqn.outvars[0].aval.dtype)} ",
        body_text,
    )
    return f"{name}({', '.join(o.text for o in operands)})"


def _plain_equation(eqn: JaxprEqn) -> bool:
    inner = called(eqn) if eqn.primitive.name in ("jit", "pjit") else None
    if inner is not None:
        return all(_plain_equation(q) for q in opened(inner).eqns)
    return all(is_scalar(v) for v in [*eqn.invars, *eqn.outvars]) and (
        eqn.primitive.name not in ("cond", "while", "scan", "axis_index", "program_id", "num_programs", "multiple_of")
    )


# Conditions


def write_branch(
    e: Emitter, jaxpr: ClosedJaxpr, operands: Sequence[Value], steers: Sequence[bool], named: bool = True
) -> tuple[Writer, list[Value]]:
    part = e.out.sub()
    part.depth += 1
    outer, copies = e.scope, len(e.known_copies)
    e.scope = Scope(outer)
    with e.writing_to(part):
        results = e.run(jaxpr, operands, None, steers, named)
    e.scope = outer
    del e.known_copies[copies:]
    return part, results


@handles("cond")
def _cond(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    which, rest = e.steering(operands[0], "a condition"), operands[1:]
    branches = eqn.params["branches"]
    if which.value is not None:
        chosen = branches[min(max(int(which.value), 0), len(branches) - 1)]
        return e.run(chosen, rest, None, [v in e.block.steers for v in eqn.outvars])
    steers = [v in e.block.steers for v in eqn.outvars]
    place = e.out.place
    names = [e.scope.take(e.block.names.get(v) or "chosen") for v in eqn.outvars]  # before the branches take them for their own
    written = [write_branch(e, b, rest, steers) for b in branches]
    results = [_merge(e, v, name, [values[i] for _, values in written]) for i, (v, name) in enumerate(zip(eqn.outvars, names))]
    for part, values in written:
        part.place = place
        for result, value in zip(results, values):
            if not isinstance(result, View) and result.text:
                part(f"{result.text} = {e.tile(value).text if isinstance(result, Tile) else value.text};")
    if len(branches) == 2:
        _write_if(e, condition(which), written[1][0], written[0][0])
    else:
        _write_switch(e, which, [part for part, _ in written])
    return results


def _merge(e: Emitter, var: Var, name: str, values: list[Value]) -> Value:
    """The variable that the branches assign."""
    if any(isinstance(v, View) for v in values):
        raise Unsupported("a cond that returns a ref", e.place)
    shape, dtype = tuple(var.aval.shape), var.aval.dtype
    if e.block.uses[var] == 0:
        return Tile("", shape, dtype)
    scalar = all(isinstance(v, Scalar) for v in values) and bool(c_type(dtype))
    e.out(f"{c_type(dtype) if scalar else 'PlTile'} {name};")
    return Scalar(name, dtype) if scalar else Tile(name, shape, dtype)


def _write_if(e: Emitter, test: str, yes: Writer, no: Writer) -> None:
    if not len(yes) and not len(no):
        return
    if not len(yes):
        test, yes, no = f"!({test})", no, yes
    e.out(f"if ({test}) {{")
    e.out.add(yes)
    if len(no):
        e.out("} else {")
        e.out.add(no)
    e.out("}")


def _write_switch(e: Emitter, which: Scalar, parts: list[Writer]) -> None:
    """The index is clamped, as in XLA."""
    which = e.simple(which)
    for i, part in enumerate(parts):
        test = f"{which.at(RELATION)} <= 0" if i == 0 else f"{which.at(EQUALITY)} == {i}"
        last = i + 1 == len(parts)
        e.out(f"if ({test}) {{" if i == 0 else "} else {" if last else f"}} else if ({test}) {{")
        e.out.add(part)
    e.out("}")
