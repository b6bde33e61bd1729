"""Kernels that tables in SMEM steer: tokens that go to their experts, rows in an order, a grid as long as an input says."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels_ring import ANY, DMA

EXPERTS, SLOTS = 4, 2


def owner(expert, devices):
    return expert * devices // EXPERTS


def experts_kernel(ids, x_ref, scale_ref, o_ref, inbox, mine, slots, send, recv, loads, stores, *, always):
    """Each token goes to the device of its expert, which scales its tokens one after the other, in two slots in turn."""
    n, me, tokens = lax.axis_size("x"), lax.axis_index("x"), x_ref.shape[0]

    def start(t, carry):
        to = owner(ids[me * tokens + t], n)
        pltpu.make_async_remote_copy(x_ref.at[t], inbox.at[me * tokens + t], send, recv, device_id=(to,)).start()
        return carry

    def note(i, count):
        here = owner(ids[i], n) == me

        @pl.when(here)
        def _():
            mine[count] = i

        return count + here.astype(jnp.int32)

    def drain(semaphore):
        def wait(_, carry):
            pltpu.make_async_copy(x_ref.at[0], x_ref.at[0], semaphore).wait()
            return carry

        return wait

    def load(k):
        return pltpu.make_async_copy(inbox.at[mine[k]], slots.at[k % SLOTS], loads.at[k % SLOTS])

    def work(k, carry):
        load(k).wait()
        slot = slots.at[k % SLOTS]
        slot[...] = slot[...] * scale_ref[ids[mine[k]]]
        store = pltpu.make_async_copy(slot, o_ref.at[mine[k]], stores)
        store.start()
        store.wait()

        @pl.when(k + SLOTS < come)
        def _():
            load(k + SLOTS).start()

        return carry

    lax.fori_loop(0, tokens, start, 0)
    mine[0] = mine[1] = 0
    come = lax.fori_loop(0, n * tokens, note, 0)
    lax.fori_loop(0, tokens, drain(send), 0)
    lax.fori_loop(0, come, drain(recv), 0)
    for k in range(SLOTS):
        if always:
            load(k).start()
        else:
            pl.when(k < come)(load(k).start)
    lax.fori_loop(0, come, work, 0)


def experts(ids, x, scale, always=False):
    """ids: of the tokens of all devices. always: fills both slots, even if fewer tokens come."""
    rows = lax.axis_size("x") * x.shape[0]
    out = jax.ShapeDtypeStruct((rows, *x.shape[1:]), x.dtype)
    return pl.pallas_call(
        functools.partial(experts_kernel, always=always),
        out_shape=[out, out],
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(),
            in_specs=[ANY, pl.BlockSpec(memory_space=pltpu.SMEM)],
            out_specs=[ANY] * 2,
            scratch_shapes=[pltpu.SMEM((rows,), jnp.int32), pltpu.VMEM((SLOTS, *x.shape[1:]), x.dtype), DMA, DMA, DMA((SLOTS,)), DMA],
        ),
    )(ids, x, scale)[0]


def scaled(ids, x, scale):
    """What `experts` returns, for per_device(x): each device has the rows of its experts."""
    devices = x.shape[0]
    rows = x.reshape(-1, x.shape[-1]) * scale[ids][:, None]
    return jnp.stack([jnp.where((owner(ids, devices) == d)[:, None], rows, jnp.nan) for d in range(devices)])


def rows_kernel(order, x_ref, o_ref, sem):
    i = pl.program_id(0)
    copy = pltpu.make_async_copy(x_ref.at[order[i]], o_ref.at[i], sem)
    copy.start()
    copy.wait()


def sorted_rows(keys, count, x, skip=0):
    """The rows with the smallest keys, as many as `count` says."""
    return pl.pallas_call(
        rows_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(jnp.minimum(count[0], x.shape[0]) + skip,),
            in_specs=[ANY],
            out_specs=ANY,
            scratch_shapes=[DMA],
        ),
    )(jnp.argsort(keys), x)


def taken(keys, count, x):
    return jnp.where(jnp.arange(x.shape[0])[:, None] < count[0], x[jnp.argsort(keys)], jnp.nan)[None]


def picked(ids, x):
    """Blocks of x, one for each id."""

    def kernel(ids_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((ids.shape[0], x.shape[1]), x.dtype),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(ids.shape[0],),
            in_specs=[pl.BlockSpec((1, x.shape[1]), lambda i, ids: (ids[i], 0))],
            out_specs=pl.BlockSpec((1, x.shape[1]), lambda i, ids: (i, 0)),
        ),
    )(ids, x)


def replaced(mesh):
    """With a shard_map of its own, over one axis: each device picks by its part of the ids."""
    spec = jax.sharding.PartitionSpec("x")
    return lambda ids, x: jax.shard_map(picked, mesh=mesh, in_specs=(spec, spec), out_specs=spec, check_vma=False)(ids, x)
