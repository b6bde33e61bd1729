"""One run of the checker on an exported program: files in, verdict and arrays out."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..c.names import c_name
from ..c.program import Array, ProgramWriter
from ..c.types import parse_dtype
from ..errors import HeddleError, short_path
from ..trace.tracing import Traced
from .binary import Conversation, call_to_the_end, converse, find_compiler, find_heddle, in_words_of_pallas
from .options import arguments_of

if TYPE_CHECKING:
    from .interpreter import Asked
    from .options import RunOptions, Unpack


@dataclasses.dataclass
class Report:
    """The checker's report on one program at one size."""

    name: str
    verdict: str  # "verified", "faulty", "bounded", "not applicable"
    text: str  # to be read
    check: dict[str, Any]  # of the JSON report
    source: str  # the exported C
    results: Any = None  # what the function returns, as the checked run computed it; None without values
    generated: tuple[str, ...] = ()  # inputs whose values were generated here
    page: str = ""  # as a page of HTML, if it was asked for
    head: dict[str, Any] = dataclasses.field(default_factory=dict)  # of the JSON report: its format and version

    def __str__(self) -> str:
        return self.text

    @property
    def faults(self) -> tuple[str, ...]:
        """Identifiers, each once, in order."""
        return tuple(dict.fromkeys(f["id"] for f in self.check.get("faults", ())))

    @property
    def advice(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(a["id"] for a in self.check.get("advice", ())))

    @property
    def inputs(self) -> dict[str, Any]:
        """How many were tried, and which one is shown; empty: there is only one."""
        return dict(self.check.get("inputs", ()))

    @property
    def ok(self) -> bool:
        return self.verdict == "verified"


def write_source(traced: Traced, folder: Path, opaque: bool = False, name: str = "") -> Path:
    program = traced.plan.program
    summary = f"exported from {Path(traced.place.file).name or 'Python'}, over {', '.join(program.mesh.names)}"
    writer, data = ProgramWriter(program, traced.name, summary, traced.place, opaque).write()
    text = writer.text()
    path = folder / (name or f"{c_name(traced.name, 'kernel')}-{size_name(traced)}-{digest(text.encode(), data)}.c")
    path.write_text(text, encoding="utf-8")
    if data:
        Path(f"{path}.data").write_bytes(data)
    return path


INPUTS = 1000  # that are tried, if nobody says how many


def run(
    traced: Traced, wants: Asked | None = None, questions: Callable[[Conversation], None] | None = None, **options: Unpack[RunOptions]
) -> Report:
    """Checks the kernel. wants: the values of results that nothing wrote, or whose values were not kept. questions: asks of inputs."""
    chosen: dict[str, Any] = dict(options)
    if traced.plan.many:
        chosen["inputs"] = "-" if questions is not None else INPUTS if chosen.get("inputs") is None else chosen["inputs"]
    schedules, timeout = chosen.pop("schedules", None), chosen.pop("timeout", None)
    opaque = chosen.pop("opaque", False) or (wants is not None and wants.skips_floats)
    page = chosen.pop("page", False)
    given = arguments_of(chosen)
    with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
        source = write_source(traced, Path(folder), opaque)
        command = [
            find_heddle(),
            "check",
            str(source),
            "--mesh",
            str(traced.plan.program.mesh),
            "--cores",
            str(traced.plan.program.cores),
            "--json",
            f"{folder}/report.json",
            "--schedules",
            f"{folder}/schedules",
            "--results",
            f"{folder}/results",
            *given,
        ]
        if page:
            command += ["--html", f"{folder}/page.html"]
        find_compiler()
        done = _call(command, timeout, traced.name, questions)
        report = _read(traced, source, Path(folder), done, wants)
        if schedules is None:
            _forget(folder, report)
        elif report.verdict == "faulty":
            _keep(source, Path(folder) / "schedules", Path(schedules), report, digest(source.stem.encode(), *map(str.encode, given)))
        return report


def size_name(traced: Traced) -> str:
    """As part of a file's name: what is kept of one size must not replace what is kept of another."""
    mesh, cores = traced.plan.program.mesh, traced.plan.program.cores
    return "-".join([*(f"{n}{s}" for n, s in zip(mesh.names, mesh.sizes)), *([f"cores{cores}"] if cores > 1 else [])])


def digest(*parts: bytes) -> str:
    """As part of a file's name: all that would take long to say there."""
    return hashlib.blake2s(b"".join(len(p).to_bytes(8, "little") + p for p in parts), digest_size=4).hexdigest()


