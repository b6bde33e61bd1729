"""Arrays that the exported program computes are those of JAX's interpreter; and what steers kernels: tables, counts, ids."""

import functools

import heddle_pallas
import jax
import jax.numpy as jnp
import kernels_mixed as k
import kernels_ring as rings
import numpy as np
import pytest


def agree(heddle, interpreted, function, *arguments, tolerance=0.0):
    want = jax.tree.leaves(interpreted(function)(*arguments))
    report = heddle.verify(function, *arguments, mesh=1, expect=[np.asarray(w)[None] for w in want], tolerance=tolerance)
    assert "no-expectation" not in report.advice
    return report


@pytest.mark.parametrize("steering", [(3, 2), (0, 1), (8, 5), (2, -1)])
def test_loops(heddle, interpreted, numbers, steering):
    agree(heddle, interpreted, k.loops, np.array(steering, np.int32), numbers(8, 128))


@pytest.mark.parametrize("pair", [(7, 3), (-7, 3), (7, -3), (-(2**31), -1), (5, 0), (2**31 - 1, 2)])
def test_integers(heddle, interpreted, pair):
    agree(heddle, interpreted, k.integers, np.array(pair, np.int32))


def test_arrays(heddle, interpreted, numbers):
    agree(heddle, interpreted, k.arrays, numbers(8, 128), numbers(8, 128), tolerance=1e-4)


def test_more_arrays(heddle, interpreted, numbers):
    i = np.random.default_rng(2).integers(0, 60, (8, 128)).astype(np.int32)
    i[0, :3] = (3, 70, 6)
    agree(heddle, interpreted, k.more_arrays, numbers(8, 128), i, tolerance=1e-4)


def test_narrow_types(heddle, interpreted, numbers):
    agree(heddle, interpreted, k.narrow, numbers(8, 128).astype(jnp.bfloat16), np.arange(-512, 512).astype(np.int8).reshape(8, 128))


def words_and_halves():
    generator = np.random.default_rng(3)
    words = generator.integers(-(2**31), 2**31, (8, 128)).astype(np.int32)
    return words, generator.integers(-(2**15), 2**15, (16, 128)).astype(np.int16)


def test_packed_rows_are_loaded(heddle):
    """JAX's interpreter of TPUs knows no bitcast of a ref; the plain one knows loads through it."""
    words, halves = words_and_halves()
    want = k.packed_loads(words, halves, interpret=True)
    heddle.verify(k.packed_loads, words, halves, mesh=1, expect=[np.asarray(w)[None] for w in want])


def test_packed_rows_are_stored(heddle):
    words, halves = words_and_halves()
    parts = words.copy().view(np.uint8).reshape(8, 128, 4)  # row, column, byte
    parts[1, :, 2:4] = halves[6].copy().view(np.uint8).reshape(128, 2)
    parts[4, :, 2], parts[5, :, 2] = words.view(np.uint8).reshape(8, 128, 4)[0, :, 0], words.view(np.uint8).reshape(8, 128, 4)[0, :, 1]
    after = halves.copy()
    after[2:6] = words[4:6].view(np.int16).reshape(2, 128, 2).transpose(0, 2, 1).reshape(4, 128)
    heddle.verify(k.packed_stores, words, halves, mesh=1, expect=[parts.view(np.int32).reshape(1, 8, 128), after[None]])


def test_scan_over_rows(heddle, interpreted, numbers):
    agree(heddle, interpreted, k.scan_rows, numbers(8, 128))


def test_pipeline(heddle, numbers):
    x, y = numbers(16, 256), numbers(16, 256)
    heddle.verify(k.pipeline, x, y, mesh=1, expect=[(x + y)[None]])


def test_scopes(heddle, numbers):
    x = numbers(8, 128)
    heddle.verify(k.scopes, x, mesh=1, expect=[(x[0] + x.sum() + np.zeros_like(x))[None]])


@pytest.mark.parametrize(
    "function, arguments",
    [
        (rings.all_gather, lambda n: ["f32[8,128]"]),
        (rings.all_reduce, lambda n: ["f32[8,128]"]),
        (rings.reduce_scatter, lambda n: [f"f32[{n},8,128]"]),
        (rings.reduce_scatter_pipeline, lambda n: [f"f32[{n},16,256]"]),
        (k.ragged_all_to_all, lambda n: [np.zeros((n, n), np.int32), "f32[8,128]"]),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_loops_are_kept(tmp_path, function, arguments):
    """C for many devices is no longer than for few."""
    few, many = (heddle_pallas.export(function, *arguments(n), mesh=n, folder=tmp_path / str(n)).read_text().splitlines() for n in (4, 256))
    assert len(many) <= len(few)


# Tables that steer


@pytest.mark.parametrize("table, faults", [([(0, 1), (1, 2), (2, 3)], set()), ([(0, 1), (1, 2), (3, 2), (3, 0)], {"race"})])
def test_transfers(heddle, numbers, table, faults):
    report = heddle.check(k.transfers, np.array(table, np.int32), heddle_pallas.per_device(numbers(4, 8, 128)), mesh=4)
    assert set(report.faults) == faults


def test_ragged_all_to_all(heddle, numbers):
    counts = np.array([[1, 2, 0, 1], [0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 1, 0]], np.int32)
    x = numbers(4, 8, 128)
    report = heddle.verify(k.ragged_all_to_all, counts, heddle_pallas.per_device(x), mesh=4)
    starts = np.cumsum(counts, axis=1) - counts
    for device in range(4):
        want = np.concatenate([x[s, starts[s, device] : starts[s, device] + counts[s, device]] for s in range(4)])
        assert (report.results[device][: len(want)] == want).all()


# Several kernels, plain JAX around them


def test_two_kernels(heddle, numbers):
    x = numbers(4, 8, 128)
    report = heddle.verify(k.two_kernels, heddle_pallas.per_device(x), mesh=4)
    once = np.roll(x * 2 + np.arange(4)[:, None, None], 1, axis=0)
    assert (report.results[0] == np.roll(np.maximum(once, 5) - x, 1, axis=0) + 1).all()
    assert (report.results[1] == once.sum(axis=0)).all()


def test_global_function(heddle, numbers):
    """A shard_map of its own, plain JAX outside of it, global arrays."""
    from heddle_pallas.mesh import Mesh
    from heddle_pallas.trace.tpus import abstract_mesh
    from jax.sharding import PartitionSpec as P

    def whole(x):
        mapped = jax.shard_map(
            k.two_kernels, mesh=abstract_mesh(Mesh(("x",), (4,))), in_specs=P("x"), out_specs=(P("x"), P()), check_vma=False
        )
        once, total = jax.jit(mapped)(x + 1.0)
        return once * 2.0, total

    x = numbers(32, 128)
    report = heddle.verify(whole, x)
    parts = (x + 1).reshape(4, 8, 128)
    first = np.roll(parts * 2 + np.arange(4)[:, None, None], 1, axis=0)
    assert (report.results[0] == ((np.roll(np.maximum(first, 5) - parts, 1, axis=0) + 1) * 2).reshape(32, 128)).all()
    assert (report.results[1] == first.sum(axis=0)).all()


# Device ids


@pytest.mark.parametrize("form", ["tuple", "dict", "all", "joint", "logical"])
def test_forms_of_device_ids(heddle, numbers, form):
    x = numbers(6, 8, 128)
    report = heddle.verify(functools.partial(k.two_axes, form=form), heddle_pallas.per_device(x), mesh="x=2,y=3")
    assert (report.results.reshape(2, 3, 8, 128) == np.roll(x.reshape(2, 3, 8, 128), 1, axis=1)).all()
