"""Builds the checker from the source tree that this package lies in, if there is one and a compiler is at hand, and takes it along."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

TREE = Path(__file__).resolve().parents[2]


class BuildWithChecker(build_py):
    def run(self) -> None:
        super().run()
        target = Path(self.build_lib) / "heddle_pallas" / "bin"
        if not (TREE / "Makefile").is_file() or not (TREE / "checker").is_dir():
            print("heddle-pallas: no source tree here, so the program heddle must be on the PATH or in HEDDLE", file=sys.stderr)
            return
        compiler = (os.environ.get("CC") or "cc").split()[0]
        if shutil.which("make") is None or shutil.which(compiler) is None:
            print(f"heddle-pallas: no make or no {compiler} here, so the program heddle must be on the PATH or in HEDDLE", file=sys.stderr)
            return
        build = Path(self.build_temp if hasattr(self, "build_temp") else "build").resolve() / "heddle"
        subprocess.run(["make", "-C", str(TREE), f"BUILD={build}"], check=True)
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / "heddle", target / "heddle")
        for folder in ("heddle", "pallas"):
            headers = target / "include" / folder
            headers.mkdir(parents=True, exist_ok=True)
            for header in (TREE / "kernels" / folder).glob("*.h"):
                shutil.copy2(header, headers / header.name)


class WithBinary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(cmdclass={"build_py": BuildWithChecker}, distclass=WithBinary)
