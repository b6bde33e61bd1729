"""What is wrong with the world is one clear line."""

import os
import subprocess
import sys

import heddle_pallas
import jax
import jax.numpy as jnp
import kernels_ring as rings
import numpy as np
import pytest
from heddle_pallas.errors import HeddleError, TraceError, Unsupported
from heddle_pallas.mesh import Mesh
from heddle_pallas.trace.tpus import abstract_mesh
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec as P
from kernels_mixed import struct
from kernels_protocols import NEWEST, kernel_on
from kernels_ring import ANY, DMA, LOGICAL, MESH

X = "f32[8,128]"


def send(device_id, kind=MESH, axes=("x",)):
    def kernel(x_ref, o_ref, send_sem, recv_sem):
        for axis in axes:
            lax.axis_index(axis)
        copy = pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=device_id, device_id_type=kind)
        copy.start()
        copy.wait()

    return lambda x: pl.pallas_call(kernel, out_shape=struct(x.shape), in_specs=[ANY], out_specs=ANY, scratch_shapes=[DMA, DMA])(x)


@pytest.mark.parametrize(
    "mesh, device_id, kind, text",
    [
        ("x=2,y=2", (1,), MESH, "device_id has 1 coordinate, but the mesh x=2,y=2 has 2"),
        ("x=4", (1, 0), MESH, "device_id has 2 coordinates, but the mesh x=4 has 1"),
        ("x=4", (4,), MESH, "device id 4 is out of range: axis x has 4"),
        ("x=4", 9, LOGICAL, "device id 9 is out of range: device has 4"),
        ("x=4", {"z": 1}, MESH, 'names the axis "z", but the mesh has "x"'),
    ],
)
def test_device_ids(mesh, device_id, kind, text):
    with pytest.raises(TraceError) as wrong:
        heddle_pallas.check(send(device_id, kind), X, mesh=mesh)
    assert text in str(wrong.value) and "test_bad_input.py:" in str(wrong.value) and "\n" not in str(wrong.value)


def simple(body):
    def kernel(x_ref, o_ref):
        o_ref[...] = body(x_ref[...])

    return lambda x: pl.pallas_call(kernel, out_shape=struct(x.shape))(x)


def test_unsupported_primitive():
    with pytest.raises(
        Unsupported, match=r"test_bad_input.py:\d+: the primitive bessel_i0e is not supported; compute it before the kernel"
    ):
        heddle_pallas.check(simple(lambda v: lax.bessel_i0e(v)), X, mesh=1)


