"""One kernel of a survey, in a process of its own: python -m heddle_pallas.frontend.surveyed QUESTION ANSWER.

The question is what survey.py wrote: a case, and where its repository is. The answer is written at the end; a process that leaves none
was ended from outside.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import re
import resource
import signal
import sys
import tempfile
import types
from functools import wraps
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from ..errors import HeddleError, Unsupported
from ..mesh import Mesh, as_mesh
from ..trace.domains import Ints
from ..trace.tpus import abstract_mesh, as_if_tpus, as_on_tpu
from ..trace.tracing import PerDevice, Shape, Traced, trace
from .api import ints, per_device, shape
from .report import run, write_source

CALLS = (("local", "pl_async_copy("), ("blocks", "pl_windows("), ("remote", "pl_async_remote_copy("))
PR_SET_PDEATHSIG = 1  # of linux/prctl.h


class Broken(Exception):
    """The kernel could not be called as the manifest says."""


# Modules that are not there


class _AnyKind(type):
    """The kind of what is in a stub: it has every attribute, can be called, subclassed, subscripted, and used as a decorator."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _any(name)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if "_is_stub" not in vars(cls):
            return super().__call__(*arguments, **named)
        return arguments[0] if len(arguments) == 1 and not named and callable(arguments[0]) else cls

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __or__(cls, _: Any) -> Any:
        return cls

    __ror__ = __or__

    def __iter__(cls) -> Any:
        return iter(())


def _any(name: str) -> Any:
    return _AnyKind(name, (), {"_is_stub": True})


