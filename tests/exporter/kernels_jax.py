"""Kernels of JAX's tests and operators that the other files lack, written anew: several cores, launches in a row, both ways round."""

import dataclasses
import functools

import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels_mixed import SMEM, struct
from kernels_protocols import SEMAPHORE, call, send_to
from kernels_ring import ANY, DMA, LOGICAL, REGULAR, Params, meet, neighbours

CAN_SKIP = any(f.name == "skip_device_barrier" for f in dataclasses.fields(Params))
VMEM = pl.BlockSpec(memory_space=pltpu.VMEM)
Hbm = getattr(pltpu, "HBM", None) or pltpu.ANY


def now(copy):
    copy.start()
    copy.wait()


# Cores


def core_1_reads_beyond_kernel(x_ref, o_ref, table_ref, sem, told_sem):
    core = pl.program_id(0)
    table_ref[...] = jnp.zeros_like(table_ref)

    @pl.when(core == 1)
    def _():
        row = table_ref[pl.ds(core * 100, 1)]
        table_ref[pl.ds(0, 1)] = row
        pltpu.semaphore_signal(told_sem, 1, core_index=0)

    @pl.when(core == 0)
    def _():
        pltpu.semaphore_wait(told_sem, 1)
        now(pltpu.make_async_copy(x_ref, o_ref, sem))


def overlapping_rows_kernel(x_ref, o_ref, table_ref, send_sem, recv_sem):
    """Each core sends 8 of 16 rows to the left, from its own index on: those of two cores overlap there. And one core fails before."""
    device, core = lax.axis_index("x"), pl.program_id(0)

    @pl.when((device == 1) & (core == 0))
    def _():
        table_ref[pl.ds(0, 1)] = table_ref[pl.ds(device * 100, 1)]

    rows = pl.ds(core, 8)
    now(send_to(neighbours()[0], x_ref.at[rows], o_ref.at[rows], send_sem, recv_sem))


def scope_in_hbm_kernel(x_ref, o_ref, sem, filled_sem):
    """One object a device: core 0 fills it, core 1 reads it."""
    core = pl.program_id(0)

    def inner(shared_ref):
        @pl.when(core == 0)
        def _():
            now(pltpu.make_async_copy(x_ref, shared_ref, sem))
            pltpu.semaphore_signal(filled_sem, 1, core_index=1)

        @pl.when(core == 1)
        def _():
            pltpu.semaphore_wait(filled_sem, 1)
            now(pltpu.make_async_copy(shared_ref, o_ref, sem))

    pl.run_scoped(inner, Hbm((8, 128), jnp.float32))


def on_two_cores(kernel, x, *scratch):
    return call(kernel, x, *scratch, grid=(2,), compiler_params=Params(dimension_semantics=("parallel",)))


def core_1_reads_beyond(x):
    return on_two_cores(core_1_reads_beyond_kernel, x, pltpu.VMEM((8, 128), x.dtype), DMA, REGULAR)


def overlapping_rows(x):
    return on_two_cores(overlapping_rows_kernel, x, pltpu.VMEM((8, 128), x.dtype), DMA, DMA)


def scope_in_hbm(x):
    return on_two_cores(scope_in_hbm_kernel, x, DMA, REGULAR)


