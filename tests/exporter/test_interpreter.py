"""Kernels over several devices: what the exported program computes is what JAX's interpreter computes on as many CPU devices."""

import functools

import heddle_pallas
import jax
import kernels_between as between
import kernels_jax as jaxs
import kernels_mixed as mixed
import kernels_patterns as patterns
import kernels_protocols as protocols
import kernels_ring as rings
import numpy as np
import pytest
from heddle_pallas.trace.tpus import as_on_tpu
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec as P

DEVICES = 4
pytestmark = pytest.mark.skipif(jax.device_count() < DEVICES, reason="needs XLA_FLAGS=--xla_force_host_platform_device_count=8")


def on_interpreter(function, *stacked):
    """Stacked operands to stacked results."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:DEVICES]), ("x",))

    def one(*operands):
        return jax.tree.map(lambda r: r[None], function(*(o[0] for o in operands)))

    mapped = jax.shard_map(one, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    with pltpu.force_tpu_interpret_mode(), as_on_tpu():
        return [np.asarray(r) for r in jax.tree.leaves(jax.jit(mapped)(*stacked))]


@pytest.mark.parametrize(
    "function, shape",
    [
        (rings.right_permute, (8, 128)),
        (rings.all_gather_barrier, (8, 128)),
        (rings.all_reduce, (8, 128)),
        (rings.reduce_scatter, (4, 8, 128)),
        (rings.reduce_scatter_pipeline, (4, 16, 256)),
        (mixed.two_kernels, (8, 128)),
        (functools.partial(jaxs.both_ways, shared=False), (8, 128)),
        (functools.partial(mixed.core_map, cores=1), (8, 128)),
        (functools.partial(protocols.one_sided, to_the_left=True), (8, 128)),
        (functools.partial(protocols.permute_twice, double=True), (8, 128)),
        (between.fence, (8, 128)),
    ],
    ids=lambda f: getattr(f, "__name__", None) or getattr(getattr(f, "func", None), "__name__", ""),
)
def test_agrees(heddle, numbers, function, shape):
    x = numbers(DEVICES, *shape)
    report = heddle.verify(function, heddle_pallas.per_device(x), mesh=DEVICES)
    for ours, theirs in zip(jax.tree.leaves(report.results), on_interpreter(function, x), strict=True):
        assert (ours == theirs).all()


def test_agrees_on_a_table(heddle, numbers):
    counts, x = np.array([[1, 2, 0, 1], [0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 1, 0]], np.int32), numbers(DEVICES, 8, 128)
    stacked = np.stack([counts] * DEVICES)
    report = heddle.verify(mixed.ragged_all_to_all, counts, heddle_pallas.per_device(x), mesh=DEVICES)
    (theirs,) = on_interpreter(mixed.ragged_all_to_all, stacked, x)
    for device, rows in enumerate(counts.sum(axis=0)):  # what lies beyond, nobody wrote
        assert (report.results[device][:rows] == theirs[device][:rows]).all()


def test_agrees_on_attention(heddle):
    generator = np.random.default_rng(5)
    operands = [generator.standard_normal((DEVICES, 8, 128)).astype(np.float32) * 0.3 for _ in range(3)]
    report = heddle.verify(patterns.attention, *map(heddle_pallas.per_device, operands), mesh=DEVICES)
    np.testing.assert_allclose(report.results, on_interpreter(patterns.attention, *operands)[0], rtol=1e-4, atol=1e-5)
