"""Windows, bounds, order of a copy and a read: one device, one or several cores."""

import functools

import kernels_memory as k
import kernels_mixed as mixed
import numpy as np
import pytest

ROWS = (8, 128)


def one(*results):
    """As one device returns it."""
    return [np.asarray(r)[None] for r in results]


def test_blocks(heddle, numbers):
    x = numbers(16, 256)
    heddle.verify(k.blocks, x, mesh=1, expect=one(x + 1))


def test_blocks_that_do_not_divide(heddle, numbers):
    x = numbers(20, 128)
    heddle.verify(k.blocks_that_do_not_divide, x, mesh=1, expect=one(x + 1))


def test_squeezed_dimension(heddle, numbers):
    x = numbers(4, 8, 128)
    heddle.verify(k.squeezed, x, mesh=1, expect=one(x * 2))


def test_one_output_block_for_all_steps(heddle, numbers):
    x = numbers(32, 128)
    heddle.verify(k.accumulate, x, mesh=1, expect=one(x.reshape(4, 8, 128).sum(axis=0)))


def test_matmul(heddle, numbers):
    a, b = numbers(16, 32), numbers(32, 24)
    heddle.verify(k.matmul, a, b, mesh=1, expect=one(a @ b))


def test_scalar_prefetch(heddle, numbers):
    x, order = numbers(32, 128), np.array([2, 0, 3, 1], np.int32)
    heddle.verify(k.scalar_prefetch, order, x, mesh=1, expect=one(x.reshape(4, 8, 128)[order].reshape(32, 128)))


def test_aliased_with_crossing_blocks(heddle, numbers):
    x = numbers(32, 128)
    want = x.reshape(4, 8, 128).copy()
    for i in range(4):
        want[3 - i] = want[i] + i + 1
    heddle.verify(k.aliased, x, mesh=1, windows="sequential", expect=one(want.reshape(32, 128)))


def test_copy_then_read(heddle, numbers):
    x = numbers(*ROWS)
    heddle.verify(k.copy_then_read, x, mesh=1, expect=one(x))


def test_masked_store(heddle, numbers):
    x = numbers(*ROWS)
    want = np.zeros_like(x)
    want[4:] = x[:4]
    heddle.verify(k.masked_store, x, mesh=1, expect=one(want))


@pytest.mark.parametrize(
    "function, arguments, faults",
    [
        (k.block_beyond_the_input, ["f32[16,128]"], {"out-of-bounds"}),
        (k.block_beyond_the_output, ["f32[16,128]"], {"out-of-bounds"}),
        (k.revisit, ["f32[32,512]"], {"revisit"}),
        (k.read_before_the_wait, ["f32[8,128]"], {"race"}),
        (k.copy_beyond_the_source, ["f32[8,128]"], {"out-of-bounds"}),
        (k.copy_beyond_the_target, ["f32[8,128]"], {"out-of-bounds"}),
        (k.copy_beyond_the_target_in_smem, ["f32[8,128]"], {"out-of-bounds"}),
        (k.store_outside_unmasked, ["f32[8,128]"], {"out-of-bounds"}),
        (k.scalar_load_beyond, ["i32[16]"], {"out-of-bounds"}),
        (k.steered_by_nothing, ["f32[8,128]"], {"uninitialised"}),
        (k.direct_load_of_any, ["f32[8,128]"], {"space"}),
        (k.direct_store_to_any, ["f32[8,128]"], {"space"}),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_wrong(heddle, function, arguments, faults):
    report = heddle.check(function, *arguments, mesh=1)
    assert set(report.faults) == faults


def test_revisit_names_output_and_step(heddle):
    report = heddle.check(k.revisit, "f32[32,512]", mesh=1)
    (fault,) = report.check["faults"]
    assert "b_ref" in fault["message"] and fault["sites"][0]["grid"] == [2, 0]


def test_padding_is_a_place_of_its_own(heddle):
    assert heddle.check(k.copy_beyond_the_target, "f32[8,128]", mesh=1, bounds="padded").ok
    assert heddle.check(k.copy_beyond_the_target_in_smem, "f32[8,128]", mesh=1, bounds="padded").faults == ("out-of-bounds",)


def test_result_that_nobody_wrote(heddle):
    report = heddle.check(k.never_written, np.zeros(ROWS, np.float32), mesh=1, expect=one(np.zeros(ROWS, np.float32)))
    assert report.faults == ("uninitialised",)


# Several cores


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_cores_meet(heddle, numbers, cores):
    x = numbers(32, 128)
    heddle.verify(functools.partial(mixed.core_map, cores=cores), x, mesh=1, expect=one(x))


def test_cores_share_scratch(heddle, numbers):
    x = numbers(*ROWS)
    heddle.verify(mixed.shared_scratch, x, mesh=1, cores=2, expect=one(x))
    assert heddle.check(functools.partial(mixed.shared_scratch, ordered=False), x, mesh=1, cores=2).faults == ("race",)


@pytest.mark.parametrize("cores", [1, 2, 3, 4])
def test_cores_share_a_grid(heddle, cores):
    want = np.repeat(np.arange(4, dtype=np.float32), 8)[:, None] + np.zeros((32, 128), np.float32)
    heddle.verify(mixed.parallel_blocks, np.zeros(ROWS, np.float32), mesh=1, cores=cores, expect=one(want))
    report = heddle.check(functools.partial(mixed.parallel_blocks, same=True), "f32[8,128]", mesh=1, cores=cores)
    assert set(report.faults) == ({"race"} if cores > 1 else set())


def test_cores_are_told_once(heddle):
    with pytest.raises(Exception, match="runs on 2 cores, but a device has 3: give cores=2"):
        heddle.check(mixed.core_map, "f32[32,128]", mesh=1, cores=3)
