"""C names from Python's: legal, not taken by the language or by our headers, each given once in its scope."""

from __future__ import annotations

import re

_TAKEN = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
    return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof bool true false NULL
    unix linux i386 errno stdin stdout stderr main signal index div exp log abs exit free malloc remainder round floor ceil
    KERNEL PROGRAM PARAMETER INFINITY NAN assert y0 y1 yn j0 j1 jn gamma time clock""".split()
)


def c_name(text: str, fallback: str = "x") -> str:
    name = re.sub(r"\W+", "_", text).strip("_") or fallback
    if name[0].isdigit():
        name = f"{fallback}_{name}"
    if name in _TAKEN or name.startswith(("pl_", "Pl", "PL_")) or re.search(r"_t$", name):
        name += "_"
    return name


class Scope:
    """Names that are visible in one block; blocks nest."""

    def __init__(self, outer: Scope | None = None) -> None:
        self._outer = outer
        self._own: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._own or (self._outer is not None and name in self._outer)

    def take(self, wanted: str, fallback: str = "x") -> str:
        base = c_name(wanted, fallback)
        name, count = base, 2
        while name in self:
            name, count = f"{base}{'' if not base[-1].isdigit() else '_'}{count}", count + 1
        self._own.add(name)
        return name

    def absorb(self, inner: Scope) -> None:
        """Names of a block that was written apart and now stands here."""
        self._own |= inner._own
