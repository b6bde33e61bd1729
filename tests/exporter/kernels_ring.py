"""Kernels of collectives around a ring, each what one device does, right and wrong."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

DMA = pltpu.SemaphoreType.DMA
REGULAR = pltpu.SemaphoreType.REGULAR
MESH = getattr(pl, "DeviceIdType", None) or pltpu.DeviceIdType
MESH, LOGICAL = MESH.MESH, MESH.LOGICAL
Params = getattr(pltpu, "CompilerParams", None) or pltpu.TPUCompilerParams
ANY = pl.BlockSpec(memory_space=pl.ANY)


def neighbours(axis="x"):
    n, my_id = lax.axis_size(axis), lax.axis_index(axis)
    return lax.rem(my_id + n - 1, n), lax.rem(my_id + 1, n)


def meet(*devices):
    """A barrier with the given devices, each of which names us too."""
    barrier = pltpu.get_barrier_semaphore()
    for device in devices:
        pltpu.semaphore_signal(barrier, 1, device_id=(device,), device_id_type=MESH)
    pltpu.semaphore_wait(barrier, len(devices))


# Right permute


def right_permute_kernel(x_ref, o_ref, send_sem, recv_sem, *, both_sides):
    left, right = neighbours()
    if both_sides:
        meet(left, right)
    else:
        barrier = pltpu.get_barrier_semaphore()
        pltpu.semaphore_signal(barrier, 1, device_id=(right,), device_id_type=MESH)
        pltpu.semaphore_wait(barrier, 1)
    permute = pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=(right,), device_id_type=MESH)
    permute.start()
    permute.wait()


def right_permute(x, both_sides=True):
    return pl.pallas_call(
        functools.partial(right_permute_kernel, both_sides=both_sides),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        in_specs=[ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA],
        compiler_params=Params(collective_id=13),
    )(x)


def right_permute_one_sided(x):
    return right_permute(x, both_sides=False)


# Four devices


def four_devices_kernel(x_ref, o_ref, send_sem, recv_sem):
    my_id = lax.axis_index("x")
    copy_to = [pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=to, device_id_type=LOGICAL) for to in (1, 3, 2)]
    zero_to_one, two_to_three, three_to_two = copy_to

    @pl.when(my_id == 0)
    def _():
        zero_to_one.start()
        zero_to_one.wait_send()

    @pl.when(my_id == 1)
    def _():
        zero_to_one.wait_recv()

    @pl.when(my_id == 2)
    def _():
        two_to_three.start()
        two_to_three.wait_send()
        three_to_two.wait_recv()

    @pl.when(my_id == 3)
    def _():
        three_to_two.start()
        three_to_two.wait_send()
        two_to_three.wait_recv()


def four_devices(x):
    return pl.pallas_call(
        four_devices_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), in_specs=[ANY], out_specs=ANY, scratch_shapes=[DMA, DMA]
    )(x)


# All-gather


def all_gather_kernel(x_ref, o_ref, local_sem, send_sem, recv_sems, *, barrier, shared):
    n, my_id, step = lax.axis_size("x"), lax.axis_index("x"), pl.program_id(0)
    left, right = neighbours()
    slot = lax.rem(my_id - step + n, n)

    @pl.when(step == 0)
    def _():
        if barrier:
            meet(left, right)
        own = pltpu.make_async_copy(x_ref, o_ref.at[my_id], local_sem)
        own.start()
        own.wait()

    arrived = recv_sems.at[0 if shared else step]
    pass_on = pltpu.make_async_remote_copy(o_ref.at[slot], o_ref.at[slot], send_sem, arrived, device_id=(right,), device_id_type=MESH)
    pass_on.start()
    pass_on.wait()


def all_gather(x, barrier=False, shared=False):
    n = lax.axis_size("x")
    return pl.pallas_call(
        functools.partial(all_gather_kernel, barrier=barrier, shared=shared),
        out_shape=jax.ShapeDtypeStruct((n, *x.shape), x.dtype),
        grid=(n - 1,),
        in_specs=[ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA, DMA((n - 1,))],
        compiler_params=Params(collective_id=7) if barrier else None,
    )(x)


def all_gather_barrier(x):
    return all_gather(x, barrier=True)


def all_gather_shared_semaphore(x):
    return all_gather(x, shared=True)


# All-reduce


def all_reduce_kernel(x_ref, o_ref, slots_ref, copy_sem, send_sem, recv_sem, capacity_sem, block_ref, *, capacity):
    step = pl.program_id(0)
    working = lax.rem(step, 2)
    receiving = 1 - working
    left, right = neighbours()

    @pl.when(step == 0)
    def _():
        meet(left, right)
        o_ref[...] = jnp.zeros_like(o_ref)
        first = pltpu.make_async_remote_copy(x_ref, slots_ref.at[0], send_sem, recv_sem, device_id=(right,), device_id_type=MESH)
        first.start()
        first.wait()

    if capacity:
        pltpu.semaphore_signal(capacity_sem, 1, device_id=(left,), device_id_type=MESH)
    fetch = pltpu.make_async_copy(slots_ref.at[working], block_ref, copy_sem)
    fetch.start()
    if capacity:
        pltpu.semaphore_wait(capacity_sem, 1)
    pass_on = pltpu.make_async_remote_copy(
        slots_ref.at[working], slots_ref.at[receiving], send_sem, recv_sem, device_id=(right,), device_id_type=MESH
    )
    pass_on.start()
    fetch.wait()
    o_ref[...] += block_ref[...]
    pass_on.wait()


def all_reduce(x, capacity=True):
    n = lax.axis_size("x")
    result, _ = pl.pallas_call(
        functools.partial(all_reduce_kernel, capacity=capacity),
        grid=(n,),
        out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((2, *x.shape), x.dtype)],
        in_specs=[ANY],
        out_specs=[pl.BlockSpec(memory_space=pltpu.VMEM), ANY],
        scratch_shapes=[DMA, DMA, DMA, REGULAR, pltpu.VMEM(x.shape, x.dtype)],
        compiler_params=Params(collective_id=0),
    )(x)
    return result


def all_reduce_no_capacity(x):
    return all_reduce(x, capacity=False)


# Reduce-scatter, half of each block to the left, half to the right

TO_LEFT, TO_RIGHT = 0, 1


def reduce_scatter_kernel(
    x_ref,
    o_ref,
    slots_ref,
    sum_ref,
    own_ref,
    copy_sem,
    left_send,
    left_recv,
    left_capacity,
    right_send,
    right_recv,
    right_capacity,
    *,
    capacity,
    cleanup,
    all_waits,
    pipeline="",
):
    n, my_id, step, way = lax.axis_size("x"), lax.axis_index("x"), pl.program_id(0), pl.program_id(1)
    half = x_ref.shape[1] // 2
    left, right = neighbours()
    first, last = (step == 0) & (way == TO_LEFT), step == n - 1

    def half_of(ref, which, side):
        return ref.at[which, pl.ds(side * half, half)]

    def passing(source, slot, side):
        send, recv, to = (left_send, left_recv, left) if side == TO_LEFT else (right_send, right_recv, right)
        return pltpu.make_async_remote_copy(source, half_of(slots_ref, slot, side), send, recv, device_id=(to,), device_id_type=MESH)

    def copy_now(source, target):
        copy = pltpu.make_async_copy(source, target, copy_sem)
        copy.start()
        copy.wait()

    def grant(side):
        """Tells the one who sends to us on this side that the next slot is free."""
        if capacity:
            sem, to = (left_capacity, right) if side == TO_LEFT else (right_capacity, left)
            pltpu.semaphore_signal(sem, 1, device_id=(to,), device_id_type=MESH)

    def take(side):
        if capacity:
            pltpu.semaphore_wait(left_capacity if side == TO_LEFT else right_capacity, 1)

    def work_on(side):
        slot = lax.rem(step, 2)
        owner = lax.rem(my_id + step + 1, n) if side == TO_LEFT else lax.rem(my_id - step - 1 + 2 * n, n)

        @pl.when(last)
        def _():
            copy_now(half_of(slots_ref, slot, side), o_ref.at[pl.ds(side * half, half)])

        @pl.when(jnp.logical_not(last))
        def _():
            if pipeline:
                add_in_pipeline(half_of(slots_ref, slot, side), half_of(x_ref, owner, side), pipeline)
                return
            copy_now(half_of(slots_ref, slot, side), sum_ref)
            copy_now(half_of(x_ref, owner, side), own_ref)
            sum_ref[...] += own_ref[...]
            copy_now(sum_ref, half_of(slots_ref, slot, side))

    @pl.when(first)
    def _():
        meet(left, right)
        start = passing(half_of(x_ref, my_id, TO_LEFT), 0, TO_LEFT)
        start.start()
        start.wait()
        grant(TO_LEFT)
        grant(TO_RIGHT)
        over = passing(half_of(x_ref, my_id, TO_RIGHT), 0, TO_RIGHT)
        over.start()
        work_on(TO_LEFT)
        over.wait_send()
        if all_waits:
            over.wait_recv()

    @pl.when(jnp.logical_not(first) & (way == TO_LEFT))
    def _():
        take(TO_RIGHT)
        over = passing(half_of(slots_ref, 1 - lax.rem(step, 2), TO_RIGHT), lax.rem(step, 2), TO_RIGHT)
        over.start()
        work_on(TO_LEFT)
        over.wait()
        grant(TO_RIGHT)

    @pl.when((way == TO_RIGHT) & jnp.logical_not(last))
    def _():
        take(TO_LEFT)
        over = passing(half_of(slots_ref, lax.rem(step, 2), TO_LEFT), 1 - lax.rem(step, 2), TO_LEFT)
        over.start()
        work_on(TO_RIGHT)
        over.wait()
        grant(TO_LEFT)

    @pl.when((way == TO_RIGHT) & last)
    def _():
        work_on(TO_RIGHT)

    if cleanup:

        @pl.when(last & (way == TO_LEFT))
        def _():
            take(TO_RIGHT)

        @pl.when(last & (way == TO_RIGHT))
        def _():
            take(TO_LEFT)


def add_in_pipeline(sum_ref, own_ref, how):
    """Block by block through VMEM. how: the sum is read and written ("both"), or written only and begins as zero ("out")."""
    rows, columns = sum_ref.shape

    def both(own_block, old_block, new_block):
        new_block[...] = old_block[...] + own_block[...]

    def out(own_block, new_block):
        @pl.when(pl.program_id(0) == 0)
        def _():
            new_block[...] = jnp.zeros_like(new_block)

        new_block[...] += own_block[...]

    spec = pl.BlockSpec((rows, 128), lambda i: (0, i))
    if how == "both":
        pltpu.emit_pipeline(both, grid=(columns // 128,), in_specs=[spec, spec], out_specs=[spec])(own_ref, sum_ref, sum_ref)
    else:
        pltpu.emit_pipeline(out, grid=(columns // 128,), in_specs=[spec], out_specs=[spec])(own_ref, sum_ref)


def reduce_scatter(x, capacity=True, cleanup=True, all_waits=True, pipeline=""):
    n, rows, columns = x.shape
    half = pltpu.VMEM((rows // 2, columns), x.dtype)
    result, _ = pl.pallas_call(
        functools.partial(reduce_scatter_kernel, capacity=capacity, cleanup=cleanup, all_waits=all_waits, pipeline=pipeline),
        grid=(n, 2),
        out_shape=[jax.ShapeDtypeStruct((rows, columns), x.dtype), jax.ShapeDtypeStruct((2, rows, columns), x.dtype)],
        in_specs=[ANY],
        out_specs=[ANY, ANY],
        scratch_shapes=[half, half, DMA, DMA, DMA, REGULAR, DMA, DMA, REGULAR],
        compiler_params=Params(collective_id=3),
    )(x)
    return result


def reduce_scatter_no_capacity(x):
    return reduce_scatter(x, capacity=False)


def reduce_scatter_no_cleanup(x):
    return reduce_scatter(x, cleanup=False)


def reduce_scatter_missing_wait(x):
    return reduce_scatter(x, all_waits=False)


def reduce_scatter_pipeline(x):
    return reduce_scatter(x, pipeline="both")


def reduce_scatter_pipeline_out_only(x):
    """What was received is never read: the sum is lost, and each later block begins as nothing."""
    return reduce_scatter(x, pipeline="out")
