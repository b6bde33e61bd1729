"""heddle-pallas survey: kernels of a repository that knows nothing of us."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_endings import until

pytestmark = [
    pytest.mark.usefixtures("heddle_ready"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="manifests are read with tomllib"),
]

RING = """
from jax import lax
import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
import vanished
from vanished.deep import Base, decorate

ANY, DMA = pl.BlockSpec(memory_space=pl.ANY), pltpu.SemaphoreType.DMA

class Config(Base):
    steps: int | vanished.Number = 1

@decorate
def all_gather(x, shared, mesh=None):
    def kernel(x_ref, o_ref, local_sem, send_sem, recv_sems):
        n, me, step = lax.axis_size("x"), lax.axis_index("x"), pl.program_id(0)
        slot = lax.rem(me - step + n, n)
        recv_sem = recv_sems.at[0 if shared else step]

        @pl.when(step == 0)
        def _():
            own = pltpu.make_async_copy(x_ref, o_ref.at[me], local_sem)
            own.start()
            own.wait()

        copy = pltpu.make_async_remote_copy(o_ref.at[slot], o_ref.at[slot], send_sem, recv_sem, device_id=(lax.rem(me + 1, n),))
        copy.start()
        copy.wait()

    n = lax.axis_size("x")
    return pl.pallas_call(
        kernel, grid=(n - 1,), out_shape=jax.ShapeDtypeStruct((n, *x.shape), x.dtype), in_specs=[ANY], out_specs=ANY,
        scratch_shapes=[DMA, DMA, DMA((n - 1,))],
    )(x)

