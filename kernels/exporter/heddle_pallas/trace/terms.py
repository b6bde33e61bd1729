"""Integers that PROGRAM computes from inputs with a domain: whether an input is one of them, the size of a grid.

Plain JAX is unrolled: each element that depends on an input becomes a C variable. What only moves elements is found by moving their numbers.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from numpy.typing import DTypeLike, NDArray

from ..c.program import Array
from ..c.types import bits, c_type, is_float, is_signed, literal
from ..c.writer import Helpers
from ..errors import Unsupported
from ..lower.jaxprs import CALLS, SAME, Atom, called, constants_of, opened
from ..lower.source import place_of
from . import evaluate

LINES_MAX = 20000

_BINARY = {
    "add": "(uint64_t){0} + (uint64_t){1}",
    "sub": "(uint64_t){0} - (uint64_t){1}",
    "mul": "(uint64_t){0} * (uint64_t){1}",
    "max": "{0} > {1} ? {0} : {1}",
    "min": "{0} < {1} ? {0} : {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "div": "{1} == 0 ? -1 : {0} / {1}",
    "rem": "{1} == 0 ? {0} : {0} % {1}",
}
_UNARY = {"neg": "-(uint64_t){0}", "abs": "{0} < 0 ? -{0} : {0}", "sign": "({0} > 0) - ({0} < 0)", "square": "(uint64_t){0} * (uint64_t){0}", "copy": "{0}"}
_REDUCED = {"reduce_sum": "add", "reduce_prod": "mul", "reduce_max": "max", "reduce_min": "min", "reduce_and": "and", "reduce_or": "or"}
_CUMULATED = {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}
_MOVED = frozenset(
    "reshape broadcast_in_dim transpose squeeze expand_dims slice rev concatenate pad gather dynamic_slice split".split()
)  # of arrays of one type; indices are constants


class Terms:
    """The body of one C function. A value is an array of texts: names of variables, and constants."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []  # parameters
        self.lines: list[str] = []
        self.elements: dict[tuple[int, int, int], str] = {}

    def element(self, array: Array, device: int, flat: int) -> str:
        """An element of an input on a device, by its number."""
        if not any(a is array for a in self.arrays):
            self.arrays.append(array)
        key = (id(array), device, flat)
        if key not in self.elements:
            at = next(i for i, a in enumerate(self.arrays) if a is array)
            index = "".join(f", {i}" for i in np.unravel_index(flat, array.shape)) if array.shape else ""
            self.elements[key] = self._variable(array.dtype, f"pl_given(r{at}, {device}{index})")
        return self.elements[key]

    def whole(self, array: Array) -> NDArray[Any]:
        """An input that is the same on all devices."""
        count = int(np.prod(array.shape, dtype=np.int64))
        return _texts([self.element(array, 0, i) for i in range(count)], array.shape)

    def _variable(self, dtype: DTypeLike, text: str) -> str:
        if len(self.lines) >= LINES_MAX:
            raise Unsupported(f"more than {LINES_MAX} steps to compute something from an input with a domain", advice="make the input smaller")
        name, c = f"t{len(self.lines)}", c_type(dtype)
        self.lines.append(f"const {c} {name} = ({c})({text});")
        return name

    def define(self, helpers: Helpers, name: str, result: str) -> str:
        """Writes the function, and returns its name."""
        head = f"({', '.join(f'PlRef r{i}' for i in range(len(self.arrays)))})\n{{\n"
        body = "".join(f"    {line}\n" for line in self.lines)
        return helpers.function(name, "static int64_t ", f"{head}{body}    return {result};\n}}\n")

    # Equations

    def run(self, jaxpr: Jaxpr | ClosedJaxpr, values: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        inner = opened(jaxpr)
        known: dict[Var, NDArray[Any]] = dict(zip(inner.constvars, map(np.asarray, constants_of(jaxpr))))
        known.update(zip(inner.invars, values))
        self.run_equations(inner.eqns, known)
        return [_value(v, known) for v in inner.outvars]

    def run_equations(self, eqns: Sequence[JaxprEqn], known: dict[Var, NDArray[Any]]) -> None:
        for eqn in eqns:
            known.update(zip(eqn.outvars, self._equation(eqn, [_value(v, known) for v in eqn.invars])))

    def _equation(self, eqn: JaxprEqn, values: list[NDArray[Any]]) -> Sequence[NDArray[Any]]:
        name = eqn.primitive.name
        if all(v.dtype != object for v in values):
            return [np.asarray(x) for x in evaluate.bind(eqn, values)]
        inner = called(eqn) if name in CALLS else None
        if inner is not None:
            return self.run(inner, values)
        if name in SAME:
            return values
        if any(is_float(v.aval.dtype) for v in [*eqn.invars, *eqn.outvars]):
            raise self._refused(eqn, "floats")
        texts = [x if x.dtype == object else _texts([literal(e, v.aval.dtype) for e in x.ravel()], x.shape) for v, x in zip(eqn.invars, values)]
        if name in _MOVED:
            return self._moved(eqn, values, texts)
        handler = _HANDLERS.get(name)
        if handler is None:
            raise self._refused(eqn, f"the primitive {name}")
        return handler(self, eqn, texts)

    def _refused(self, eqn: JaxprEqn, what: str) -> Unsupported:
        return Unsupported(
            f"{what}, in what is computed from an input with a domain before the first kernel,", place_of(eqn), "use arithmetic of integers"
        )

    def _each(self, text: str, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Element by element."""
        out: Any = eqn.outvars[0].aval
        flat = [np.broadcast_to(x, out.shape).ravel() for x in operands]
        return [_texts([self._variable(out.dtype, text.format(*each)) for each in zip(*flat)], out.shape)]

    def _binary(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return self._each(_BINARY[eqn.primitive.name], eqn, operands)

    def _unary(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return self._each(_UNARY[eqn.primitive.name], eqn, operands)

    def _not(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return self._each("!{0}" if str(eqn.outvars[0].aval.dtype) == "bool" else "~{0}", eqn, operands)

    def _convert(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return self._each("{0}", eqn, operands)

    def _power(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return self._each(" * ".join(["(uint64_t){0}"] * eqn.params["y"]) or "1", eqn, operands)

    def _shift(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        out: Any = eqn.outvars[0].aval
        wide, unsigned = bits(out.dtype), c_type(f"uint{bits(out.dtype)}")
        left, logical = eqn.primitive.name == "shift_left", eqn.primitive.name == "shift_right_logical" or not is_signed(out.dtype)
        shifted = f"({unsigned}){{0}} << {{1}}" if left else f"({unsigned}){{0}} >> {{1}}" if logical else "{0} >> {1}"
        beyond = "0" if left or logical else "{0} < 0 ? -1 : 0"
        return self._each(f"(uint64_t){{1}} < {wide} ? {shifted} : {beyond}", eqn, operands)

    def _select(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        cases = len(operands) - 1
        text = "".join(f"{{0}} == {i} ? {{{i + 1}}} : " for i in range(cases - 1)) + f"{{{cases}}}"
        return self._each(text, eqn, operands)

    def _clamp(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return self._each("{1} < {0} ? {0} : {1} > {2} ? {2} : {1}", eqn, operands)

    def _reduce(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        out: Any = eqn.outvars[0].aval
        axes, op = tuple(eqn.params["axes"]), _BINARY[_REDUCED[eqn.primitive.name]]
        kept = [d for d in range(operands[0].ndim) if d not in axes]
        rows = operands[0].transpose(*kept, *axes).reshape(int(np.prod(out.shape, dtype=np.int64)), -1)
        return [_texts([self._folded(op, out.dtype, row, eqn)[-1] for row in rows], out.shape)]

    def _folded(self, op: str, dtype: DTypeLike, row: NDArray[Any], eqn: JaxprEqn) -> list[str]:
        if len(row) == 0:
            raise self._refused(eqn, "a reduction of nothing")
        found = [str(row[0])]
        for text in row[1:]:
            found.append(self._variable(dtype, op.format(found[-1], text)))
        return found

    def _cumulate(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        out: Any = eqn.outvars[0].aval
        axis, op, back = eqn.params["axis"], _BINARY[_CUMULATED[eqn.primitive.name]], bool(eqn.params.get("reverse"))
        lanes = np.moveaxis(operands[0], axis, -1)
        rows = [self._folded(op, out.dtype, row[::-1] if back else row, eqn) for row in lanes.reshape(-1, out.shape[axis])]
        texts = _texts([t for row in rows for t in (row[::-1] if back else row)], lanes.shape)
        return [np.moveaxis(texts, -1, axis)]

    def _sort(self, eqn: JaxprEqn, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Neighbours change places while they are in the wrong order."""
        if eqn.params.get("num_keys", 1) != 1:
            raise self._refused(eqn, "a sort by several keys")
        axis = eqn.params["dimension"]
        found = [np.moveaxis(x, axis, -1).copy() for x in operands]
        size = found[0].shape[-1]
        for lane in np.ndindex(*found[0].shape[:-1]):
            for end in range(size - 1, 0, -1):
                for i in range(end):
                    swap = self._variable("bool", f"{found[0][lane][i]} > {found[0][lane][i + 1]}")
                    for x, v in zip(found, eqn.outvars):
                        a, b, dtype = x[lane][i], x[lane][i + 1], v.aval.dtype
                        x[(*lane, i)] = self._variable(dtype, f"{swap} ? {b} : {a}")
                        x[(*lane, i + 1)] = self._variable(dtype, f"{swap} ? {a} : {b}")
        return [np.moveaxis(x, -1, axis) for x in found]

    def _moved(self, eqn: JaxprEqn, values: list[NDArray[Any]], texts: list[NDArray[Any]]) -> Sequence[NDArray[Any]]:
        """The primitive itself moves the numbers of the elements; operands that are no elements must be constants."""
        name = eqn.primitive.name
        moving = len(values) if name in ("concatenate", "pad") else 1
        if any(v.dtype == object for v in values[moving:]):
            raise self._refused(eqn, f"{name} at an index that depends on it")
        first, numbered, all_texts = 0, [], np.concatenate([t.ravel() for t in texts[:moving]])
        for x in values[:moving]:
            numbered.append(np.arange(first, first + x.size, dtype=np.int32).reshape(x.shape))
            first += x.size
        moved = [np.asarray(x) for x in evaluate.bind(eqn, [*numbered, *values[moving:]])]
        if any(((x < 0) | (x >= first)).any() for x in moved):
            raise self._refused(eqn, f"{name} out of bounds")
        return [_texts([all_texts[i] for i in x.ravel()], x.shape) for x in moved]


def _value(atom: Atom, known: dict[Var, NDArray[Any]]) -> NDArray[Any]:
    return np.asarray(atom.val, atom.aval.dtype) if isinstance(atom, Literal) else known[atom]


def _texts(texts: Sequence[str], shape: Sequence[int]) -> NDArray[Any]:
    found = np.empty(len(texts), object)
    found[:] = texts
    return found.reshape(tuple(shape))


_Handler = Callable[[Terms, JaxprEqn, Sequence[NDArray[Any]]], "list[NDArray[Any]]"]
_HANDLERS: dict[str, _Handler] = {
    **dict.fromkeys(_BINARY, Terms._binary),
    **dict.fromkeys(_UNARY, Terms._unary),
    **dict.fromkeys(_REDUCED, Terms._reduce),
    **dict.fromkeys(_CUMULATED, Terms._cumulate),
    **dict.fromkeys(("shift_left", "shift_right_arithmetic", "shift_right_logical"), Terms._shift),
    "not": Terms._not,
    "convert_element_type": Terms._convert,
    "integer_pow": Terms._power,
    "select_n": Terms._select,
    "clamp": Terms._clamp,
    "sort": Terms._sort,
}
