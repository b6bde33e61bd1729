"""Where an equation stands in the author's Python, and what he called its result.

JAX keeps a traceback with each equation. Names of results are not in a jaxpr, but the line is, and on that line there is often an
assignment: `right = (my_id + 1) % n` makes the last equation of the statement `right`.
"""

from __future__ import annotations

import ast
import functools
import os
from typing import Any

from jax._src import source_info_util

from .errors import NOWHERE, Place, short_path


def place_of(eqn: Any) -> Place:
    """The innermost frame that is neither JAX's nor ours."""
    info = eqn.source_info
    try:
        frame = source_info_util.user_frame(info.traceback)
    except (AttributeError, TypeError):
        frame = source_info_util.user_frame(info)
    if frame is None:
        return NOWHERE
    return Place(frame.file_name, frame.start_line, frame.function_name)


def is_pallas(path: str) -> bool:
    """The inside of Pallas, not the operators that come with it."""
    return os.path.join("jax", "_src", "pallas") in path


@functools.lru_cache(maxsize=None)
def _statements(path: str) -> dict[int, tuple[int, str]]:
    """line -> (first line of the assignment that covers it, its only name)."""
    try:
        with open(path, encoding="utf-8") as text:
            tree = ast.parse(text.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[int, tuple[int, str]] = {}
    for node in ast.walk(tree):
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
    try:
        with open(path, encoding="utf-8") as text:
            tree = ast.parse(text.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    return {
        node.lineno: node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    }


def owner_at(place: Place) -> str | None:
    """What the author calls the thing whose method runs here."""
    return _owners(place.file).get(place.line) if place.file else None


def assignment_at(place: Place) -> tuple[str, int, str] | None:
    """(file, line of the statement, name) of the assignment that an equation belongs to."""
    statement = _statements(place.file).get(place.line) if place.file else None
    return None if statement is None else (place.file, *statement)


def place_of_exception(wrong: BaseException, name: str) -> str:
    """The innermost line of the author's own code that an exception came through."""
    import traceback

    places = [f for f in traceback.extract_tb(wrong.__traceback__) if not _is_ours(f.filename)]
    return f"{short_path(places[-1].filename)}:{places[-1].lineno}" if places else name


def _is_ours(path: str) -> bool:
    here = os.path.dirname(os.path.abspath(__file__))
    return path.startswith((here, "<")) or f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}lib{os.sep}python" in path


def exclude_ourselves() -> None:
    """Our frames are not the author's."""
    source_info_util.register_exclusion(os.path.dirname(os.path.abspath(__file__)) + os.sep)


exclude_ourselves()
