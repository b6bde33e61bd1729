"""Values that a loop carries.

Each is a C variable if it can be one in every round, else a tile: what a loop does is tried with C variables first, and written again with
tiles where that does not fit.
"""

from __future__ import annotations

from typing import Callable, Sequence

from jax.extend.core import JaxprEqn

from ..c.names import Scope
from ..c.types import c_type
from .emitter import Emitter
from .values import Scalar, Tile, Value, View


class Loop:
    """Carried values as variables: those that fit are C variables, the others tiles."""

    def __init__(self, e: Emitter, init: Sequence[Value], steers: set[int], names: Sequence[str], fixed: Sequence[int] = ()) -> None:
        self.e = e
        self.init = list(init)
        self.names = list(names)
        self.fixed = set(fixed)  # the loop hands these on as they are
        self.as_tile = [
            not isinstance(v, Scalar) and not (isinstance(v, Tile) and v.shape == () and i in steers and c_type(v.dtype))
            for i, v in enumerate(init)
        ]

    def declare(self, but: int | None = None) -> list[Value]:
        """The variables, with their first values, before the loop; `but` becomes one in the loop's head."""
        return [self._declare(i, value, i == but) for i, value in enumerate(self.init)]

    def _declare(self, i: int, value: Value, in_head: bool) -> Value:
        if isinstance(value, View):
            return value
        if i in self.fixed:
            return (
                self.e.simple(value)
                if isinstance(value, Scalar)
                else (value if value.text.isidentifier() else self.e.tile_variable(self.names[i], value))
            )
        if self.as_tile[i] and not in_head:
            name = self.e.scope.take(self.names[i], "t")
            tile = self.e.tile(value)
            self.e.out(f"PlTile {name} = {tile.text};")
            return Tile(name, tile.shape, tile.dtype)
        scalar = self.e.steering(value)
        name = self.e.scope.take(self.names[i], "v")
        if not in_head:
            self.e.out(f"{c_type(scalar.dtype)} {name} = {scalar.text};")
        return Scalar(name, scalar.dtype)

    def fits(self, results: Sequence[Value], keep: set[int]) -> bool:
        """False: some variable must be a tile, and the loop must be written again."""
        fine = True
        for i, value in enumerate(results):
            if isinstance(value, Tile) and not self.as_tile[i] and i not in keep and i not in self.fixed:
                self.as_tile[i] = True
                fine = False
        return fine

    def assign(self, variables: Sequence[Value], results: Sequence[Value], skip: int | None = None) -> None:
        """Assigns all at once: a new value may depend on several old ones."""
        changed: list[tuple[Value, Value]] = [
            (v, self._as(v, r))
            for i, (v, r) in enumerate(zip(variables, results))
            if not isinstance(v, View) and i != skip and i not in self.fixed and v.text != r.text
        ]
        if not changed:
            return
        if len(changed) == 1:
            variable, value = changed[0]
            self.e.out(f"{variable.text} = {value.text};")
            return
        old = {v.text for v, _ in changed}
        fresh: list[tuple[Value, Value]] = []
        for variable, value in changed:
            if value.text.isidentifier() and value.text not in old or isinstance(value, Scalar) and value.value is not None:
                fresh.append((variable, value))
            elif isinstance(value, Tile):
                fresh.append((variable, self.e.tile_variable(f"next_{variable.text}", value)))
            else:
                assert isinstance(value, Scalar)
                fresh.append((variable, self.e.variable(f"next_{variable.text}", value)))
        for variable, value in fresh:
            self.e.out(f"{variable.text} = {value.text};")

    def _as(self, variable: Value, result: Value) -> Value:
        return self.e.tile(result) if isinstance(variable, Tile) else self.e.steering(result)


def carry_names(e: Emitter, eqn: JaxprEqn, count: int) -> list[str]:
    """From the variable that the loop's result is assigned to, else by kind."""
    found = []
    for i in range(count):
        var = eqn.outvars[i]
        found.append(e.block.names.get(var) or ("carry" if getattr(var.aval, "shape", ()) else "i"))
    return found


def attempts(e: Emitter, loop: Loop, write: Callable[[], tuple[list[Value], list[Value]]], keep: set[int]) -> list[Value]:
    """Writes the loop until its variables fit."""
    copies = len(e.known_copies)
    while True:
        part, outer = e.out.sub(), e.scope
        e.scope = Scope(outer)
        with e.writing_to(part):
            variables, results = write()
        del e.known_copies[copies:]
        trial, e.scope = e.scope, outer
        if loop.fits(results, keep):
            e.out.add(part)
            e.scope.absorb(trial)
            return list(variables)
