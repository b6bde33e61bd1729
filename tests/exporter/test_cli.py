"""The command line on kernels, right and wrong."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from heddle_pallas.frontend.binary import find_heddle

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.usefixtures("heddle_ready")


def run(*arguments, cwd):
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "heddle_pallas", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_sizes_and_table(tmp_path):
    done = run("check", "kernels_ring:all_gather_shared_semaphore", "-n", "2..3", "--input", "x=f32[8,128]", cwd=tmp_path)
    assert done.returncode == 1
    assert [line.split() for line in done.stdout.strip().splitlines()[-2:]] == [["x=2", "verified"], ["x=3", "faulty", "race"]]
    assert "kernels_ring.py:" in done.stdout and "pass_on.start()" in done.stdout


def schedules_of(report):
    return [fault["schedule"] for check in json.loads(report.read_text())["checks"] for fault in check["faults"]]


def test_schedules_of_all_sizes_replay(tmp_path):
    function = "kernels_ring:all_reduce_no_capacity"
    said = run("check", function, "-n", "2,3", "--input", "x=f32[8,128]", "--json", "report.json", cwd=tmp_path).stdout
    schedules = sorted((tmp_path / "heddle-schedules").glob("*.schedule"))
    assert {path.name.split("-")[1] for path in schedules} == {"n2", "n3"}
    shown = [schedule for schedule in schedules if f"heddle-pallas replay {schedule.relative_to(tmp_path)}" in said]
    assert len(shown) == said.count("heddle-pallas replay ") >= 1
    for schedule in schedules:  # the text names one for each cause, the report all
        assert str(schedule.relative_to(tmp_path)) in schedules_of(tmp_path / "report.json")
        done = run("replay", schedule.relative_to(tmp_path), cwd=tmp_path)
        assert done.returncode == 1 and "the schedule shows the fault" in done.stdout


def test_faults_are_explained(tmp_path):
    done = run("explain", "race", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("race: ")


def test_nothing_is_left_when_nothing_is_wrong(tmp_path):
    assert run("check", "kernels_ring:all_gather", "--input", "x=f32[8,128]", "-q", cwd=tmp_path).stdout == "all_gather, x=2: verified\n"
    assert list(tmp_path.iterdir()) == []


def test_export_is_checked_by_hand(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(4 * 8 * 128, dtype=np.float32).reshape(4, 8, 128))
    done = run("export", "kernels_ring:all_gather", "-n", "4", "--input", "x=devices@x.npy", "-o", "gather.c", cwd=tmp_path)
    assert done.returncode == 0 and sorted(p.name for p in tmp_path.iterdir()) == ["gather.c", "gather.c.data", "x.npy"]
    checked = subprocess.run(
        [find_heddle(), "check", "gather.c", "--mesh", "x=4", "--json", "report.json"], capture_output=True, check=False, cwd=tmp_path
    )
    assert checked.returncode == 0 and json.loads((tmp_path / "report.json").read_text())["checks"][0]["verdict"] == "verified"


def test_a_function_that_wants_the_mesh(tmp_path):
    (tmp_path / "whole.py").write_text("""
import jax
from jax.sharding import PartitionSpec as P
import kernels_ring

def gather(x, mesh):
    return jax.shard_map(kernels_ring.all_gather, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
""")
    done = run("check", "whole.py:gather", "-n", "2,4", "--input", "x=f32[32,128]", "-q", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == "gather, x=2: verified\ngather, x=4: verified\n"


def test_other_axis_and_options(tmp_path):
    (tmp_path / "ring.py").write_text("""
from jax import lax
import jax
import kernels_ring as k
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

def kernel(x_ref, o_ref, send_sem, recv_sem):
    left, right = k.neighbours("i")
    copy = pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=right, device_id_type=k.LOGICAL)
    copy.start()
    copy.wait()

def permute(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[k.ANY], out_specs=k.ANY,
                          scratch_shapes=[k.DMA, k.DMA])(x)
""")
    done = run(
        "check",
        "ring.py:permute",
        "-n",
        "3",
        "--axis",
        "i",
        "--input",
        "x=f32[8,128]",
        "--dma-progress",
        "whole",
        "--search",
        "prove",
        cwd=tmp_path,
    )
    assert done.returncode == 0 and "dma-progress whole" in " ".join(done.stdout.split())


def test_reports_of_all_sizes(tmp_path):
    options = ["-n", "2,3", "--html", "pages", "--json", "report.json", "-j", "2", "--advice", "-q"]
    done = run("check", "kernels_ring:all_gather", "--input", "x=f32[8,128]", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name.rpartition("-")[0] for path in sorted((tmp_path / "pages").iterdir())] == ["all_gather-x2", "all_gather-x3"]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["format"] == "heddle-report" and [c["devices"] for c in report["checks"]] == [2, 3]
    assert all(c["source"].endswith("kernels_ring.py") for c in report["checks"])


DIFFERENT = [[], ["--cores", "2"], ["--axis", "i"], ["--opaque"], ["--dma-progress", "whole"]]


def test_a_page_for_each_question(tmp_path):
    """What changes the program, or how it is judged, is in the name; the same question keeps its page."""
    (tmp_path / "copies.py").write_text("""
import jax
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

def double(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
""")
    shutil.copy(tmp_path / "copies.py", tmp_path / "others.py")
    asked = [("copies", "f32[8,128]", more) for more in DIFFERENT] + [("copies", "f32[16,128]", []), ("others", "f32[8,128]", [])]
    for module, shape, more in [*asked, asked[0]]:
        done = run("check", f"{module}:double", "--input", f"x={shape}", "--html", "pages", "-q", *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    names = [path.name for path in (tmp_path / "pages").iterdir()]
    assert len(names) == len(asked)
    assert {name.rpartition("-")[0] for name in names} == {"double-x2", "double-x2-cores2", "double-i2"}


def test_schedules_of_all_programs_replay(tmp_path):
    """Another shape, more cores, other options: nothing that a schedule needs is replaced. The same check writes the same files."""
    function, folder = "kernels_ring:all_gather_shared_semaphore", tmp_path / "heddle-schedules"
    asked = [["--input", "x=f32[8,128]"], ["--input", "x=f32[16,128]"], ["--input", "x=f32[8,128]", "--cores", "2"]]
    asked.append([*asked[0], "--dma-progress", "whole"])
    for more in [*asked, asked[0]]:
        assert run("check", function, "-n", "3", *more, "-q", cwd=tmp_path).returncode == 1
    schedules = sorted(folder.glob("*.schedule"))
    assert len(schedules) == len(asked) and len(list(folder.glob("*.c"))) == len(asked) - 1  # two of them are of one program
    for schedule in schedules:
        done = run("replay", schedule.relative_to(tmp_path), cwd=tmp_path)
        assert done.returncode == 1 and "the schedule shows the fault" in done.stdout
