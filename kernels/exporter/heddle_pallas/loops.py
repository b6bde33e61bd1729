"""Loops, kept as loops.

A value that a loop carries is a C variable if it can be one in every round, else a tile: what a loop does is tried with C variables first,
and written again with tiles where that does not fit.
"""

from __future__ import annotations

from typing import Any, Sequence

from jax._src import core as jax_core

from . import demand
from .control import closed_constant, condition, write_branch
from .emitter import Emitter, handles
from .names import Scope
from .types import c_type
from .values import ADD, Scalar, Tile, Value, View, number


class Loop:
    """Carried values as variables: those that fit are C variables, the others tiles."""

    def __init__(self, e: Emitter, init: Sequence[Value], steers: set[int], names: Sequence[str], fixed: Sequence[int] = ()) -> None:
        self.e = e
        self.init = list(init)
        self.names = list(names)
        self.fixed = set(fixed)  # the loop hands these on as they are
        self.as_tile = [
            not isinstance(v, Scalar) and not (isinstance(v, Tile) and v.shape == () and i in steers and c_type(v.dtype))
            for i, v in enumerate(init)
        ]

    def declare(self, but: int | None = None) -> list[Value]:
        """The variables, with their first values, before the loop; `but` becomes one in the loop's head."""
        return [self._declare(i, value, i == but) for i, value in enumerate(self.init)]

    def _declare(self, i: int, value: Value, in_head: bool) -> Value:
        if isinstance(value, View):
            return value
        if i in self.fixed:
            return (
                self.e.simple(value)
                if isinstance(value, Scalar)
                else (value if value.text.isidentifier() else self.e.tile_variable(self.names[i], value))
            )
        if self.as_tile[i] and not in_head:
            name = self.e.scope.take(self.names[i], "t")
            tile = self.e.tile(value)
            self.e.out(f"PlTile {name} = {tile.text};")
            return Tile(name, tile.shape, tile.dtype)
        scalar = self.e.steering(value)
        name = self.e.scope.take(self.names[i], "v")
        if not in_head:
            self.e.out(f"{c_type(scalar.dtype)} {name} = {scalar.text};")
        return Scalar(name, scalar.dtype)

    def fits(self, results: Sequence[Value], keep: set[int]) -> bool:
        """False: some variable must be a tile after all; then the loop is to be written again."""
        fine = True
        for i, value in enumerate(results):
            if isinstance(value, Tile) and not self.as_tile[i] and i not in keep and i not in self.fixed:
                self.as_tile[i] = True
                fine = False
        return fine

    def assign(self, variables: Sequence[Value], results: Sequence[Value], skip: int | None = None) -> None:
        """All at once: a new value may be made of several old ones."""
        changed: list[tuple[Value, Value]] = [
            (v, self._as(v, r))
            for i, (v, r) in enumerate(zip(variables, results))
            if not isinstance(v, View) and i != skip and i not in self.fixed and v.text != r.text
        ]
        if not changed:
            return
        if len(changed) == 1:
            variable, value = changed[0]
            self.e.out(f"{variable.text} = {value.text};")
            return
        old = {v.text for v, _ in changed}
        fresh: list[tuple[Value, Value]] = []
        for variable, value in changed:
            if value.text.isidentifier() and value.text not in old or isinstance(value, Scalar) and value.value is not None:
                fresh.append((variable, value))
            elif isinstance(value, Tile):
                fresh.append((variable, self.e.tile_variable(f"next_{variable.text}", value)))
            else:
                assert isinstance(value, Scalar)
                fresh.append((variable, self.e.variable(f"next_{variable.text}", value)))
        for variable, value in fresh:
            self.e.out(f"{variable.text} = {value.text};")

    def _as(self, variable: Value, result: Value) -> Value:
        return self.e.tile(result) if isinstance(variable, Tile) else self.e.steering(result)


def carry_names(e: Emitter, eqn: Any, body: Any, count: int) -> list[str]:
    """From the variable that the loop's result is assigned to, else by kind."""
    found = []
    for i in range(count):
        var = eqn.outvars[i]
        found.append(e.block.names.get(var) or ("carry" if getattr(var.aval, "shape", ()) else "i"))
    return found


