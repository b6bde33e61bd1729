"""Where memory is and how a kernel comes to it: arrays that stay in VMEM between launches, refs and scalars that a kernel closes over."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels_mixed import struct
from kernels_protocols import SEMAPHORE, kernel_on
from kernels_ring import ANY, DMA

VMEM = pl.BlockSpec(memory_space=pltpu.VMEM)

# A result that stays in VMEM: a later kernel finds it there


def fetch_kernel(x_ref, o_ref, sem):
    pltpu.make_async_copy(x_ref, o_ref, sem).start()


def use_kernel(x_ref, y_ref, sem, o_ref, *, early):
    fetch = pltpu.make_async_copy(x_ref, y_ref, sem)
    if not early:
        fetch.wait()
    o_ref[...] = y_ref[...] + 1.0
    if early:
        fetch.wait()


def prefetch(x, early=False):
    """The first kernel starts the copy to VMEM, the second one waits for it, and computes there."""
    y, sem = pl.pallas_call(fetch_kernel, out_shape=[pltpu.VMEM(x.shape, x.dtype), DMA(())], in_specs=[ANY], out_specs=[VMEM, SEMAPHORE])(x)
    return pl.pallas_call(
        lambda *refs: use_kernel(*refs, early=early), out_shape=struct(x.shape, x.dtype), in_specs=[ANY, VMEM, SEMAPHORE], out_specs=VMEM
    )(x, y, sem)


def scale_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0


def through_vmem(x, blocks=False):
    """Computed in VMEM, and there for plain JAX, for a whole block, or for smaller ones."""
    y = pl.pallas_call(scale_kernel, out_shape=pltpu.VMEM(x.shape, x.dtype), in_specs=[VMEM], out_specs=VMEM)(x)
    half = pl.BlockSpec((x.shape[0] // 2, x.shape[1]), lambda i: (i, 0)) if blocks else VMEM
    grid = {"grid": (2,)} if blocks else {}
    return pl.pallas_call(scale_kernel, out_shape=struct(x.shape, x.dtype), in_specs=[half], out_specs=half, **grid)(y), y + 1.0


# Refs that a pallas_call closes over


def over_refs(x, waits=True):
    """Two kernels on the same refs; what the first one moves, the second one moves on."""

    def body(refs):
        x_ref, y_ref, z_ref = refs

        def first(sem):
            copy = pltpu.make_async_copy(x_ref, y_ref, sem)
            copy.start()
            copy.wait()

        def second(row_ref, sem):
            rows = pltpu.make_async_copy(y_ref.at[pl.ds(row_ref[0], 4)], z_ref.at[pl.ds(0, 4)], sem)
            rows.start()
            if waits:
                rows.wait()

        pl.pallas_call(first, out_shape=[], scratch_shapes=[DMA])()
        grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, scratch_shapes=[DMA])
        pl.pallas_call(second, out_shape=[], grid_spec=grid)(jnp.array([2], jnp.int32))
        x_ref[...] = z_ref[...] * 3.0

    return pl.run_state(body)((x, jnp.zeros_like(x), jnp.zeros_like(x)))


def part_of_a_ref(x):
    def body(refs):
        x_ref, y_ref = refs
        pl.pallas_call(lambda: None, out_shape=[])()
        y_ref[...] = x_ref[0:4]

    return pl.run_state(body)((pl.pallas_call(scale_kernel, out_shape=struct(x.shape))(x), x[0:4]))[1]


# Scalars that a kernel on cores closes over


def row_of(x, i):
    """x: [rows, 8, 128]. Each core takes its row, from the i-th on."""

    def body(x_ref, o_ref, sem):
        core = lax.axis_index("core")
        copy = pltpu.make_async_copy(x_ref.at[i + core], o_ref.at[core], sem)
        copy.start()
        copy.wait()

    mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)
    return kernel_on(mesh, body, struct((2, *x.shape[1:]), x.dtype), DMA)(x)


# Scratch without a scope


def scratch_inside(x, waits=True):
    def kernel(x_ref, o_ref, sem):
        scratch_ref = jax.empty_ref(jax.typeof(x), memory_space=pltpu.VMEM)
        copy = pltpu.make_async_copy(x_ref, scratch_ref, sem)
        copy.start()
        if waits:
            copy.wait()
        o_ref[...] = scratch_ref[...] + 1.0
        if not waits:
            copy.wait()

    return pl.pallas_call(kernel, out_shape=struct(x.shape, x.dtype), in_specs=[ANY], out_specs=VMEM, scratch_shapes=[DMA])(x)


# Results in the memory of an input: what plain JAX makes of them is made of the results


def in_place(x, y):
    """Over x in place, then plain JAX; and a kernel, and a condition, that depend on what was computed in place."""
    x = pl.pallas_call(scale_kernel, out_shape=struct(x.shape, x.dtype), in_specs=[VMEM], out_specs=VMEM, input_output_aliases={0: 0})(x)

    def body(refs):
        (y_ref,) = refs

        def add(sem):
            def inner(row_ref):
                for start, target in ((y_ref.at[0], row_ref), (row_ref, y_ref.at[1])):
                    copy = pltpu.make_async_copy(start, target, sem)
                    copy.start()
                    copy.wait()

            pl.run_scoped(inner, pltpu.VMEM(y.shape[1:], y.dtype))

        pl.pallas_call(add, out_shape=[], scratch_shapes=[DMA])()

    (y,) = pl.run_state(body)((y,))
    return x + 1.0, jnp.sum(y, axis=0), pl.pallas_call(scale_kernel, out_shape=struct(x.shape, x.dtype))(x - 1.0)