def _call(
    command: Sequence[str], timeout: float | None, name: str, questions: Callable[[Conversation], None] | None
) -> "subprocess.CompletedProcess[str]":
    try:
        if questions is not None:
            with tempfile.TemporaryFile("w+") as errors:
                return converse(command, questions, timeout, errors)
        return call_to_the_end(command, timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        raise HeddleError(f"{name}: no verdict within {timeout:g} s; allow more time, or fewer devices") from None
    except OSError as wrong:
        raise HeddleError(f"cannot run {command[0]}: {wrong.strerror}") from None


def _read(traced: Traced, source: Path, folder: Path, done: "subprocess.CompletedProcess[str]", wants: Asked | None) -> Report:
    if done.returncode not in (0, 1, 3):
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()] or [f"heddle ended with status {done.returncode}"]
        raise HeddleError("\n".join(lines))
    try:
        head = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        checks = head.pop("checks")
        if not checks and done.stderr.strip():  # a limit was reached before the check
            raise HeddleError(done.stderr.strip())
        (check,) = checks
    except (OSError, ValueError, KeyError) as wrong:
        raise HeddleError(f"{traced.name}: the checker left no report ({wrong})") from None
    report = Report(
        traced.name,
        check["verdict"],
        in_words_of_pallas(done.stdout),
        check,
        source.read_text(encoding="utf-8"),
        generated=tuple(traced.plan.known.generated),
        head=head,
    )
    if (folder / "page.html").exists():
        report.page = (folder / "page.html").read_text(encoding="utf-8")
    if traced.place.file:
        check["source"] = short_path(traced.place.file)
    results = folder / "results"
    if results.exists() and results.stat().st_size:
        report.results = _results(traced, results.read_bytes(), wants)
        report.generated = tuple(traced.plan.known.generated)  # what is computed after the last kernel may read more of them
    return report


def _keep(source: Path, found: Path, kept: Path, report: Report, check: str) -> None:
    """Moves what replays a fault to where the author wants it; names in the report follow.

    The checker ends names of schedules with a hash of where the C file was; here they end with the check's, the same each time.
    """
    kept.mkdir(parents=True, exist_ok=True)
    moved = {str(source): str(kept / source.name)}
    for path in sorted(found.glob("*.schedule")):
        moved[str(path)] = str(kept / f"{path.stem.rpartition('-')[0]}-{check}.schedule")
        content = path.read_bytes().replace(os.fsencode(source), os.fsencode(kept / source.name))
        Path(moved[str(path)]).write_bytes(content)
    for path in (source, Path(f"{source}.data")):
        if path.exists():
            (kept / path.name).write_bytes(path.read_bytes())
    for old, new in moved.items():
        report.text = report.text.replace(old, new)
    for fault in report.check["faults"]:
        fault["schedule"] = moved.get(fault["schedule"], fault["schedule"])


def _forget(folder: str, report: Report) -> None:
    """What replays a fault is gone with the folder: nothing in the report tells of it."""
    report.text = "".join(line for line in report.text.splitlines(True) if folder not in line)
    for fault in report.check["faults"]:
        fault["schedule"] = None


def read_results(data: bytes) -> dict[int, tuple[dict[str, Any], NDArray[Any], NDArray[Any]]]:
    """The file of --results, one check: position -> (description, values, written), both stacked."""
    end = data.index(b"\n")
    head = json.loads(data[:end])
    at, found = end + 1, {}
    for i, array in enumerate(head["arrays"]):
        if array["opaque"]:
            continue
        dtype = parse_dtype(array["type"])
        assert dtype is not None
        count = int(np.prod(array["shape"], dtype=np.int64))
        values, written = [], []
        for _ in range(array["units"]):
            values.append(np.frombuffer(data, dtype, count, at).reshape(array["shape"]))
            written.append(np.frombuffer(data, np.uint8, count, at + count * dtype.itemsize).reshape(array["shape"]))
            at += count * (dtype.itemsize + 1)
        found[i] = (array, np.stack(values), np.stack(written))
    return found


def _results(traced: Traced, data: bytes, wants: Asked | None) -> Any:
    """What the function returns; None if an array is opaque."""
    arrays = [a for a in traced.plan.program.arrays if not a.semaphore]
    found = read_results(data)

    def values(array: Array) -> NDArray[Any]:
        position = next(i for i, a in enumerate(arrays) if a is array)
        if position not in found and (wants is None or not wants.skips_floats):
            raise _Opaque
        if position not in found:
            return np.full((traced.plan.mesh.devices, *array.shape), np.inf, array.dtype)
        _, kept, written = found[position]
        return kept if wants is None else wants.filled(kept, written != 0)

    try:
        return traced.place_results(traced.plan.finish(values))
    except _Opaque:
        return None


class _Opaque(Exception):
    pass
