"""Kernels out of code that was not written for us: collected, and run in place of an interpreter."""

import heddle_pallas
import jax
import jax.numpy as jnp
import kernels_memory as memory
import kernels_ring as rings
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

pytestmark = [
    pytest.mark.skipif(jax.device_count() < 4, reason="needs XLA_FLAGS=--xla_force_host_platform_device_count=8"),
    pytest.mark.usefixtures("heddle_ready"),
]


def existing_test(function, x, out=("x",)):
    """As a test that somebody wrote for the interpreter: it knows nothing of us."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))
    return np.asarray(jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("x"), out_specs=P(*out), check_vma=False))(x))


@pytest.mark.xfail(jax.__version__ == "0.7.0", reason="its io_callback in a shard_map gives one result only", strict=True)
def test_calls_give_what_the_checked_run_computed(numbers):
    x = numbers(32, 128)
    with heddle_pallas.checked() as reports:
        shifted = existing_test(rings.right_permute, x)
        total = existing_test(rings.all_reduce, x)
        alone = np.asarray(jax.jit(memory.accumulate)(x))
    assert [r.verdict for r in reports] == ["verified"] * 3
    assert (shifted == np.roll(x, 8, axis=0)).all()
    assert (total == np.tile(x.reshape(4, 8, 128).sum(axis=0), (4, 1))).all()
    assert (alone == x.reshape(4, 8, 128).sum(axis=0)).all()


def test_values_between_kernels_are_those_of_the_kernels(numbers):
    x = numbers(32, 128)

    def chain(y):
        return rings.right_permute(jnp.maximum(rings.right_permute(y), 5.0))

    with heddle_pallas.checked() as reports:
        got = existing_test(chain, x)
    assert len(reports) == 2 and (got == np.maximum(np.roll(x, 16, axis=0), 5.0)).all()


def test_many_devices_with_large_arrays_meet(numbers):
    """JAX hands such arrays over by work on the threads that run the devices, of which each waits for the others here."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    count = len(jax.devices())
    mapped = jax.shard_map(rings.right_permute, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    x = numbers(count * 1024, 256)
    with heddle_pallas.checked() as reports:
        got = np.asarray(jax.jit(mapped)(x))
    assert reports[0].ok and (got == np.roll(x, 1024, axis=0)).all()


def test_a_report_is_printed_as_it_reads(numbers):
    with heddle_pallas.checked() as reports:
        jax.jit(memory.accumulate)(numbers(32, 128))
    assert str(reports[0]) == reports[0].text and "accumulate_kernel, 1 device: verified" in str(reports[0])


def test_a_faulty_kernel_fails_the_test(numbers):
    with pytest.raises(AssertionError, match="all_gather_kernel: faulty"):
        with heddle_pallas.checked():
            existing_test(rings.all_gather_shared_semaphore, numbers(32, 128), ())


def test_faults_may_be_left_to_the_caller(numbers):
    with heddle_pallas.checked(raise_faults=False) as reports:
        existing_test(rings.all_gather_shared_semaphore, numbers(32, 128), ())
    assert reports[0].faults == ("race",)


def test_what_is_not_supported_is_said_once_and_clearly(numbers):
    def bessel_kernel(x_ref, o_ref):
        o_ref[...] = jax.lax.bessel_i0e(x_ref[...])

    from jax.experimental import pallas as pl

    with pytest.raises(heddle_pallas.Unsupported, match="test_capture.py:.* bessel_i0e .*not supported"):
        with heddle_pallas.checked():
            jax.jit(pl.pallas_call(bessel_kernel, out_shape=memory.struct((8, 128))))(numbers(8, 128))


def test_capture_collects(numbers):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))
    with heddle_pallas.capture() as kernels:
        jax.jit(jax.shard_map(rings.right_permute, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)).trace(numbers(32, 128))
        jax.make_jaxpr(memory.accumulate)(numbers(32, 128))
    assert [(k.name, str(k.mesh)) for k in kernels] == [("right_permute_kernel", "x=4"), ("accumulate_kernel", "x=1")]
    x = numbers(4, 8, 128)
    report = kernels[0].verify(x)
    assert (report.results[0] == np.roll(x, 1, axis=0)).all()
    assert kernels[1].verify().ok


def test_everything_is_as_before(numbers):
    from jax._src.pallas import pallas_call

    with heddle_pallas.capture():
        assert "bind" in vars(pallas_call.pallas_call_p)
    assert "bind" not in vars(pallas_call.pallas_call_p)
