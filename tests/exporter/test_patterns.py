"""Programs in the patterns of large kernels: routing tables as inputs, counts that travel, values that are computed for real."""

import functools

import heddle_pallas
import kernels_patterns as k
import numpy as np
import pytest


def routed(devices, tokens=6, choices=2, per_device=2):
    generator = np.random.default_rng(devices)
    return generator.integers(0, devices * per_device, (devices, tokens, choices)).astype(np.int32)


@pytest.mark.parametrize("devices", [2, 3, 4])
def test_experts(heddle, numbers, devices):
    route, x = routed(devices), numbers(devices, 6, 128)
    scale = np.arange(2, devices + 2, dtype=np.float32)[:, None]
    want = np.stack([sum(x[d] * scale[route[d, :, c] // 2] for c in range(2)) for d in range(devices)])
    heddle.verify(k.experts, *map(heddle_pallas.per_device, (route, x, scale)), mesh=devices, expect=want)


@pytest.mark.parametrize("wrong", ["counts", "semaphore"])
def test_wrong_experts(heddle, numbers, wrong):
    arguments = map(heddle_pallas.per_device, (routed(3), numbers(3, 6, 128), np.ones((3, 1), np.float32)))
    report = heddle.check(functools.partial(k.experts, wrong=wrong), *arguments, mesh=3)
    assert "race" in report.faults


def test_table_that_leads_nowhere(heddle, numbers):
    """An expert that no device has: the id of its device is found out of range when a token goes there."""
    route = routed(2)
    route[1, 3, 0] = 9
    arguments = map(heddle_pallas.per_device, (route, numbers(2, 6, 128), np.ones((2, 1), np.float32)))
    assert set(heddle.check(k.experts, *arguments, mesh=2).faults) & {"out-of-bounds", "shape"}


@pytest.mark.parametrize("devices", [2, 3, 4])
def test_ring_attention(heddle, devices):
    generator = np.random.default_rng(devices)
    q, keys, values = (generator.standard_normal((devices, 8, 128)).astype(np.float32) * 0.3 for _ in range(3))
    want = np.asarray(k.whole_attention(q, keys, values))
    heddle.verify(k.attention, *map(heddle_pallas.per_device, (q, keys, values)), mesh=devices, expect=want, tolerance=1e-4)


@pytest.mark.parametrize("devices, faults", [(2, set()), (3, {"race"}), (4, {"race"})])
def test_ring_attention_without_capacity(heddle, devices, faults):
    report = heddle.check(functools.partial(k.attention, capacity=False), "f32[8,128]", "f32[8,128]", "f32[8,128]", mesh=devices)
    assert set(report.faults) == faults
