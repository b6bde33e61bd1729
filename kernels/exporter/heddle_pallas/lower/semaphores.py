"""Semaphores: signals, waits, reads, the barrier semaphore; delays and prints."""

from __future__ import annotations

from typing import Any

from jax.extend.core import JaxprEqn

from ..errors import Unsupported
from .devices import target
from .emitter import Emitter
from .table import handles
from .values import Scalar, Value, View
from .views import is_ref_group, resolve


def _semaphore(e: Emitter, ref: Any, transforms: Any) -> View:
    if is_ref_group(ref):
        return resolve(e, ref)
    return resolve(e, ref, transforms or ())


@handles("semaphore_signal")
def _signal(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    ref, transforms, inc, device_id, core = eqn.params["args_tree"].unflatten(operands)
    semaphore = _semaphore(e, ref, transforms)
    to = target(e, device_id, eqn.params.get("device_id_type"), core)
    e.out(f"pl_semaphore_signal({semaphore.text}, {e.steering(inc, 'an increment').text}{', ' + to if to else ''});")
    return []


@handles("semaphore_wait")
def _semaphore_wait(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    parts = eqn.params["args_tree"].unflatten(operands)
    ref, transforms, value = parts[:3]
    decrement = parts[3] if len(parts) > 3 else True
    if isinstance(decrement, Scalar):
        decrement = decrement.value
    if decrement is None:
        raise Unsupported("a wait whose decrement is computed", e.place)
    keep = "" if decrement else ", .decrement = false"
    e.out(f"pl_semaphore_wait({_semaphore(e, ref, transforms).text}, {e.steering(value, 'a count').text}{keep});")
    return []


@handles("semaphore_read")
def _read(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    ref, transforms = eqn.params["args_tree"].unflatten(operands)
    text = f"(int)pl_semaphore_read({_semaphore(e, ref, transforms).text})"
    return [e.variable(e.block.names.get(eqn.outvars[0]) or "count", Scalar(text, "int32"))]


@handles("get_barrier_semaphore")
def _barrier(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    name = e.scope.take(e.block.names.get(eqn.outvars[0]) or "barrier", "barrier")
    e.out(f"PlRef {name} = pl_get_barrier_semaphore();")
    return [View(name, (), eqn.outvars[0].aval.dtype, "semaphore", "barrier", name)]


@handles("delay")
def _delay(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    e.out(f"pl_delay({e.steering(operands[0], 'a delay').text});" if operands else f"pl_delay({int(eqn.params['nanos'])});")
    return []


@handles("debug_print")
def _debug_print(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    shown, wanted = [], eqn.params.get("fmt", "")
    text = str(wanted).replace("%", "%%")
    for value in operands:
        if isinstance(value, Scalar):
            shown.append(f"(long long)({value.text})")
            text = text.replace("{}", "%lld", 1)
        else:
            text = text.replace("{}", f"array of {getattr(value, 'shape', ())}", 1)
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    e.out(f'pl_debug_print("{quoted}"{"".join(", " + s for s in shown)});')
    return []
