"""Who may send to whom, and when: barriers, ready signals, semaphores that outlive a launch, copies between cores."""

import functools
import inspect

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels_mixed import struct
from kernels_ring import ANY, DMA, LOGICAL, MESH, REGULAR, Params, meet, neighbours

SEMAPHORE = pl.BlockSpec(memory_space=pltpu.SEMAPHORE if hasattr(pltpu, "SEMAPHORE") else pltpu.MemorySpace.SEMAPHORE)


def call(kernel, x, *scratch, collective_id=None, **options):
    params = {} if collective_id is None else {"compiler_params": Params(collective_id=collective_id)}
    return pl.pallas_call(
        kernel, out_shape=struct(x.shape, x.dtype), in_specs=[ANY], out_specs=ANY, scratch_shapes=scratch, **params, **options
    )(x)


NEWEST = hasattr(pl, "kernel") and "out_type" in inspect.signature(pl.kernel).parameters
SCRATCH_IN_A_SCOPE = jax.__version_info__ < (0, 9)  # that of pl.kernel: it ends with each core, not with the launch


def kernel_on(mesh, body, out, *scratch):
    """pl.kernel, whose parameters were called otherwise before JAX 0.10."""
    named = {"out_type": out, "scratch_types": list(scratch)} if NEWEST else {"out_shape": out, "scratch_shapes": list(scratch)}
    return pl.kernel(body, mesh=mesh, **named)


def send_to(device, x_ref, o_ref, send_sem, recv_sem):
    return pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=device, device_id_type=LOGICAL)


# Two devices swap, each says first that it is ready; the semaphores live in a scope


def swap_kernel(x_ref, o_ref):
    other = 1 - lax.axis_index("x")

    def inner(ready_sem, send_sem, recv_sem):
        pltpu.semaphore_signal(ready_sem, 1, device_id=other, device_id_type=LOGICAL)
        pltpu.semaphore_wait(ready_sem, 1)
        copy = send_to(other, x_ref, o_ref, send_sem, recv_sem)
        copy.start()
        copy.wait()

    pl.run_scoped(inner, ready_sem=REGULAR, send_sem=DMA, recv_sem=DMA)


def swap(x):
    return call(swap_kernel, x)


# A copy that counts 1 on a REGULAR semaphore


def regular_kernel(x_ref, o_ref, send_sem, recv_sem):
    send_to(1 - lax.axis_index("x"), x_ref, o_ref, send_sem, recv_sem).start()
    pltpu.semaphore_wait(send_sem, 1)
    pltpu.semaphore_wait(recv_sem, 1)


def swap_on_regular_semaphores(x):
    return call(regular_kernel, x, REGULAR, REGULAR)


# The neighbour to the left is told that we are ready; we are told by the one to the right


def ready_kernel(x_ref, o_ref, ready_sem, send_sem, recv_sem, *, barrier):
    left, right = neighbours()
    if barrier == "right":  # fences the wrong side
        sem = pltpu.get_barrier_semaphore()
        pltpu.semaphore_signal(sem, 1, device_id=right, device_id_type=LOGICAL)
        pltpu.semaphore_wait(sem, 1)
        pltpu.semaphore_signal(ready_sem, 1, device_id=right, device_id_type=LOGICAL)
    elif barrier == "all":
        n = lax.axis_size("x")
        sem = pltpu.get_barrier_semaphore()
        for device in range(n):
            pltpu.semaphore_signal(sem, 1, device_id=device, device_id_type=LOGICAL)
        pltpu.semaphore_wait(sem, n)
        pltpu.semaphore_signal(ready_sem, 1, device_id=left, device_id_type=LOGICAL)
    else:
        pltpu.semaphore_signal(ready_sem, 1, device_id=left, device_id_type=LOGICAL)
    pltpu.semaphore_wait(ready_sem, 1)
    copy = send_to(right, x_ref, o_ref, send_sem, recv_sem)
    copy.start()
    copy.wait()


def ready(x, barrier=""):
    return call(functools.partial(ready_kernel, barrier=barrier), x, REGULAR, DMA, DMA, collective_id=0 if barrier else None)


# One neighbour only is met before a copy


