"""The guide tells the truth: its kernel has the race that it says, and its repair removes it."""

import importlib.util
import re
import textwrap
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "kernels" / "exporter" / "README.md"


def kernel_of_the_guide(folder, repair):
    text = README.read_text(encoding="utf-8")
    code = textwrap.dedent(re.search(r"```python\n(.*?)```", text, re.S)[1])
    if repair:
        assert "scratch_shapes=[dma, dma, dma((n - 1,))]" in text and "recv_sems.at[step]" in text
        code = code.replace("scratch_shapes=[dma, dma, dma]", "scratch_shapes=[dma, dma, dma((n - 1,))]")
        code = code.replace("send_sem, recv_sem, device_id", "send_sem, recv_sem.at[step], device_id")
    path = folder / f"ring_{int(repair)}.py"
    path.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.all_gather


def test_the_race(heddle, tmp_path):
    wrong = kernel_of_the_guide(tmp_path, repair=False)
    assert heddle.check(wrong, "f32[8,128]", mesh=2).ok
    report = heddle.check(wrong, "f32[8,128]", mesh=3)
    assert report.faults == ("race",)
    said = " ".join(report.text.split())
    assert (
        "was meant to come after the write of copy 1 of device 2" in said
        and "it can be satisfied without it, by copy 2 of device 2" in said
    )


def test_the_repair(heddle, tmp_path):
    right = kernel_of_the_guide(tmp_path, repair=True)
    for devices in (2, 3, 4):
        heddle.verify(right, "f32[8,128]", mesh=devices)
