"""heddle-pallas survey: public kernels from unmodified source, each judged in a process of its own, as a table.

What a kernel is, and how it is called, says its manifest (manifest.py); where its repository is, --root.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterable, Sequence

from ..errors import HeddleError
from ..mesh import as_mesh
from .binary import find_compiler, find_heddle
from .files import write_file
from .manifest import DECIDED, NOT_OPTIONS, Case, Repository, read_manifest
from .options import VALUES

FORMAT, VERSION = "heddle-survey", 1
OPTIONS = tuple(name for name in VALUES if name not in NOT_OPTIONS)
HEAD = ("KERNEL", "MESH", "COPIES", "VERDICT", "SECONDS", "")
COPIES = (("local",), ("local", "blocks"), ("remote",))
WORDS = (*DECIDED, "bounded", "refused", "timed out", "broken")


@dataclasses.dataclass(frozen=True)
class Row:
    """What came of one kernel at one size."""

    case: Case
    verdict: str  # one of WORDS
    faults: tuple[str, ...]
    reason: str  # of a verdict that does not speak for itself
    seconds: float
    text: str = ""  # the report
    copies: tuple[str, ...] = ()  # that the kernels make: local, blocks (of BlockSpecs), remote

    @property
    def outcome(self) -> str:
        """As the manifest writes it."""
        return f"{self.verdict}: {', '.join(self.faults)}" if self.faults else self.verdict

    @property
    def as_expected(self) -> bool:
        return self.outcome == self.case.expected


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("manifest", nargs="+", help="TOML, one file for each repository")
    command.add_argument("--root", required=True, metavar="DIR", help="where the repositories are: DIR/NAME")
    command.add_argument("-k", dest="only", metavar="TEXT", default="", help="only kernels whose repository/name contains this")
    command.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="kernels at once (default: one a processor)")
    command.add_argument("--time", type=float, default=120.0, metavar="SECONDS", help="limit of one kernel at one size (default 120)")
    command.add_argument("--memory", type=float, default=6.0, metavar="GIB", help="limit of one kernel at one size, in GiB (default 6)")
    command.add_argument("--json", metavar="FILE", default=None, help="write the table as JSON, which --against reads")
    command.add_argument("--markdown", metavar="FILE", default=None, help="write it as Markdown")
    command.add_argument("--against", metavar="FILE", default=None, help="say what is different from an earlier --json")
    command.add_argument("--reports", metavar="DIR", default=None, help="keep the report of each kernel that was checked")
    for option in OPTIONS:
        command.add_argument(f"--{option.replace('_', '-')}", default=None, help="as in `heddle check`, for all kernels")


def survey(options: argparse.Namespace) -> int:
    """0: all as expected, and nothing is different from --against. 1: something is not."""
    cases = [case for path in options.manifest for case in read_manifest(path)]
    chosen = [case for case in cases if options.only in f"{case.repository.name}/{case.name}"]
    if not chosen:
        raise HeddleError(f"-k {options.only}: no such kernel; there are {', '.join(dict.fromkeys(c.name for c in cases))}")
    _jobs(options)
    notes = [note for repository in dict.fromkeys(c.repository for c in chosen) for note in _checkout(repository, Path(options.root))]
    earlier = None if options.against is None else _read(options.against)
    find_heddle()
    find_compiler()
    rows = _judge_all(chosen, options)
    table = [HEAD, *map(_line, rows)]
    print("\n".join([*_columns(table), "", *notes, _summary(rows)]))
    if options.reports is not None:
        for row in rows:
            if row.text:
                write_file(Path(options.reports) / f"{_file_name(row.case)}.txt", row.text)
    if options.json is not None:
        write_file(Path(options.json), _json(rows))
    if options.markdown is not None:
        write_file(Path(options.markdown), _markdown(rows, notes))
    changes = [] if earlier is None else _changes(earlier, rows, whole=not options.only)
    if earlier is not None:
        print("\n".join([f"Different from {options.against}:", *(f"  {c}" for c in changes)] if changes else [f"As in {options.against}."]))
    return int(bool(changes) or not all(row.as_expected for row in rows))


def _jobs(options: argparse.Namespace) -> None:
    for name, value in (("--jobs", options.jobs), ("--time", options.time), ("--memory", options.memory)):
        if not value > 0:
            raise HeddleError(f"{name}={value:g}: must be more than 0")


def _checkout(repository: Repository, root: Path) -> list[str]:
    """What to note about the checkout, which must be there: that it is at another commit."""
    folder = root / repository.name
    if not folder.is_dir():
        raise HeddleError(f"{folder}: no such folder; git clone {repository.url} {folder}")
    try:
        done = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    except OSError:
        return [f"{repository.name}: is it the commit {repository.commit[:12]}? There is no git to tell."]
    found = done.stdout.strip() if done.returncode == 0 else "no repository of git"
    if found == repository.commit:
        return []
    return [f"{repository.name}: the checkout is {found[:20]}, the manifest says {repository.commit[:12]}."]


# Running


class _Running:
    """The processes of a survey, which end with it: by ctrl-C and SIGTERM here, by SIGKILL in surveyed.py."""

    def __init__(self) -> None:
        self.lock, self.over = threading.Lock(), False
        self.processes: set[subprocess.Popen[str]] = set()

    def start(self, command: Sequence[str], **streams: Any) -> subprocess.Popen[str]:
        with self.lock:
            if self.over:
                raise HeddleError("the survey was ended")
            process = subprocess.Popen(command, text=True, start_new_session=True, **streams)
            self.processes.add(process)
            return process

    def end(self, process: subprocess.Popen[str]) -> None:
        with self.lock:
            self.processes.discard(process)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

    def end_all(self) -> None:
        with self.lock:
            self.over = True
        for process in list(self.processes):
            self.end(process)


def _judge_all(cases: Sequence[Case], options: argparse.Namespace) -> list[Row]:
    running = _Running()
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            return list(pool.map(lambda case: _judge(case, options, running), cases))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            running.end_all()
            raise
        finally:
            signal.signal(signal.SIGTERM, before)


def _judge(case: Case, options: argparse.Namespace, running: _Running) -> Row:
    given = {**case.options, **{name: getattr(options, name) for name in OPTIONS if getattr(options, name) is not None}}
    if options.reports is not None:
        given["schedules"] = str(Path(options.reports) / "schedules" / _file_name(case))
    root = Path(options.root).resolve() / case.repository.name
    question = {"case": {**dataclasses.asdict(case), "options": given}, "root": str(root), "memory": int(options.memory * 2**30)}
    with tempfile.TemporaryDirectory(prefix="heddle-survey-") as folder:
        asked, answered = Path(folder) / "question", Path(folder) / "answer"
        asked.write_text(json.dumps(question), encoding="utf-8")
        started = time.monotonic()
        command = [sys.executable, "-m", "heddle_pallas.frontend.surveyed", str(asked), str(answered)]
        ended = _run(command, options.time, case, running)
        seconds = time.monotonic() - started
        if answered.exists():
            found = json.loads(answered.read_text(encoding="utf-8"))
            return Row(case, found["verdict"], tuple(found["faults"]), found["reason"], seconds, found["text"], tuple(found["copies"]))
    if ended is None:
        return Row(case, "timed out", (), f"no verdict within {options.time:g} s", seconds)
    return Row(case, "broken", (), ended, seconds)


def _run(command: Sequence[str], limit: float, case: Case, running: _Running) -> str | None:
    """How it ended, in words. None: it reached the time limit, and it and all that it started were killed."""
    devices = "--xla_force_host_platform_device_count=" + str(_devices(case))
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    own = {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": devices, "HEDDLE_SURVEY": str(os.getpid())}
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    process = running.start(command, stdout=nothing, stderr=pipe, errors="replace", env={**os.environ, **own})
    try:
        said = process.communicate(timeout=limit)[1].strip().splitlines()
    except subprocess.TimeoutExpired:
        return None
    finally:
        running.end(process)
        process.communicate()
    how = f"ended by signal {-process.returncode}" if process.returncode < 0 else f"ended with status {process.returncode}"
    return f"{how}: {said[-1]}" if said else how


def _devices(case: Case) -> int:
    return as_mesh(case.mesh or 1).devices


# Showing


def _file_name(case: Case) -> str:
    return "-".join(filter(None, [case.repository.name, case.name, case.mesh.replace("=", "").replace(",", "-")]))


def _line(row: Row) -> tuple[str, ...]:
    name = f"{row.case.repository.name}/{row.case.name}"
    return (name, row.case.mesh or "-", ", ".join(row.copies) or "-", row.outcome, f"{row.seconds:.0f}", _remark(row))


def _remark(row: Row) -> str:
    """What the verdict alone does not say."""
    why = row.reason or (row.case.reason if row.as_expected and row.verdict != "verified" else "")
    return ("" if row.as_expected else f"expected {row.case.expected}" + ("; " if why else "")) + why


def _columns(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table]


def _summary(rows: Sequence[Row]) -> str:
    counts = [(sum(row.verdict == word for row in rows), word) for word in WORDS]
    kernels, decided = len({row.case.key[:2] for row in rows}), sum(row.verdict in DECIDED for row in rows)
    other = sum(not row.as_expected for row in rows)
    own, any_local, remote = (_different(row for row in rows if set(kinds) & set(row.copies)) for kinds in COPIES)
    return (
        f"{_count(kernels, 'kernel')}, {_count(len(rows), 'check')}: {', '.join(f'{n} {word}' for n, word in counts if n)}; "
        f"{100 * decided // len(rows)} % decided; {f'{other} not as expected' if other else 'all as expected'}. "
        f"Different functions with local copies: {any_local}, {own} of them with copies of their own; with remote copies: {remote}."
    )


def _different(rows: Iterable[Row]) -> int:
    return len({(row.case.repository.name, row.case.file, row.case.entry, row.case.until) for row in rows})


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _json(rows: Iterable[Row]) -> str:
    found = [
        {
            "repository": row.case.repository.name,
            "commit": row.case.repository.commit,
            "kernel": row.case.name,
            "file": row.case.file,
            "entry": row.case.entry,
            "mesh": row.case.mesh,
            "verdict": row.verdict,
            "faults": list(row.faults),
            "copies": list(row.copies),
            "reason": row.reason,
            "expected": row.case.expected,
            "expected_reason": row.case.reason,
            "as_expected": row.as_expected,
            "seconds": round(row.seconds, 1),
        }
        for row in rows
    ]
    return json.dumps({"format": FORMAT, "version": VERSION, "checks": found}, indent=2) + "\n"


def _markdown(rows: Sequence[Row], notes: Sequence[str]) -> str:
    lines = ["| kernel | file | entry | mesh | copies | verdict | |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        name, mesh, copies, outcome, _, remark = _line(row)
        cells = [name, f"`{row.case.file}`", f"`{row.case.entry}`", mesh, copies, outcome, remark]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([_summary(rows), *notes, "", *lines]) + "\n"


def _read(path: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as wrong:
        raise HeddleError(f"--against {path}: cannot read it: {getattr(wrong, 'strerror', None) or 'not JSON'}") from None
    if not isinstance(found, dict) or (found.get("format"), found.get("version")) != (FORMAT, VERSION):
        raise HeddleError(f"--against {path}: not what `heddle-pallas survey --json` of this version writes")
    checks: list[dict[str, Any]] = found["checks"]
    return checks


def _changes(earlier: Sequence[dict[str, Any]], rows: Sequence[Row], whole: bool) -> list[str]:
    """Where the outcome is another one; whole: kernels that are gone count."""
    before = {(e["repository"], e["kernel"], e["mesh"]): e for e in earlier}
    found = []
    for row in rows:
        was = before.pop(row.case.key, None)
        if was is None:
            found.append(f"{_name(*row.case.key)}: {row.outcome}; it was not there")
            continue
        then = f"{was['verdict']}: {', '.join(was['faults'])}" if was["faults"] else was["verdict"]
        if then != row.outcome:
            found.append(f"{_name(*row.case.key)}: {row.outcome}; it was {then}")
        elif row.verdict == "refused" and row.reason != was["reason"]:
            found.append(f"{_name(*row.case.key)}: refused for another reason: {row.reason}; it was {was['reason']}")
    return found + [f"{_name(*key)}: it is not there any more" for key in before if whole]


def _name(repository: str, kernel: str, mesh: str) -> str:
    return f"{repository}/{kernel}" + (f", {mesh}" if mesh else "")
