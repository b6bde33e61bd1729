"""The body of one kernel, equation by equation. The handlers of the table lower each primitive.

A scalar that is used once is written where it is used; one that is used more often, or that the author named, becomes a variable. The text
of views is cheap and has no effect, so it is written at each use.
"""

from __future__ import annotations

import collections
from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Sequence

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from numpy.typing import DTypeLike

from ..c.names import Scope
from ..c.types import c_type, is_float, literal, pl_type
from ..c.writer import Helpers, Writer
from ..errors import NOWHERE, Place, Unsupported
from ..mesh import Mesh
from . import demand, source
from .jaxprs import Atom, constants_of, jaxprs_of, opened
from .table import HANDLERS, PURE
from .values import PRIMARY, UNARY, Scalar, Tile, Value, View

INLINE_LENGTH = 70
CONSTANT_ELEMENTS_MAX = 64


def is_pure(eqn: JaxprEqn) -> bool:
    """By name: JAX's effects differ between versions. A call or a loop is pure if all its equations are."""
    if eqn.effects:
        return False
    inner = list(jaxprs_of(eqn))
    return all(is_pure(e) for j in inner for e in j.eqns) if inner else eqn.primitive.name in PURE


class Block:
    """One jaxpr that is being written out: what its variables are, how often they are used, which of them steer."""

    def __init__(self, jaxpr: Jaxpr, outputs_steer: Sequence[bool] = (), named: bool = True) -> None:
        self.jaxpr = jaxpr
        self.values: dict[Var, Value] = {}
        self.uses: collections.Counter[Var] = collections.Counter(
            v for atoms in [*(e.invars for e in jaxpr.eqns), jaxpr.outvars] for v in atoms if isinstance(v, Var)
        )
        self.steers = demand.demanded(jaxpr, outputs_steer)
        self.names = _result_names(jaxpr) if named else {}


def _result_names(jaxpr: Jaxpr) -> dict[Var, str]:
    """The author's names: the last of the equations of an assignment computes the variable that it assigns."""
    names: dict[Var, str] = {}
    statements = [source.assignment_at(source.place_of(eqn)) for eqn in jaxpr.eqns]
    for i, (eqn, statement) in enumerate(zip(jaxpr.eqns, statements)):
        last = i + 1 == len(statements) or statements[i + 1] != statement
        if statement is not None and last and len(eqn.outvars) == 1:
            names[eqn.outvars[0]] = statement[2]
    return names


