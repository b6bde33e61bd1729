"""Kernels of one device about memory: windows, bounds, order of a copy and a read, several cores."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

DMA = pltpu.SemaphoreType.DMA
REGULAR = pltpu.SemaphoreType.REGULAR
Params = getattr(pltpu, "CompilerParams", None) or pltpu.TPUCompilerParams
ANY = pl.BlockSpec(memory_space=pl.ANY)


def struct(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def add_one_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1.0


def blocks(x):
    """A grid over blocks of rows and columns."""
    return pl.pallas_call(
        add_one_kernel,
        out_shape=struct(x.shape),
        grid=(2, 2),
        in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
        out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
    )(x)


def blocks_that_do_not_divide(x):
    return pl.pallas_call(
        add_one_kernel,
        out_shape=struct(x.shape),
        grid=(pl.cdiv(x.shape[0], 8),),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
    )(x)


def block_beyond_the_input(x):
    return pl.pallas_call(
        add_one_kernel,
        out_shape=struct(x.shape),
        grid=(2,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i + 1, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
    )(x)


def block_beyond_the_output(x):
    return pl.pallas_call(
        add_one_kernel,
        out_shape=struct(x.shape),
        grid=(2,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (i + 1, 0)),
    )(x)


def revisit_kernel(x_ref, a_ref, b_ref):
    a_ref[...] = x_ref[...]
    b_ref[...] = x_ref[...]


def revisit(x):
    """The second output comes back to its first block in the third row of the grid."""
    return pl.pallas_call(
        revisit_kernel,
        out_shape=[struct((32, 512)), struct((32, 512))],
        grid=(4, 4),
        in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j))],
        out_specs=[pl.BlockSpec((8, 128), lambda i, j: (i, j)), pl.BlockSpec((8, 128), lambda i, j: (i % 2, j))],
    )(x)


def squeezed_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0


def squeezed(x):
    return pl.pallas_call(
        squeezed_kernel,
        out_shape=struct(x.shape),
        grid=(x.shape[0],),
        in_specs=[pl.BlockSpec((None, 8, 128), lambda i: (i, 0, 0))],
        out_specs=pl.BlockSpec((None, 8, 128), lambda i: (i, 0, 0)),
    )(x)


def accumulate_kernel(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...]


def accumulate(x):
    """One output block for all grid steps."""
    return pl.pallas_call(
        accumulate_kernel,
        out_shape=struct((8, 128)),
        grid=(x.shape[0] // 8,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
    )(x)


def matmul_kernel(a_ref, b_ref, o_ref, acc_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
        acc_ref[...] = jnp.zeros_like(acc_ref)

    acc_ref[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
        o_ref[...] = acc_ref[...].astype(o_ref.dtype)


def matmul(a, b):
    m, k, n = a.shape[0] // 8, a.shape[1] // 16, b.shape[1] // 8
    return pl.pallas_call(
        matmul_kernel,
        out_shape=struct((a.shape[0], b.shape[1])),
        grid=(m, n, k),
        in_specs=[pl.BlockSpec((8, 16), lambda i, j, s: (i, s)), pl.BlockSpec((16, 8), lambda i, j, s: (s, j))],
        out_specs=pl.BlockSpec((8, 8), lambda i, j, s: (i, j)),
        scratch_shapes=[pltpu.VMEM((8, 8), jnp.float32)],
    )(a, b)


def prefetch_kernel(order_ref, x_ref, o_ref):
    del order_ref
    o_ref[...] = x_ref[...]


def scalar_prefetch(order, x):
    """Which block comes next is told by a table in scalar memory."""
    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(x.shape[0] // 8,),
        in_specs=[pl.BlockSpec((8, 128), lambda i, order: (order[i], 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i, order: (i, 0)),
    )
    return pl.pallas_call(prefetch_kernel, out_shape=struct(x.shape), grid_spec=grid)(order, x)


def aliased_kernel(x_ref, o_ref, count_ref):
    step = pl.program_id(0)

    @pl.when(step == 0)
    def _():
        count_ref[0] = 0

    count_ref[0] += 1
    o_ref[...] = x_ref[...] + count_ref[0].astype(jnp.float32)


def aliased(x):
    """Each step takes a block that another step has replaced already, or will replace later."""
    steps = x.shape[0] // 8
    return pl.pallas_call(
        aliased_kernel,
        out_shape=struct(x.shape),
        grid=(steps,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (steps - 1 - i, 0)),
        scratch_shapes=[pltpu.SMEM((1,), jnp.int32)],
        input_output_aliases={0: 0},
    )(x)


def copy_order_kernel(x_ref, o_ref, tmp_ref, sem, *, read_first):
    copy = pltpu.make_async_copy(x_ref, tmp_ref, sem)
    copy.start()
    if read_first:
        o_ref[...] = tmp_ref[...]
        copy.wait()
    else:
        copy.wait()
        o_ref[...] = tmp_ref[...]


def copy_then_read(x, read_first=False):
    return pl.pallas_call(
        functools.partial(copy_order_kernel, read_first=read_first),
        out_shape=struct(x.shape),
        in_specs=[ANY],
        scratch_shapes=[pltpu.VMEM(x.shape, x.dtype), DMA],
    )(x)


def read_before_the_wait(x):
    return copy_then_read(x, read_first=True)


def copy_rows_kernel(x_ref, o_ref, tmp_ref, sem, *, source, target, rows):
    copy = pltpu.make_async_copy(
        x_ref.at[pl.ds(source[0] + pl.program_id(0), rows)], tmp_ref.at[pl.ds(target[0] + pl.program_id(0), rows)], sem
    )
    copy.start()
    copy.wait()
    o_ref[...] = jnp.zeros_like(o_ref)


def copy_rows(x, source, target, rows, scratch, space=pltpu.VMEM):
    """Rows from a start that is computed, so that nobody notices before it runs."""
    return pl.pallas_call(
        functools.partial(copy_rows_kernel, source=(source,), target=(target,), rows=rows),
        out_shape=struct((8, 128)),
        grid=(1,),
        in_specs=[ANY],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        scratch_shapes=[space((scratch, 128), x.dtype), DMA],
    )(x)


def copy_beyond_the_source(x):
    return copy_rows(x, 4, 0, 8, 8)


def copy_beyond_the_target(x):
    return copy_rows(x, 0, 4, 8, 10)


def copy_into_row_10(x):
    return copy_rows(x, 0, 10, 1, 10)


def copy_beyond_the_target_in_smem(x):
    return copy_rows(x, 0, 4, 8, 10, pltpu.SMEM)


def scalar_beyond_kernel(x_ref, o_ref):
    o_ref[0] = x_ref[pl.program_id(0) + 20]


def scalar_load_beyond(x):
    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    return pl.pallas_call(scalar_beyond_kernel, out_shape=struct((1,), jnp.int32), grid=(1,), in_specs=[smem], out_specs=smem)(x)


def masked_store_kernel(x_ref, o_ref, *, masked):
    o_ref[...] = jnp.zeros_like(o_ref)
    row = lax.broadcasted_iota(jnp.int32, (8, 128), 0)
    start = pl.program_id(0) + 4
    mask = row < 4 if masked else None
    store = pltpu.store if hasattr(pltpu, "store") else pl.store
    if store is getattr(pl, "store", None):
        store(o_ref, (pl.ds(start, 8), slice(None)), x_ref[...], mask=mask)
    else:
        store(o_ref.at[pl.ds(start, 8)], x_ref[...], mask=mask)


def masked_store(x, masked=True):
    whole = pl.BlockSpec((8, 128), lambda i: (0, 0))
    return pl.pallas_call(
        functools.partial(masked_store_kernel, masked=masked), out_shape=struct((8, 128)), grid=(1,), in_specs=[whole], out_specs=whole
    )(x)


def store_outside_unmasked(x):
    return masked_store(x, masked=False)


def never_written_kernel(o_ref, tmp_ref):
    o_ref[...] = tmp_ref[...]


def never_written(x):
    del x
    return pl.pallas_call(never_written_kernel, out_shape=struct((8, 128)), scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)])()


def steered_by_nothing_kernel(o_ref, tmp_ref):
    @pl.when(tmp_ref[0] == 0)
    def _():
        o_ref[0] = 1


def steered_by_nothing(x):
    del x
    return pl.pallas_call(
        steered_by_nothing_kernel,
        out_shape=struct((1,), jnp.int32),
        out_specs=pl.BlockSpec(memory_space=pltpu.SMEM),
        scratch_shapes=[pltpu.SMEM((1,), jnp.int32)],
    )()


def direct_load_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def direct_load_of_any(x):
    return pl.pallas_call(direct_load_kernel, out_shape=struct(x.shape), in_specs=[ANY])(x)


def direct_store_to_any(x):
    return pl.pallas_call(direct_load_kernel, out_shape=struct(x.shape), out_specs=ANY)(x)
