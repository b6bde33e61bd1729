"""Kernels that reach around their windows into the same array: right where nothing is under way there, wrong where something is."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels_memory import ANY, DMA, struct
from kernels_ring import Params

ROWS, COLUMNS = 8, 128


def rows(buffers=None):
    """Windows of eight rows."""
    mode = {} if buffers is None else {"pipeline_mode": pl.Buffered(buffers)}
    return pl.BlockSpec((ROWS, COLUMNS), lambda i: (i, 0), **mode)


def part(ref, i):
    return ref.at[pl.ds(ROWS * i, ROWS)]


def patch_kernel(x_ref, o_ref, tmp_ref, sem, *, ahead):
    to = pl.program_id(0) + ahead
    tmp_ref[...] = x_ref[...] * 2.0

    @pl.when(to < pl.num_programs(0))
    def _():
        copy = pltpu.make_async_copy(tmp_ref, part(o_ref, to), sem)
        copy.start()
        copy.wait()


def patch(x, ahead, buffers=None):
    """In place: the input comes through windows, the output, which is the same array, goes out by copies of the kernel's own."""
    return pl.pallas_call(
        functools.partial(patch_kernel, ahead=ahead),
        out_shape=struct(x.shape),
        grid=(x.shape[0] // ROWS,),
        in_specs=[rows(buffers)],
        out_specs=ANY,
        scratch_shapes=[pltpu.VMEM((ROWS, COLUMNS), jnp.float32), DMA],
        input_output_aliases={0: 0},
    )(x)


def read_back_kernel(x_ref, o_ref, tmp_ref, sem, *, back):
    """x_ref is the array that o_ref is a window of."""
    o_ref[...] = jnp.full((ROWS, COLUMNS), pl.program_id(0), jnp.float32)
    at = pl.program_id(0) - back

    @pl.when(at >= 0)
    def _():
        copy = pltpu.make_async_copy(part(x_ref, at), tmp_ref, sem)
        copy.start()
        copy.wait()
        o_ref[...] += tmp_ref[...]


def read_back(x, back, buffers=None):
    return pl.pallas_call(
        functools.partial(read_back_kernel, back=back),
        out_shape=struct(x.shape),
        grid=(x.shape[0] // ROWS,),
        in_specs=[ANY],
        out_specs=rows(buffers),
        scratch_shapes=[pltpu.VMEM((ROWS, COLUMNS), jnp.float32), DMA],
        input_output_aliases={0: 0},
    )(x)


def feed_kernel(x_ref, o_ref, tmp_ref, send_sem, recv_sems):
    n, to = lax.axis_size("x"), pl.program_id(0) + 1
    right = lax.rem(lax.axis_index("x") + 1, n)
    tmp_ref[...] = x_ref[...]

    @pl.when(to < pl.num_programs(0))
    def _():
        copy = pltpu.make_async_remote_copy(tmp_ref, part(o_ref, to), send_sem, recv_sems.at[to], device_id=(right,))
        copy.start()
        copy.wait()


def feed(x, buffers=None):
    """The right neighbour's next block comes from here: it is waited for, but not by a fetch that has begun."""
    steps = x.shape[0] // ROWS
    return pl.pallas_call(
        feed_kernel,
        out_shape=struct(x.shape),
        grid=(steps,),
        in_specs=[rows(buffers)],
        out_specs=ANY,
        scratch_shapes=[pltpu.VMEM((ROWS, COLUMNS), jnp.float32), DMA, DMA((steps,))],
        input_output_aliases={0: 0},
    )(x)


def pipeline_kernel(x_ref, o_ref, copy_ref, tmp_ref, sem, *, ahead):
    """The same as patch, with a pipeline of the kernel's own."""
    steps = x_ref.shape[0] // ROWS

    def body(x_block, copy_block):
        to = pl.program_id(0) + ahead
        copy_block[...] = x_block[...]
        tmp_ref[...] = x_block[...] * 2.0

        @pl.when(to < steps)
        def _():
            copy = pltpu.make_async_copy(tmp_ref, part(o_ref, to), sem)
            copy.start()
            copy.wait()

    pltpu.emit_pipeline(body, grid=(steps,), in_specs=[rows()], out_specs=[rows()])(x_ref, copy_ref)


def pipeline(x, ahead):
    return pl.pallas_call(
        functools.partial(pipeline_kernel, ahead=ahead),
        out_shape=[struct(x.shape), struct(x.shape)],
        in_specs=[ANY],
        out_specs=[ANY, ANY],
        scratch_shapes=[pltpu.VMEM((ROWS, COLUMNS), jnp.float32), DMA],
        input_output_aliases={0: 0},
    )(x)


def table_kernel(table_ref, x_ref, o_ref):
    """The table that says which block comes next is used, too."""
    o_ref[...] = x_ref[...] + table_ref[pl.program_id(0)].astype(jnp.float32)


def mapped(x):
    """A kernel for one of several arrays."""
    return jax.vmap(lambda a: pl.pallas_call(scale_kernel, out_shape=struct(a.shape), grid=(2,), in_specs=[rows()], out_specs=rows())(a))(x)


def scale_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * (pl.program_id(0) + 1).astype(jnp.float32)


def by_table(table, x):
    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(4,),
        in_specs=[pl.BlockSpec((ROWS, COLUMNS), lambda i, table: (table[table[i]], 0))],
        out_specs=pl.BlockSpec((ROWS, COLUMNS), lambda i, table: (3 - i, 0)),
    )
    return pl.pallas_call(table_kernel, out_shape=struct((4 * ROWS, COLUMNS)), grid_spec=grid)(table, x)


def lookahead(x):
    spec = pl.BlockSpec((ROWS, COLUMNS), lambda i: (i, 0), pipeline_mode=pl.Buffered(2, use_lookahead=True))
    return pl.pallas_call(scale_kernel, out_shape=struct(x.shape), grid=(2,), in_specs=[spec], out_specs=rows())(x)


def revisit_kernel(x_ref, o_ref):
    o_ref[...] += x_ref[...]


def revisit(x, **mode):
    """Each half of the output is worked on, left, and worked on again."""
    spec = pl.BlockSpec((ROWS, COLUMNS), lambda i: (i % 2, 0), pipeline_mode=pl.Buffered(**mode))
    return pl.pallas_call(revisit_kernel, out_shape=struct(x.shape), grid=(4,), in_specs=[rows_of_half()], out_specs=spec)(x)


def rows_of_half():
    return pl.BlockSpec((ROWS, COLUMNS), lambda i: (i % 2, 0))


def into_window_kernel(x_ref, o_ref, send_sem, recv_sem, *, cleared, fenced):
    n, me = lax.axis_size("x"), lax.axis_index("x")
    right = lax.rem(me + 1, n)
    if cleared:
        o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)
    if fenced is not None:  # tells one neighbour that we are here; the copy goes to the right
        barrier = pltpu.get_barrier_semaphore()
        pltpu.semaphore_signal(barrier, 1, device_id=(lax.rem(me + n + fenced, n),))
        pltpu.semaphore_wait(barrier, 1)
    copy = pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=(right,))
    copy.start()
    copy.wait()


def into_window(x, steps=1, cleared=False, fenced=None):
    """Each device sends its block of x to the window of its neighbour's output, in each grid step."""
    return pl.pallas_call(
        functools.partial(into_window_kernel, cleared=cleared, fenced=fenced),
        out_shape=struct(x.shape),
        grid=(steps,),
        in_specs=[pl.BlockSpec((x.shape[0] // steps, COLUMNS), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((x.shape[0] // steps, COLUMNS), lambda i: (i, 0)),
        scratch_shapes=[DMA, DMA],
        compiler_params=None if fenced is None else Params(collective_id=3),
    )(x)
