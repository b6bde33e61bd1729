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


IN_CLASSES = """
import unittest
import jax, numpy as np
import kernels_memory as k

try:
    from absl.testing import parameterized
except ImportError:
    parameterized = None

X = np.ones((8, 128), np.float32)

class Plain(unittest.TestCase):
    def test_reads_too_soon(self):
        jax.jit(k.read_before_the_wait)(X)

    def test_right(self):
        jax.jit(k.accumulate)(np.ones((32, 128), np.float32))

    @unittest.skip("by the author")
    def test_skipped(self):
        jax.jit(k.read_before_the_wait)(X)

if parameterized is not None:
    class OfAbsl(parameterized.TestCase):
        @parameterized.parameters(1, 2)
        def test_reads_too_soon(self, _):
            jax.jit(k.read_before_the_wait)(X)
"""


@pytest.mark.usefixtures("heddle_ready")
def test_methods_of_test_cases_are_checked(run, pytester):
    absl = 2 if __import__("importlib").util.find_spec("absl") else 0
    pytester.makepyfile(test_classes=IN_CLASSES)
    done = run("--heddle-checked", "test_classes.py")
    done.assert_outcomes(passed=1, failed=1 + absl, skipped=1)
    done.stdout.fnmatch_lines(
        ["*AssertionError: copy_order_kernel: faulty*", f"{2 + absl} kernels judged: 1 verified, {1 + absl} faulty; 0 refused"]
    )


OTHERS = """
import jax, numpy as np
import kernels_memory as k
from jax.experimental import pallas as pl

def test_no_kernel():
    pass

def strange_kernel(x_ref, o_ref):
    o_ref[...] = jax.lax.bessel_i0e(x_ref[...])

def test_refused():
    jax.jit(pl.pallas_call(strange_kernel, out_shape=k.struct((8, 128))))(np.ones((8, 128), np.float32))

def test_refused_and_the_test_looks_away():
    try:
        test_refused()
    except Exception:
        pass
"""


@pytest.mark.usefixtures("heddle_ready")
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_refused_kernels_are_listed_with_the_reason(run, pytester, workers):
    if workers:
        pytest.importorskip("xdist")
    pytester.makepyfile(test_others=OTHERS)
    done = run("--heddle-checked", *workers, "test_others.py")
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        ["0 kernels judged; 2 refused", "refused: strange_kernel: test_others.py:*bessel_i0e*is not supported* (2 times)"]
    )


@pytest.mark.usefixtures("heddle_ready")
def test_a_run_without_kernels_may_be_wrong(run, pytester):
    pytester.makepyfile(test_others=OTHERS)
    assert run("--heddle-checked", "test_others.py", "-k", "no_kernel").ret == 0
    done = run("--heddle-checked", "--heddle-want-kernels", "test_others.py", "-k", "no_kernel")
    assert done.ret == 1
    done.stdout.fnmatch_lines(["no kernel was judged, and --heddle-want-kernels wants one*"])
    pytester.makepyfile(test_existing=EXISTING)
    assert run("--heddle-checked", "--heddle-want-kernels", "test_existing.py", "-k", "right").ret == 0