def one_sided_kernel(x_ref, o_ref, send_sem, recv_sem, *, to_the_left):
    left, right = neighbours()
    sem = pltpu.get_barrier_semaphore()
    pltpu.semaphore_signal(sem, 1, device_id=right, device_id_type=LOGICAL)
    pltpu.semaphore_wait(sem, 1)  # so the left neighbour is here
    copy = send_to(left if to_the_left else right, x_ref, o_ref, send_sem, recv_sem)
    copy.start()
    copy.wait()


def one_sided(x, to_the_left):
    return call(functools.partial(one_sided_kernel, to_the_left=to_the_left), x, DMA, DMA, collective_id=0)


# Two launches of a permute that share a barrier semaphore


def twice_kernel(x_ref, o_ref, send_sem, recv_sem, *, double):
    left, right = neighbours()
    meet(left, right)
    if double:  # nobody goes on to the next launch before all neighbours are through with this one

        def second(sem):
            for device in (left, right):
                pltpu.semaphore_signal(sem, 1, device_id=device, device_id_type=LOGICAL)
            pltpu.semaphore_wait(sem, 2)

        pl.run_scoped(second, REGULAR)
    copy = send_to(right, x_ref, o_ref, send_sem, recv_sem)
    copy.start()
    copy.wait()


def permute_twice(x, double=False):
    kernel = functools.partial(twice_kernel, double=double)
    return call(kernel, call(kernel, x, DMA, DMA, collective_id=0), DMA, DMA, collective_id=0)


# The first launch makes a semaphore, the second waits on it


def starts_kernel(x_ref, o_ref, ready_sem):
    left, _ = neighbours()
    pltpu.semaphore_signal(ready_sem, 1, device_id=left, device_id_type=LOGICAL)
    o_ref[...] = x_ref[...]


def goes_on_kernel(x_ref, ready_sem, o_ref, send_sem, recv_sem):
    _, right = neighbours()
    pltpu.semaphore_wait(ready_sem, 1)
    copy = send_to(right, x_ref, o_ref, send_sem, recv_sem)
    copy.start()
    copy.wait()


def semaphore_between_launches(x):
    vmem = pl.BlockSpec(memory_space=pltpu.VMEM)
    y, sem = pl.pallas_call(starts_kernel, out_shape=[struct(x.shape, x.dtype), REGULAR(())], in_specs=[vmem], out_specs=[vmem, SEMAPHORE])(
        x
    )
    return pl.pallas_call(
        goes_on_kernel, out_shape=struct(x.shape, x.dtype), in_specs=[ANY, SEMAPHORE], out_specs=ANY, scratch_shapes=[DMA, DMA]
    )(y, sem)


# A copy is started in one launch and waited for in the next


def start_kernel(x_ref, o_ref, send_sem, recv_sem, *, remote):
    if remote:
        send_to(neighbours()[1], x_ref, o_ref, send_sem, recv_sem).start()
    else:
        pltpu.make_async_copy(x_ref, o_ref, recv_sem).start()


def done_kernel(x_ref, y_ref, send_sem, recv_sem, o_ref, *, remote):
    if remote:
        copy = send_to(neighbours()[1], x_ref, y_ref, send_sem, recv_sem)
        copy.wait_send()
        copy.wait_recv()
    else:
        pltpu.make_async_copy(x_ref, y_ref, recv_sem).wait()


def asynchronous(x, remote):
    y, send_sem, recv_sem = pl.pallas_call(
        functools.partial(start_kernel, remote=remote),
        out_shape=[struct(x.shape, x.dtype), DMA(()), DMA(())],
        in_specs=[ANY],
        out_specs=[ANY, SEMAPHORE, SEMAPHORE],
    )(x)
    return pl.pallas_call(
        functools.partial(done_kernel, remote=remote),
        out_shape=struct(x.shape, x.dtype),
        in_specs=[ANY, ANY, SEMAPHORE, SEMAPHORE],
        out_specs=ANY,
        input_output_aliases={1: 0},
    )(x, y, send_sem, recv_sem)


# The output is set to zero first, and nobody says so


