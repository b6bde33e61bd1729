"""C text under construction: indented lines, blocks, and `#line` so that each operation keeps the Python line that it comes from."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import Iterator

from ..errors import NOWHERE, Place, short_path


class Writer:
    """Lines carry the place that they belong to; #line directives are written at the end, where the place changes."""

    def __init__(self, depth: int = 0, place: Place = NOWHERE) -> None:
        self._lines: list[tuple[int, str, Place]] = []
        self.depth = depth
        self.place = place

    def __call__(self, text: str) -> None:
        """One line, or several that belong together: no directive comes between them."""
        for i, line in enumerate(text.split("\n")):
            self._lines.append((self.depth, line, self.place if i == 0 else NOWHERE))

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        self(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self(tail)

    def sub(self) -> "Writer":
        """A part that is written apart and added, or thrown away, later."""
        return Writer(self.depth, self.place)

    def add(self, part: "Writer") -> None:
        self._lines.extend(part._lines)

    def take_back(self, text: str) -> bool:
        """Removes the last line, if it is this one and for the same place. Was it?"""
        if self._lines and self._lines[-1] == (self.depth, text, self.place):
            self._lines.pop()
            return True
        return False

    def __len__(self) -> int:
        return len(self._lines)

    def text(self, lines: bool = True) -> str:
        """lines=False: without #line directives."""
        out: list[str] = []
        here: tuple[str, int] | None = None  # what the compiler believes of the next line; None: its own file
        for depth, text, place in self._lines:
            if lines and place.file and _counts(text):
                if here is None or here[0] != place.file or here[1] != place.line:
                    out.append(f"#line {place.line} {json.dumps(short_path(place.file), ensure_ascii=False)}")
                here = (place.file, place.line)
            out.append("    " * depth + text if text else "")
            if here is not None:
                here = (here[0], here[1] + 1)
        return "\n".join(out) + "\n"


def _counts(text: str) -> bool:
    """Does the line contain an operation, whose place is recorded?"""
    return "pl_" in text or "KERNEL(" in text


class Helpers:
    """C functions that the file needs, each once, in order of first use."""

    def __init__(self) -> None:
        self.text: dict[str, str] = {}

    def use(self, name: str, body: str) -> str:
        self.text.setdefault(name, body)
        return name

    def function(self, name: str, head: str, rest: str) -> str:
        """The name of a function with that text, under this name or, if it means something else already, one like it."""
        base, count = name, 2
        while self.text.get(name, head + name + rest) != head + name + rest:
            name, count = f"{base}_{count}", count + 1
        return self.use(name, head + name + rest)
