"""The program `heddle` as measurements run it: one check at a time, texts at 80 columns."""

import json
import os
import subprocess
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
SIZES = (["-n", "3"], ["-n", "4"], ["-n", "2"], ["-n", "5"], ["-n", "1"], ["--mesh", "x=2,y=2"], ["-n", "1", "--cores", "2"])
SECONDS = 20


class Checker:
    """Knows at which size each program is checked: the first that fits it."""

    def __init__(self, heddle):
        self.heddle, self.sizes = str(Path(heddle).resolve()), {}

    def run(self, *arguments, folder=None):
        return subprocess.run([self.heddle, *arguments], cwd=folder, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"})

    def programs(self, groups, right):
        found = json.loads(self.run("list", "--json").stdout)["programs"]
        return [p for p in found if p["group"] in groups and (p["expected"]["verdict"] == "verified") == right]

    def size(self, program):
        """At which a right program is verified."""
        if program not in self.sizes:
            fits = (size for size in SIZES if self.run("check", program, "-q", "--time", str(SECONDS), *size).returncode == 0)
            self.sizes[program] = next(fits, None)
        return self.sizes[program]

    def report(self, kernel, size, folder, *options):
        """The JSON report, None if nothing was checked, and what was printed."""
        done = self.run("check", kernel, *size, "--time", str(SECONDS), "--json", "report.json", "--schedules", "schedules", *options,
                        folder=folder)
        report = Path(folder) / "report.json"
        read = json.loads(report.read_text()) if report.exists() else None
        return (read if read and read["checks"] else None), done.stdout + done.stderr
