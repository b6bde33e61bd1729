"""Kernels that use much of the language: loops, values out of branches, scopes, pipelines, tables that steer, plain JAX around kernels."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels_ring import ANY, DMA, LOGICAL, MESH, REGULAR, Params, meet, neighbours

SMEM = pl.BlockSpec(memory_space=pltpu.SMEM)


def struct(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


# Loops and values


def loops_kernel(n_ref, x_ref, o_ref):
    n = n_ref[0]

    def add_row(i, total):
        return total + x_ref[i]

    total = lax.fori_loop(0, n, add_row, jnp.zeros((128,), jnp.float32))  # how often, is told by memory

    def twice(i, pair):
        a, b = pair
        return b, a + i

    a, b = lax.fori_loop(0, 5, twice, (jnp.int32(1), jnp.int32(2)))  # values that change places
    power = lax.while_loop(lambda v: v < 100, lambda v: v * 3, a)
    chosen = lax.cond(power > 200, lambda: total + 1.0, lambda: total - 1.0)
    number = lax.switch(n_ref[1], [lambda: a, lambda: b, lambda: a + b])
    o_ref[0, :] = chosen
    o_ref[1, :] = jnp.full((128,), power, jnp.float32)
    o_ref[2, :] = jnp.full((128,), number, jnp.float32)
    o_ref[3, :] = jnp.where(lax.broadcasted_iota(jnp.int32, (1, 128), 1)[0] % 3 == 0, total, -total)


def loops(n, x):
    return pl.pallas_call(loops_kernel, out_shape=struct((4, 128)), in_specs=[SMEM, pl.BlockSpec(memory_space=pltpu.VMEM)])(n, x)


# Integers


def integers_kernel(x_ref, o_ref):
    a, b = x_ref[0], x_ref[1]
    values = [
        a + b,
        a - b,
        a * b,
        a // b,
        a % b,
        lax.div(a, b),
        lax.rem(a, b),
        a & b,
        a | b,
        a ^ b,
        ~a,
        -a,
        jnp.abs(a),
        jnp.sign(a),
        jnp.maximum(a, b),
        jnp.minimum(a, b),
        jnp.clip(a, 0, 5),
        a << 3,
        a >> 2,
        lax.shift_right_logical(a, jnp.int32(2)),
        jnp.where(a > b, a, b),
        (a == b).astype(jnp.int32),
        (a <= b).astype(jnp.int32),
        a**3,
    ]
    for i, value in enumerate(values):
        o_ref[i] = value


INTEGERS = 24


def integers(x):
    return pl.pallas_call(integers_kernel, out_shape=struct((INTEGERS,), jnp.int32), in_specs=[SMEM], out_specs=SMEM)(x)


# Arrays


def arrays_kernel(x_ref, y_ref, o_ref, p_ref):
    x, y = x_ref[...], y_ref[...]
    o_ref[0] = jnp.exp(x * 0.01) + jnp.log(x + 1.0) + jnp.sqrt(x)
    o_ref[1] = jnp.tanh(x) * lax.logistic(y * 0.1) / (y + 1.0)
    o_ref[2] = jnp.broadcast_to(jnp.sum(x, axis=1, keepdims=True), x.shape)
    o_ref[3] = jnp.broadcast_to(jnp.max(x, axis=0), x.shape)
    o_ref[4] = jnp.concatenate([x[4:], x[:4]], axis=0)
    o_ref[5] = jnp.maximum(x, y) - jnp.minimum(x, 3.0)
    o_ref[6] = jnp.where(x > y, x, y).astype(jnp.int32).astype(jnp.float32)
    o_ref[7] = lax.broadcasted_iota(jnp.int32, x.shape, 1).astype(jnp.float32) + jnp.round(x / 3.0)
    p_ref[...] = jnp.dot(x, y.T) + jnp.dot(x, x.reshape(128, 8))


def arrays(x, y):
    return pl.pallas_call(arrays_kernel, out_shape=[struct((8, 8, 128)), struct((8, 8))])(x, y)


def more_arrays_kernel(x_ref, i_ref, o_ref, p_ref):
    x, i = x_ref[...], i_ref[...]
    o_ref[0] = jnp.cumsum(x, axis=1) + lax.cumsum(x, axis=0, reverse=True)
    o_ref[1] = jnp.flip(x, axis=0) - pltpu.roll(x, 3, axis=1)
    o_ref[2] = jnp.pad(x[1:5, 2:], ((1, 3), (2, 0)), constant_values=7.0)
    o_ref[3] = lax.dynamic_update_slice(x, x[:2, :64] * 2.0, (i[0, 0], i[0, 1]))
    o_ref[4] = jnp.concatenate([lax.dynamic_slice(x, (i[0, 2], 0), (4, 128)), jnp.stack([x[0], x[1], x[2], x[3]])])
    first, second = jnp.split(x, 2, axis=1)
    o_ref[5] = jnp.concatenate([second, first], axis=1)
    o_ref[6] = (
        jnp.where(jnp.isfinite(jnp.log(x - 20.0)), lax.rsqrt(x + 1.0), jnp.sin(x) + jnp.cos(x)) + lax.erf(x * 0.1) + jnp.expm1(x * 0.01)
    )
    o_ref[7] = lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32) ^ 1, jnp.float32) + x.T.reshape(8, 128)
    p_ref[0] = (i << 2) | (i >> 1)
    p_ref[1] = lax.shift_right_logical(-i, 3) & 255
    p_ref[2] = jnp.broadcast_to(jnp.argmax(x, axis=1)[:, None].astype(jnp.int32), i.shape)
    p_ref[3] = jnp.broadcast_to(jnp.argmin(x, axis=0).astype(jnp.int32), i.shape)
    p_ref[4] = jnp.minimum(i, 40) // 7 + i % 5 + jnp.sign(i - 20) * jnp.clip(i, 3, 30)
    p_ref[5] = jnp.where(jnp.any(i > 100), i, ~i) + jnp.sum(i) + jnp.max(i) * jnp.min(i, axis=0, keepdims=True)
    p_ref[6] = lax.population_count(i) + lax.clz(i) + lax.select_n(i % 3, i, -i, i * i)
    p_ref[7] = jnp.einsum("ab,cb->ac", i, i)[:, :1] + i.astype(jnp.int8).astype(jnp.int32) + x.astype(jnp.bfloat16).astype(jnp.int32)


def more_arrays(x, i):
    return pl.pallas_call(more_arrays_kernel, out_shape=[struct((8, 8, 128)), struct((8, 8, 128), jnp.int32)])(x, i)


# Rows of refs that are packed into wider items, and taken out of them


def packed_loads_kernel(words_ref, halves_ref, bytes_ref, row_ref, wide_ref):
    packed = words_ref.bitcast(jnp.uint8)
    bytes_ref[...] = packed[...]
    row_ref[...] = jnp.zeros_like(row_ref)
    row_ref[0:1, :] = packed[5:6, :]
    row_ref[1:2, :] = packed.at[8:12, :].bitcast(jnp.int32)[...].astype(jnp.uint8)
    row_ref[2:6, :] = packed.reshape(8, 4, 128)[2:6, 1, :]
    row_ref[6:8, 0:4] = packed[17:19, 8:12]
    wide_ref[...] = halves_ref.bitcast(jnp.uint32)[...]


def packed_loads(words, halves, interpret=False):
    shapes = [((32, 128), jnp.uint8), ((8, 128), jnp.uint8), ((8, 128), jnp.uint32)]
    return pl.pallas_call(packed_loads_kernel, out_shape=[struct(*s) for s in shapes], interpret=interpret)(words, halves)


def packed_stores_kernel(words_ref, halves_ref, words_out, halves_out):
    words_out[...] = words_ref[...]
    words_out.bitcast(jnp.int16)[3, :] = halves_ref[6, :]
    words_out.bitcast(jnp.uint8).reshape(8, 4, 128)[4:6, 2, :] = words_ref.bitcast(jnp.uint8)[0:2, :]
    halves_out[...] = halves_ref[...]
    halves_out.bitcast(jnp.int32)[1:3, :] = words_ref[4:6, :]


def packed_stores(words, halves):
    return pl.pallas_call(packed_stores_kernel, out_shape=[struct((8, 128), jnp.int32), struct((16, 128), jnp.int16)])(words, halves)


# bfloat16 and small integers


def narrow_kernel(x_ref, i_ref, o_ref, j_ref):
    o_ref[...] = (x_ref[...] * 2 + jnp.bfloat16(1.5)).astype(jnp.bfloat16)
    j_ref[...] = (i_ref[...].astype(jnp.int32) * 3).astype(jnp.int8)


def narrow(x, i):
    return pl.pallas_call(narrow_kernel, out_shape=[struct(x.shape, jnp.bfloat16), struct(i.shape, jnp.int8)])(x, i)


# A pipeline inside of a kernel


def pipeline_kernel(x_ref, y_ref, o_ref):
    def body(x_block, y_block, o_block):
        o_block[...] = x_block[...] + y_block[...]

    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    pltpu.emit_pipeline(body, grid=(2, 2), in_specs=[spec, spec], out_specs=[spec])(x_ref, y_ref, o_ref)


def pipeline(x, y):
    return pl.pallas_call(pipeline_kernel, out_shape=struct(x.shape), in_specs=[ANY, ANY], out_specs=ANY)(x, y)


# Scopes


def scopes_kernel(x_ref, o_ref):
    def inner(tmp_ref, sem):
        copy = pltpu.make_async_copy(x_ref, tmp_ref, sem)
        copy.start()
        copy.wait()
        return jnp.sum(tmp_ref[...]), tmp_ref[0, :]

    total, row = pl.run_scoped(inner, pltpu.VMEM((8, 128), jnp.float32), DMA)
    o_ref[...] = jnp.broadcast_to(row, (8, 128)) + total


def scopes(x):
    return pl.pallas_call(scopes_kernel, out_shape=struct(x.shape), in_specs=[ANY])(x)


# Transfers from a table


def transfers_kernel(table_ref, x_ref, o_ref, send_sem, recv_sem, *, rows, at_once):
    my_id = lax.axis_index("x")

    def one(i, arriving):
        source, target = table_ref[i, 0], table_ref[i, 1]

        @pl.when(source == my_id)
        def _():
            copy = pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=target, device_id_type=LOGICAL)
            copy.start()
            copy.wait_send()

        return arriving + jnp.where(target == my_id, 1, 0)

    arriving = lax.fori_loop(0, table_ref.shape[0], one, jnp.int32(0))
    if at_once:

        @pl.when(arriving > 0)
        def _():
            all_rows = o_ref.at[pl.ds(0, rows * arriving)]  # more than there are, where two came: it counts, no more
            pltpu.make_async_copy(all_rows, all_rows, recv_sem).wait()

        return

    def receive(i, _):
        pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=my_id, device_id_type=LOGICAL).wait_recv()
        return _

    lax.fori_loop(0, arriving, receive, 0)


def transfers(table, x, at_once=False):
    return pl.pallas_call(
        functools.partial(transfers_kernel, rows=x.shape[0], at_once=at_once),
        out_shape=struct(x.shape),
        in_specs=[SMEM, ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA],
    )(table, x)


# Ragged all-to-all: sizes and offsets from scalar memory, one wait for the total


def ragged_kernel(counts_ref, starts_ref, places_ref, total_ref, x_ref, o_ref, send_sem, recv_sem):
    n, my_id = lax.axis_size("x"), lax.axis_index("x")

    def send(to, sent):
        count = counts_ref[my_id, to]
        copy = pltpu.make_async_remote_copy(
            x_ref.at[pl.ds(starts_ref[my_id, to], count)],
            o_ref.at[pl.ds(places_ref[my_id, to], count)],
            send_sem,
            recv_sem,
            device_id=to,
            device_id_type=LOGICAL,
        )
        copy.start()
        return sent + count

    sent = lax.fori_loop(0, n, send, jnp.int32(0))
    mine = total_ref[my_id]
    pltpu.make_async_copy(o_ref.at[pl.ds(0, mine)], o_ref.at[pl.ds(0, mine)], recv_sem).wait()
    pltpu.make_async_copy(x_ref.at[pl.ds(0, sent)], x_ref.at[pl.ds(0, sent)], send_sem).wait()


def ragged_all_to_all(counts, x):
    """counts[i, j] rows go from device i to device j; plain JAX makes the offsets."""
    n = lax.axis_size("x")
    starts = jnp.cumsum(counts, axis=1) - counts
    places = jnp.cumsum(counts, axis=0) - counts
    return pl.pallas_call(
        ragged_kernel,
        out_shape=struct((n * 4, x.shape[1])),
        in_specs=[SMEM, SMEM, SMEM, SMEM, ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA],
    )(counts, starts, places, jnp.sum(counts, axis=0), x)


# Several kernels, plain JAX between them


def shift_kernel(x_ref, o_ref, send_sem, recv_sem):
    left, right = neighbours()
    meet(left, right)
    shift = pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=(right,), device_id_type=MESH)
    shift.start()
    shift.wait()


def shift(x, collective_id):
    return pl.pallas_call(
        shift_kernel,
        out_shape=struct(x.shape, x.dtype),
        in_specs=[ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA],
        compiler_params=Params(collective_id=collective_id),
    )(x)


def two_kernels(x):
    """Before: computed at once. Between: a step of the program. After: computed from what the run left."""
    once = shift(x * 2.0 + lax.axis_index("x"), 0)
    twice = shift(jnp.maximum(once, 5.0) - x, 1)
    return twice + 1.0, lax.psum(once, "x")


# Two axes


def two_axes_kernel(x_ref, o_ref, send_sem, recv_sem, ready_sem, *, form):
    x, y = lax.axis_index("x"), lax.axis_index("y")
    ny = lax.axis_size("y")
    up = lax.rem(y + 1, ny)
    down = lax.rem(y + ny - 1, ny)
    ids = {
        "tuple": lambda v: (x, v),
        "dict": lambda v: {"y": v},
        "all": lambda v: {"y": v, "x": x},
        "joint": lambda v: {("x", "y"): x * ny + v},
        "logical": lambda v: x * ny + v,
    }[form]
    kind = LOGICAL if form == "logical" else MESH
    pltpu.semaphore_signal(ready_sem, 1, device_id=ids(down), device_id_type=kind)
    pltpu.semaphore_wait(ready_sem, 1)
    copy = pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=ids(up), device_id_type=kind)
    copy.start()
    copy.wait()


def two_axes(x, form):
    return pl.pallas_call(
        functools.partial(two_axes_kernel, form=form),
        out_shape=struct(x.shape, x.dtype),
        in_specs=[ANY],
        out_specs=ANY,
        scratch_shapes=[DMA, DMA, REGULAR],
    )(x)


# A scan over rows that collects rows


def scan_kernel(x_ref, o_ref, last_ref):
    def step(total, row):
        total = total + row
        return total, total * 2.0

    last, rows = lax.scan(step, jnp.zeros((128,), jnp.float32), x_ref[...])
    o_ref[...] = rows
    last_ref[0] = last


def scan_rows(x):
    return pl.pallas_call(scan_kernel, out_shape=[struct(x.shape), struct((1, 128))])(x)


# Several cores of a device


def core_map(x, cores=2):
    """Each core signals all cores and waits for all, then copies its part in and out."""
    rows = x.shape[0] // cores

    def over_refs(refs):
        x_ref, o_ref = refs

        @pl.core_map(pltpu.create_tensorcore_mesh("core", num_cores=cores))
        def _():
            core = lax.axis_index("core")

            def inner(tmp_ref, sem, ready_sem):
                for i in range(cores):
                    pltpu.semaphore_signal(ready_sem, 1, core_index=i)
                pltpu.semaphore_wait(ready_sem, cores)
                part = pl.ds(core * rows, rows)
                for source, target in ((x_ref.at[part], tmp_ref), (tmp_ref, o_ref.at[part])):
                    copy = pltpu.make_async_copy(source, target, sem)
                    copy.start()
                    copy.wait()

            pl.run_scoped(inner, pltpu.VMEM((rows, 128), x.dtype), DMA, REGULAR)

    return pl.run_state(over_refs)((x, jnp.zeros_like(x)))[1]


def shared_scratch_kernel(x_ref, o_ref, shared_ref, tmp_ref, sem, ready_sem, *, ordered):
    """Core 0 writes what core 1 reads."""
    core = pl.program_id(0)

    @pl.when(core == 0)
    def _():
        write = pltpu.make_async_copy(x_ref, shared_ref, sem)
        write.start()
        write.wait()
        if ordered:
            pltpu.semaphore_signal(ready_sem, 1, core_index=1)

    @pl.when(core == 1)
    def _():
        if ordered:
            pltpu.semaphore_wait(ready_sem, 1)
        for source, target in ((shared_ref, tmp_ref), (tmp_ref, o_ref)):
            copy = pltpu.make_async_copy(source, target, sem)
            copy.start()
            copy.wait()


def shared_scratch(x, ordered=True):
    return pl.pallas_call(
        functools.partial(shared_scratch_kernel, ordered=ordered),
        grid=(2,),
        out_shape=[struct(x.shape), struct(x.shape)],
        in_specs=[ANY],
        out_specs=[ANY, ANY],
        scratch_shapes=[pltpu.VMEM(x.shape, x.dtype), DMA, REGULAR],
        compiler_params=Params(dimension_semantics=("parallel",)),
    )(x)[0]


def parallel_kernel(o_ref):
    o_ref[...] = jnp.full(o_ref.shape, pl.program_id(0), jnp.float32)


def parallel_blocks(x, same=False):
    """Two cores share a parallel dimension: blocks of their own, or one for all."""
    del x
    return pl.pallas_call(
        parallel_kernel,
        grid=(4,),
        out_shape=struct((8, 128) if same else (32, 128)),
        out_specs=pl.BlockSpec((8, 128), (lambda i: (0, 0)) if same else (lambda i: (i, 0))),
        compiler_params=Params(dimension_semantics=("parallel",)),
    )()
