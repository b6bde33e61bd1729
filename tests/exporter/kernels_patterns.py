"""The patterns of large kernels: tokens that travel to their experts and back, attention around a ring."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels_mixed import struct
from kernels_ring import ANY, DMA, LOGICAL, MESH, REGULAR, Params, meet, neighbours

# Mixture of experts: a routing table says to which expert each token goes; experts are spread over the devices


def experts_kernel(
    route_ref,
    x_ref,
    scale_ref,
    o_ref,
    inbox_ref,
    back_ref,
    counts_ref,
    arriving_ref,
    row_ref,
    count_send,
    count_recv,
    out_send,
    out_recv,
    back_send,
    back_recv,
    copy_sem,
    *,
    per_device,
    choices,
    wrong,
):
    n, my_id = lax.axis_size("x"), lax.axis_index("x")
    tokens = x_ref.shape[0]

    def remote(source, target, send, recv, to):
        return pltpu.make_async_remote_copy(source, target, send, recv, device_id=to, device_id_type=LOGICAL)

    barrier = pltpu.get_barrier_semaphore()

    def tell(to, _):
        pltpu.semaphore_signal(barrier, 1, device_id=to, device_id_type=LOGICAL)
        counts_ref[to] = 0
        return _

    lax.fori_loop(0, n, tell, 0)
    pltpu.semaphore_wait(barrier, n)

    # How many rows go where; each device is told before they come.
    def count(i, _):
        to = route_ref[i // choices, i % choices] // per_device
        counts_ref[to] += 1
        return _

    lax.fori_loop(0, tokens * choices, count, 0)

    def tell_count(to, _):
        remote(counts_ref.at[pl.ds(to, 1)], arriving_ref.at[pl.ds(my_id, 1)], count_send, count_recv, to).start()
        return _

    lax.fori_loop(0, n, tell_count, 0)
    pltpu.make_async_copy(counts_ref, counts_ref, count_send).wait()
    if wrong != "counts":
        pltpu.make_async_copy(arriving_ref, arriving_ref, count_recv).wait()

    # Rows travel one by one; row k of those from device s to us lies at [s, k].
    def dispatch(i, _):
        token = i // choices
        to = route_ref[token, i % choices] // per_device

        def same_before(j, found):
            return found + jnp.where(route_ref[j // choices, j % choices] // per_device == to, 1, 0)

        place = lax.fori_loop(0, i, same_before, jnp.int32(0))
        remote(x_ref.at[pl.ds(token, 1)], inbox_ref.at[my_id, pl.ds(place, 1)], out_send, out_recv, to).start()
        return _

    lax.fori_loop(0, tokens * choices, dispatch, 0)

    def await_rows(i, _):
        pltpu.make_async_copy(row_ref, row_ref, out_recv).wait()
        return _

    def total(s, found):
        return found + arriving_ref[s]

    arriving = lax.fori_loop(0, n, total, jnp.int32(0))
    lax.fori_loop(0, arriving, await_rows, 0)
    lax.fori_loop(0, tokens * choices, lambda i, _: (pltpu.make_async_copy(row_ref, row_ref, out_send).wait(), _)[1], 0)

    # The expert of this device scales what came, and sends it back to where it lay in the order of its device.
    def serve(s, _):
        def one(k, _):
            fetch = pltpu.make_async_copy(inbox_ref.at[s, pl.ds(k, 1)], row_ref, copy_sem)
            fetch.start()
            fetch.wait()
            row_ref[...] = row_ref[...] * scale_ref[0]
            answer = remote(row_ref, back_ref.at[my_id, pl.ds(k, 1)], back_send, out_recv if wrong == "semaphore" else back_recv, s)
            answer.start()
            answer.wait_send()
            return _

        return lax.fori_loop(0, arriving_ref[s], one, _)

    lax.fori_loop(0, n, serve, 0)
    done = out_recv if wrong == "semaphore" else back_recv
    lax.fori_loop(0, tokens * choices, lambda i, _: (pltpu.make_async_copy(row_ref, row_ref, done).wait(), _)[1], 0)

    # Each token is the sum of what its experts made of it.
    o_ref[...] = jnp.zeros_like(o_ref)

    def combine(i, _):
        token = i // choices
        to = route_ref[token, i % choices] // per_device

        def same_before(j, found):
            return found + jnp.where(route_ref[j // choices, j % choices] // per_device == to, 1, 0)

        place = lax.fori_loop(0, i, same_before, jnp.int32(0))
        fetch = pltpu.make_async_copy(back_ref.at[to, pl.ds(place, 1)], row_ref, copy_sem)
        fetch.start()
        fetch.wait()
        o_ref[pl.ds(token, 1), :] += row_ref[...]
        return _

    lax.fori_loop(0, tokens * choices, combine, 0)


def experts(route, x, scale, per_device=2, wrong=""):
    """wrong: "counts" are used before they came; "semaphore": answers count where rows do."""
    n, (tokens, choices), width = lax.axis_size("x"), route.shape, x.shape[1]
    box = struct((n, tokens * choices, width))
    smem, vmem = pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.VMEM)
    numbers = pltpu.SMEM((n,), jnp.int32)
    return pl.pallas_call(
        functools.partial(experts_kernel, per_device=per_device, choices=choices, wrong=wrong),
        out_shape=[struct(x.shape), box, box],
        in_specs=[smem, ANY, smem],
        out_specs=[vmem, ANY, ANY],
        scratch_shapes=[numbers, numbers, pltpu.VMEM((1, width), jnp.float32), *[DMA] * 7],
        compiler_params=Params(collective_id=5),
    )(route, x, scale)[0]


# Attention: queries stay, keys and values go round the ring


def attention_kernel(q_ref, k_ref, v_ref, o_ref, keys_ref, values_ref, copy_sem, send_sems, recv_sems, free_sem, *, capacity):
    n = lax.axis_size("x")
    left, right = neighbours()
    meet(left, right)
    for source, target in ((k_ref, keys_ref.at[0]), (v_ref, values_ref.at[0])):
        own = pltpu.make_async_copy(source, target, copy_sem)
        own.start()
        own.wait()
    q = q_ref[...]

    def step(i, state):
        best, weight, total = state
        working = lax.rem(i, 2)
        receiving = 1 - working

        def pass_on(ref, which):
            return pltpu.make_async_remote_copy(
                ref.at[working], ref.at[receiving], send_sems.at[which], recv_sems.at[which], device_id=(right,), device_id_type=MESH
            )

        @pl.when(i < n - 1)
        def _():
            if capacity:

                @pl.when(i > 0)
                def _():
                    pltpu.semaphore_wait(free_sem, 1)  # the right neighbour is through with the slot that we write

            pass_on(keys_ref, 0).start()
            pass_on(values_ref, 1).start()

        scores = jnp.dot(q, keys_ref[working].T, preferred_element_type=jnp.float32)
        new_best = jnp.maximum(best, jnp.max(scores, axis=1, keepdims=True))
        weights = jnp.exp(scores - new_best)
        scale = jnp.exp(best - new_best)
        weight = weight * scale + jnp.sum(weights, axis=1, keepdims=True)
        total = total * scale + jnp.dot(weights, values_ref[working], preferred_element_type=jnp.float32)

        @pl.when(i < n - 1)
        def _():
            pass_on(keys_ref, 0).wait()
            pass_on(values_ref, 1).wait()

        if capacity:

            @pl.when(i < n - 2)
            def _():
                pltpu.semaphore_signal(free_sem, 1, device_id=(left,), device_id_type=MESH)

        return new_best, weight, total

    rows = q.shape[0]
    state = (jnp.full((rows, 1), -1e30, jnp.float32), jnp.zeros((rows, 1), jnp.float32), jnp.zeros(q.shape, jnp.float32))
    _, weight, total = lax.fori_loop(0, n, step, state)
    o_ref[...] = total / weight


def attention(q, k, v, capacity=True):
    vmem = pl.BlockSpec(memory_space=pltpu.VMEM)
    slots = pltpu.VMEM((2, *k.shape), k.dtype)
    return pl.pallas_call(
        functools.partial(attention_kernel, capacity=capacity),
        out_shape=struct(q.shape),
        in_specs=[vmem, ANY, ANY],
        out_specs=vmem,
        scratch_shapes=[slots, slots, DMA, DMA((2,)), DMA((2,)), REGULAR],
        compiler_params=Params(collective_id=6),
    )(q, k, v)


def whole_attention(q, k, v):
    """Of stacked parts, at once."""
    keys, values = k.reshape(-1, k.shape[-1]), v.reshape(-1, v.shape[-1])
    return jax.nn.softmax(q @ keys.T, axis=-1) @ values
