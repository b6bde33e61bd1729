"""Installed with pip, elsewhere than the source tree: the checker, its headers and the plugin come along."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "kernels" / "exporter"
TREE = PACKAGE.parents[1]

TEST = """
from ring import all_gather_barrier

def test_gather(heddle):
    assert heddle.verify(all_gather_barrier, "f32[8,128]", mesh=2).ok
"""


def can_build():
    version = importlib.metadata.version("setuptools") if importlib.util.find_spec("setuptools") else "0"
    return int(version.split(".")[0]) >= 77 and importlib.util.find_spec("pip") is not None


pytestmark = [
    pytest.mark.skipif(not can_build(), reason="needs pip and setuptools 77 in this environment"),
    pytest.mark.skipif(not (TREE / "build" / "heddle").is_file(), reason="needs the tree's checker (make), else this builds it all"),
]


def pip(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )


def copied(folder):
    """The package, in a tree of links: building leaves nothing in ours."""
    tree = folder / "tree"
    (tree / "kernels").mkdir(parents=True)
    for part in ("Makefile", "LICENSE", "model", "checker", "build"):
        (tree / part).symlink_to(TREE / part)
    for part in TREE.glob("kernels/*"):
        if part.name != "exporter":
            (tree / "kernels" / part.name).symlink_to(part)
    shutil.copytree(PACKAGE, tree / "kernels" / "exporter", ignore=shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__"))
    return tree / "kernels" / "exporter"


def wheel_of(package, folder, **environment):
    pip("wheel", package, "--no-deps", "--no-build-isolation", "-w", folder, **environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder to be put on the PYTHONPATH, and the wheel it was installed from."""
    folder = tmp_path_factory.mktemp("install")
    wheel = wheel_of(copied(folder), folder)
    pip("install", wheel, "--no-deps", "--target", folder / "site")
    return folder / "site", wheel


def run(site, folder, *arguments):
    environment = {k: v for k, v in os.environ.items() if k not in ("HEDDLE", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS")}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(site)},
    )


def test_what_the_wheel_holds(installed):
    names = set(zipfile.ZipFile(installed[1]).namelist())
    headers = {f"heddle_pallas/bin/include/pallas/{path.name}" for path in (TREE / "kernels" / "pallas").glob("*.h")}
    assert {"heddle_pallas/py.typed", "heddle_pallas/bin/heddle", "heddle_pallas/bin/include/heddle/pallas.h"} | headers <= names
    assert "heddle_pallas/bin/lib/heddle/cases.so" in names
    assert {str(path.relative_to(PACKAGE)) for path in (PACKAGE / "heddle_pallas").rglob("*.py")} <= names
    assert "-py3-none-" in installed[1].name and not installed[1].name.endswith("-any.whl")


def test_command_elsewhere(installed, tmp_path):
    shutil.copy(HERE / "kernels_ring.py", tmp_path / "ring.py")
    arguments = ["heddle_pallas", "check", "ring.py:all_gather_shared_semaphore", "-n", "2,3", "--input", "x=f32[8,128]"]
    done = run(installed[0], tmp_path, *arguments)
    assert done.returncode == 1 and "race" in done.stdout, done.stderr
    (schedule,) = (tmp_path / "heddle-schedules").glob("*.schedule")
    assert run(installed[0], tmp_path, "heddle_pallas", "replay", str(schedule)).returncode == 1


def test_plugin_elsewhere(installed, tmp_path):
    shutil.copy(HERE / "kernels_ring.py", tmp_path / "ring.py")
    (tmp_path / "test_ring.py").write_text(TEST)
    done = run(installed[0], tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "test_ring.py")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


def test_without_a_compiler_the_wheel_has_no_program(tmp_path):
    wheel = wheel_of(copied(tmp_path), tmp_path, CC="no-such-cc")
    assert wheel.name.endswith("-py3-none-any.whl") and "heddle_pallas/bin/heddle" not in zipfile.ZipFile(wheel).namelist()
    pip("install", wheel, "--no-deps", "--target", tmp_path / "site")
    shutil.copy(HERE / "kernels_ring.py", tmp_path / "ring.py")
    done = run(tmp_path / "site", tmp_path, "heddle_pallas", "check", "ring.py:right_permute", "--input", "x=f32[8,128]")
    assert done.returncode == 2 and done.stderr.startswith("heddle-pallas: cannot find the program heddle: build it with `make`")
    assert len(done.stderr.splitlines()) == 1


def test_source_distribution_has_what_the_checker_is_built_from(tmp_path):
    package = copied(tmp_path)
    subprocess.run([sys.executable, "setup.py", "-q", "sdist", "-d", tmp_path], cwd=package, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    names = {name.partition("/")[2] for name in tarfile.open(path).getnames()}
    assert {"tree/Makefile", "tree/checker/main.c", "tree/kernels/pallas/pallas.h", "heddle_pallas/py.typed"} <= names
    assert {str(path.relative_to(PACKAGE)) for path in (PACKAGE / "heddle_pallas").rglob("*.py")} <= names
    assert not any(name.startswith(("tree/build", "tree/kernels/exporter")) for name in names)
