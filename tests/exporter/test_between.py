"""Functions of several kernels: loops around kernels, and plain JAX between them."""

import functools

import heddle_pallas
import jax
import kernels_between as k
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P


def devices_of(values):
    return heddle_pallas.per_device(np.asarray(values))


@pytest.mark.parametrize("devices", [2, 4])
def test_layers(heddle, numbers, devices):
    x, weights = numbers(devices, 8, 128), np.array([2.0, 1.0, 3.0], np.float32)
    sums, y = [], x
    for weight in weights:
        y = np.roll(y * weight, 1, axis=0)
        sums.append(y.sum(axis=(1, 2)))
    report = heddle.verify(k.layers, devices_of(x), weights, mesh=devices, expect=[y * 2 + 1, np.stack(sums, axis=1)])
    assert report.source.count("KERNEL(shift_kernel") == 1  # written once, launched three times
    assert report.source.count("pl_launch(shift_kernel") == 3


def test_rounds_and_the_way_back(heddle, numbers):
    x = numbers(3, 8, 128)
    want = x
    for i in range(3):
        want = np.roll(want + i, 1, axis=0)
    heddle.verify(k.rounds, devices_of(x), mesh=3, expect=want)
    total, rows = np.zeros((8, 128), np.float32), []
    for row in x[::-1]:
        total = total * 2 + row
        rows.append(total)
    heddle.verify(k.backwards, x, mesh=1, expect=np.stack(rows[::-1])[None])


def test_rounds_that_plain_jax_counts(heddle, numbers):
    x = numbers(3, 8, 128)
    heddle.verify(k.known_rounds, devices_of(x), np.int32(2), mesh=3, expect=np.roll(x, 2, axis=0) + 1)
    heddle.verify(k.doubled_until, x[0], np.int32(3), np.int32(40), mesh=1, expect=(16 * x[:1], np.array([48])))
    with pytest.raises(heddle_pallas.TraceError, match="test_between.py|kernels_between.py:.* calls no kernel: its conditions and loops"):
        heddle.check(k.known_rounds, devices_of(x), np.int32(0), mesh=3)


@pytest.mark.parametrize("which", [-1, 0, 1, 2, 7])
def test_a_kernel_that_an_argument_chooses(heddle, numbers, which):
    x = numbers(8, 128)
    want = x[None] * [1, 4, 2][min(max(which, 0), 2)]
    report = heddle.verify(k.chosen, x, np.int32(which), mesh=1, expect=want)
    assert report.source.count("pl_launch(") == (1 if which >= 2 else 2) and "pl_launch_on" not in report.source


def test_kernels_that_depend_on_the_device(heddle, numbers):
    x = numbers(4, 8, 128)
    y = np.stack([x[0] / 2 * 2, x[1] * 4, (x[2] + 1) / 2, x[3] + 1])
    report = heddle.verify(k.by_device, devices_of(x), mesh=4, expect=y * 2 + 1)
    assert "pl_launch_on(pl_devices(0), half_kernel" in report.source


def test_kernels_of_two_devices_that_meet(heddle, numbers):
    x = numbers(3, 8, 128)
    heddle.verify(k.pair, devices_of(x), mesh=3, expect=np.stack([x[0], x[1], 2 * x[2]]))
    assert heddle.check(functools.partial(k.pair, alone=True), devices_of(x), mesh=3).faults == ("deadlock",)


def test_a_launch_has_its_own_memory(heddle):
    """Where devices call different kernels, the one's arguments are not the other's: a copy arrives where nobody has entered."""
    assert "lifetime" in heddle.check(functools.partial(k.pair, sends=True), "f32[8,128]", mesh=2).faults


