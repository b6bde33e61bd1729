"""Arguments of which the checker tries many values."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Sequence

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from numpy.typing import DTypeLike, NDArray

from ..c.program import Array, Constraint, Domain
from ..c.writer import Helpers
from ..errors import NOWHERE, HeddleError, Unsupported
from .terms import Terms


@dataclasses.dataclass(frozen=True)
class Ints:
    """An argument whose elements are any integers from `least` to `greatest`, for which `where` holds."""

    shape: tuple[int, ...]
    least: int
    greatest: int
    where: Callable[..., Any] | None = None
    dtype: DTypeLike = "int32"

    def __post_init__(self) -> None:
        if np.dtype(self.dtype).kind not in "iub":
            raise HeddleError(f"ints: {self.dtype} is no type of integers")
        kinds = (0, 1) if np.dtype(self.dtype).kind == "b" else (np.iinfo(self.dtype).min, np.iinfo(self.dtype).max)
        if not kinds[0] <= self.least <= self.greatest <= kinds[1]:
            raise HeddleError(f"ints: {self.least} to {self.greatest} is no range of {np.dtype(self.dtype)}")


@dataclasses.dataclass
class Many:
    """An input of the program with a domain."""

    array: Array
    wanted: Ints
    numbers: NDArray[Any]  # of the argument's elements, on each device


def has_domains(arguments: Sequence[Any]) -> bool:
    leaves = jax.tree.leaves(list(arguments), is_leaf=lambda a: isinstance(a, Ints))
    return any(isinstance(getattr(a, "values", a) if not isinstance(a, Ints) else a, Ints) for a in leaves)


def domain_of(wanted: Ints, numbers: NDArray[Any], name: str) -> Domain:
    """numbers: of the argument's elements, on each device."""
    same = bool((numbers == numbers[0]).all())
    if not same and np.unique(numbers).size != numbers.size:
        raise Unsupported(f"ints for {name}, which some devices share and others do not,", NOWHERE, "replicate it, or split it among all devices")
    return Domain(int(wanted.least), int(wanted.greatest), same)


def constraint(wanted: Ints, array: Array, numbers: NDArray[Any], helpers: Helpers) -> Constraint | None:
    """`where`, in C."""
    if wanted.where is None:
        return None
    struct = jax.ShapeDtypeStruct(wanted.shape, np.dtype(wanted.dtype))
    try:
        closed: ClosedJaxpr = jax.make_jaxpr(wanted.where)(struct)
    except HeddleError:
        raise
    except Exception as wrong:
        line = (str(wrong).strip().splitlines() or [""])[0]
        raise HeddleError(f"where of {array.name}: {type(wrong).__name__}: {line}; write it with jax.numpy, as one condition") from None
    if [v.aval.shape for v in closed.jaxpr.outvars] != [()]:
        raise HeddleError(f"where of {array.name} must return one truth value; use .all() or .any()")
    terms = Terms()
    (holds,) = terms.run(closed, [_elements(terms, array, numbers, wanted.shape)])
    text = str(holds[()]) if holds.dtype == object else str(int(bool(holds)))
    function = terms.define(helpers, f"where_{array.name}", text)
    return Constraint(function, list(terms.arrays), f"where of {array.name}")


def _elements(terms: Terms, array: Array, numbers: NDArray[Any], shape: Sequence[int]) -> NDArray[Any]:
    """The elements of the whole argument: each on the first device that has it."""
    each = int(np.prod(array.shape, dtype=np.int64))
    found = np.empty(int(np.prod(shape, dtype=np.int64)), object)
    for position, number in reversed(list(enumerate(numbers.ravel()))):
        found[number] = (position // each, position % each)
    for i, (device, flat) in enumerate(found):
        found[i] = terms.element(array, device, flat)
    return found.reshape(tuple(shape))
