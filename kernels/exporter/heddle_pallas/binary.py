"""Where the checker is, and whether there is a compiler for it to use."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from .errors import HeddleError


def find_heddle() -> str:
    """HEDDLE, the one that came with this package, the one of the source tree, the one on the PATH."""
    named = os.environ.get("HEDDLE")
    if named:
        if not os.access(named, os.X_OK):
            raise HeddleError(f"HEDDLE={named}: no such program; build it with `make`, or unset HEDDLE")
        return named
    here = Path(__file__).resolve().parent
    for candidate in [here / "bin" / "heddle", *(p / "build" / "heddle" for p in here.parents[2:3])]:
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate)
    found = shutil.which("heddle")
    if found is None:
        raise HeddleError(
            "the program heddle is not there: build it with `make` in its source tree, or name it with HEDDLE=/path/to/heddle"
        )
    return found


def ending_with_us() -> dict[str, str]:
    """The environment of a checker that ends when this process does, however that is."""
    return {**os.environ, "HEDDLE_PARENT": str(os.getpid())}


def find_compiler() -> str:
    """heddle compiles what we write: say so before it does."""
    words = shlex.split(os.environ.get("CC", "") or "cc")
    if not words or shutil.which(words[0]) is None:
        raise HeddleError(
            f"there is no C compiler {words[0] if words else ''}: install gcc or clang, or name one with CC".replace("  ", " ")
        )
    return words[0]