class _StubModule(types.ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _any(name)
        setattr(self, name, value)
        return value


class _Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the stubs and all below them, and packages without their __init__."""

    def __init__(self, stubs: Sequence[str], bare: Sequence[str], folder: Path) -> None:
        self.stubs, self.bare, self.folder = stubs, bare, folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if any(name == stub or name.startswith(f"{stub}.") for stub in self.stubs):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name in self.bare:
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(self.folder / name.replace(".", "/"))]
            return spec
        return None

    def create_module(self, spec: Any) -> Any:
        return _StubModule(spec.name)

    def exec_module(self, module: Any) -> None:
        pass


# The kernel


def load(root: Path, case: Mapping[str, Any]) -> Any:
    """The module, which is Python or Markdown."""
    repository, file = case["repository"], case["file"]
    base, path = (root / repository["path"]).resolve(), (root / file).resolve()
    if not path.is_file():
        raise Broken(f"{file}: no such file")
    sys.path.insert(0, str(base))
    sys.meta_path.insert(0, _Stubs(repository["stubs"], repository["bare"], base))
    try:
        return _run_markdown(path, case["until"]) if path.suffix == ".md" else _import(path, base)
    except Exception as wrong:
        raise Broken(f"cannot import {file}: {_words(wrong)}") from None


def _import(path: Path, base: Path) -> Any:
    """By its name, or by its path if something else has that name, such as an installed package."""
    module: Any = None
    if path.is_relative_to(base):
        module = importlib.import_module(".".join(path.relative_to(base).with_suffix("").parts))
    if module is None or Path(module.__file__ or "").resolve() != path:
        spec: Any = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    return module


# Of Python, after the header or the options of a cell.
BLOCK = r"^```(?:python|py|\{code-cell\})[^\n]*\n(?:---\n.*?^---\n|(?::\w+:[^\n]*\n)*)(.*?)^```"


def _run_markdown(path: Path, until: int) -> Any:
    """Runs blocks of Python in turn. One that fails, for want of a TPU perhaps, ends there."""
    module = types.ModuleType(path.stem)
    text = path.read_text(encoding="utf-8")
    for block in re.finditer(BLOCK, text, re.MULTILINE | re.DOTALL):
        padding = "\n" * text.count("\n", 0, block.start(1))  # so that lines are those of the file
        if until and len(padding) >= until:
            break
        try:
            exec(compile(padding + block[1], str(path), "exec"), vars(module))
        except Exception:
            continue
    return module


def _find(module: Any, entry: str) -> Any:
    found = module
    for part in entry.split("."):
        if not hasattr(found, part):
            raise Broken(f"{module.__name__} has no {entry}")
        found = getattr(found, part)
    return found


def expressions(module: Any, entry: Any, mesh: Mesh) -> dict[str, Any]:
    """What the manifest's Python sees."""
    names = {"np": np, "jax": jax, "jnp": jnp, "lax": lax, "pl": pl, "pltpu": pltpu, "P": jax.sharding.PartitionSpec}
    own = {"module": module, "entry": entry, "mesh": abstract_mesh(mesh), "devices": mesh.devices}
    return {**names, **own, "shape": shape, "per_device": per_device, "ints": ints}


def argument(name: str, value: Any, names: dict[str, Any]) -> Any:
    """f32[8,128] is a shape, {python = "..."} an expression; the rest is what it is."""
    if isinstance(value, str) and re.fullmatch(r"\w+\[[\d, ]*\]", value):
        return names["shape"](value)
    if isinstance(value, dict) and set(value) == {"python"}:
        return _evaluate(f"the argument {name}", value["python"], names)
    return value


def _evaluate(what: str, text: str, names: dict[str, Any]) -> Any:
    try:
        return eval(compile(text.strip(), f"<{what}>", "eval"), names)
    except Exception as wrong:
        raise Broken(f"{what}: {_words(wrong)}") from None


def _words(wrong: BaseException) -> str:
    return f"{type(wrong).__name__}: {(str(wrong).strip().splitlines() or [''])[0]}"


def _mesh_for(function: Callable[..., Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter called mesh gets the mesh, as in `heddle-pallas check`."""
    try:
        return {"mesh": names["mesh"]} if "mesh" in inspect.signature(function).parameters else {}
    except (TypeError, ValueError):
        return {}


def bound(function: Callable[..., Any], arguments: Mapping[str, Any]) -> tuple[Callable[..., Any], list[Any]]:
    """A function of the arrays alone; the other arguments are bound."""
    arrays = {name: value for name, value in arguments.items() if _is_array(value)}
    fixed = {name: value for name, value in arguments.items() if name not in arrays}

    @wraps(function)
    def call(*values: Any) -> Any:
        return function(**fixed, **dict(zip(arrays, values)))

    asked: Any = call
    asked.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in arrays])
    return call, list(arrays.values())


def _is_array(value: Any) -> bool:
    leaves = jax.tree.leaves(value, is_leaf=lambda v: isinstance(v, (Ints, PerDevice, Shape)))
    arrays = (Ints, PerDevice, Shape, np.ndarray, np.generic, jax.Array, jax.ShapeDtypeStruct)
    return bool(leaves) and all(isinstance(leaf, arrays) for leaf in leaves)


def judge(case: Mapping[str, Any], root: Path) -> dict[str, Any]:
    mesh, options = as_mesh(case["mesh"] or 1), dict(case["options"])
    cores = options.pop("cores", None)
    with as_if_tpus(), as_on_tpu(cores=cores or 1):
        module = load(root, case)
        entry = _find(module, case["entry"])
        names = expressions(module, entry, mesh)
        try:
            exec(compile(case["setup"], "<setup>", "exec"), names)
        except Exception as wrong:
            raise Broken(f"setup: {_words(wrong)}") from None
        function = _evaluate("call", case["call"], names) if case["call"] else entry
        arguments = {name: argument(name, value, names) for name, value in case["arguments"].items()}
        called, arrays = bound(function, {**_mesh_for(function, names), **arguments})
        traced = trace(called, arrays, mesh, cores, re.sub(r"\W", "_", case["name"]), told=bool(case["mesh"]))
    found = copies_of(traced, options.get("opaque", False))
    report = run(traced, **options)
    why = (report.check.get("limit") or "") if report.verdict == "bounded" else ""
    return {"verdict": report.verdict, "faults": sorted(report.faults), "reason": why, "text": report.text, "copies": found}


def copies_of(traced: Traced, opaque: bool) -> list[str]:
    """Which copies the kernels make: local and remote ones that they start themselves, and those of blocks."""
    with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
        text = write_source(traced, Path(folder), opaque).read_text(encoding="utf-8")
    return [kind for kind, call in CALLS if call in text]


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return judge(question["case"], Path(question["root"]))
    except Unsupported as wrong:
        return _without_verdict("refused", str(wrong))
    except (Broken, HeddleError) as wrong:
        return _without_verdict("broken", str(wrong).splitlines()[0])
    except MemoryError:
        return _without_verdict("broken", "out of memory")
    except Exception as wrong:
        return _without_verdict("broken", f"internal error: {_words(wrong)}")


def _without_verdict(instead: str, why: str) -> dict[str, Any]:
    return {"verdict": instead, "faults": [], "reason": why, "text": "", "copies": []}


def _end_with(survey: int) -> None:
    """Linux kills this process when the survey is gone; the checker sees that this process is."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if survey and os.getppid() != survey:
        sys.exit("the survey is gone")


def main() -> None:
    _end_with(int(os.environ.get("HEDDLE_SURVEY", 0)))
    sys.dont_write_bytecode = True  # a checkout stays as it is
    question = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    resource.setrlimit(resource.RLIMIT_AS, (question["memory"], question["memory"]))
    Path(sys.argv[2]).write_text(json.dumps(answer(question)), encoding="utf-8")


if __name__ == "__main__":
    main()