def bessel(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = lax.bessel_i0e(x_ref[...])

    return pl.pallas_call(kernel, out_shape=x)(x)

def endless(x):
    while True:
        pass

def greedy(x):
    return bytearray(2**50)

def killed(x):
    import os
    os.kill(os.getpid(), 11)
"""
NOTES = """# How to copy

```python
from ours.ring import pl, pltpu, jax
LATER = jax.devices()[0].no_such_thing
```
```{code-cell} ipython3
---
id: x
---
def kernel(x_ref, o_ref, sem):
    pltpu.make_async_copy(x_ref, o_ref, sem).start()

def copy(x):
    return pl.pallas_call(kernel, out_shape=x, in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
                          out_specs=pl.BlockSpec(memory_space=pl.ANY), scratch_shapes=[pltpu.SemaphoreType.DMA])(x)
```
```python
def copy(x):
    return None
```
"""
COMMIT = "0123456789abcdef0123456789abcdef01234567"
HEAD = f"""
[repository]
name = "project"
url = "https://example.org/project"
commit = "{COMMIT}"
path = "src"
bare = ["ours"]
stubs = ["vanished"]
"""
RIGHT = """
[[kernel]]
name = "right"
file = "src/ours/ring.py"
entry = "all_gather"
arguments = { x = "f32[8,128]", shared = false }
mesh = ["x=2", "x=3"]
"""
TWIN = """
[[kernel]]
name = "twin"
file = "src/ours/ring.py"
entry = "all_gather"
arguments = { x = "f32[8,128]", shared = true }
mesh = ["x=2", "x=3"]
expect = { "x=2" = "verified", "x=3" = "faulty: race" }
reason = "one receive semaphore for all steps"
"""
REFUSED = """
[[kernel]]
name = "refused"
file = "src/ours/ring.py"
entry = "bessel"
arguments = { x = { python = "np.ones((8, lanes), np.float32)" } }
setup = "lanes = 128"
expect = "refused"
reason = "bessel functions"
"""
MARKDOWN = """
[[kernel]]
name = "notes"
file = "notes.md"
entry = "copy"
until = 18
arguments = { x = "f32[8,128]" }
expect = "faulty: in-flight, leftover"
reason = "nobody waits for it"
"""


@pytest.fixture
def project(tmp_path):
    """A checkout, and a manifest of kernels of it."""
    package = tmp_path / "root" / "project" / "src" / "ours"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('this package needs all the world')")
    (package / "ring.py").write_text(RING)
    (package.parents[1] / "notes.md").write_text(NOTES)

    def write(*kernels, head=HEAD):
        (tmp_path / "project.toml").write_text("\n".join([head, *kernels]))
        return tmp_path

    return write


def run(folder, *arguments, manifest="project.toml"):
    return subprocess.run(
        [sys.executable, "-m", "heddle_pallas", "survey", manifest, "--root", "root", "-j", "2", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ,
    )


def table(done):
    """(kernel, mesh) -> (outcome, the rest of the line)."""
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    at = {name: lines[0].index(name) for name in ("MESH", "COPIES", "VERDICT", "SECONDS")}
    found = {}
    for line in lines[1 : lines.index("")]:
        key = line[: at["MESH"]].strip().partition("/")[2], line[at["MESH"] : at["COPIES"]].strip()
        found[key] = line[at["VERDICT"] : at["SECONDS"]].strip(), line[at["SECONDS"] :].strip().partition(" ")[2].strip()
    return found


def test_what_is_expected(project):
    folder = project(RIGHT, TWIN, REFUSED, MARKDOWN)
    done = run(folder, "--json", "t.json", "--markdown", "t.md", "--reports", "reports")
    assert done.returncode == 0, done.stdout + done.stderr
    found = table(done)
    assert {key: outcome for key, (outcome, _) in found.items()} == {
        ("right", "x=2"): "verified",
        ("right", "x=3"): "verified",
        ("twin", "x=2"): "verified",
        ("twin", "x=3"): "faulty: race",
        ("refused", "-"): "refused",
        ("notes", "-"): "faulty: in-flight, leftover",
    }
    assert found["twin", "x=3"][1] == "one receive semaphore for all steps" and found["right", "x=2"][1] == ""
    assert "ring.py:39: the primitive bessel_i0e is not supported" in found["refused", "-"][1]
    summary = "4 kernels, 6 checks: 3 verified, 2 faulty, 1 refused; 83 % decided; all as expected. "
    summary += "Different functions with local copies: 2, 2 of them with copies of their own; with remote copies: 1."
    assert summary in done.stdout and (folder / "t.md").read_text().startswith(summary)
    assert "| project/twin | `src/ours/ring.py` | `all_gather` | x=3 | local, remote | faulty: race |" in (folder / "t.md").read_text()
    assert "notes.md:12" in (folder / "reports" / "project-notes.txt").read_text()
    assert list((folder / "reports" / "schedules" / "project-twin-x3").glob("*.schedule"))
    written = json.loads((folder / "t.json").read_text())
    assert [c["verdict"] for c in written["checks"] if c["kernel"] == "twin"] == ["verified", "faulty"]
    assert written["checks"][0]["commit"] == COMMIT and "project: the checkout is no repository of git" in done.stdout
    assert not list((folder / "root").rglob("__pycache__"))


def test_what_is_not_expected(project):
    done = run(project(TWIN.replace('"x=3" = "faulty: race"', '"x=3" = "faulty: leftover"')))
    assert done.returncode == 1
    assert table(done)["twin", "x=3"] == ("faulty: race", "expected faulty: leftover")
    assert "1 not as expected" in done.stdout


def test_differences_from_last_time(project):
    folder = project(RIGHT, TWIN, REFUSED)
    assert run(folder, "--json", "last.json").returncode == 0
    same = run(folder, "--against", "last.json")
    assert same.returncode == 0 and same.stdout.endswith("As in last.json.\n")
    project(RIGHT, TWIN.replace("shared = true", "shared = false").replace('"faulty: race"', '"verified"'))
    done = run(folder, "--against", "last.json")
    assert done.returncode == 1 and "all as expected" in done.stdout
    assert done.stdout.splitlines()[-3:] == [
        "Different from last.json:",
        "  project/twin, x=3: verified; it was faulty: race",
        "  project/refused: it is not there any more",
    ]
    part = run(folder, "--against", "last.json", "-k", "right")  # what was not asked for is not missing
    assert part.returncode == 0 and part.stdout.endswith("As in last.json.\n")


def test_options_are_for_all_kernels(project):
    folder = project(TWIN.replace('expect = { "x=2" = "verified", "x=3" = "faulty: race" }', 'options = { dma_order = "link-fifo" }'))
    assert run(folder).returncode == 0
    assert table(run(folder, "--dma-order", "unordered"))["twin", "x=3"][0] == "faulty: race"


def one(entry, more=""):
    return f'[[kernel]]\nname = "k"\nfile = "src/ours/ring.py"\nentry = "{entry}"\narguments = {{ x = "f32[8,128]" }}\n{more}'


CANNOT = {
    "MemoryError": one("greedy"),
    "ended by signal 11": one("killed"),
    "ours.ring has no all_gathers": one("all_gathers"),
    "setup: ZeroDivisionError: division by zero": one("bessel", 'setup = "1 / 0"'),
    "call: NameError: name 'entri' is not defined": one("bessel", 'call = "entri"'),
    "the argument x: NameError: name 'n' is not defined": one("bessel").replace('"f32[8,128]"', '{ python = "n" }'),
    "src/ours/rings.py: no such file": one("bessel").replace("ring.py", "rings.py"),
    "unexpected keyword argument 'y'": one("bessel").replace('x = "f32', 'y = "f32'),
}


def test_what_cannot_be_judged(project):
    done = run(project(*(kernel.replace('"k"', f'"k{i}"') for i, kernel in enumerate(CANNOT.values()))))
    found = table(done)
    assert done.returncode == 1 and len(found) == len(CANNOT)
    for i, why in enumerate(CANNOT):
        assert found[f"k{i}", "-"][0] == "broken" and why in found[f"k{i}", "-"][1]


def test_a_kernel_without_end_is_ended(project):
    started = time.monotonic()
    done = run(project(one("endless")), "--time", "10")
    assert table(done)["k", "-"] == ("timed out", "expected verified; no verdict within 10 s")
    assert done.returncode == 1 and time.monotonic() - started < 100


def working(folder):
    """The processes of surveys that were asked with temporary files in this folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes() if process.name.isdigit() else b""
        except OSError:  # it has just ended
            continue
        if b"frontend.surveyed" in words and os.fsencode(folder) in words:
            found.append(int(process.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_kernel_outlives_its_survey(project, number):
    folder = project(one("endless"))
    own = folder / "temporary"
    own.mkdir()
    command = [sys.executable, "-m", "heddle_pallas", "survey", "project.toml", "--root", "root"]
    asking = subprocess.Popen(command, cwd=folder, env={**os.environ, "TMPDIR": str(own)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: working(own))
    asking.send_signal(number)
    asking.communicate(timeout=120)
    until(lambda: not working(own))
    if number != signal.SIGKILL:
        assert not list(own.glob("heddle-*"))


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("[repository", "project.toml: not TOML: "),
        (HEAD, "no kernels: add a table [[kernel]]"),
        (RIGHT, "no table [repository]: name, url and commit"),
        (HEAD.replace("commit =", "comit =") + RIGHT, "[repository]: unknown key comit; the keys are name, url, commit"),
        (HEAD.replace(COMMIT, "main") + RIGHT, "[repository]: commit main: write all 40 hex digits"),
        (HEAD + RIGHT.replace("entry", "entrance"), "kernel right: unknown key entrance; the keys are"),
        (HEAD + RIGHT.replace('name = "right"\n', ""), "kernel 1: name is missing"),
        (HEAD + RIGHT.replace('["x=2", "x=3"]', '"x=2"'), "kernel right: mesh must be an array"),
        (HEAD + RIGHT.replace('"x=3"', '"x"'), "kernel right: mesh x: not a mesh; write --mesh x=4,y=2"),
        (HEAD + RIGHT + 'expect = "fine"', "kernel right: expect = 'fine': write verified, bounded, refused, or the faults as in"),
        (HEAD + RIGHT + 'expect = "faulty"', "kernel right: expect = 'faulty': write"),
        (HEAD + RIGHT + 'expect = "faulty: race"', "kernel right: what is expected is not verified: give the reason"),
        (HEAD + RIGHT + 'expect = { "x=2" = "verified" }', "kernel right: expect tells of x=2, but mesh is x=2, x=3"),
        (HEAD + RIGHT + 'options = { dma_ordre = "link-fifo" }', "right: unknown option dma_ordre; the options are search, dma_order"),
        (HEAD + RIGHT + RIGHT, "the kernel right is there twice at x=2: give them names of their own"),
    ],
)
def test_bad_manifests(project, text, complaint):
    done = run(project(text, head=""))
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("heddle-pallas: project.toml: ") and complaint in done.stderr


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["--root", "nowhere"], "nowhere/project: no such folder; git clone https://example.org/project nowhere/project"),
        (["-k", "wrong"], "-k wrong: no such kernel; there are right"),
        (["-j", "0"], "--jobs=0: must be more than 0"),
        (["--against", "none.json"], "--against none.json: cannot read it: No such file or directory"),
        (["--against", "project.toml"], "--against project.toml: cannot read it: not JSON"),
    ],
)
def test_bad_arguments(project, arguments, complaint):
    done = run(project(RIGHT), *arguments)
    assert done.returncode == 2 and done.stderr == f"heddle-pallas: {complaint}\n"
    assert done.stdout == ""


def test_no_manifest(tmp_path):
    assert run(tmp_path).stderr == "heddle-pallas: project.toml: cannot read it: No such file or directory\n"
