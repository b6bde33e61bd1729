"""Memory that is not an argument in HBM nor scratch of a launch; each right kernel with a wrong twin."""

import functools

import heddle_pallas
import jax
import kernels_places as k
import numpy as np
import pytest
from jax.experimental import pallas as pl

X = "f32[8,128]"


def test_a_result_that_stays_in_vmem(heddle, numbers):
    x = numbers(8, 128)
    report = heddle.verify(k.prefetch, x, mesh=1, expect=x[None] + 1)
    assert "pl_output_in(PL_VMEM, PL_F32, 8, 128)" in report.source
    assert heddle.check(functools.partial(k.prefetch, early=True), X, mesh=1).faults == ("race",)


@pytest.mark.parametrize("blocks", [False, True])
def test_what_is_in_vmem_is_for_everybody(heddle, numbers, blocks):
    x = numbers(8, 128)
    heddle.verify(functools.partial(k.through_vmem, blocks=blocks), x, mesh=1, expect=[4 * x[None], 2 * x[None] + 1])
    heddle.verify(functools.partial(k.through_vmem, blocks=blocks), x, mesh=2, expect=[np.stack([4 * x] * 2), np.stack([2 * x + 1] * 2)])


def test_refs_that_a_kernel_closes_over(heddle, numbers):
    x = numbers(8, 128)
    z = np.concatenate([x[2:6], np.zeros_like(x[:4])])[None]
    heddle.verify(k.over_refs, x, mesh=1, expect=(3 * z, x[None], z))
    assert set(heddle.check(functools.partial(k.over_refs, waits=False), X, mesh=1).faults) == {"race", "in-flight", "leftover"}


def test_a_part_of_a_ref_outside_of_kernels(heddle):
    with pytest.raises(heddle_pallas.Unsupported, match=r"kernels_places.py:\d+: get of a part of a ref outside of any kernel"):
        heddle.check(k.part_of_a_ref, X, mesh=1)


@pytest.mark.skipif(not hasattr(pl, "kernel"), reason="this JAX has no pl.kernel")
def test_scalars_that_a_kernel_closes_over(heddle, numbers):
    x = numbers(4, 8, 128)
    heddle.verify(k.row_of, x, np.int32(1), mesh=1, expect=x[None, 1:3])
    assert heddle.check(k.row_of, x, np.int32(3), mesh=1).faults == ("out-of-bounds",)


@pytest.mark.skipif(not hasattr(jax, "empty_ref"), reason="this JAX has no empty_ref")
def test_scratch_without_a_scope(heddle, numbers):
    x = numbers(8, 128)
    heddle.verify(k.scratch_inside, x, mesh=1, expect=x[None] + 1)
    assert heddle.check(functools.partial(k.scratch_inside, waits=False), X, mesh=1).faults == ("race",)


@pytest.mark.parametrize("devices", [1, 2])
def test_results_in_the_memory_of_an_input(heddle, numbers, devices):
    x, y = numbers(devices, 8, 128), numbers(devices, 2, 128)
    report = heddle.verify(
        k.in_place, heddle_pallas.per_device(x), heddle_pallas.per_device(y), mesh=devices, expect=(2 * x + 1, 2 * y[:, 0], 4 * x - 2)
    )
    assert not report.generated
    heddle.verify(k.in_place, "f32[8,128]", "f32[2,128]", mesh=devices)
