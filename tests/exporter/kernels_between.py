"""Functions of several kernels, with loops around them, and with plain JAX between them that looks at other devices, sorts or gathers."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec as P
from kernels_mixed import shift, struct
from kernels_protocols import SEMAPHORE
from kernels_ring import ANY, DMA, LOGICAL, Params


def double_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0


def double(x):
    return pl.pallas_call(double_kernel, out_shape=struct(x.shape, x.dtype))(x)


def layers(x, weights):
    """A loop over layers: each layer is a kernel that talks, and plain JAX after it."""

    def layer(y, weight):
        y = shift(y * weight, 0)
        return y, jnp.sum(y)

    y, sums = lax.scan(layer, x, weights)
    return double(y) + 1.0, sums


def rounds(x):
    return lax.fori_loop(0, 3, lambda i, y: shift(y + i, 2 * i if isinstance(i, int) else 0), x)


def backwards(x):
    def step(total, row):
        total = double(total) + row
        return total, total

    return lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x, reverse=True)[1]


def unknown_rounds(x):
    return lax.while_loop(lambda y: jnp.sum(y) < 1e9, double, x)


def known_rounds(x, n):
    """How many is told by an argument: a while loop, to JAX."""
    return lax.fori_loop(0, n, lambda i, y: shift(y, 0) + i, x)


def doubled_until(x, y, limit):
    """Rounds that plain JAX counts, on values that no kernel touches."""
    return lax.while_loop(lambda s: s[1] < limit, lambda s: (double(s[0]), s[1] * 2), (x, y))


def half_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 0.5


def half(x):
    return pl.pallas_call(half_kernel, out_shape=struct(x.shape, x.dtype))(x)


def chosen(x, i):
    """Which kernel, an argument says."""
    return double(lax.switch(i, [half, double, lambda y: y], x))


def by_device(x):
    """Which kernels, depends on the device; some call none."""
    i = lax.axis_index("x")
    y = lax.switch(i, [half, lambda y: double(double(y)), lambda y: y + 1.0], x)
    return double(lax.cond(i % 2 == 0, lambda z: lax.cond(i == 0, double, half, z), lambda z: z, y)) + 1.0


def pair_kernel(x_ref, o_ref, send_sem, recv_sem, *, first, barrier, sends):
    """Device 0 and its kernel, device 1 and its own: they meet; then one may send to the other."""
    other = 1 if first else 0
    if barrier:
        sem = pltpu.get_barrier_semaphore()
        pltpu.semaphore_signal(sem, 1, device_id=other, device_id_type=LOGICAL)
        pltpu.semaphore_wait(sem, 1)
    own = pltpu.make_async_copy(x_ref, o_ref, send_sem)
    if sends:
        own = pltpu.make_async_remote_copy(x_ref, o_ref, send_sem, recv_sem, device_id=other, device_id_type=LOGICAL)
    own.start()
    own.wait()


def pair(x, barrier=True, sends=False, alone=False):
    def side(first):
        kernel = functools.partial(pair_kernel, first=first, barrier=barrier, sends=sends)
        params = {"compiler_params": Params(collective_id=0)} if barrier else {}
        return pl.pallas_call(
            kernel, out_shape=struct(x.shape), in_specs=[ANY], out_specs=ANY, scratch_shapes=[DMA, DMA], name="pair_kernel", **params
        )

    return lax.switch(lax.axis_index("x"), [side(True), double if alone else side(False), double], x)


def late_decision(x):
    return lax.cond(jnp.sum(double(x)) > 9.0, half, lambda y: y, x)


def rounds_of_devices(x):
    return lax.fori_loop(0, lax.axis_index("x"), lambda i, y: double(y), x)


def sum_on_some(x):
    return lax.cond(lax.axis_index("x") == 0, lambda y: double(lax.psum(y, "x")), half, x)


def kernel_in_a_condition(x):
    return lax.while_loop(lambda y: jnp.sum(double(y)) < 1e9, half, x)


def collectives(x):
    """x: [n, 8, 128]. Each collective needs what a kernel made, and a kernel needs what it gives."""
    n = lax.axis_size("x")
    y = double(x)
    total = double(lax.psum(y, "x"))
    largest = double(lax.pmax(y, "x") - lax.pmin(y, "x"))
    whole = double(lax.all_gather(y[0], "x"))
    tiled = double(lax.all_gather(y[0], "x", axis=1, tiled=True))
    turned = double(lax.all_to_all(y, "x", 0, 0))
    tiles = double(lax.all_to_all(y, "x", 1, 0, tiled=True) if 8 % n == 0 else y)
    part = double(lax.psum_scatter(y, "x", tiled=False))
    mean = double(lax.pmean(y[0, 0], "x")[None])
    passed = double(lax.ppermute(y, "x", [(i, (i + 1) % n) for i in range(n)]))
    some = double(lax.ppermute(y, "x", [(0, n - 1)]))
    return total, largest, whole, tiled, turned, tiles, part, mean, passed, some


def collectives_of_axes(x):
    y = double(x)
    return double(lax.psum(y, "y")), double(lax.all_gather(y, ("x", "y"))), double(lax.ppermute(y, "x", [(0, 1), (1, 0)]))


def fence(x, collective=True):
    """Two kernels that share a barrier with the neighbours: right if nobody begins the second before all have come from the first."""
    y = shift(x, 0)
    return shift(y + lax.psum(y, "x") * 0.0 if collective else y, 0)


def routed(x, keys):
    """What a kernel computed decides the order of rows: sorted, gathered, counted, scattered by plain JAX."""
    y = double(x)
    k = double(keys.astype(jnp.float32)).astype(jnp.int32)
    order = jnp.argsort(k)
    picked = double(y[order])
    best, where = lax.top_k(y[:, :64], 3)
    taken = jnp.take_along_axis(y, jnp.clip(where, 0, 127), axis=1)
    counts = jnp.zeros((8,), jnp.int32).at[k % 8].add(1)
    placed = jnp.zeros_like(y).at[(k * 3) % 8].set(y, mode="drop", unique_indices=False)
    filled = y.at[jnp.array([0, 9])].get(mode="fill", fill_value=-1.0)
    return (
        picked,
        double(jnp.sort(y, axis=1)),
        double(best),
        double(where.astype(jnp.float32)),
        double(taken),
        double(counts.astype(jnp.float32)[None]),
        double(jnp.abs(placed)),
        double(filled),
        double(jnp.take(y, k, axis=1, mode="clip")),
    )


def sort_inside_kernel(x_ref, i_ref, o_ref, p_ref):
    keys, values = lax.sort((i_ref[...], x_ref[...]), dimension=1, num_keys=1)
    o_ref[...] = values
    p_ref[...] = keys


def sort_inside(x, i):
    return pl.pallas_call(sort_inside_kernel, out_shape=[struct(x.shape), struct(i.shape, jnp.int32)])(x, i)


def indexings(x, i):
    """x: [3, 4, 5], i: [6], in all kinds of places; each result as whole numbers. No kernel: what the one around it computes."""
    j, y = i % 4, x[0]
    rows = jnp.arange(6 * 5, dtype=x.dtype).reshape(6, 5)
    return [
        x[i % 3],
        x[:, j],
        x[:, :, i % 5],
        x[i % 3, j],
        x[i % 3, :, i % 5],
        x[:, j, i % 5],
        y[j][:, None],
        y[j.reshape(2, 3)],
        jax.vmap(lambda a, k: a[k])(x, j[:3]),
        jax.vmap(lambda a, k: a[:, k], in_axes=(1, 0))(x, j[:4]),
        jnp.take_along_axis(y, j[:4, None] + 0 * y[:, :1].astype(jnp.int32), axis=1),
        y.at[j].add(rows),
        y.at[j].max(rows),
        y.at[:, i % 5].min(rows[:4, :].T[:1].T * 1.0 + jnp.zeros((4, 6), x.dtype)),
        y.at[j, i % 5].multiply(2.0),
        y.at[i].set(rows, mode="drop"),
        y.at[2].set(rows[0]),
        x.at[1, j].add(rows),
        jax.vmap(lambda a, k: a.at[k].add(1.0))(x, j[:3]),
        lax.dynamic_slice(x, (i[0], i[1], i[2]), (2, 2, 2)),
        jnp.sort(x, axis=1),
        jnp.argsort(-y, axis=1).astype(x.dtype),
        jnp.stack(lax.top_k(y, 2)[:1]),
        jnp.median(y, axis=1),
        jnp.bincount(j, length=4).astype(x.dtype),
        jax.nn.one_hot(j, 4) @ y,
        jnp.where(jnp.isnan(jnp.sort(jnp.where(y > 3, jnp.nan, y), axis=0)), -1.0, 1.0),
        jnp.tile(y, (2, 3)),
        jnp.tile(y[0], (3, 1, 2)),
    ]


def indexings_kernel(x_ref, i_ref, *o_refs):
    for o_ref, value in zip(o_refs, indexings(x_ref[...], i_ref[...])):
        o_ref[...] = value


def indexed(x, i):
    shapes = jax.eval_shape(indexings, x, i)
    return pl.pallas_call(indexings_kernel, out_shape=[struct(s.shape, s.dtype) for s in shapes])(x, i)


# What JAX must know and nobody else: where an array is to be, what comes first


def start_kernel(x_ref, o_ref, sem):
    pltpu.make_async_copy(x_ref, o_ref, sem).start()


def done_kernel(x_ref, y_ref, sem, o_ref):
    pltpu.make_async_copy(x_ref, y_ref, sem).wait()


def annotated(x, waits=True):
    """A copy is under way while the arrays and its semaphore pass a barrier of XLA's: nobody touches them there."""
    y, sem = pl.pallas_call(start_kernel, out_shape=[struct(x.shape), DMA(())], in_specs=[ANY], out_specs=[ANY, SEMAPHORE])(x)
    if hasattr(pltpu, "with_memory_space_constraint"):
        y = pltpu.with_memory_space_constraint(y, pltpu.HBM)
    x, y, sem = lax.optimization_barrier((x, y, sem))
    if waits:
        y = pl.pallas_call(
            done_kernel, out_shape=struct(x.shape), in_specs=[ANY, ANY, SEMAPHORE], out_specs=ANY, input_output_aliases={1: 0}
        )(x, y, sem)
    return double(y) + 1.0