def split_grid_kernel(x_ref, o_ref, count_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
        count_ref[0] = 0

    count_ref[0] += 1
    o_ref[...] = x_ref[...] + count_ref[0]


def split_grid(x):
    """A parallel dimension over rows, an ordinary one over columns; each core counts its steps along a row."""
    block = pl.BlockSpec((1, 8, 128), lambda i, j: (i, j, 0))
    return pl.pallas_call(
        split_grid_kernel,
        out_shape=struct(x.shape, x.dtype),
        grid=(x.shape[0], x.shape[1] // 8),
        in_specs=[block],
        out_specs=block,
        scratch_shapes=[pltpu.SMEM((1,), jnp.int32)],
        compiler_params=Params(dimension_semantics=("parallel", "arbitrary")),
    )(x)


# Slots


def even_and_odd_kernel(x_ref, o_ref, slots_ref, send_sem, recv_sem, copy_sem):
    """Even devices write slot 0 of the right neighbour, odd ones slot 1, twice; nothing says that the neighbour is done."""
    me = lax.rem(lax.axis_index("x"), 2)

    def one(i, _):
        now(send_to(neighbours()[1], x_ref, slots_ref.at[me], send_sem, recv_sem))
        now(pltpu.make_async_copy(slots_ref.at[1 - me], o_ref, copy_sem))
        return _

    lax.fori_loop(0, 2, one, 0)


def even_and_odd(x):
    return call(even_and_odd_kernel, x, Hbm((2, *x.shape), x.dtype), DMA, DMA, DMA)


def run_ahead_kernel(x_ref, o_ref, slots_ref, send_sem, recv_sem):
    step = pl.program_id(0)
    slot = lax.rem(step, 2)

    @pl.when(step == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    now(send_to(neighbours()[1], x_ref, slots_ref.at[slot], send_sem, recv_sem))
    o_ref[...] += slots_ref[slot]


def run_ahead(x):
    return pl.pallas_call(
        run_ahead_kernel,
        out_shape=struct(x.shape, x.dtype),
        grid=(lax.axis_size("x"),),
        in_specs=[ANY],
        out_specs=VMEM,
        scratch_shapes=[pltpu.VMEM((2, *x.shape), x.dtype), DMA, DMA],
    )(x)


# All-gather both ways round: half of each block to the right, half to the left


def both_ways_kernel(x_ref, o_ref, own_sem, send_sems, right_sems, left_sems, *, shared):
    n, me, step = lax.axis_size("x"), lax.axis_index("x"), pl.program_id(0)
    left, right = neighbours()
    half = x_ref.shape[0] // 2

    @pl.when(step == 0)
    def _():
        meet(left, right)
        now(pltpu.make_async_copy(x_ref, o_ref.at[me], own_sem))

    at = 0 if shared else step
    rightwards = o_ref.at[lax.rem(me - step + n, n), pl.ds(0, half)]
    leftwards = o_ref.at[lax.rem(me + step, n), pl.ds(half, half)]
    to_right = send_to(right, rightwards, rightwards, send_sems.at[0], right_sems.at[at])
    to_left = send_to(left, leftwards, leftwards, send_sems.at[1], left_sems.at[at])
    to_right.start()
    to_left.start()
    to_right.wait()
    to_left.wait()


def both_ways(x, shared=True):
    n = lax.axis_size("x")
    return pl.pallas_call(
        functools.partial(both_ways_kernel, shared=shared),
        out_shape=struct((n, *x.shape), x.dtype),
        grid=(n - 1,),
        in_specs=[ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA((2,)), DMA((n - 1,)), DMA((n - 1,))],
        compiler_params=Params(collective_id=0),
    )(x)


# Ready is said in one launch, the copy comes in the next, which has no barrier at its entry


def say_ready_kernel(ready_sem, *rest):
    del rest
    pltpu.semaphore_signal(ready_sem, 1, device_id=neighbours()[0], device_id_type=LOGICAL)


def send_when_ready_kernel(x_ref, ready_sem, *rest):
    recv_sem, o_ref, send_sem = rest[-3:]
    pltpu.semaphore_wait(ready_sem, 1)
    now(send_to(neighbours()[1], x_ref, o_ref, send_sem, recv_sem))


def ready_a_launch_before(x, too_soon=False):
    """What the copy writes to, and counts on, is there in the launch in which "ready" is said; or not yet."""
    out, skip = struct(x.shape, x.dtype), Params(skip_device_barrier=True)
    if too_soon:
        ready = pl.pallas_call(say_ready_kernel, out_shape=REGULAR(()), out_specs=SEMAPHORE)()
        return pl.pallas_call(
            lambda x_ref, ready_sem, o_ref, send_sem, recv_sem: send_when_ready_kernel(x_ref, ready_sem, recv_sem, o_ref, send_sem),
            out_shape=out,
            in_specs=[ANY, SEMAPHORE],
            out_specs=ANY,
            scratch_shapes=[DMA, DMA],
            compiler_params=skip,
        )(x, ready)
    ready, room, arrived = pl.pallas_call(say_ready_kernel, out_shape=[REGULAR(()), out, DMA(())], out_specs=[SEMAPHORE, ANY, SEMAPHORE])()
    return pl.pallas_call(
        lambda x_ref, ready_sem, room_ref, recv_sem, o_ref, send_sem: send_when_ready_kernel(x_ref, ready_sem, recv_sem, o_ref, send_sem),
        out_shape=out,
        in_specs=[ANY, SEMAPHORE, ANY, SEMAPHORE],
        out_specs=ANY,
        scratch_shapes=[DMA],
        input_output_aliases={2: 0},
        compiler_params=skip,
    )(x, ready, room, arrived)


# Which of two, told by a register


def swap_the_second_kernel(which_ref, a_ref, b_ref, o_ref, send_a, send_b, recv_sem, *, register):
    select = getattr(pltpu, "select_ref", None) or pl.select_ref
    which = lax.axis_index("x") * 0 + 1 if register else which_ref[0]
    now(send_to(1 - lax.axis_index("x"), select(which, a_ref, b_ref), o_ref, select(which, send_a, send_b), recv_sem))


def swap_the_second(which, a, b, register=False):
    return pl.pallas_call(
        functools.partial(swap_the_second_kernel, register=register),
        out_shape=struct(a.shape, a.dtype),
        in_specs=[SMEM, ANY, ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA, DMA],
    )(which, a, b)
