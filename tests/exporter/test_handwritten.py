"""The same verdicts and the same fault identifiers as the kernels that were written in C by hand."""

import json
import subprocess

import kernels_ring as k
import pytest
from heddle_pallas.binary import find_heddle

NAMES = [
    "right_permute",
    "all_gather",
    "all_gather_shared_semaphore",
    "all_reduce",
    "all_reduce_no_capacity",
    "reduce_scatter",
    "reduce_scatter_no_capacity",
    "reduce_scatter_no_cleanup",
    "reduce_scatter_missing_wait",
]


def by_hand(name, devices, folder):
    subprocess.run(
        [find_heddle(), "check", name, "-n", str(devices), "--json", folder / "report.json", "--schedules", folder / "schedules"],
        capture_output=True,
        check=False,
    )
    (check,) = json.loads((folder / "report.json").read_text())["checks"]
    return check["verdict"], {fault["id"] for fault in check["faults"]}


@pytest.mark.parametrize("devices", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_same_verdict(heddle, tmp_path, name, devices):
    shape = f"f32[{devices},8,128]" if name.startswith("reduce_scatter") else "f32[8,128]"
    report = heddle.check(getattr(k, name), shape, mesh=devices)
    assert (report.verdict, set(report.faults)) == by_hand(name, devices, tmp_path)
