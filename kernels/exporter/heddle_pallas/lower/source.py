"""The line of the author's Python that an equation comes from, and the name of its result there.

JAX keeps a traceback with each equation. Names of results are not in a jaxpr, but the line is, and on that line there is often an
assignment: `right = (my_id + 1) % n` makes the last equation of the statement `right`.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from pathlib import Path
from typing import Iterator

from jax._src import source_info_util
from jax.extend.core import Jaxpr, JaxprEqn

from ..errors import NOWHERE, Place

PACKAGE = Path(__file__).resolve().parents[1]


def place_of(eqn: JaxprEqn) -> Place:
    """The innermost frame that is neither JAX's nor ours."""
    info = eqn.source_info
    try:
        frame = source_info_util.user_frame(info.traceback)
    except (AttributeError, TypeError):
        frame = source_info_util.user_frame(info)
    if frame is None:
        return NOWHERE
    return Place(frame.file_name, frame.start_line, frame.function_name)


def _is_pallas(path: str) -> bool:
    """Is the file part of Pallas itself? The kernels that come with it are not."""
    return os.path.join("jax", "_src", "pallas") in path


def place_of_function(jaxpr: Jaxpr) -> Place:
    """Where the author's function begins that became this jaxpr; NOWHERE if it is Pallas's own."""
    info = getattr(jaxpr, "debug_info", None)
    match = re.search(r" at (.*):(\d+)$", str(getattr(info, "func_src_info", "") or ""))
    return Place(match[1], int(match[2])) if match and not _is_pallas(match[1]) else NOWHERE


def _nodes(path: str) -> Iterator[ast.AST]:
    """The nodes of a file's syntax tree; none, if it is not Python."""
    try:
        with open(path, encoding="utf-8") as text:
            yield from ast.walk(ast.parse(text.read()))
    except (OSError, SyntaxError, ValueError):
        return


@functools.lru_cache(maxsize=None)
def _statements(path: str) -> dict[int, tuple[int, str]]:
    """line -> (first line of the assignment that covers it, its only name)."""
    found: dict[int, tuple[int, str]] = {}
    for node in _nodes(path):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            name = node.target.id
        else:
            continue
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            found[line] = (node.lineno, name)
    return found


@functools.lru_cache(maxsize=None)
def _owners(path: str) -> dict[int, str]:
    """line -> x, of statements like x.start()"""
    return {
        node.lineno: node.func.value.id
        for node in _nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    }


def owner_at(place: Place) -> str | None:
    """The name of the object whose method is called here."""
    return _owners(place.file).get(place.line) if place.file else None


def assignment_at(place: Place) -> tuple[str, int, str] | None:
    """(file, line of the statement, name) of the assignment that an equation belongs to."""
    statement = _statements(place.file).get(place.line) if place.file else None
    return None if statement is None else (place.file, *statement)


source_info_util.register_exclusion(str(PACKAGE) + os.sep)  # our frames are not the author's
