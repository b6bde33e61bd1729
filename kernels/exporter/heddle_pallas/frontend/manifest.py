"""The manifest of a survey: which kernels of which repository, how they are called, what is expected of them.

[repository]                        what all kernels of the file share
name = "some-project"               the folder below --root
url = "https://..."
commit = "40 hex digits"
path = "src"                        the folder that its modules are imported from (default: the repository)
bare = ["some_project"]             packages whose __init__ is not run
stubs = ["torch"]                   modules that are not needed, but imported

[[kernel]]
name = "all_gather"
file = "src/some_project/all_gather.py"      or Markdown, whose blocks of Python are run
until = 120                         the last line of Markdown that is run
entry = "all_gather"
arguments = { x = "f32[8,128]", table = { python = "np.arange(8)" }, causal = true }
setup = "..."                       Python, before the expressions, which see np, jax, jnp, lax, pl, pltpu, P, shape, per_device, module,
                                    mesh and devices
call = "lambda x: entry(x, 2)"      what is traced, where it is not the entry itself
mesh = ["x=2", "x=4"]               (default: one device)
options = { dma_order = "link-fifo" }        of a check, and cores
expect = "verified"                 or "faulty: race", "bounded", "refused"; or a table of them by mesh
reason = "..."                      why, if it is not verified
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Mapping, Sequence

from ..errors import HeddleError
from ..mesh import as_mesh, parse_mesh
from .options import CheckOptions

DECIDED = ("verified", "faulty")
EXPECTED = (*DECIDED, "bounded", "refused")
# The survey's, or the manifest's own.
NOT_OPTIONS = {"mesh", "name", "schedules", "timeout", "page", "time", "memory", "workers", "expect", "tolerance"}

_REPOSITORY = {"name": str, "url": str, "commit": str, "path": str, "bare": list, "stubs": list}
_KERNEL = {
    "name": str,
    "file": str,
    "until": int,
    "entry": str,
    "arguments": dict,
    "setup": str,
    "call": str,
    "mesh": list,
    "options": dict,
    "expect": (str, dict),
    "reason": str,
}


@dataclasses.dataclass(frozen=True)
class Repository:
    name: str
    url: str
    commit: str
    path: str = "."
    bare: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Case:
    """One kernel at one size."""

    repository: Repository
    name: str
    file: str
    entry: str
    mesh: str  # empty: one device, or the function's own
    expected: str  # "verified", "faulty: race, leftover", ...
    reason: str = ""
    until: int = 0  # 0: all of it
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    setup: str = ""
    call: str = ""
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.repository.name, self.name, self.mesh


def read_manifest(path: str) -> list[Case]:
    try:
        import tomllib
    except ImportError:
        raise HeddleError("a survey needs Python 3.11 or later, which reads TOML") from None
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        raise HeddleError(f"{path}: cannot read it: {getattr(wrong, 'strerror', None) or 'not UTF-8'}") from None
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise HeddleError(f"{path}: not TOML: {wrong}") from None
    _known(path, found, {"repository": dict, "kernel": list})
    repository = _repository(path, found.get("repository"))
    kernels = found.get("kernel")
    if not kernels:
        raise HeddleError(f"{path}: no kernels: add a table [[kernel]]")
    cases = [case for i, kernel in enumerate(kernels) for case in _cases(path, i, kernel, repository)]
    keys = [case.key for case in cases]
    twice = next((key for i, key in enumerate(keys) if key in keys[:i]), None)
    if twice is not None:
        at = f" at {twice[2]}" if twice[2] else ""
        raise HeddleError(f"{path}: the kernel {twice[1]} is there twice{at}: give them names of their own")
    return cases


def _repository(path: str, table: Any) -> Repository:
    where = f"{path}: [repository]"
    if table is None:
        raise HeddleError(f"{path}: no table [repository]: name, url and commit of the kernels' repository")
    _known(where, table, _REPOSITORY)
    _needed(where, table, ("name", "url", "commit"))
    if len(table["commit"]) != 40 or not all(c in "0123456789abcdef" for c in table["commit"]):
        raise HeddleError(f"{where}: commit {table['commit']}: write all 40 hex digits")
    for key in ("bare", "stubs"):
        _strings(where, key, table.get(key, []))
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    return Repository(**values)


def _cases(path: str, at: int, table: Any, repository: Repository) -> list[Case]:
    where = f"{path}: kernel {table.get('name', at + 1) if isinstance(table, dict) else at + 1}"
    _known(where, table, _KERNEL)
    _needed(where, table, ("name", "file", "entry"))
    _known_options(where, table.get("options", {}))
    meshes, expect, reason = table.get("mesh", [""]), table.get("expect", "verified"), table.get("reason", "")
    _strings(where, "mesh", meshes)
    if not meshes:
        raise HeddleError(f'{where}: mesh = []: name a size, such as "x=4", or leave it out')
    for mesh in meshes:
        _mesh(where, mesh)
    by_mesh = expect if isinstance(expect, dict) else {mesh: expect for mesh in meshes}
    if set(by_mesh) != set(meshes):
        raise HeddleError(f"{where}: expect tells of {', '.join(by_mesh)}, but mesh is {', '.join(meshes)}")
    expected = {mesh: _expected(where, text) for mesh, text in by_mesh.items()}
    if not reason and any(text != "verified" for text in expected.values()):
        raise HeddleError(f"{where}: what is expected is not verified: give the reason")
    rest = {k: table[k] for k in ("until", "arguments", "setup", "call", "options") if k in table}
    return [Case(repository, table["name"], table["file"], table["entry"], m, expected[m], reason, **rest) for m in meshes]


def _mesh(where: str, text: str) -> None:
    try:
        as_mesh(parse_mesh(text) if text else 1)
    except HeddleError as wrong:
        raise HeddleError(f"{where}: {str(wrong).removeprefix('--')}") from None


def _expected(where: str, text: Any) -> str:
    verdict, colon, faults = text.partition(":") if isinstance(text, str) else ("", "", "")
    names = [f.strip() for f in faults.split(",")] if colon else []
    if verdict not in EXPECTED or (verdict == "faulty") != bool(names) or not all(names):
        raise HeddleError(f'{where}: expect = {text!r}: write verified, bounded, refused, or the faults as in "faulty: race, leftover"')
    return f"{verdict}: {', '.join(sorted(names))}" if names else verdict


def _known(where: str, table: Any, keys: Mapping[str, Any]) -> None:
    if not isinstance(table, dict):
        raise HeddleError(f"{where}: a table is needed")
    for key, value in table.items():
        if key not in keys:
            raise HeddleError(f"{where}: unknown key {key}; the keys are {', '.join(keys)}")
        kinds = keys[key] if isinstance(keys[key], tuple) else (keys[key],)
        if not isinstance(value, kinds):
            words = {str: "a string", list: "an array", dict: "a table", int: "a number"}
            raise HeddleError(f"{where}: {key} must be {' or '.join(words[k] for k in kinds)}")


def _needed(where: str, table: Mapping[str, Any], keys: Sequence[str]) -> None:
    missing = next((key for key in keys if not table.get(key)), None)
    if missing is not None:
        raise HeddleError(f"{where}: {missing} is missing")


def _strings(where: str, key: str, values: Sequence[Any]) -> None:
    if not all(isinstance(v, str) for v in values):
        raise HeddleError(f"{where}: {key} must be an array of strings")


def _known_options(where: str, options: Mapping[str, Any]) -> None:
    allowed = [name for name in CheckOptions.__mro__[0].__annotations__ if name not in NOT_OPTIONS]
    wrong = next((name for name in options if name not in allowed), None)
    if wrong is not None:
        raise HeddleError(f"{where}: unknown option {wrong}; the options are {', '.join(allowed)}")
