"""Runs the exporter's tests with several versions of JAX, each in an environment of its own, and prints a table in Markdown.

python3 tests/exporter/drift.py build/jax 0.7.2 0.10.2 [-- arguments of pytest]
"""

import collections
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent


def environment(folder, version):
    """A virtual environment with that JAX, made on first use."""
    python = folder / version / "bin" / "python"
    if not (folder / version / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", folder / version], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"jax=={version}", "pytest", "pytest-xdist", "setuptools>=77"], check=True)
        (folder / version / "ready").touch()
    return python


def outcomes(report):
    """File of tests -> (passed, failed, skipped)."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = case.get("classname", "").split(".")[-1] or case.get("name", "")
        kind = 1 if case.find("failure") is not None or case.find("error") is not None else 2 if case.find("skipped") is not None else 0
        found[name][kind] += 1
    return found


def cell(counts):
    passed, failed, skipped = counts
    return f"{passed} pass" + (f", **{failed} fail**" if failed else "") + (f", {skipped} skipped" if skipped else "")


def main(arguments):
    extra = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    folder, *versions = arguments[: arguments.index("--")] if "--" in arguments else arguments
    table, worst = {}, 0
    for version in versions:
        python, report = environment(Path(folder).resolve(), version), Path(folder).resolve() / f"{version}.xml"
        command = [python, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", f"--junitxml={report}", HERE, *extra]
        worst = max(worst, subprocess.run(command, check=False).returncode)
        table[version] = outcomes(report) if report.exists() else {}
    print(f"| tests | {' | '.join(versions)} |\n|---|{'---|' * len(versions)}")
    for name in sorted({n for found in table.values() for n in found}):
        print(f"| {name} | {' | '.join(cell(table[v][name]) if name in table[v] else 'not run' for v in versions)} |")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