def copying(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def adding(x_ref, o_ref, sem):
    copy = pltpu.make_async_copy(x_ref, o_ref, sem)
    copy.start(add=True)
    copy.wait()


def indexing(x_ref, i_ref, o_ref):
    o_ref[...] = x_ref[i_ref[...]]


def grid_from_a_kernel(x):
    size = pl.pallas_call(copying, out_shape=struct(x.shape, jnp.int32))(x)
    return pl.pallas_call(copying, out_shape=struct(x.shape, jnp.int32), grid=(size[0, 0],))(size)


ROWS = pl.BlockSpec((8, 128), lambda i: (i, 0))


def over_rows(spec):
    return lambda x: pl.pallas_call(copying, out_shape=struct(x.shape), grid=(2,), in_specs=[spec], out_specs=ROWS)(x)


def on_sparse_cores(x):
    from jax.experimental.pallas import tpu_sc

    mesh = tpu_sc.ScalarSubcoreMesh(axis_name="c", num_cores=2)
    return kernel_on(mesh, copying, struct(x.shape))(x)


UNSUPPORTED = [
    (
        lambda x, i: pl.pallas_call(indexing, out_shape=struct((8, 128)))(x, i),
        [X, "i32[8]"],
        "indexing a ref with an array is not supported; use a loop",
    ),
    (grid_from_a_kernel, ["i32[8,128]"], "a grid whose size is computed by an earlier kernel is not supported; use the largest"),
    (
        over_rows(pl.BlockSpec((8, 128), lambda i: (i, 0), memory_space=pl.ANY)),
        ["f32[16,128]"],
        "a block of x_ref that stays in ANY is not supported; leave",
    ),
    (lambda x: x + 1.0, [X], "there is no kernel in <lambda>"),
]
if hasattr(pl, "BoundedSlice"):
    bounded = pl.BlockSpec((pl.BoundedSlice(8), 128), lambda i: (pl.ds(i * 8, 8), 0))
    UNSUPPORTED.append(
        (over_rows(bounded), ["f32[16,128]"], "a BlockSpec with BoundedSlice dimensions is not supported; use plain block sizes")
    )
if NEWEST:  # copies that add, and meshes of sparse cores
    UNSUPPORTED.append(
        (
            lambda x: pl.pallas_call(adding, out_shape=struct(x.shape), in_specs=[ANY], out_specs=ANY, scratch_shapes=[DMA])(x),
            [X],
            "a copy with add=True is not supported; copy to scratch",
        )
    )
    UNSUPPORTED.append((on_sparse_cores, [X], "a kernel on a ScalarSubcoreMesh is not supported; kernels on TensorCores are"))


@pytest.mark.parametrize("function, arguments, text", UNSUPPORTED, ids=lambda v: v[:40] if isinstance(v, str) else "")
def test_what_is_not_there_is_said_in_one_line(function, arguments, text):
    with pytest.raises(HeddleError, match=rf"^\S*test_bad_input.py:\d+: {text}") as wrong:
        heddle_pallas.check(function, *arguments, mesh=1)
    assert "\n" not in str(wrong.value)


def test_random_numbers_in_a_kernel():
    def kernel(o_ref):
        pltpu.prng_seed(0)
        o_ref[...] = pltpu.prng_random_bits(o_ref.shape).astype(jnp.float32)

    with pytest.raises(
        Unsupported, match=r"test_bad_input.py:\d+: the primitive prng_seed is not supported; pass random numbers to the kernel"
    ):
        heddle_pallas.check(lambda: pl.pallas_call(kernel, out_shape=struct((8, 128)))(), mesh=1)


def test_more_than_can_be_sorted():
    with pytest.raises(Unsupported, match=r"test_bad_input.py:\d+: sort of 4096 elements is not supported; use at most 2048"):
        heddle_pallas.check(simple(lambda v: jnp.sort(v, axis=0)), "f32[4096,8]", mesh=1)


def test_too_many_rounds_around_a_kernel():
    def function(x, n):
        return lax.fori_loop(0, n, lambda i, y: simple(lambda v: v + 1.0)(y), x)

    with pytest.raises(Unsupported, match=r"test_bad_input.py:\d+: a loop of 1000 iterations around a kernel .* 256 iterations or fewer"):
        heddle_pallas.check(lambda x: function(x, 1000), X, mesh=1)
    with pytest.raises(Unsupported, match=r"test_bad_input.py:\d+: a loop of more than 256 iterations around a kernel"):
        heddle_pallas.check(function, X, np.int32(1000), mesh=1)


def test_collectives_in_groups():
    def function(x):
        return simple(lambda v: v)(lax.psum(simple(lambda v: v + 1.0)(x), "x", axis_index_groups=[[0, 1], [2, 3]]))

    with pytest.raises(
        Unsupported, match=r"test_bad_input.py:\d+: psum with axis_index_groups between kernels is not supported; give the mesh"
    ):
        heddle_pallas.check(function, X, mesh=4)


def test_exception_in_user_code():
    def function(x):
        raise ValueError("no such thing\nand more")

    with pytest.raises(TraceError, match=r"test_bad_input.py:\d+: ValueError: no such thing$"):
        heddle_pallas.check(function, X, mesh=2)


def test_wrong_shapes():
    def function(x, y):
        return x + y

    with pytest.raises(TraceError, match="test_bad_input.py:.*(TypeError|ValueError)"):
        heddle_pallas.check(function, X, "f32[7]", mesh=1)


@pytest.mark.parametrize("text", ["f32[8,128", "q32[4]", "f32[a]", ""])
def test_shapes_as_text(text):
    with pytest.raises(HeddleError, match="not a shape; write"):
        heddle_pallas.shape(text)


@pytest.mark.parametrize(
    "mesh, text", [("x=0", "not a mesh"), ("x=2,x=2", "named twice"), (0, "at least one is needed"), (object(), "give a number")]
)
def test_meshes(mesh, text):
    with pytest.raises(HeddleError, match=text):
        heddle_pallas.check(rings.all_gather, X, mesh=mesh)


def test_unknown_option():
    with pytest.raises(HeddleError, match="unknown option serach; the options are search, dma_order"):
        heddle_pallas.check(rings.all_gather, X, mesh=2, serach="prove")


def test_values_for_other_devices():
    with pytest.raises(HeddleError, match="for 3 devices, the mesh has 2"):
        heddle_pallas.check(rings.all_gather, heddle_pallas.per_device(np.zeros((3, 8, 128), np.float32)), mesh=2)


def test_expectation_that_does_not_hold(heddle, numbers):
    x = numbers(2, 8, 128)
    with pytest.raises(AssertionError, match="right_permute: faulty"):
        heddle.verify(rings.right_permute, heddle_pallas.per_device(x), mesh=2, expect=x)


# The command line


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "heddle_pallas", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=os.path.dirname(__file__),
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["check", "kernels_ring:nothing"], "kernels_ring has no nothing; it has add_in_pipeline, all_gather"),
        (["check", "no_such_module:f"], "cannot import no_such_module: no module named no_such_module"),
        (["check", "no_such_file.py:f"], "no_such_file.py: no such file"),
        (["check", "kernels_ring"], "name a function as my_module:my_function"),
        (["check", "kernels_ring:all_gather"], "the parameter x has no value: give --input x=f32[8,128]"),
        (["check", "kernels_ring:all_gather", "--input", "x=q[1]"], "--input x: q[1]: not a shape"),
        (
            ["check", "kernels_ring:all_gather", "--input", "y=f32[1]"],
            "the function has no parameter of that name; it has x, barrier, shared",
        ),
        (
            ["check", "kernels_ring:all_gather", "--input", "x=@nothing.npy"],
            "--input x: cannot read nothing.npy: No such file or directory",
        ),
        (["check", "kernels_ring:all_gather", "--input", "x=f32[8,128]", "-n", "8..2"], "-n 8..2: not a number of devices"),
        (["check", "kernels_ring:all_gather", "--input", "x=f32[8,128]", "--mesh", "x"], "--mesh x: not a mesh"),
        (["export", "kernels_ring:all_gather", "--input", "x=f32[8,128]", "-n", "2,3", "-o", "a.c"], "export writes one size"),
        (["export", "kernels_ring:all_gather", "--input", "x=f32[8,128]", "-o", "/proc/no/a.c"], "cannot write /proc/no/a.c"),
    ],
    ids=lambda a: " ".join(a) if isinstance(a, list) else "",
)
def test_command_line(arguments, text):
    done = run(*arguments)
    assert done.returncode == 2 and done.stderr.startswith("heddle-pallas: ") and text in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_missing_checker():
    done = run("check", "kernels_ring:all_gather", "--input", "x=f32[8,128]", HEDDLE="/no/such/heddle")
    assert done.returncode == 2 and "HEDDLE=/no/such/heddle: no such program" in done.stderr


