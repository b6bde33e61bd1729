"""Errors: each is one line that says what to do."""

from __future__ import annotations

import os
from typing import NamedTuple


def short_path(path: str) -> str:
    """Relative to the working folder where that is shorter, as reports show paths."""
    relative = os.path.relpath(path) if path else path
    return path if relative.startswith("..") else relative


class Place(NamedTuple):
    """A line of somebody's Python."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{short_path(self.file)}:{self.line}" if self.file else "unknown place"


NOWHERE = Place("", 0)


class HeddleError(Exception):
    """The world is wrong: an argument, a file, a missing tool."""


class TraceError(HeddleError):
    """The function could not be traced, or contradicts itself or its mesh."""


class Unsupported(HeddleError):
    """A primitive, or a use of one, that cannot be translated."""

    def __init__(self, what: str, place: Place = NOWHERE, advice: str = "") -> None:
        self.what = what
        self.place = place
        self.advice = advice
        where = f"{place}: " if place.file else ""
        super().__init__(f"{where}{what} is not supported{'; ' + advice if advice else ''}")
