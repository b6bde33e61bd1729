"""Which function lowers which primitive."""

from __future__ import annotations

from typing import Callable, Iterable, TypeVar

from .values import Value

Handler = Callable[..., Iterable[Value]]  # of the emitter, the equation, its operands: the values of its results
H = TypeVar("H", bound=Handler)

HANDLERS: dict[str, Handler] = {}
PURE: set[str] = set()  # primitives that only compute: one whose results nobody reads may be left out


def handles(*names: str, pure: bool = False) -> Callable[[H], H]:
    def register(handler: H) -> H:
        HANDLERS.update(dict.fromkeys(names, handler))
        if pure:
            PURE.update(names)
        return handler

    return register