def only_on_tpus(x):
    """Asks JAX what devices there are."""
    kind = jax.devices()[0].device_kind
    if "TPU" not in kind or jax.default_backend() != "tpu":
        raise NotImplementedError(f"no kernel for {kind}")
    return double(x)


def fits_in_memory(x):
    """Asks how much memory a device has, as kernels do that choose their blocks by it."""
    stats = jax.devices()[0].memory_stats()
    if stats["bytes_limit"] < 32 << 30:
        return double(x) + 1.0
    return double(x)


def on_a_mesh(mesh, x, scale=2.0):
    mapped = jax.shard_map(double, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    return mapped(x) * scale


def on_a_mesh_by_name(x, *, mesh):
    return on_a_mesh(mesh, x)


def joint_sums(x, axes=("x", "y")):
    """Collectives over several axes at once, before the kernel."""
    whole = lax.all_gather(x, axes, axis=0, tiled=True)
    each = lax.all_gather(x, axes, axis=1)
    part = lax.psum_scatter(whole, axes, scatter_dimension=0, tiled=True)
    return double(x + part + each.sum(axis=1))


def named_grid_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 10.0 * lax.axis_index("rows").astype(jnp.float32) + lax.axis_index("columns").astype(jnp.float32)


def named_grid(x):
    block = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    spec = pl.GridSpec(grid=(("rows", 2), ("columns", 4)), in_specs=[block], out_specs=block)
    return pl.pallas_call(named_grid_kernel, grid_spec=spec, out_shape=struct(x.shape))(x)


def elsewhere_without_a_kernel(x):
    return double(x) if jax.default_backend() == "tpu" else x * 2.0