@pytest.mark.parametrize(
    "function, text",
    [
        (k.unknown_rounds, "a kernel inside a while that depends on an earlier kernel is .* a fixed number"),
        (k.late_decision, "a kernel inside a cond that depends on an earlier kernel is .* decide it in Python"),
        (k.rounds_of_devices, "a loop around a kernel with more iterations on some devices than on others is"),
        (k.sum_on_some, "psum\\w* on some of the devices only is .* take it out of the condition"),
        (k.kernel_in_a_condition, "a kernel in the condition of a loop is .* move it into"),
        (
            functools.partial(k.pair, barrier=False, sends=True),
            "a kernel that begins with the barrier of all devices, launched on some of them",
        ),
    ],
)
def test_decisions_that_cannot_be_written_out(heddle, function, text):
    with pytest.raises(heddle_pallas.Unsupported, match=rf"kernels_between.py:\d+: {text}"):
        heddle.check(function, "f32[8,128]", mesh=3)


def by_jax(function, *stacked):
    """The same function on as many CPU devices."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[: len(stacked[0])]), ("x",))

    def one(*operands):
        return jax.tree.map(lambda r: r[None], function(*(o[0] for o in operands)))

    return jax.jit(jax.shard_map(one, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))(*stacked)


@pytest.fixture
def plainly(monkeypatch):
    """Results of k's functions with the kernels taken away: double and shift are plain JAX."""

    def through(function, *stacked):
        with monkeypatch.context() as patch:
            patch.setattr(k, "double", lambda x: x * 2.0)
            return by_jax(function, *stacked)

    return through


@pytest.mark.skipif(jax.device_count() < 4, reason="needs XLA_FLAGS=--xla_force_host_platform_device_count=8")
@pytest.mark.parametrize("devices", [2, 4])
def test_collectives(heddle, numbers, plainly, devices):
    x = numbers(devices, devices, 8, 128)
    want = [np.asarray(w) for w in plainly(k.collectives, x)]
    heddle.verify(k.collectives, devices_of(x), mesh=devices, expect=want)


def test_a_collective_is_a_fence(heddle):
    assert heddle.check(k.fence, "f32[8,128]", mesh=5).ok
    assert heddle.check(functools.partial(k.fence, collective=False), "f32[8,128]", mesh=5).faults == ("lifetime",)


def test_collectives_of_axes(heddle, numbers):
    x = numbers(6, 8, 128)
    y = (x * 2).reshape(2, 3, 8, 128)
    want = [y.sum(axis=1, keepdims=True).repeat(3, axis=1), np.stack([x * 2] * 6), y[::-1]]
    want = [2 * w.reshape(6, *w.shape[2:]) if w.shape[:2] == (2, 3) else 2 * w for w in want]
    heddle.verify(k.collectives_of_axes, devices_of(x), mesh="x=2,y=3", expect=want)


@pytest.mark.skipif(jax.device_count() < 4, reason="needs XLA_FLAGS=--xla_force_host_platform_device_count=8")
def test_what_a_kernel_computed_decides_the_order(heddle, plainly):
    generator = np.random.default_rng(3)
    x, keys = generator.permutation(2 * 8 * 128).reshape(2, 8, 128).astype(np.float32), generator.integers(0, 5, (2, 8)).astype(np.int32)
    want = [np.asarray(w) for w in plainly(k.routed, x, keys)]
    heddle.verify(k.routed, devices_of(x), devices_of(keys), mesh=2, expect=want)


def test_sort_inside_a_kernel(heddle, interpreted):
    generator = np.random.default_rng(4)
    x, keys = generator.standard_normal((8, 64)).astype(np.float32), generator.integers(0, 9, (8, 64)).astype(np.int32)
    order = np.argsort(keys, axis=1, kind="stable")
    want = [np.take_along_axis(x, order, axis=1)[None], np.take_along_axis(keys, order, axis=1)[None]]
    heddle.verify(k.sort_inside, x, keys, mesh=1, expect=want)