def _counter(jaxpr: Any, first: int, count: int) -> int | None:
    """Which carried scalar goes up by 1 in each round?"""
    for i in range(count):
        v, out = jaxpr.invars[first + i], jaxpr.outvars[i]
        if str(getattr(v.aval, "dtype", "")) not in ("int32", "int64", "uint32"):
            continue
        for eqn in jaxpr.eqns:
            if eqn.outvars == [out] and eqn.primitive.name == "add" and eqn.invars[0] is v and _is_one(eqn.invars[1]):
                return i
    return None


def _is_one(atom: Any) -> bool:
    return isinstance(atom, jax_core.Literal) and getattr(atom.aval, "shape", None) == () and int(atom.val) == 1


def attempts(e: Emitter, loop: Loop, write: Any, keep: set[int]) -> list[Value]:
    """Writes the loop until its variables fit."""
    copies = len(e.known_copies)
    while True:
        part, outer = e.out.sub(), e.scope
        e.scope = Scope(outer)
        with e.writing_to(part):
            variables, results = write()
        del e.known_copies[copies:]
        trial, e.scope = e.scope, outer
        if loop.fits(results, keep):
            e.out.add(part)
            e.scope.absorb(trial)
            return list(variables)


@handles("scan")
def _scan(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    params = eqn.params
    consts, carry, length = params["num_consts"], params["num_carry"], params["length"]
    jaxpr = params["jaxpr"].jaxpr
    if len(jaxpr.invars) > consts + carry or len(jaxpr.outvars) > carry:
        from .scans import scan_over_arrays

        return scan_over_arrays(e, eqn, operands)
    steers = demand.demanded(jaxpr)
    steered = {i for i in range(carry) if jaxpr.invars[consts + i] in steers}
    fixed = [i for i in range(carry) if jaxpr.outvars[i] is jaxpr.invars[consts + i]]
    loop = Loop(e, operands[consts:], steered, carry_names(e, eqn, jaxpr, carry), fixed)
    counter = _counter(jaxpr, consts, carry)
    start = operands[consts + counter] if counter is not None else None
    if counter is not None and (not isinstance(start, Scalar) or params["reverse"]):
        counter = None
    constants = [closed_constant(e, c) for c in params["jaxpr"].consts]

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
    """What the counter is after the loop, where its variable is gone."""
    if counter is not None:
        start = loop.init[counter]
        assert isinstance(start, Scalar)
        known = None if start.value is None else int(start.value) + length
        variables[counter] = number(known) if known is not None else Scalar(f"{start.at(ADD)} + {length}", start.dtype, ADD)
    return variables


@handles("while")
def _while(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    params = eqn.params
    a, b = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    test_steers, body_steers = demand.demanded(test.jaxpr, [True]), demand.demanded(body.jaxpr)
    carry = len(operands) - b
    steered = {i for i in range(carry) if test.jaxpr.invars[a + i] in test_steers or body.jaxpr.invars[b - a + i] in body_steers}
    fixed = [i for i in range(carry) if body.jaxpr.outvars[i] is body.jaxpr.invars[b - a + i]]
    loop = Loop(e, operands[b:], steered, carry_names(e, eqn, body.jaxpr, carry), fixed)
    counter = _counter(body.jaxpr, b - a, carry)
    if counter is not None and (not _counts_to(test.jaxpr, a + counter) or e.block.uses[eqn.outvars[counter]] > 0):
        counter = None
    head_constants, constants = [closed_constant(e, c) for c in test.consts], [closed_constant(e, c) for c in body.consts]

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


def _while_head(loop: "Loop", variables: list[Value], counter: int | None, test: str) -> str:
    if counter is None:
        return f"while ({test})"
    start = loop.e.steering(loop.init[counter])
    name = variables[counter].text
    return f"for ({c_type(start.dtype)} {name} = {start.text}; {test}; {name}++)"


def _counts_to(test: Any, at: int) -> bool:
    """Does the condition only compare the counter with a bound?"""
    return len(test.eqns) == 1 and test.eqns[0].primitive.name == "lt" and test.eqns[0].invars[0] is test.invars[at]


def _is_plain(e: Emitter, test: Any, operands: list[Value]) -> bool:
    tested, _ = write_branch(e, test, operands, [True], False)
    return not len(tested)
