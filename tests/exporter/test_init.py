"""heddle-pallas init: what it writes runs, and it writes over nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TWO = """
import functools

import jax
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0


def double(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def twice(x, y):
    return double(double(x)) + y


def plain(x):
    return x


def three_dimensions(x):
    a, b, c = x.shape
    return double(x)


def _private(x):
    return double(x)


def read_too_soon(x, axis="x"):
    def body(x_ref, o_ref, t_ref, sem):
        copy = pltpu.make_async_copy(x_ref, t_ref, sem)
        copy.start()
        o_ref[...] = t_ref[...]
        copy.wait()

    return pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        scratch_shapes=[pltpu.VMEM(x.shape, x.dtype), pltpu.SemaphoreType.DMA],
    )(x)


def on_a_mesh(mesh, x):
    P = jax.sharding.PartitionSpec
    return jax.shard_map(double, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)(x)
"""


def run(*command, cwd):
    path = os.pathsep.join([str(cwd), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env={**os.environ, "PYTHONPATH": path})


def init(*arguments, cwd):
    return run(sys.executable, "-m", "heddle_pallas", "init", *arguments, cwd=cwd)


def installed():
    from importlib.metadata import entry_points

    return any(e.value == "heddle_pallas.frontend.plugin" for e in entry_points(group="pytest11"))


@pytest.mark.usefixtures("heddle_ready")
def test_what_it_writes_runs(tmp_path):
    (tmp_path / "two.py").write_text(TWO)
    (tmp_path / "tests").mkdir()
    done = init("two", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tests/test_two_heddle.py: tests of double, twice, read_too_soon, on_a_mesh",
        "  three_dimensions is a comment there: two.py:27: ValueError: not enough values to unpack (expected 3, got 2)",
        ".github/workflows/heddle-two.yml: runs them at each push",
        "The shapes are guesses: put in those that you use. Then:  python -m pytest tests/test_two_heddle.py",
    ]
    plugin = [] if installed() else ["-p", "heddle_pallas.frontend.plugin"]
    (step,) = [line for line in (tmp_path / ".github/workflows/heddle-two.yml").read_text().splitlines() if "-m pytest" in line]
    arguments = step.partition("-m pytest ")[2].split()
    tested = run(sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "-q", *arguments, cwd=tmp_path)
    assert "9 passed" in tested.stdout and "3 failed" in tested.stdout, tested.stdout
    assert all("read_too_soon" in line for line in tested.stdout.splitlines() if line.startswith("FAILED"))


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "two.py").write_text(TWO)
    assert init("two.py", cwd=tmp_path).returncode == 0
    before = {p: p.read_text() for p in tmp_path.rglob("*heddle*") if p.is_file()}
    assert {p.relative_to(tmp_path).as_posix() for p in before} == {"test_two_heddle.py", ".github/workflows/heddle-two.yml"}
    again = init("two.py", cwd=tmp_path)
    assert again.returncode == 2
    assert (
        again.stderr == "heddle-pallas: test_two_heddle.py is there already, and stays as it is: remove it first, or name another folder\n"
    )
    (tmp_path / "test_two_heddle.py").unlink()
    assert "heddle-two.yml is there already" in init("two.py", cwd=tmp_path).stderr
    assert not (tmp_path / "test_two_heddle.py").exists()


def test_a_module_without_kernels(tmp_path):
    (tmp_path / "none.py").write_text("def kernel(x):\n    return x\n\n\ndef f(x):\n    return kernel(x)\n")
    done = init("none", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "heddle-pallas: none: no public function in it calls a kernel (pallas_call, pl.kernel or core_map)\n"
    assert list(Path(tmp_path).iterdir()) == [tmp_path / "none.py"] or not list(tmp_path.glob("test_*"))
