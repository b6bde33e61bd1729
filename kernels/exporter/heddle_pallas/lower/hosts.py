"""The steps between kernels: plain computation that each device does alone."""

from __future__ import annotations

import types
from typing import Any, Sequence

from jax.extend.core import JaxprEqn

from ..c.kernel import Kernel
from ..c.names import Scope
from ..c.program import Array
from ..c.writer import Helpers, Writer
from ..errors import NOWHERE
from ..mesh import Mesh
from .emitter import Emitter
from .jaxprs import Atom
from .values import Tile, Value, View
from .views import load, static_shape

Bound = Sequence["tuple[Atom, Array]"]  # atoms, and the arrays that hold their values


def host_kernel(mesh: Mesh, helpers: Helpers, name: str, eqns: Sequence[JaxprEqn], inputs: Bound, outputs: Bound) -> Kernel:
    """A kernel of the inputs and the outputs: all inputs are read before the first output is written."""
    scope, out = Scope(), Writer(depth=1)
    e = Emitter(mesh, helpers, out, scope)
    sources = [_view(scope, array) for _, array in inputs]
    targets = [_view(scope, array) for _, array in outputs]
    jaxpr: Any = types.SimpleNamespace(constvars=[], invars=[v for v, _ in inputs], eqns=eqns, outvars=[v for v, _ in outputs])
    tiles: list[Value] = [load(e, view, None, False) for view in sources]
    for target, value in zip(targets, e.run(jaxpr, tiles)):
        text = value.text if isinstance(value, Tile) else e.tile(value, static_shape(e, target)).text
        out(f"pl_store({target.text}, {text});")
    return Kernel(name, [v.text for v in [*sources, *targets]], [], out, NOWHERE)


def _view(scope: Scope, array: Array) -> View:
    name = scope.take(array.name)
    return View(name, array.shape, array.dtype, "any", "", name)
