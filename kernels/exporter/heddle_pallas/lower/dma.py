"""Local and remote DMAs, and the waits for them."""

from __future__ import annotations

from typing import Any

from jax.extend.core import JaxprEqn

from ..errors import Unsupported
from .devices import target
from .emitter import Emitter
from .source import owner_at
from .table import handles
from .values import Value, View
from .views import resolve


class Descriptor:
    """One copy as an equation tells it: refs are views, the device is C text."""

    def __init__(self, e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> None:
        groups = list(eqn.params["tree"].unflatten(operands))
        if len(groups) == 9:  # JAX before 0.10: refs and transforms apart
            first, second, arrives, leaves = (_pair(e, groups[i], groups[i + 1]) for i in (0, 2, 4, 6))
            device = groups[8]
        else:
            first, second, arrives, leaves = (None if g is None else resolve(e, g) for g in groups[:4])
            device = groups[4]
        if first is None or second is None or arrives is None:
            raise Unsupported("a copy without source, target or semaphore", e.place)
        self.first, self.second, self.semaphore, self.other = first, second, arrives, leaves
        self.device = device
        self.device_text = "" if device is None else target(e, device, eqn.params["device_id_type"])

    def key(self) -> tuple[str, ...]:
        return (self.first.text, self.second.text, self.other.text if self.other else "", self.semaphore.text, self.device_text)

    def swapped(self) -> tuple[str, ...]:
        """A wait for the send swaps source and target, and the two semaphores."""
        return (self.second.text, self.first.text, self.semaphore.text, self.other.text if self.other else "", self.device_text)

    def make(self) -> str:
        """The call that makes and starts it."""
        if self.other is None:
            return f"pl_async_copy({self.first.text}, {self.second.text}, {self.semaphore.text})"
        return (
            f"pl_async_remote_copy({self.first.text}, {self.second.text}, {self.other.text}, {self.semaphore.text}, "
            f"{self.device_text or 'pl_device(pl_device_id())'})"
        )


def _pair(e: Emitter, ref: Any, transforms: Any) -> View | None:
    return None if ref is None else resolve(e, ref, transforms or ())


def _known(e: Emitter, key: tuple[str, ...]) -> str | None:
    for known, name in reversed(e.known_copies):
        if known == key:
            return name
    return None


@handles("dma_start")
def _start(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    if eqn.params.get("add"):
        raise Unsupported("a copy with add=True", e.place, "copy to scratch and add there")
    copy = Descriptor(e, eqn, operands)
    owner = owner_at(e.place)
    name = e.scope.take(owner if owner not in (None, "pl", "pltpu") else "copy", "copy")
    e.out(f"PlCopy {name} = {copy.make()};")
    e.known_copies.append((copy.key(), name))
    return []


@handles("dma_wait")
def _wait(e: Emitter, eqn: JaxprEqn, operands: list[Value]) -> list[Value]:
    copy = Descriptor(e, eqn, operands)
    name = _known(e, copy.key())
    if name is not None:
        both = copy.other is None or e.out.take_back(f"pl_copy_wait_send({name});")
        e.out(f"pl_copy_wait({name});" if both else f"pl_copy_wait_recv({name});")
        return []
    swapped = _known(e, copy.swapped())
    if swapped is not None:
        e.out(f"pl_copy_wait_send({swapped});")
        return []
    # A descriptor that only waits: what counts is the semaphore and the bytes of the first ref.
    e.out(f"pl_copy_wait(pl_make_async_copy({copy.first.text}, {copy.first.text}, {copy.semaphore.text}));")
    return []
