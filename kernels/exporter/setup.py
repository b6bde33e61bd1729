"""Builds the checker from the source tree that this package lies in, if there is one and a compiler is at hand, and takes it along.

A source distribution takes the part of the tree along that the checker is built from, so that a wheel made of it has the checker too.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
PARTS = ("Makefile", "LICENSE", "model", "checker", "kernels")


def is_tree(folder):
    return all((folder / part).exists() for part in PARTS)


TREE = next((folder for folder in (HERE.parents[1], HERE / "tree") if is_tree(folder)), None)


def missing():
    """Why no checker can be built; empty: it can."""
    if TREE is None:
        return "no source tree of the checker"
    absent = [tool for tool in ("make", (os.environ.get("CC") or "cc").split()[0]) if shutil.which(tool) is None]
    return f"no {' and no '.join(absent)}" if absent else ""


class BuildWithChecker(build_py):
    def run(self):
        super().run()
        why_not = missing()
        if why_not:
            print(f"heddle-pallas: {why_not} here, so the program heddle must be on the PATH or in HEDDLE", file=sys.stderr)
            return
        subprocess.run(["make", "-C", str(TREE), "BUILD=build"], check=True)
        target = Path(self.build_lib) / "heddle_pallas" / "bin"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        shutil.copy2(TREE / "build" / "heddle", target / "heddle")
        for folder in ("heddle", "pallas"):
            shutil.copytree(TREE / "kernels" / folder, target / "include" / folder, ignore=lambda _, names: no_headers(names))
        shutil.copytree(TREE / "build" / "lib", target / "lib")


def no_headers(names):
    return [name for name in names if not name.endswith(".h")]


class SourceWithTree(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for part in PARTS if TREE is not None else ():
            target = Path(base_dir) / "tree" / part
            target.parent.mkdir(exist_ok=True)
            if (TREE / part).is_dir():
                shutil.copytree(TREE / part, target, ignore=shutil.ignore_patterns("exporter"))
            else:
                shutil.copy2(TREE / part, target)


class PlatformWheel(bdist_wheel):
    """The package is for any Python; only the program that it brings is for one platform."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform


class WithProgram(Distribution):
    def has_ext_modules(self):
        return not missing()


setup(cmdclass={"build_py": BuildWithChecker, "sdist": SourceWithTree, "bdist_wheel": PlatformWheel}, distclass=WithProgram)
