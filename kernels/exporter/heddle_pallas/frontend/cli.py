"""heddle-pallas: check or export a function of a module, at several sizes.

heddle-pallas check my_module:all_gather -n 2..8 --input x=f32[8,128]
heddle-pallas export my_module:all_gather -n 4 --input x=f32[8,128] -o all_gather.c
heddle-pallas init my_module
heddle-pallas survey wild/some-project.toml --root ~/checkouts
heddle-pallas replay heddle-schedules/all_gather-n3-race-1-9aa3.schedule
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..errors import HeddleError
from ..mesh import Mesh, as_mesh, parse_mesh, parse_sizes
from . import init, survey
from .binary import call_to_the_end, find_heddle, in_words_of_pallas
from .files import write_file
from .options import FLAGS, VALUES

if TYPE_CHECKING:
    from .report import Report

# JAX takes seconds to import, so what needs it is imported where it is used: --help, replay and explain do without it.

OF_THE_CHECKER = {"replay": "run a saved schedule again, as `heddle replay`", "explain": "what a fault means, as `heddle explain`"}
_WORST = {0: 0, 3: 1, 1: 2, 2: 3}
_EXIT = {"verified": 0, "faulty": 1, "bounded": 3, "not applicable": 0}


def _find_function(text: str) -> Callable[..., Any]:
    module_name, colon, name = text.rpartition(":")
    if not colon or not name:
        raise HeddleError(f"{text}: name a function as my_module:my_function or path/to/file.py:my_function")
    found: Any = _import(module_name)
    for part in name.split("."):
        if not hasattr(found, part):
            near = ", ".join(sorted(n for n, v in vars(found).items() if inspect.isfunction(v) and not n.startswith("_"))[:8])
            raise HeddleError(f"{module_name} has no {name}" + (f"; it has {near}" if near else ""))
        found = getattr(found, part)
    if not callable(found):
        raise HeddleError(f"{text} is no function")
    return found  # type: ignore[no-any-return]


def _import(name: str) -> Any:
    sys.path.insert(0, "")
    try:
        if name.endswith(".py"):
            path = Path(name)
            if not path.is_file():
                raise HeddleError(f"{name}: no such file")
            sys.path.insert(0, str(path.resolve().parent))
            return importlib.import_module(path.stem)
        return importlib.import_module(name)
    except HeddleError:
        raise
    except ModuleNotFoundError as wrong:
        raise HeddleError(f"cannot import {name}: no module named {wrong.name}") from None
    except Exception as wrong:
        line = (str(wrong).strip().splitlines() or [""])[0]
        raise HeddleError(f"cannot import {name}: {type(wrong).__name__}: {line}") from None


def parse_input(text: str) -> tuple[str, Any]:
    """x=f32[8,128], x=i32[8]:0..3, x=@file.npy, x=devices@file.npy, x=7"""
    import numpy as np

    from .api import ints, per_device, shape

    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or not value:
        raise HeddleError(f"--input {text}: write x=f32[8,128], x=i32[8]:0..3, x=@values.npy, x=devices@values.npy or x=7")
    domain = re.fullmatch(r"(devices@)?(\w+(?:\[[\d, ]*\])?):(-?\d+)\.\.(-?\d+)", value)
    if domain is not None:
        try:
            like = shape(domain[2])
            wanted = ints(like.shape, int(domain[3]), int(domain[4]), dtype=like.dtype)
        except HeddleError as wrong:
            raise HeddleError(f"--input {name}: {wrong}") from None
        return name, per_device(wanted) if domain[1] else wanted
    if value.startswith(("@", "devices@")):
        kind, _, path = value.partition("@")
        try:
            array = np.load(path)
        except (OSError, ValueError) as wrong:
            raise HeddleError(f"--input {name}: cannot read {path}: {getattr(wrong, 'strerror', None) or wrong}") from None
        return name, per_device(array) if kind else array
    try:
        number = float(value) if any(c in value.lower() for c in ".en") and "[" not in value else int(value)
        return name, np.asarray(number, np.int32 if isinstance(number, int) else np.float32)
    except ValueError:
        pass
    try:
        return name, shape(value)
    except HeddleError as wrong:
        raise HeddleError(f"--input {name}: {wrong}") from None


def _arguments(
    function: Callable[..., Any], inputs: Sequence[tuple[str, Any]], mesh: Mesh, cores: int | None
) -> tuple[Callable[..., Any], list[Any]]:
    """By the names of the parameters."""
    from ..trace.tracing import given_mesh

    given = dict(inputs)
    if "mesh" not in given:
        function = given_mesh(function, mesh, cores or 1)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return function, list(given.values())
    names = [n for n, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    unknown = [n for n in given if n not in names]
    if unknown:
        raise HeddleError(f"--input {unknown[0]}: the function has no parameter of that name; it has {', '.join(names) or 'none'}")
    missing = [n for n in names if n not in given and parameters[n].default is inspect.Parameter.empty]
    if missing:
        raise HeddleError(f"the parameter {missing[0]} has no value: give --input {missing[0]}=f32[8,128], or what it is")
    order = [n for n in names if n in given]
    if any(parameters[n].kind is inspect.Parameter.KEYWORD_ONLY for n in order) or order != names[: len(order)]:
        inner = function

        def by_name(*values: Any) -> Any:
            return inner(**dict(zip(order, values)))

        by_name.__name__ = getattr(inner, "__name__", "kernel")
        by_name.__wrapped__ = inner  # type: ignore[attr-defined]
        return by_name, [given[n] for n in order]
    return function, [given[n] for n in order]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="heddle-pallas", description="Check Pallas TPU kernels for every order of their steps.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="check|export|init|survey|replay|explain")
    for name, text in (("check", "trace, export, decide"), ("export", "write the C program")):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("function", help="my_module:my_function, or path/to/file.py:my_function")
        command.add_argument("-n", "--devices", default=None, help="devices: 4, 2..8 or 2,4,8 (default 2)")
        command.add_argument("--mesh", default=None, help="named axes, such as x=4,y=2")
        command.add_argument("--axis", default="x", help="the name of the only axis, with -n (default x)")
        command.add_argument("--cores", type=int, default=None, help="cores per device")
        command.add_argument("--tpu", default=None, metavar="KIND", help="what devices say that they are: v4, v5e, v5p, v6e or 7x")
        command.add_argument("--input", action="append", default=[], metavar="NAME=VALUE", help="x=f32[8,128], x=@values.npy or x=7")
        command.add_argument("--opaque", action="store_true", help="track where floats go, not their values")
        if name == "export":
            command.add_argument("-o", "--output", required=True, help="the C file")
            continue
        command.add_argument("--schedules", default="heddle-schedules", help="folder for the exported C and the schedules of faults")
        command.add_argument("--timeout", type=float, default=None, help="seconds per size")
        command.add_argument("-q", "--quiet", action="store_true", help="print verdicts only")
        command.add_argument("--html", metavar="DIR", default=None, help="write a page for each size into DIR")
        command.add_argument("--json", metavar="FILE", default=None, help="write the reports of all sizes into one file")
        for option in VALUES:
            short = ["-j"] if option == "workers" else []
            command.add_argument(*short, f"--{option.replace('_', '-')}", default=None, help="as in `heddle check`")
        for flag in FLAGS:
            short = ["-v"] if flag == "verbose" else []
            command.add_argument(*short, f"--{flag.replace('_', '-')}", action="store_true", help="as in `heddle check`")
    text = "write a test file and a CI workflow for the kernels of a module"
    init.add_arguments(commands.add_parser("init", help=text, description=text))
    text = "judge the kernels of a manifest, as a table"
    survey.add_arguments(commands.add_parser("survey", help=text, description=text))
    for name, text in OF_THE_CHECKER.items():
        commands.add_parser(name, help=text, add_help=False)
    return parser


def _meshes(options: argparse.Namespace) -> list[Mesh]:
    if options.mesh is not None:
        if options.devices is not None:
            raise HeddleError("give -n or --mesh, not both")
        return [parse_mesh(options.mesh)]
    return [Mesh((options.axis,), (n,)) for n in parse_sizes(options.devices or "2")]


def _told(options: argparse.Namespace) -> bool:
    return options.devices is not None or options.mesh is not None


def _check(options: argparse.Namespace) -> int:
    from ..trace.tracing import trace
    from .report import digest, run, size_name

    function, inputs, code = _find_function(options.function), [parse_input(i) for i in options.input], 0
    chosen = {k: getattr(options, k) for k in (*VALUES, *FLAGS) if getattr(options, k) is not None}
    question = digest(options.function.encode(), *map(str.encode, options.input), repr((options.opaque, chosen)).encode())
    table: list[tuple[Mesh, "Report"]] = []
    for mesh in _meshes(options):
        called, arguments = _arguments(function, inputs, mesh, options.cores)
        traced = trace(called, arguments, as_mesh(mesh), options.cores, told=_told(options), tpu=options.tpu)
        mesh = traced.plan.program.mesh
        report = run(
            traced,
            schedules=options.schedules,
            timeout=options.timeout,
            opaque=options.opaque,
            page=options.html is not None,
            **chosen,
        )
        faults = f" ({', '.join(report.faults)})" if report.faults else ""
        print(report.text if not options.quiet else f"{report.name}, {mesh}: {report.verdict}{faults}", flush=True)
        if report.generated and not options.quiet:
            print(f"Plain JAX reads {', '.join(report.generated)}: their values were generated, the same each time.\n")
        table.append((mesh, report))
        if options.html is not None:
            label = re.sub(r"[^\w.-]+", "_", report.name)
            write_file(Path(options.html) / f"{label}-{size_name(traced)}-{question}.html", report.page)
        found = _EXIT[report.verdict]
        code = found if _WORST[found] > _WORST[code] else code
    if options.json is not None:
        write_file(Path(options.json), json.dumps({**table[0][1].head, "checks": [report.check for _, report in table]}, indent=2) + "\n")
    if len(table) > 1 and not options.quiet:
        for mesh, report in table:
            print(f"{str(mesh):<12} {report.verdict:<15} {', '.join(report.faults)}".rstrip())
    return code


def _export(options: argparse.Namespace) -> int:
    from ..trace.tracing import trace
    from .report import write_source

    meshes = _meshes(options)
    if len(meshes) != 1:
        raise HeddleError("export writes one size: give -n 4, or --mesh")
    called, arguments = _arguments(_find_function(options.function), [parse_input(i) for i in options.input], meshes[0], options.cores)
    target = Path(options.output)
    traced = trace(called, arguments, meshes[0], options.cores, told=_told(options), tpu=options.tpu)
    try:
        source = write_source(traced, target.parent, options.opaque, target.name)
    except OSError as wrong:
        raise HeddleError(f"cannot write {target}: {wrong.strerror}") from None
    program = traced.plan.program
    print(
        f"{source}: check it with  heddle check {source} --mesh {program.mesh}" + (f" --cores {program.cores}" if program.cores > 1 else "")
    )
    return 0


def _init(options: argparse.Namespace) -> int:
    return init.init(options, _import)


def _of_the_checker(arguments: Sequence[str]) -> int:
    try:
        command = [find_heddle(), *arguments]
        if any(a.startswith(("--step", "--gdb")) for a in arguments):  # a conversation
            return call_to_the_end(command).returncode
        done = call_to_the_end(command, stdout=subprocess.PIPE)
        print(in_words_of_pallas(done.stdout), end="", flush=True)
        return done.returncode
    except HeddleError as wrong:
        print(f"heddle-pallas: {wrong}", file=sys.stderr)
        return 2


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] in OF_THE_CHECKER:
        return _of_the_checker(given)
    options = _parser().parse_args(given)
    try:
        import jax

        assert jax
    except ImportError:
        print("heddle-pallas: JAX is not installed: pip install 'jax>=0.7'", file=sys.stderr)
        return 2
    try:
        return {"check": _check, "export": _export, "init": _init, "survey": survey.survey}[options.command](options)
    except HeddleError as wrong:
        print(f"heddle-pallas: {wrong}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as wrong:
        if os.environ.get("HEDDLE_PALLAS_DEBUG"):
            raise
        line = (str(wrong).strip().splitlines() or [""])[0]
        print(f"heddle-pallas: internal error: {type(wrong).__name__}: {line}; HEDDLE_PALLAS_DEBUG=1 shows the traceback", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
