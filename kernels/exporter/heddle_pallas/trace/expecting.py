"""What a function should return, for arguments of which many values are tried: computed by the program itself, from the same arguments."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import HeddleError
from ..mesh import Mesh
from .domains import Ints
from .tracing import PerDevice, Traced, name_of


def traced_expecting(
    trace: Callable[[Callable[..., Any], Sequence[Any]], Traced],
    function: Callable[..., Any],
    arguments: Sequence[Any],
    expect: Any,
    tolerance: float,
    mesh: Mesh,
) -> Traced:
    """Traces a function of one device. expect: a function, in jax.numpy, of the same arguments, whose result is stacked."""
    if not callable(expect):
        raise HeddleError("expect: the result depends on the input, so give a function of the arguments that computes it with jax.numpy")
    if any(isinstance(a, PerDevice) and isinstance(a.values, Ints) for a in arguments):
        raise HeddleError("expect: no device knows the inputs of the others; give all of them the same input, and let each take its part")
    names = mesh.names if len(mesh.names) > 1 else mesh.names[0]

    @functools.wraps(function)
    def both(*values: Any, **named: Any) -> Any:
        given = [_known(a, v) for a, v in zip(arguments, values)]
        wanted = jax.tree.map(lambda w: w[lax.axis_index(names)], expect(*given))
        return function(*values, **named), wanted

    both.__name__ = name_of(function)
    traced = trace(both, arguments)
    place = traced.place_results
    count = len(traced.plan.results) // 2
    if len(traced.plan.results) != 2 * count:
        raise HeddleError("expect: it does not return as many arrays as the function")
    for i in range(count):
        traced.plan.promise_equal(i, count + i, tolerance)
    traced.place_results = lambda results: place(results)[0]
    return traced


def _known(argument: Any, value: Any) -> Any:
    """As expect sees it: on all devices."""
    if isinstance(argument, PerDevice):
        return jnp.asarray(argument.values)
    return jax.tree.map(lambda a, v: v if isinstance(a, Ints) else jnp.asarray(a) if isinstance(a, np.ndarray) else a, argument, value, is_leaf=lambda a: isinstance(a, Ints))