def zeroed_kernel(x_ref, o_ref, send_sem, recv_sem):
    o_ref[...] = jnp.zeros_like(o_ref)
    copy = send_to(neighbours()[1], x_ref, o_ref, send_sem, recv_sem)
    copy.start()
    copy.wait()


def zeroed_before_it_arrives(x):
    vmem = pl.BlockSpec(memory_space=pltpu.VMEM)
    return pl.pallas_call(zeroed_kernel, out_shape=struct(x.shape, x.dtype), in_specs=[vmem], out_specs=vmem, scratch_shapes=[DMA, DMA])(x)


# All devices copy to the first one, and each waits for a copy of its own


def all_to_first_kernel(x_ref, o_ref, send_sem, recv_sem):
    copy = send_to(0, x_ref, o_ref, send_sem, recv_sem)
    copy.start()
    copy.wait()


def all_to_first(x):
    return call(all_to_first_kernel, x, DMA, DMA)


# Bounds


def row_beyond_kernel(x_ref, o_ref, tmp_ref, sem):
    my_id = lax.axis_index("x")

    @pl.when(my_id == 0)
    def _():
        copy = pltpu.make_async_copy(x_ref.at[pl.ds(my_id + 100, 1)], tmp_ref, sem)
        copy.start()
        copy.wait()

    meet(*neighbours())
    copy = pltpu.make_async_copy(x_ref, o_ref, sem)
    copy.start()
    copy.wait()


def row_beyond_before_a_barrier(x):
    return call(row_beyond_kernel, x, pltpu.VMEM((1, 128), x.dtype), DMA, collective_id=0)


# Which of several refs is told by a number


def select_kernel(which_ref, a_ref, b_ref, o_ref, sem_a, sem_b):
    select = getattr(pltpu, "select_ref", None) or pl.select_ref
    which = which_ref[0]
    copy = pltpu.make_async_copy(select(which, a_ref, b_ref), o_ref, select(which, sem_a, sem_b))
    copy.start()
    copy.wait()


def select(which, a, b):
    return pl.pallas_call(
        select_kernel,
        out_shape=struct(a.shape),
        in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), ANY, ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA],
    )(which, a, b)


# A core of one device sends to a core of another


def cores(x, wait_on):
    """Core 0 of device 0 sends to core 1 of device 1."""

    def body(x_ref, o_ref, tmp_ref, send_sem, recv_sem, sem):
        device, core = lax.axis_index("x"), lax.axis_index("core")
        copy = pltpu.make_async_remote_copy(x_ref, tmp_ref, send_sem, recv_sem, device_id={"x": 1, "core": 1}, device_id_type=MESH)

        @pl.when((device == 0) & (core == 0))
        def _():
            copy.start()
            copy.wait_send()

        @pl.when((device == 1) & (core == wait_on))
        def _():
            copy.wait_recv()
            out = pltpu.make_async_copy(tmp_ref, o_ref, sem)
            out.start()
            out.wait()

    mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)
    return kernel_on(mesh, body, struct(x.shape, x.dtype), pltpu.VMEM(x.shape, x.dtype), DMA, DMA, DMA)(x)


# The way back: a number that comes with a copy steers the next one


def bounce_kernel(x_ref, o_ref, count_ref, counts_ref, send_sem, recv_sem, data_send, data_recv):
    """Each device tells its right neighbour how many rows will come, then sends them."""
    my_id = lax.axis_index("x")
    left, right = neighbours()
    meet(left, right)
    count_ref[0] = my_id + 1
    tell = send_to(right, count_ref, counts_ref, send_sem, recv_sem)
    tell.start()
    tell.wait()
    mine, theirs = my_id + 1, counts_ref[0]
    rows = send_to(right, x_ref.at[pl.ds(0, mine)], o_ref.at[pl.ds(0, mine)], data_send, data_recv)
    rows.start()
    rows.wait_send()
    pltpu.make_async_copy(o_ref.at[pl.ds(0, theirs)], o_ref.at[pl.ds(0, theirs)], data_recv).wait()


def counts_that_travel(x):
    return call(bounce_kernel, x, pltpu.SMEM((1,), jnp.int32), pltpu.SMEM((1,), jnp.int32), DMA, DMA, DMA, DMA, collective_id=0)
