"""Nothing goes on when who asked for a check is gone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
pytestmark = [pytest.mark.usefixtures("heddle_ready"), pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

LONG = """
import heddle_pallas, kernels_ring
heddle_pallas.check(kernels_ring.all_gather, "f32[8,128]", mesh=8, search="enumerate", states=10**9, timeout={timeout})
"""


def checkers(folder):
    """The checker's processes that work on something in this folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:  # it has just ended
                continue
            if b"check" in words and any(w.startswith(os.fsencode(folder)) for w in words):
                found.append(int(process.name))
    return found


def until(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.1)


def start(folder, timeout=None):
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    asking = subprocess.Popen(
        [sys.executable, "-c", LONG.format(timeout=timeout)],
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: checkers(folder))
    return asking


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_check_outlives_python(tmp_path, number):
    asking = start(tmp_path)
    asking.send_signal(number)
    asking.communicate(timeout=120)
    until(lambda: not checkers(tmp_path))


def test_no_check_outlives_its_limit(tmp_path):
    asking = start(tmp_path, timeout=5)
    _, said = asking.communicate(timeout=120)
    assert said.strip().endswith("all_gather: no verdict within 5 s; allow more time, or fewer devices")
    assert not checkers(tmp_path)
    assert not list(tmp_path.glob("heddle-*"))
