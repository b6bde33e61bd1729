"""heddle-pallas init: a test file and a CI workflow for the kernels of a module.

Entries are the public functions of the module's source that call a kernel, themselves or through others of the module. Each is traced with
guessed shapes; one for which the guess is wrong comes as a comment that says why.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any, Callable, Iterator

from ..errors import HeddleError
from ..mesh import Mesh
from .files import write_file

CALLS_A_KERNEL = frozenset({"pallas_call", "core_map", "pl.kernel"})
GUESS = "f32[8,128]"
GUESS_FOR_ALL = "f32[24,128]"  # of a global array: 2, 3 and 4 devices can share it


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("module", help="my_module, my_package.my_module, or path/to/file.py")
    command.add_argument("--shape", default=None, help=f"of each argument, until you know better (default {GUESS})")
    command.add_argument("--axis", default="x", help="the name of the axis of devices (default x)")
    command.add_argument(
        "--tests", metavar="DIR", default=None, help="where the test goes (default: tests, if it is there, or beside the module)"
    )
    command.add_argument(
        "--workflows", metavar="DIR", default=".github/workflows", help="where the workflow goes (default .github/workflows)"
    )


@dataclasses.dataclass
class Entry:
    name: str
    parameters: list[str]  # those that need a value; not the mesh
    shape: str
    own_mesh: bool = False
    wrong: str = ""  # why it cannot be traced with guessed shapes


def init(options: argparse.Namespace, imported: Callable[[str], Any]) -> int:
    """imported: the module of that name or path."""
    from .api import shape

    shape(options.shape or GUESS)
    module = imported(options.module)
    source = Path(inspect.getsourcefile(module) or "")
    names = entries_of(source.read_text(encoding="utf-8"))
    if not names:
        raise HeddleError(f"{options.module}: no public function in it calls a kernel (pallas_call, pl.kernel or core_map)")
    by_path = options.module.endswith(".py")
    name = module.__name__.rpartition(".")[2]
    folder = Path(options.tests) if options.tests else Path("tests") if Path("tests").is_dir() and not by_path else source.parent
    test, workflow = _shown(folder / f"test_{name}_heddle.py"), Path(options.workflows) / f"heddle-{name}.yml"
    for path in (test, workflow):
        if path.exists():
            raise HeddleError(f"{path} is there already, and stays as it is: remove it first, or name another folder")
    entries = [_entry(module, n, options) for n in names]
    write_file(test, _test_text(module.__name__, entries, options))
    write_file(workflow, _workflow_text(name, test))
    live = [e for e in entries if not e.wrong]
    print(f"{test}: tests of {_names(live)}" if live else f"{test}: no test yet")
    for entry in entries:
        if entry.wrong:
            print(f"  {entry.name} is a comment there: {entry.wrong}")
    print(f"{workflow}: runs them at each push\nThe shapes are guesses: put in those that you use. Then:  python -m pytest {test}")
    return 0


def _names(entries: list[Entry]) -> str:
    return ", ".join(e.name for e in entries)


def _shown(path: Path) -> Path:
    here = Path.cwd()
    return path.resolve().relative_to(here) if path.resolve().is_relative_to(here) else path


# Entries


def entries_of(source: str) -> list[str]:
    """The public functions that come to a kernel, in order."""
    functions = [f for f in ast.parse(source).body if isinstance(f, ast.FunctionDef)]
    asks = {f.name: set(_called(f)) for f in functions}
    found = {name for name, called in asks.items() if called & CALLS_A_KERNEL}
    while True:
        more = {name for name, called in asks.items() if called & found} - found
        if not more:
            return [f.name for f in functions if f.name in found and not f.name.startswith("_")]
        found |= more


def _called(function: ast.FunctionDef) -> Iterator[str]:
    """The names that it calls or passes on, decorators included; of a dotted name, the last part."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield "pl.kernel" if node.func.attr == "kernel" else node.func.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


def _entry(module: Any, name: str, options: argparse.Namespace) -> Entry:
    from ..trace.tracing import trace
    from .api import shape

    function = getattr(module, name)
    needed = [n for n, p in inspect.signature(function).parameters.items() if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD]
    guess = GUESS_FOR_ALL if "mesh" in inspect.signature(function).parameters else GUESS
    entry = Entry(name, [n for n in needed if n != "mesh"], options.shape or guess)
    mesh = Mesh((options.axis,), (2,))
    try:
        traced = trace(function, [shape(entry.shape) for _ in entry.parameters], mesh, told=False)
        entry.own_mesh = traced.plan.mesh != mesh
    except HeddleError as wrong:
        entry.wrong = str(wrong).splitlines()[0]
    return entry


# Files


def _test_text(module: str, entries: list[Entry], options: argparse.Namespace) -> str:
    parent, _, name = module.rpartition(".")
    lines = [f'"""The kernels of {module}, in every order of their steps: pytest --heddle-devices=2..8"""', ""]
    lines += [f"from {parent} import {name}" if parent else f"import {name}"]
    for entry in entries:
        lines += ["", "", *_test_of(name, entry, options)]
    return "\n".join(lines) + "\n"


def _test_of(module: str, entry: Entry, options: argparse.Namespace) -> list[str]:
    shapes = "".join(f', "{entry.shape}"' for _ in entry.parameters)
    mesh = "heddle_devices" if options.axis == "x" else f'f"{options.axis}={{heddle_devices}}"'
    names = f"  # {', '.join(entry.parameters)}" if entry.parameters else ""
    if entry.own_mesh:
        lines = [f"def test_{entry.name}(heddle):", f"    heddle.verify({module}.{entry.name}{shapes}){names}"]
    else:
        lines = [f"def test_{entry.name}(heddle, heddle_devices):", f"    heddle.verify({module}.{entry.name}{shapes}, mesh={mesh}){names}"]
    return [f"# With these arguments: {entry.wrong}", *(f"# {line}" for line in lines)] if entry.wrong else lines


def _workflow_text(name: str, test: Path) -> str:
    return f"""name: heddle-{re.sub(r"_", "-", name)}
on: [push, pull_request]
jobs:
  kernels:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install pytest jax heddle-pallas  # or the address of heddle-pallas, and what your kernels need
      - run: python -m pytest {test.as_posix()} --heddle-devices=2..4
"""
