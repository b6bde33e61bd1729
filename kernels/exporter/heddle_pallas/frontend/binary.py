"""The checker as a program: where it is, the compiler that it uses, what it prints."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any, Callable, Sequence, TextIO

from ..errors import HeddleError


def find_heddle() -> str:
    """HEDDLE, the one that came with this package, the one of the source tree, the one on the PATH."""
    named = os.environ.get("HEDDLE")
    if named:
        if not os.access(named, os.X_OK):
            raise HeddleError(f"HEDDLE={named}: no such program; build it with `make`, or unset HEDDLE")
        return named
    package = Path(__file__).resolve().parents[1]
    for candidate in [package / "bin" / "heddle", *(p / "build" / "heddle" for p in package.parents[2:3])]:
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate)
    found = shutil.which("heddle")
    if found is None:
        raise HeddleError("cannot find the program heddle: build it with `make` in its source tree, or set HEDDLE=/path/to/heddle")
    return found


SECONDS_TO_END = 10


def call_to_the_end(command: Sequence[str], timeout: float | None = None, **streams: Any) -> "subprocess.CompletedProcess[str]":
    """Runs the checker. Nothing of it outlives this call, whether it ends by a result, a limit, ctrl-C, or the death of this process."""
    environment = {**os.environ, "HEDDLE_PARENT": str(os.getpid())}
    with subprocess.Popen(command, text=True, env=environment, **streams) as running:
        try:
            out, errors = running.communicate(timeout=timeout)
        except BaseException:
            _end(running)
            raise
        return subprocess.CompletedProcess(command, running.returncode, out, errors)


class Conversation:
    """With a checker that answers lines. What it says after the last answer is its report."""

    def __init__(self, running: "subprocess.Popen[str]") -> None:
        self._running = running

    def ask(self, line: str) -> str:
        """Empty: it has ended."""
        assert self._running.stdin is not None and self._running.stdout is not None
        try:
            self._running.stdin.write(line + "\n")
            self._running.stdin.flush()
        except BrokenPipeError:
            return ""
        return self._running.stdout.readline().strip()


def converse(
    command: Sequence[str], questions: Callable[[Conversation], None], timeout: float | None, errors: TextIO
) -> "subprocess.CompletedProcess[str]":
    """As call_to_the_end, of a checker that first is asked questions."""
    environment = {**os.environ, "HEDDLE_PARENT": str(os.getpid())}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as running:  # type: ignore[call-overload]
        late = threading.Event()
        clock = threading.Timer(timeout or threading.TIMEOUT_MAX, lambda: (late.set(), _end(running)))
        clock.daemon = True
        clock.start()
        try:
            questions(Conversation(running))
            out, _ = running.communicate()
        except BaseException:
            _end(running)
            raise
        finally:
            clock.cancel()
        if late.is_set():
            raise subprocess.TimeoutExpired(command, timeout or 0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, running.returncode, out, errors.read())


def _end(running: "subprocess.Popen[str]") -> None:
    """When told to stop, the checker first ends its processes and removes what they wrote."""
    running.terminate()
    try:
        running.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        running.kill()


def find_compiler() -> str:
    """heddle compiles what we write: say so before it does."""
    words = shlex.split(os.environ.get("CC", "") or "cc")
    if not words or shutil.which(words[0]) is None:
        raise HeddleError(f"there is no C compiler {words[0] if words else ''}: install gcc or clang, or set CC to one".replace("  ", " "))
    return words[0]


def in_words_of_pallas(text: str) -> str:
    """What the checker printed, with the names of Pallas and of this package's command."""
    for pattern, ours in (
        (r"\bheddle (replay|explain) ", r"heddle-pallas \1 "),
        (r"\bpl_at\((\w+), ([^()]*)\)", r"\1.at[\2]"),
        (r"\bpl_copy_(wait\w*)", r"\1"),
        (r"\bpl_(semaphore_\w+)", r"pl.\1"),
    ):
        text = re.sub(pattern, ours, text)
    return text
