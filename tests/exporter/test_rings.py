"""Collectives around a ring: the documents' kernels, right and wrong, at 2 to 8 devices, and the right ones at 64."""

import heddle_pallas
import kernels_ring as k
import numpy as np
import pytest

SIZES = [2, 3, 4, 5, 8]


def rolled(x):
    return np.roll(x.values, 1, axis=0)


def gathered(x):
    return np.stack([x.values] * len(x.values))


def summed(x):
    return np.stack([x.values.sum(axis=0)] * len(x.values))


def scattered(x):
    return x.values.sum(axis=0)


@pytest.mark.parametrize("devices", SIZES)
@pytest.mark.parametrize(
    "function, expected",
    [(k.right_permute, rolled), (k.all_gather, gathered), (k.all_gather_barrier, gathered), (k.all_reduce, summed)],
    ids=lambda f: f.__name__,
)
def test_right(heddle, numbers, function, expected, devices):
    heddle.verify(function, heddle_pallas.per_device(numbers(devices, 8, 128)), mesh=devices, expect=expected)


@pytest.mark.parametrize("devices", SIZES)
@pytest.mark.parametrize("function", [k.reduce_scatter, k.reduce_scatter_no_capacity], ids=lambda f: f.__name__)
def test_right_reduce_scatter(heddle, numbers, function, devices):
    heddle.verify(function, heddle_pallas.per_device(numbers(devices, devices, 8, 128)), mesh=devices, expect=scattered)


@pytest.mark.parametrize(
    "function, shape, faults, start",
    [
        (k.right_permute_one_sided, (8, 128), {"lifetime"}, 3),
        (k.all_gather_shared_semaphore, (8, 128), {"race"}, 3),
        (k.all_reduce_no_capacity, (8, 128), {"race"}, 2),
        (k.reduce_scatter_no_cleanup, (0, 8, 128), {"leftover"}, 2),
        (k.reduce_scatter_missing_wait, (0, 8, 128), {"race", "leftover", "in-flight"}, 2),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
@pytest.mark.parametrize("devices", SIZES)
def test_wrong(heddle, function, shape, faults, start, devices):
    text = ",".join(str(n or devices) for n in shape)
    report = heddle.check(function, f"f32[{text}]", mesh=devices)
    assert set(report.faults) == (faults if devices >= start else set())
    assert report.verdict == ("faulty" if devices >= start else "verified")


def test_four_devices(heddle, numbers):
    x = numbers(4, 8, 128)
    report = heddle.verify(k.four_devices, heddle_pallas.per_device(x), mesh=4)
    assert (report.results[[1, 2, 3]] == x[[0, 3, 2]]).all()


@pytest.mark.parametrize("function", [k.right_permute, k.all_gather, k.all_reduce], ids=lambda f: f.__name__)
def test_many_devices(heddle, function):
    heddle.verify(function, "f32[8,128]", mesh=64, opaque=function is not k.all_reduce)


def test_reports_cite_python(heddle):
    report = heddle.check(k.all_gather_shared_semaphore, "f32[8,128]", mesh=3)
    (fault,) = report.check["faults"]
    places = {(site["file"].rsplit("/", 1)[-1], site["function"].removeprefix("pl_body_")) for site in fault["sites"]}
    assert places == {("kernels_ring.py", "all_gather_kernel")}
    with open(k.__file__) as text:
        line = text.read().splitlines()[fault["sites"][0]["line"] - 1]
    assert "pass_on.start()" in line
