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

    return any(e.value == "heddle_pallas.frontend.plugin" for e in entry_points(group="pytest11"))


@pytest.fixture
def run(pytester, monkeypatch):
    import heddle_pallas

    package = str(Path(heddle_pallas.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), package, os.environ.get("PYTHONPATH", "")]))
    pytester.makepyfile(TESTS)
    plugin = [] if installed() else ["-p", "heddle_pallas.frontend.plugin"]
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


EXISTING = """
import jax, numpy as np
import kernels_memory as k, kernels_ring as rings
from jax.sharding import PartitionSpec as P

def test_right():
    x = np.arange(32 * 128, dtype=np.float32).reshape(32, 128)
    assert (np.asarray(jax.jit(k.accumulate)(x)) == x.reshape(4, 8, 128).sum(axis=0)).all()

def test_reads_too_soon():
    jax.jit(k.read_before_the_wait)(np.ones((8, 128), np.float32))

def test_fails_of_itself():
    assert (np.asarray(jax.jit(k.accumulate)(np.ones((32, 128), np.float32))) == 5).all()

def test_no_kernel():
    pass
"""


@pytest.mark.usefixtures("heddle_ready")
def test_existing_tests_as_they_are(run, pytester):
    pytester.makepyfile(test_existing=EXISTING)
    done = run("--heddle-checked", "--heddle-html=pages", "--junitxml=out.xml", "test_existing.py")
    assert all("<html" in page.read_text() for page in (pytester.path / "pages").glob("*.html"))
    assert len(list((pytester.path / "pages").glob("*.html"))) == 3
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["*AssertionError: copy_order_kernel: faulty*"])
    found = {
        case.get("name"): [p.get("value") for p in case.iter("property")]
        for case in xml.etree.ElementTree.parse(pytester.path / "out.xml").iter("testcase")
    }
    assert found["test_right"] == ["verified"] and found["test_reads_too_soon"] == ["faulty", "race"] and found["test_no_kernel"] == []


def test_existing_tests_need_the_checker(run, monkeypatch, pytester):
    pytester.makepyfile(test_existing=EXISTING)
    monkeypatch.setenv("HEDDLE", "/no/such/heddle")
    run("--heddle-checked", "test_existing.py").assert_outcomes(failed=4)
    run("--heddle-checked", "--heddle-optional", "test_existing.py").assert_outcomes(skipped=4)