def test_missing_compiler():
    done = run("check", "kernels_ring:all_gather", "--input", "x=f32[8,128]", CC="no-such-cc")
    assert done.returncode == 2 and "there is no C compiler no-such-cc: install gcc or clang" in done.stderr


def test_missing_jax(tmp_path):
    (tmp_path / "jax.py").write_text("raise ImportError('no jax')\n")
    done = run("check", "kernels_ring:all_gather", PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    assert done.returncode == 2 and "JAX is not installed: pip install" in done.stderr


def test_no_verdict_in_time():
    done = run("check", "kernels_ring:all_gather", "--input", "x=f32[8,128]", "--timeout", "0.001")
    assert done.returncode == 2 and "no verdict within 0.001 s" in done.stderr


def test_an_axis_of_another_name():
    text = r'kernels_ring.py:\d+: it asks for the axis "x", but the mesh is i=4: call it with --axis x, or --mesh x=2'
    with pytest.raises(TraceError, match=text):
        heddle_pallas.check(rings.all_gather, X, mesh="i=4")


def test_a_mesh_of_its_own(heddle):
    """What is asked for and what is checked are the same, or it is said."""

    def whole(x):
        mesh = abstract_mesh(Mesh(("x",), (4,)))
        return jax.shard_map(rings.right_permute, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)(x)

    assert heddle.check(whole, "f32[32,128]").check["devices"] == heddle.check(whole, "f32[32,128]", mesh=4).check["devices"] == 4
    with pytest.raises(TraceError, match=r"test_bad_input.py:\d+: whole has a mesh of its own, x=4, but x=2 was requested: leave that out"):
        heddle.check(whole, "f32[32,128]", mesh=2)
