"""Protocols between devices and launches, with the verdicts that the cautious reading gives them."""

import functools

import heddle_pallas
import kernels_protocols as k
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

X = "f32[8,128]"


@pytest.mark.parametrize(
    "function, devices, faults",
    [
        (k.swap, 2, set()),
        (k.swap_on_regular_semaphores, 2, set()),
        *((k.ready, n, set()) for n in (2, 3, 5, 8)),
        *((functools.partial(k.ready, barrier="right"), n, {"lifetime"} if n > 2 else set()) for n in (2, 3, 4, 5)),
        *((functools.partial(k.ready, barrier="all"), n, set()) for n in (2, 4)),
        *((functools.partial(k.one_sided, to_the_left=True), n, set()) for n in (2, 3, 4)),
        *((functools.partial(k.one_sided, to_the_left=False), n, {"lifetime"} if n > 2 else set()) for n in (2, 3, 4)),
        *((k.permute_twice, n, {"lifetime"} if n > 4 else set()) for n in (2, 3, 4, 5, 6)),
        *((functools.partial(k.permute_twice, double=True), n, set()) for n in (2, 5, 6)),
        *((k.semaphore_between_launches, n, set()) for n in (2, 3)),
        (functools.partial(k.asynchronous, remote=False), 1, set()),
        *((functools.partial(k.asynchronous, remote=True), n, set()) for n in (2, 4)),
        (k.zeroed_before_it_arrives, 3, {"race"}),
        *((k.all_to_first, n, {"race", "deadlock", "leftover", "in-flight"}) for n in (2, 4)),
        (k.row_beyond_before_a_barrier, 8, {"out-of-bounds"}),
        *((k.counts_that_travel, n, set()) for n in (2, 4, 8)),
    ],
    ids=lambda f: getattr(f, "__name__", None) or f"{f.func.__name__}-{f.keywords}" if callable(f) else None,
)
def test_verdict(heddle, function, devices, faults):
    report = heddle.check(function, X, mesh=devices)
    assert set(report.faults) == faults and report.verdict == ("faulty" if faults else "verified")


def test_strict_scopes(heddle):
    assert heddle.check(k.swap, X, mesh=2, scopes="strict").faults == ("lifetime",)
    assert "early-signal" in heddle.check(k.swap, X, mesh=2, advice=True).advice


def test_one_line_for_one_fault(heddle):
    report = heddle.check(k.row_beyond_before_a_barrier, X, mesh=8)
    (fault,) = report.check["faults"]
    assert {site["device"] for site in fault["sites"]} == {0}


@pytest.mark.skipif(not hasattr(pl, "select_ref") and not hasattr(pltpu, "select_ref"), reason="this JAX cannot select a ref")
@pytest.mark.parametrize("which", [0, 1])
def test_select(heddle, numbers, which):
    a, b = numbers(8, 128), numbers(8, 128)
    heddle.verify(k.select, np.array([which], np.int32), a, b, mesh=1, expect=[(a, b)[which][None]])


@pytest.mark.skipif(not hasattr(pl, "kernel"), reason="this JAX has no pl.kernel")
def test_cores_of_two_devices(heddle, numbers):
    x = numbers(2, 8, 128)
    report = heddle.verify(functools.partial(k.cores, wait_on=1), heddle_pallas.per_device(x), mesh=2)
    assert (report.results[1] == x[0]).all()
    wrong = heddle.check(functools.partial(k.cores, wait_on=0), X, mesh=2)
    assert set(wrong.faults) == {"deadlock"} | ({"lifetime", "leftover"} if k.SCRATCH_IN_A_SCOPE else set())
    assert not any("site-packages" in frame["file"] for fault in wrong.check["faults"] for frame in fault["sites"])


def test_what_travels_is_what_arrives(heddle, numbers):
    x = numbers(4, 8, 128)
    report = heddle.verify(k.counts_that_travel, heddle_pallas.per_device(x), mesh=4)
    for device in range(4):
        rows = (device - 1) % 4 + 1
        assert (report.results[device][:rows] == x[device - 1][:rows]).all()
