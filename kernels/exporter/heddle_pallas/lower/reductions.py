"""Reductions, cumulative ones among them, and dot_general."""

from __future__ import annotations

from jax.extend.core import JaxprEqn

from .emitter import Emitter
from .table import handles
from .tiles import aval_of, dims, result, shape_text, steering_result
from .values import Value

_REDUCE = {
    "reduce_sum": "PL_ADD",
    "reduce_max": "PL_MAX",
    "reduce_min": "PL_MIN",
    "reduce_prod": "PL_MUL",
    "reduce_and": "PL_AND",
    "reduce_or": "PL_OR",
    "reduce_xor": "PL_XOR",
}
_CUMULATE = {"cumsum": "PL_ADD", "cummax": "PL_MAX", "cummin": "PL_MIN", "cumprod": "PL_MUL"}


@handles(*_REDUCE, pure=True)
def _reduce(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    operation = _REDUCE[eqn.primitive.name]
    return [steering_result(e, eqn, f"pl_tile_reduce({operation}, {e.tile(operands[0]).text}{dims(eqn.params['axes'])})")]


@handles("argmax", "argmin", pure=True)
def _arg(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    (axis,) = eqn.params["axes"]
    kind = e.pl_type(aval_of(eqn).dtype)
    return [steering_result(e, eqn, f"pl_tile_{eqn.primitive.name}({e.tile(operands[0]).text}, {axis}, {kind})")]


@handles(*_CUMULATE, pure=True)
def _cumulate(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    operation, back = _CUMULATE[eqn.primitive.name], "true" if eqn.params["reverse"] else "false"
    return [result(eqn, f"pl_tile_cumulate({operation}, {e.tile(operands[0]).text}, {eqn.params['axis']}, {back})")]


@handles("dot_general", pure=True)
def _dot(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    (ca, cb), (ba, bb) = eqn.params["dimension_numbers"]
    a, b = e.tile(operands[0]).text, e.tile(operands[1]).text
    axes = ", ".join(shape_text(x) for x in (ca, cb, ba, bb))
    return [steering_result(e, eqn, f"pl_tile_dot({a}, {b}, {e.pl_type(aval_of(eqn).dtype)}, {axes})")]
