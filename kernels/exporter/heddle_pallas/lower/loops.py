"""Loops, kept as loops; a scan over arrays loads a slice in each iteration, and stores one of what it collects."""

from __future__ import annotations

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from ..c.types import c_type
from . import demand
from .carried import Loop, attempts, carry_names
from .control import condition, write_branch
from .emitter import Emitter
from .jaxprs import Atom
from .table import handles
from .tiles import dims, empty_tile, named, shape_text
from .values import ADD, Scalar, Tile, Value, number


def _counter(jaxpr: Jaxpr, first: int, count: int) -> int | None:
    """Which carried scalar is incremented by 1 in each iteration?"""
    for i in range(count):
        v, out = jaxpr.invars[first + i], jaxpr.outvars[i]
        if str(getattr(v.aval, "dtype", "")) not in ("int32", "int64", "uint32"):
            continue
        for eqn in jaxpr.eqns:
            if eqn.outvars == [out] and eqn.primitive.name == "add" and eqn.invars[0] is v and _is_one(eqn.invars[1]):
                return i
    return None


def _is_one(atom: Atom) -> bool:
    return isinstance(atom, Literal) and getattr(atom.aval, "shape", None) == () and int(atom.val) == 1


@handles("scan")
def _scan(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    params = eqn.params
    consts, carry, length = params["num_consts"], params["num_carry"], params["length"]
    jaxpr = params["jaxpr"].jaxpr
    if len(jaxpr.invars) > consts + carry or len(jaxpr.outvars) > carry:
        return _scan_over_arrays(e, eqn, operands)
    steers = demand.demanded(jaxpr)
    steered = {i for i in range(carry) if jaxpr.invars[consts + i] in steers}
    fixed = [i for i in range(carry) if jaxpr.outvars[i] is jaxpr.invars[consts + i]]
    loop = Loop(e, operands[consts:], steered, carry_names(e, eqn, carry), fixed)
    counter = _counter(jaxpr, consts, carry)
    start = operands[consts + counter] if counter is not None else None
    if counter is not None and (not isinstance(start, Scalar) or params["reverse"]):
        counter = None
    constants = e.constants(params["jaxpr"])

    def write() -> tuple[list[Value], list[Value]]:
        variables = loop.declare(counter)
        head = _scan_head(e, loop, variables, counter, length)
        with e.inside(head):
            results = e.run(jaxpr, [*operands[:consts], *variables], constants)
            loop.assign(variables, results, counter)
        return variables, results

    return _after_counting(e, loop, attempts(e, loop, write, steered), counter, length)


def _scan_head(e: Emitter, loop: Loop, variables: list[Value], counter: int | None, length: int) -> str:
    if counter is None:
        name = e.scope.take("round", "i")
        return f"for (int {name} = 0; {name} < {length}; {name}++)"
    start, variable = loop.init[counter], variables[counter]
    assert isinstance(start, Scalar) and isinstance(variable, Scalar)
    end = str(int(start.value) + length) if start.value is not None else f"{start.at(ADD)} + {length}"
    return f"for ({c_type(start.dtype)} {variable.text} = {start.text}; {variable.text} < {end}; {variable.text}++)"


def _after_counting(e: Emitter, loop: Loop, variables: list[Value], counter: int | None, length: int) -> list[Value]:
    """The counter's value after the loop, where its variable is out of scope."""
    if counter is not None:
        start = loop.init[counter]
        assert isinstance(start, Scalar)
        known = None if start.value is None else int(start.value) + length
        variables[counter] = number(known) if known is not None else Scalar(f"{start.at(ADD)} + {length}", start.dtype, ADD)
    return variables


@handles("while")
def _while(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    params = eqn.params
    a, b = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    test_steers, body_steers = demand.demanded(test.jaxpr, [True]), demand.demanded(body.jaxpr)
    carry = len(operands) - b
    steered = {i for i in range(carry) if test.jaxpr.invars[a + i] in test_steers or body.jaxpr.invars[b - a + i] in body_steers}
    fixed = [i for i in range(carry) if body.jaxpr.outvars[i] is body.jaxpr.invars[b - a + i]]
    loop = Loop(e, operands[b:], steered, carry_names(e, eqn, carry), fixed)
    counter = _counter(body.jaxpr, b - a, carry)
    if counter is not None and (not _counts_to(test.jaxpr, a + counter) or e.block.uses[eqn.outvars[counter]] > 0):
        counter = None
    head_constants, constants = e.constants(test), e.constants(body)

    def write() -> tuple[list[Value], list[Value]]:
        variables = loop.declare(counter)
        tested, (result,) = write_branch(e, test, [*operands[:a], *variables], [True], False)
        plain = not len(tested)
        again = condition(e.steering(result)) if plain else ""
        with e.inside(_while_head(loop, variables, counter, again) if plain else "for (;;)"):
            if not plain:
                (found,) = e.run(test, [*operands[:a], *variables], head_constants, [True], False)
                e.out(f"if (!({condition(e.steering(found))}))")
                e.out("    break;")
            results = e.run(body, [*operands[a:b], *variables], constants)
            loop.assign(variables, results, counter if plain else None)
        return variables, results

    if counter is not None and not _is_plain(e, test, [*operands[:a], *operands[b:]]):
        counter = None
    return attempts(e, loop, write, steered)


def _while_head(loop: Loop, variables: list[Value], counter: int | None, test: str) -> str:
    if counter is None:
        return f"while ({test})"
    start = loop.e.steering(loop.init[counter])
    name = variables[counter].text
    return f"for ({c_type(start.dtype)} {name} = {start.text}; {test}; {name}++)"


def _counts_to(test: Jaxpr, at: int) -> bool:
    """Does the condition only compare the counter with a bound?"""
    return len(test.eqns) == 1 and test.eqns[0].primitive.name == "lt" and test.eqns[0].invars[0] is test.invars[at]


def _is_plain(e: Emitter, test: ClosedJaxpr, operands: list[Value]) -> bool:
    tested, _ = write_branch(e, test, operands, [True], False)
    return not len(tested)


def _row(e: Emitter, whole: Tile, at: str) -> Tile:
    rest = whole.shape[1:]
    text = f"pl_tile_dynamic_slice({whole.text}, {shape_text([at, *(0 for _ in rest)])}, {shape_text([1, *rest])})"
    return e.tile_variable("row", Tile(f"pl_tile_reshape({text}{dims(rest)})", rest, whole.dtype))


def _put(e: Emitter, whole: Tile, row: Value, at: str) -> None:
    rest = whole.shape[1:]
    part = f"pl_tile_reshape({e.tile(row, rest).text}, 1{dims(rest)})"
    e.out(f"{whole.text} = pl_tile_update({whole.text}, {part}, {shape_text([at, *(0 for _ in rest)])});")


def _scan_over_arrays(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    params = eqn.params
    consts, carry, length = params["num_consts"], params["num_carry"], params["length"]
    jaxpr = params["jaxpr"].jaxpr
    steers = demand.demanded(jaxpr)
    steered = {i for i in range(carry) if jaxpr.invars[consts + i] in steers}
    wholes = [named(e, o, "rows") for o in operands[consts + carry :]]
    collected = [empty_tile(e, v, "collected") for v in eqn.outvars[carry:]]
    loop = Loop(e, operands[consts : consts + carry], steered, carry_names(e, eqn, carry))
    constants = e.constants(params["jaxpr"])

    def write() -> tuple[list[Value], list[Value]]:
        variables = loop.declare()
        at = e.scope.take("round", "i")
        back = params["reverse"]
        head = f"for (int {at} = {length - 1}; {at} >= 0; {at}--)" if back else f"for (int {at} = 0; {at} < {length}; {at}++)"
        with e.inside(head):
            rows = [_row(e, w, at) for w in wholes]
            results = e.run(jaxpr, [*operands[:consts], *variables, *rows], constants)
            for whole, row in zip(collected, results[carry:]):
                _put(e, whole, row, at)
            loop.assign(variables, results[:carry])
        return variables, results[:carry]

    return [*attempts(e, loop, write, steered), *collected]
