"""What a variable of a jaxpr is in the C text: a C expression, a tile, or a view of a ref.

Scalars that steer the kernel are C variables; everything else that is computed is a tile, which carries along what was never written.
"""

from __future__ import annotations

import dataclasses
from typing import Union

from numpy.typing import DTypeLike

PRIMARY, UNARY, MULTIPLY, ADD, SHIFT, RELATION, EQUALITY, AND, XOR, OR, ALL, ANY, CHOICE, COMMA = range(14, 0, -1)


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A C expression without side effects; level is how tightly its outermost operator binds."""

    text: str
    dtype: DTypeLike
    level: int = PRIMARY
    value: int | float | None = None  # if it is known
    truth: str | None = None  # a bool that became an integer: how it reads as a condition

    def at(self, level: int) -> str:
        """As an operand of an operator of that level: in brackets if it must be."""
        return self.text if self.level >= level else f"({self.text})"


@dataclasses.dataclass(frozen=True)
class Tile:
    text: str  # a C variable of type PlTile
    shape: tuple[int, ...]
    dtype: DTypeLike


@dataclasses.dataclass(frozen=True)
class View:
    text: str  # a C expression of type PlRef, cheap and without side effects
    shape: tuple[int | Scalar, ...]  # sizes; a Scalar where the size is computed
    dtype: DTypeLike
    space: str  # "any", "hbm", "vmem", "smem", "semaphore"
    kind: str = ""  # of a semaphore: "regular", "dma", "barrier"
    name: str = ""  # of the buffer


Value = Union[Scalar, Tile, View]


def number(value: int) -> Scalar:
    return Scalar(str(value), "int32", PRIMARY if value >= 0 else UNARY, value)
