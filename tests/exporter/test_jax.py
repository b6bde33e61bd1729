"""Kernels of JAX's tests: what their own tests expect of the arrays, and what the cautious reading says of the orders."""

import functools

import heddle_pallas
import kernels_jax as k
import kernels_mixed as mixed
import kernels_ring as rings
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

X = "f32[8,128]"


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_core_map_on_eight_devices(heddle, numbers, cores):
    x = numbers(8, 8 * cores, 128)
    heddle.verify(functools.partial(mixed.core_map, cores=cores), heddle_pallas.per_device(x), mesh=8, expect=[x])


def test_core_that_fails_before_it_signals(heddle):
    report = heddle.check(k.core_1_reads_beyond, X, mesh=1, cores=2)
    assert report.faults == ("out-of-bounds",)
    assert {site["core"] for fault in report.check["faults"] for site in fault["sites"]} == {1}


def test_out_of_bounds_before_a_copy(heddle):
    report = heddle.check(k.overlapping_rows, "f32[16,128]", mesh=8, cores=2)
    assert set(report.faults) == {"out-of-bounds", "race"}
    (beyond,) = [f for f in report.check["faults"] if f["id"] == "out-of-bounds"]
    assert {(site["device"], site["core"]) for site in beyond["sites"]} == {(1, 0)}


def test_scope_in_hbm(heddle, numbers):
    x = numbers(8, 128)
    heddle.verify(k.scope_in_hbm, x, mesh=1, cores=2, expect=[x[None]])


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 5, 6])
def test_counters_of_cores_that_share_a_grid(heddle, numbers, cores):
    x = numbers(6, 24, 128)
    want = x + np.repeat(np.arange(1, 4, dtype=np.float32), 8)[None, :, None]
    heddle.verify(k.split_grid, x, mesh=1, cores=cores, expect=[want[None]])


def test_one_wait_for_more_than_there_is_room(heddle):
    """The descriptor only counts: a range beyond its buffer is worth a remark, no fault."""
    table = np.array([(0, 2), (1, 2)], np.int32)
    report = heddle.check(functools.partial(mixed.transfers, at_once=True), table, X, mesh=4)
    assert report.faults == ("race",) and "wait-descriptor-range" in report.advice


@pytest.mark.parametrize("devices", [2, 3, 4, 8])
def test_reduce_scatter_with_a_pipeline_inside(heddle, numbers, devices):
    x = numbers(devices, devices, 16, 256)
    heddle.verify(rings.reduce_scatter_pipeline, heddle_pallas.per_device(x), mesh=devices, expect=lambda a: a.values.sum(axis=0))


def test_pipeline_that_forgets_the_sum(heddle, numbers):
    """As JAX's document prints it: the later blocks are added to what nobody wrote."""
    x = heddle_pallas.per_device(numbers(2, 2, 16, 256))
    report = heddle.check(rings.reduce_scatter_pipeline_out_only, x, mesh=2, expect=lambda a: a.values.sum(axis=0))
    assert report.faults == ("uninitialised",)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("devices", [2, 3, 4, 8])
def test_all_gather_both_ways(heddle, numbers, devices, shared):
    x = heddle_pallas.per_device(numbers(devices, 8, 128))
    function = functools.partial(k.both_ways, shared=shared)
    report = heddle.check(function, x, mesh=devices, expect=lambda a: np.stack([a.values] * devices))
    assert report.faults == (("race",) if shared and devices > 2 else ())
    if shared:
        assert heddle.check(function, x, mesh=devices, dma_order="link-fifo").ok
    if report.faults:
        assert "link-fifo" in report.text


@pytest.mark.skipif(not k.CAN_SKIP, reason="this JAX cannot leave the entry barrier out")
@pytest.mark.parametrize("devices", [2, 4])
def test_ready_a_launch_before(heddle, numbers, devices):
    x = numbers(devices, 8, 128)
    heddle.verify(k.ready_a_launch_before, heddle_pallas.per_device(x), mesh=devices, expect=[np.roll(x, 1, axis=0)])
    assert heddle.check(functools.partial(k.ready_a_launch_before, too_soon=True), X, mesh=devices).faults == ("lifetime",)


@pytest.mark.skipif(not hasattr(pl, "select_ref") and not hasattr(pltpu, "select_ref"), reason="this JAX cannot select a ref")
@pytest.mark.parametrize("register", [True, False])
def test_selected_by_register_or_memory(heddle, numbers, register):
    a, b = numbers(2, 8, 128), numbers(2, 8, 128)
    function = functools.partial(k.swap_the_second, register=register)
    heddle.verify(function, np.array([1], np.int32), *map(heddle_pallas.per_device, (a, b)), mesh=2, expect=[b[::-1]])


@pytest.mark.parametrize("function", [k.even_and_odd, k.run_ahead], ids=lambda f: f.__name__)
@pytest.mark.parametrize("devices", [4, 8])
def test_nobody_says_that_the_slot_is_free(heddle, function, devices):
    assert "race" in heddle.check(function, X, mesh=devices).faults


@pytest.mark.parametrize("function", [rings.all_gather_barrier, rings.reduce_scatter, k.both_ways], ids=lambda f: f.__name__)
def test_many_devices(heddle, function):
    shape = "f32[64,8,128]" if function is rings.reduce_scatter else X
    report = heddle.check(function, shape, mesh=64, opaque=True, dma_order="link-fifo")
    assert report.ok
