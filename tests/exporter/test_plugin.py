"""The pytest plugin, in pytest runs of their own."""

import os
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
HERE = Path(__file__).resolve().parent

TESTS = """
import kernels_ring as k

def test_right(heddle, heddle_devices):
    assert heddle.verify(k.all_gather, "f32[8,128]", mesh=heddle_devices).ok

def test_wrong(heddle):
    heddle.verify(k.all_gather_shared_semaphore, "f32[8,128]", mesh=3)
"""


def installed():
    from importlib.metadata import entry_points

    return any(e.value == "heddle_pallas.plugin" for e in entry_points(group="pytest11"))


@pytest.fixture
def run(pytester, monkeypatch):
    import heddle_pallas

    package = str(Path(heddle_pallas.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), package, os.environ.get("PYTHONPATH", "")]))
    pytester.makepyfile(TESTS)
    plugin = [] if installed() else ["-p", "heddle_pallas.plugin"]
    return lambda *arguments: pytester.run(sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", *arguments)


@pytest.mark.usefixtures("heddle_ready")
def test_sizes_pages_and_properties(run, pytester):
    done = run("--heddle-devices=2,3", "--heddle-html=pages", "--junitxml=out.xml")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["*AssertionError: all_gather_shared_semaphore: faulty*"])
    assert len(list((pytester.path / "pages").glob("*.html"))) == 3
    found = [p.attrib for p in xml.etree.ElementTree.parse(pytester.path / "out.xml").iter("property")]
    assert {"name": "heddle_verdict", "value": "verified"} in found and {"name": "heddle_faults", "value": "race"} in found


@pytest.mark.usefixtures("heddle_ready")
def test_several_workers(run):
    pytest.importorskip("xdist")
    run("-n", "2", "--heddle-devices=2..4", "--heddle-html=pages").assert_outcomes(passed=3, failed=1)


def test_missing_checker_is_an_error(run, monkeypatch):
    monkeypatch.setenv("HEDDLE", "/no/such/heddle")
    done = run("--heddle-devices=2")
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*no such program*"])


def test_unless_it_is_optional(run, monkeypatch):
    monkeypatch.setenv("HEDDLE", "/no/such/heddle")
    run("--heddle-devices=2", "--heddle-optional").assert_outcomes(skipped=2)


@pytest.mark.usefixtures("heddle_ready")
def test_time_is_limited(run):
    done = run("--heddle-devices=2", "--heddle-timeout=0.001", "-k", "right")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*no verdict within 0.001 s*"])


def test_malformed_sizes(run):
    done = run("--heddle-devices=8..2")
    assert done.ret != 0
    done.stdout.fnmatch_lines(["*--heddle-devices=8..2: not a number of devices*"])