def test_arrays_that_a_function_closes_over(heddle, numbers):
    x, table = numbers(2, 8, 128), np.arange(1024, dtype=np.float32).reshape(8, 128)
    constant = jax.numpy.asarray(table)
    heddle.verify(lambda y: k.double(k.double(y) + constant), devices_of(x), mesh=2, name="closed", expect=4 * x + 2 * table)


def test_all_kinds_of_indices(heddle):
    """One by one, what JAX computes; the index 7 is beyond: it is moved inside, or dropped."""
    generator = np.random.default_rng(6)
    x, i = generator.integers(0, 9, (3, 4, 5)).astype(np.float32), np.array([2, 0, 7, 1, 3, 2], np.int32)
    want = [np.asarray(w)[None] for w in jax.jit(k.indexings)(x, i)]
    heddle.verify(k.indexed, x, i, mesh=1, expect=want)


def test_annotations_touch_nothing(heddle, numbers):
    x = numbers(8, 128)
    heddle.verify(k.annotated, x, mesh=1, expect=2 * x[None] + 1)
    assert set(heddle.check(functools.partial(k.annotated, waits=False), "f32[8,128]", mesh=1).faults) == {"race", "leftover", "in-flight"}


@pytest.mark.parametrize("function", [k.only_on_tpus, k.elsewhere_without_a_kernel])
def test_code_that_asks_what_devices_there_are(heddle, numbers, function):
    x, backend = numbers(8, 128), jax.default_backend()
    heddle.verify(function, x, mesh=1, expect=2 * x[None])
    assert jax.default_backend() == backend == jax.devices()[0].platform


@pytest.mark.parametrize("function", [k.on_a_mesh, functools.partial(k.on_a_mesh, scale=2.0), k.on_a_mesh_by_name])
def test_a_parameter_called_mesh_is_given_the_mesh(heddle, numbers, function):
    x = numbers(32, 128)
    heddle.verify(function, x, mesh=4, expect=lambda a: a * 4)


def test_a_mesh_that_is_given_stays(heddle, numbers):
    from heddle_pallas.mesh import Mesh
    from heddle_pallas.trace.tpus import abstract_mesh

    report = heddle.verify(functools.partial(k.on_a_mesh_by_name, mesh=abstract_mesh(Mesh(("x",), (3,)))), numbers(24, 128))
    assert "on_a_mesh_by_name, 3 devices: verified" in report.text


def test_collectives_over_joint_axes(heddle, numbers):
    x = numbers(6, 12, 128)
    whole = x.reshape(72, 128)
    want = 2 * (x + 6 * whole.reshape(6, 12, 128) + x.sum(axis=0))
    heddle.verify(k.joint_sums, heddle_pallas.per_device(x), mesh="x=2,y=3", expect=[want])


def test_index_along_a_named_dimension_of_the_grid(heddle, numbers):
    x = numbers(16, 512)
    want = x + np.kron(np.array([[0, 1, 2, 3], [10, 11, 12, 13]], np.float32), np.ones((8, 128), np.float32))
    heddle.verify(k.named_grid, x, mesh=1, expect=[want[None]])


@pytest.mark.parametrize("tpu, more", [("v5e", 1), ("v6e", 0), ("TPU v5 lite", 1)])
def test_memory_of_a_stated_tpu(heddle, numbers, tpu, more):
    x = numbers(8, 128)
    heddle.verify(k.fits_in_memory, x, mesh=1, tpu=tpu, expect=[x[None] * 2 + more])


def test_what_is_no_tpu(heddle):
    with pytest.raises(heddle_pallas.HeddleError, match="v55: no TPU that is known; the kinds are v4, v5e, v5p, v6e, 7x"):
        heddle.check(k.fits_in_memory, "f32[8,128]", mesh=1, tpu="v55")


def test_an_argument_that_only_plain_jax_reads(heddle):
    report = heddle.verify(lambda x, y: k.double(x) + y, "f32[8,128]", "f32[8,128]", mesh=2)
    assert report.generated == ("y",) and report.results.shape == (2, 8, 128)
