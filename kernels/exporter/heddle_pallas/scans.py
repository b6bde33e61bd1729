"""A scan over the leading dimension of arrays, or one that collects an array: a loop with a slice taken, and a slice put, in each round."""

from __future__ import annotations

from typing import Any

from . import demand
from .control import closed_constant
from .emitter import Emitter
from .loops import Loop, attempts, carry_names
from .types import pl_type
from .values import Tile, Value


def _row(e: Emitter, whole: Tile, at: str) -> Tile:
    rest = whole.shape[1:]
    zeros, sizes = ["0"] * len(rest), [str(d) for d in rest]
    text = f"pl_tile_dynamic_slice({whole.text}, PL_SHAPE({', '.join([at, *zeros])}), PL_SHAPE({', '.join(['1', *sizes])}))"
    dims = "".join(f", {d}" for d in rest)
    return e.tile_variable("row", Tile(f"pl_tile_reshape({text}{dims})", rest, whole.dtype))


def _put(e: Emitter, whole: Tile, row: Value, at: str) -> None:
    rest = whole.shape[1:]
    zeros, sizes = ["0"] * len(rest), "".join(f", {d}" for d in rest)
    part = f"pl_tile_reshape({e.tile(row, rest).text}, 1{sizes})"
    e.out(f"{whole.text} = pl_tile_update({whole.text}, {part}, PL_SHAPE({', '.join([at, *zeros])}));")


def scan_over_arrays(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    params = eqn.params
    consts, carry, length = params["num_consts"], params["num_carry"], params["length"]
    jaxpr = params["jaxpr"].jaxpr
    steers = demand.demanded(jaxpr)
    steered = {i for i in range(carry) if jaxpr.invars[consts + i] in steers}
    wholes = [w if w.text.isidentifier() else e.tile_variable("rows", w) for w in (e.tile(o) for o in operands[consts + carry :])]
    collected = []
    for v in eqn.outvars[carry:]:
        dims = "".join(f", {d}" for d in v.aval.shape)
        collected.append(
            e.tile_variable(
                e.block.names.get(v) or "collected",
                Tile(f"pl_tile_empty({pl_type(v.aval.dtype, e.place)}{dims})", tuple(v.aval.shape), v.aval.dtype),
            )
        )
    loop = Loop(e, operands[consts : consts + carry], steered, carry_names(e, eqn, jaxpr, carry))
    constants = [closed_constant(e, c) for c in params["jaxpr"].consts]

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
