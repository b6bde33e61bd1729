"""Random computations of all types, on scalars and on arrays: bit for bit what JAX computes, floats but for rounding."""

import functools

import jax.numpy as jnp
import kernels_memory as memory
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.float32]
STEPS = 40

TWO = [lax.add, lax.sub, lax.mul, lax.max, lax.min]
WHOLE = [
    lax.div,
    lax.rem,
    lax.bitwise_and,
    lax.bitwise_or,
    lax.bitwise_xor,
    lax.shift_left,
    lax.shift_right_logical,
    lax.shift_right_arithmetic,
]
COMPARE = [lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge]
ONE = [lax.neg, lax.abs, lax.sign]


def choose(generator, options):
    return options[int(generator.integers(len(options)))]


def next_value(generator, values):
    """One more value, made of those that there are."""
    a = choose(generator, values)
    whole = not jnp.issubdtype(a.dtype, jnp.floating)
    b = choose(generator, [v for v in values if v.dtype == a.dtype])
    kind = int(generator.integers(6))
    if kind == 0:
        return lax.convert_element_type(a, choose(generator, TYPES))
    if kind == 1:
        return choose(generator, ONE if jnp.issubdtype(a.dtype, jnp.signedinteger) or not whole else [lax.sign])(a)
    if kind == 2:
        return lax.select(choose(generator, COMPARE)(a, b), a, b)
    if kind == 3:
        return lax.convert_element_type(choose(generator, COMPARE)(a, b), choose(generator, TYPES))
    if kind == 4 and whole:
        return choose(generator, [lax.bitwise_not, lax.population_count, lax.clz])(a)
    return choose(generator, TWO + WHOLE if whole else TWO)(a, b)


def computation(x, seed):
    """From an int32 value (or array) to STEPS of them; floats are rounded to whole numbers where they are small."""
    generator = np.random.default_rng(seed)
    values = [lax.convert_element_type(x, t) for t in TYPES]
    for _ in range(STEPS):
        values.append(next_value(generator, values))
    results = []
    for value in values[-STEPS:]:
        if jnp.issubdtype(value.dtype, jnp.floating):
            value = lax.clamp(jnp.float32(-1e6), value, jnp.float32(1e6))
        results.append(lax.convert_element_type(value, jnp.int32))
    return results


def scalar_kernel(x_ref, o_ref, *, seed, count):
    for i in range(count):
        for k, value in enumerate(computation(x_ref[i], seed)):
            o_ref[i, k] = value


def array_kernel(x_ref, o_ref, *, seed):
    for k, value in enumerate(computation(x_ref[...], seed)):
        o_ref[k] = value


@pytest.mark.parametrize("seed", range(4))
def test_scalars(heddle, interpreted, seed):
    smem = pl.BlockSpec(memory_space=pltpu.SMEM)
    x = np.array([0, 1, -1, 7, -2147483648, 2147483647, 255, -129], np.int32)
    kernel = functools.partial(scalar_kernel, seed=seed, count=len(x))

    def function(y):
        return pl.pallas_call(kernel, out_shape=memory.struct((len(x), STEPS), jnp.int32), in_specs=[smem], out_specs=smem)(y)

    want = np.asarray(interpreted(function)(x))
    heddle.verify(function, x, mesh=1, name="scalars", expect=[want[None]])


@pytest.mark.parametrize("seed", range(4, 10))
def test_arrays(heddle, seed):
    x = np.random.default_rng(seed).integers(-(2**31), 2**31, (8, 128)).astype(np.int32)
    x[:4] >>= 24
    kernel = functools.partial(array_kernel, seed=seed)

    def function(y):
        return pl.pallas_call(kernel, out_shape=memory.struct((STEPS, 8, 128), jnp.int32))(y)

    want = np.stack(computation(jnp.asarray(x), seed))  # one by one: JAX 0.7.0 on a CPU forgets a conversion when it compiles them together
    heddle.verify(function, x, mesh=1, name="arrays", expect=[want[None]])