FOR_THE_INTERPRETER = """
import jax, jax.numpy as jnp, numpy as np, pytest
import kernels_memory as k
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax._src.pallas.mosaic.interpret import interpret_pallas_call as interpreter

X = np.ones((8, 128), np.float32)

def call(kernel, *scratch, **settings):
    return pl.pallas_call(
        kernel, out_shape=k.struct((8, 128)), in_specs=[pl.BlockSpec(memory_space=pl.ANY)], scratch_shapes=scratch,
        interpret=pltpu.InterpretParams(**settings))(X).block_until_ready()

def copies(early):
    def kernel(x_ref, o_ref, t_ref, sem):
        copy = pltpu.make_async_copy(x_ref, t_ref, sem)
        copy.start()
        if not early:
            copy.wait()
        o_ref[...] = t_ref[...] + 1.0
        if early:
            copy.wait()
    return call(kernel, pltpu.VMEM((8, 128), jnp.float32), pltpu.SemaphoreType.DMA, detect_races=True)

def test_it_wants_a_race():
    copies(early=False)
    assert not interpreter.races.races_found
    copies(early=True)
    assert interpreter.races.races_found

def test_it_wants_none():
    copies(early=True)
    assert not interpreter.races.races_found

def test_it_does_not_look():
    copies(early=True)

def test_it_looks_at_another():
    copies(early=True)
    copies(early=False)
    assert not interpreter.races.races_found

def beyond(row, **settings):
    def kernel(x_ref, o_ref, t_ref):
        pltpu.sync_copy(x_ref.at[0], t_ref.at[row])
        o_ref[...] = jnp.zeros((8, 128), jnp.float32)
    return call(kernel, pltpu.VMEM((10, 128), jnp.float32), **settings)

def test_it_wants_an_exception():
    with pytest.raises(Exception, match="Out-of-bounds write"):
        beyond(10)
    pltpu.reset_tpu_interpret_mode_state()

def test_it_wants_another_exception():
    with pytest.raises(Exception, match="Out-of-bounds read"):
        beyond(10)

def test_it_wants_no_exception():
    beyond(10)

def test_the_padding_counts():
    beyond(10, buffer_bounds="padded")

def test_the_interpreter_would_not_take_it():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]
    with pytest.raises(ValueError, match="cannot be referenced directly"):
        call(kernel)

def test_nothing_wrote_it():
    def kernel(x_ref, o_ref):
        o_ref[0:4, :] = jnp.zeros((4, 128), jnp.float32)
    y = np.asarray(call(kernel))
    assert (y[:4] == 0).all() and np.isnan(y[4:]).all()
    assert (np.asarray(call(kernel, uninitialized_memory="zero")) == 0).all()

def revisits():
    def kernel(x_ref, first_ref, second_ref):
        pass
    blocks = [pl.BlockSpec((8, 128), lambda i: (i, 0)), pl.BlockSpec((8, 128), lambda i: (i % 2, 0))]
    shape = jax.ShapeDtypeStruct((32, 128), jnp.float32)
    params = pltpu.InterpretParams()
    x = jnp.zeros((8, 128), jnp.float32)
    return pl.pallas_call(kernel, grid=(4,), out_specs=blocks, out_shape=[shape, shape], interpret=params)(x)

def test_it_wants_a_revisit():
    with pytest.raises(Exception, match=r"Revisited block \\(0, 0\\) of output 1 in iteration \\(2,\\)"):
        revisits()

def test_it_wants_no_revisit():
    revisits()

def test_it_asks_how_the_interpreter_goes():
    def kernel(x_ref, o_ref):
        o_ref[...] = jnp.zeros((8, 128), jnp.float32)
    call(kernel, grid_point_recorder=lambda token, point, core: token)
"""


@pytest.mark.usefixtures("heddle_ready")
def test_tests_that_were_written_for_the_interpreter(run, pytester):
    pytest.importorskip("jax._src.pallas.mosaic.interpret.interpret_pallas_call")
    pytester.makepyfile(test_interpreter=FOR_THE_INTERPRETER)
    done = run("--heddle-checked", "-rA", "test_interpreter.py")
    passed = {line.rpartition("::")[2] for line in done.outlines if line.startswith("PASSED")}
    assert passed == {
        "test_it_wants_a_race",
        "test_it_wants_an_exception",
        "test_it_wants_a_revisit",
        "test_the_padding_counts",
        "test_the_interpreter_would_not_take_it",
        "test_nothing_wrote_it",
    }
    text = done.stdout.str()
    assert "refused: kernel: InterpretParams(grid_point_recorder=...) is not supported; it asks" in text
    assert "3 of the faulty ones are wanted so by their tests" in text
    (why,) = [line for line in done.outlines if line.startswith("FAILED") and "wants_no_exception" in line]
    assert "AssertionError" in why  # with the report, and not the exception that stood for it


@pytest.mark.usefixtures("heddle_ready")
def test_devices_of_a_stated_tpu(run, pytester):
    pytester.makepyfile(test_tpu=TPU)
    run("--heddle-checked", "--heddle-tpu=v5e", "test_tpu.py").assert_outcomes(passed=1)
    done = run("--heddle-checked", "--heddle-tpu=v55", "test_tpu.py")
    done.stdout.fnmatch_lines(["*v55: no TPU that is known; the kinds are v4, v5e, v5p, v6e, 7x*"])
    assert done.ret != 0


TPU = """
import jax, numpy as np
import kernels_memory as k
from jax.experimental.pallas import tpu as pltpu

def test_asks():
    device = jax.devices()[0]
    assert device.device_kind == "TPU v5 lite" and device.memory_stats()["bytes_limit"] == 16 << 30
    if hasattr(pltpu, "get_tpu_info"):
        assert pltpu.get_tpu_info().vmem_capacity_bytes == 128 << 20
    jax.jit(k.accumulate)(np.ones((32, 128), np.float32))
"""