class Emitter:
    def __init__(self, mesh: Mesh, helpers: Helpers, out: Writer, scope: Scope, core_axis: str | None = None) -> None:
        self.mesh = mesh
        self.helpers = helpers
        self.out = out
        self.scope = scope
        self.core_axis = core_axis  # the name under which the kernel asks for its core
        self.grid_axes: tuple[Any, ...] = ()  # the names of the grid's dimensions, where it has names
        self.grid: list[Scalar] | None = None  # program ids, if not those of the launch
        self.sizes: list[int] | None = None  # of the grid, likewise
        self.place: Place = NOWHERE
        self.block: Block
        self.known_copies: list[tuple[tuple[str, ...], str]] = []  # descriptors that are variables here

    # Reading and naming

    def read(self, atom: Atom) -> Value:
        if isinstance(atom, Literal):
            shape = getattr(atom.aval, "shape", ())
            if shape == ():
                return Scalar(
                    literal(atom.val, atom.aval.dtype),
                    atom.aval.dtype,
                    value=_python_value(atom.val),
                    level=UNARY if _negative(atom.val) else PRIMARY,
                )
            raise Unsupported("a constant array in a kernel", self.place, "pass it to the kernel as an input")
        return self.block.values[atom]

    def steering(self, value: Value, what: str = "a value") -> Scalar:
        """As a C expression."""
        if isinstance(value, Scalar):
            return value
        if isinstance(value, View):
            raise Unsupported(f"{what} that is a ref", self.place)
        if value.shape != ():
            raise Unsupported(f"{what} that is an array", self.place, "it must be a scalar")
        if is_float(value.dtype):
            return Scalar(f"(float)pl_tile_float({value.text})", "float32", UNARY)
        c = c_type(value.dtype)
        return Scalar(f"({c})pl_tile_int({value.text})", value.dtype, UNARY)

    def tile(self, value: Value, shape: tuple[int, ...] | None = None) -> Tile:
        """As a tile, of that shape if it is a scalar."""
        if isinstance(value, View):
            raise Unsupported("arithmetic on a ref", self.place, "load it first")
        wanted = value.shape if shape is None and isinstance(value, Tile) else shape or ()
        dims = "".join(f", {d}" for d in wanted)
        if isinstance(value, Scalar):
            return Tile(f"pl_tile_full({self.pl_type(value.dtype)}, {value.text}{dims})", wanted, value.dtype)
        if value.shape == wanted:
            return value
        assert value.shape == () or len(value.shape) == len(wanted), (value, wanted)
        axes = ", ".join(str(i) for i in range(len(value.shape)))  # dimensions of 1 are stretched
        return Tile(f"pl_tile_broadcast({value.text}, PL_SHAPE({dims[2:]}), PL_SHAPE({axes}))", wanted, value.dtype)

    def variable(self, wanted: str, value: Scalar) -> Scalar:
        name = self.scope.take(wanted, "v")
        self.out(f"{c_type(value.dtype)} {name} = {value.text};")
        return Scalar(name, value.dtype, value=value.value)

    def tile_variable(self, wanted: str, tile: Tile) -> Tile:
        name = self.scope.take(wanted, "t")
        self.out(f"PlTile {name} = {tile.text};")
        return Tile(name, tile.shape, tile.dtype)

    def simple(self, value: Scalar) -> Scalar:
        """A name or a constant: it is safe to write it twice."""
        return value if value.text.replace("_", "").isalnum() or value.value is not None else self.variable("v", value)

    def pl_type(self, dtype: DTypeLike) -> str:
        return pl_type(dtype, self.place)

    # Constants

    def constants(self, jaxpr: Jaxpr | ClosedJaxpr) -> list[Value]:
        """What a jaxpr closes over."""
        return [self._constant(np.asarray(c)) for c in constants_of(jaxpr)]

    def _constant(self, array: np.ndarray[Any, Any]) -> Value:
        """A number, or a small array written out element by element."""
        if array.shape == ():
            return Scalar(literal(array.item(), array.dtype), array.dtype, value=array.item())
        first = array.reshape(-1)[0] if array.size else 0
        dims = "".join(f", {d}" for d in array.shape)
        name = self.pl_type(array.dtype)
        if array.size == 0 or bool((array == first).all()):
            return Tile(f"pl_tile_full({name}, {literal(first, array.dtype)}{dims})", array.shape, array.dtype)
        if array.size > CONSTANT_ELEMENTS_MAX:
            raise Unsupported(f"a constant array of {array.size} elements inside a computation", self.place, "pass it as an input")
        tile = self.tile_variable("constant", Tile(f"pl_tile_empty({name}{dims})", array.shape, array.dtype))
        for index in np.ndindex(*array.shape):
            self.out(f"pl_tile_put({tile.text}, {literal(array[index], array.dtype)}{''.join(f', {i}' for i in index)});")
        return tile

    # Blocks

    @contextmanager
    def inside(self, head: str, tail: str = "}") -> Iterator[None]:
        """What is written in a C block of its own."""
        outer, copies = self.scope, len(self.known_copies)
        self.scope = Scope(outer)
        with self.out.block(head, tail):
            yield
        self.scope = outer
        del self.known_copies[copies:]

    @contextmanager
    def writing_to(self, out: Writer) -> Iterator[None]:
        outer, self.out = self.out, out
        yield
        self.out = outer

    def run(
        self,
        jaxpr: Jaxpr | ClosedJaxpr,
        operands: Iterable[Value],
        consts: Iterable[Value] | None = None,
        outputs_steer: Sequence[bool] = (),
        named: bool = True,
    ) -> list[Value]:
        """Writes a jaxpr out, and returns the values of its results. consts None: those that it closes over."""
        inner = opened(jaxpr)
        given = self.constants(jaxpr) if consts is None else consts
        outer, place = getattr(self, "block", None), self.place
        self.block = Block(inner, outputs_steer, named)
        self.block.values.update(zip(inner.constvars, given))
        self.block.values.update(zip(inner.invars, operands))
        for eqn in inner.eqns:
            self.equation(eqn)
        results = [self.read(v) for v in inner.outvars]
        self.place = place
        self.out.place = place
        if outer is not None:
            self.block = outer
        return results

    def equation(self, eqn: JaxprEqn) -> None:
        name = eqn.primitive.name
        here = source.place_of(eqn)
        if here.file:
            self.place = here
        self.out.place = self.place
        if not any(self.block.uses[v] for v in eqn.outvars) and is_pure(eqn):
            return  # nothing reads its results, and it has no effect
        operands = [self.read(v) for v in eqn.invars]
        handler = HANDLERS.get(name)
        if handler is None:
            raise Unsupported(f"the primitive {name}", self.place, advice_for(name))
        results = list(handler(self, eqn, operands))
        assert len(results) == len(eqn.outvars), name
        for v, value in zip(eqn.outvars, results):
            self.block.values[v] = self.settle(v, value)

    def settle(self, v: Var, value: Value) -> Value:
        """Does the result become a variable?"""
        uses, wanted = self.block.uses[v], self.block.names.get(v)
        if isinstance(value, View) or uses == 0:
            return value
        if isinstance(value, Tile):
            once = uses == 1 and not wanted and len(value.text) <= INLINE_LENGTH
            return value if once or value.text.isidentifier() else self.tile_variable(wanted or "t", value)
        if value.value is not None or value.text.isidentifier():
            return value
        if uses == 1 and not wanted and len(value.text) <= INLINE_LENGTH and "pl_" not in value.text:
            return value
        return self.variable(wanted or _usual_name(value.text), value)


def _usual_name(text: str) -> str:
    if text.startswith("pl_axis_index("):
        return "my_" + text.split('"')[1]
    if text.startswith("pl_program_id("):
        return f"program_id_{text[14:-1]}"
    return "core" if text == "pl_core_index()" else "v"


def _python_value(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, (bool, float)) else int(value)


def _negative(value: Any) -> bool:
    number = _python_value(value)
    return not isinstance(number, bool) and number < 0


def advice_for(name: str) -> str:
    if name in ("random_bits", "random_seed", "threefry2x32", "prng_seed", "prng_random_bits"):
        return "pass random numbers to the kernel as an input"
    if name in ("psum", "ppermute", "all_gather", "all_to_all", "pmax", "pmin", "reduce_scatter"):
        return "kernels communicate by copies and signals; call XLA's collectives outside"
    return "compute it before the kernel, or leave it out for the check"
