"""Arguments that strategies of Hypothesis draw: it chooses and shrinks, and one process of the checker answers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, Sequence

import jax
import numpy as np
from numpy.typing import NDArray

from ..errors import HeddleError
from ..trace.domains import Ints, Many
from ..trace.tracing import PerDevice, Traced
from .report import Report, run

if TYPE_CHECKING:
    from .binary import Conversation
    from .options import RunOptions, Unpack

EXAMPLES = 1000


@dataclasses.dataclass(frozen=True)
class Given:
    """An argument that a strategy draws."""

    strategy: Any


def given(*strategies: Any) -> Any:
    """An argument of which the checker tries what a strategy of Hypothesis draws: integers, arrays of them, or a tree of arrays.

    heddle_pallas.verify(moe, heddle_pallas.given(arrays(np.int32, 8, elements=integers(0, 3))), "f32[8,128]", inputs=1000). Of several
    strategies: as many arguments, as in verify(f, *given(a, b)).
    """
    hypothesis = _hypothesis()
    for strategy in strategies:
        if not isinstance(strategy, hypothesis.strategies.SearchStrategy):
            raise HeddleError(f"given: {strategy!r} is no strategy of Hypothesis")
    return Given(strategies[0]) if len(strategies) == 1 else tuple(Given(s) for s in strategies)


def is_given(argument: Any) -> bool:
    return isinstance(argument.values if isinstance(argument, PerDevice) else argument, Given)


def _hypothesis() -> Any:
    try:
        import hypothesis
        import hypothesis.strategies
    except ImportError:
        raise HeddleError("given needs Hypothesis: pip install 'heddle-pallas[hypothesis]'") from None
    return hypothesis


def check_given(
    trace: Callable[[Sequence[Any]], Traced], arguments: Sequence[Any], name: str, inputs: Any, seed: int, **options: Unpack[RunOptions]
) -> Report:
    """trace: the function, of arguments with domains in place of strategies."""
    examples = EXAMPLES if inputs is None else inputs
    if not str(examples).isdigit() or int(examples) < 1:
        raise HeddleError(f"inputs={examples}: a strategy has no list of its values; say how many to draw, as in inputs=1000")
    strategies = [(a.values if isinstance(a, PerDevice) else a).strategy for a in arguments if is_given(a)]
    first: list[Any] = []
    _explore(strategies, 1, seed, lambda example: bool(first.append(example)))
    if not first:
        raise HeddleError("given: the strategy draws nothing")
    traced = trace(_in_place(arguments, jax.tree.map(_domain, first[0])))
    asker = _Asker(traced.plan.many, jax.tree.structure(first[0]))
    report = run(traced, questions=lambda talk: _explore(strategies, int(examples), seed, lambda e: asker.is_wrong(talk, e)), **options)
    if asker.refused is not None:
        raise HeddleError(f"{name}: {asker.refused}")
    return report


def _explore(strategies: Sequence[Any], examples: int, seed: int, is_wrong: Callable[[Any], bool]) -> None:
    """Has Hypothesis choose, and make smaller what is wrong. It ends with the smallest one."""
    hypothesis = _hypothesis()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        verbosity=hypothesis.Verbosity.quiet,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @hypothesis.given(hypothesis.strategies.tuples(*strategies))
    def attempt(example: Any) -> None:
        if is_wrong(example):
            raise _Wrong

    try:
        attempt()
    except _Wrong:
        pass


class _Wrong(Exception):
    pass


class _Asker:
    def __init__(self, many: Sequence[Many], tree: Any) -> None:
        self.many = many
        self.tree = tree
        self.refused: str | None = None  # why the rest is not asked

    def is_wrong(self, talk: Conversation, example: Any) -> bool:
        if self.refused is None:
            self.refused = self._why_not(example)
        if self.refused is not None:
            return False
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(example)]
        values = [_flat(m, leaf) for m, leaf in zip(self.many, leaves)]
        return talk.ask(" ".join(str(int(x)) for part in values for x in part)) == "wrong"

    def _why_not(self, example: Any) -> str | None:
        """All examples are inputs of one program, so they are alike."""
        leaves = jax.tree.leaves(example)
        if jax.tree.structure(example) == self.tree:
            shapes = [(np.shape(leaf), m.wanted.shape) for m, leaf in zip(self.many, leaves)]
            other = next(((a, b) for a, b in shapes if a != b), None)
            if other is None:
                return None
            return f"given: the strategy drew the shape {list(other[0])} after {list(other[1])}: fix it, and check each shape by itself"
        return "given: the strategy draws values of different structure: fix it, and check each by itself"


def _flat(many: Many, leaf: NDArray[Any]) -> NDArray[Any]:
    """In the order of the program's input."""
    assert many.array.domain is not None
    numbers = many.numbers[0] if many.array.domain.same else many.numbers
    flat: NDArray[Any] = leaf.astype(many.wanted.dtype).ravel()[numbers.ravel()]
    return flat


def _domain(leaf: Any) -> Ints:
    array = np.asarray(leaf)
    if array.dtype.kind not in "iub":
        raise HeddleError(f"given: the strategy draws {array.dtype}; values that steer a kernel are integers")
    dtype = np.dtype(jax.dtypes.canonicalize_dtype(array.dtype))
    limits = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    return Ints(array.shape, *limits, dtype=dtype)


def _in_place(arguments: Sequence[Any], domains: Sequence[Any]) -> list[Any]:
    """The arguments, with domains in place of strategies."""
    left = list(domains)
    found: list[Any] = []
    for argument in arguments:
        if not is_given(argument):
            found.append(argument)
        elif isinstance(argument, PerDevice):
            found.append(jax.tree.map(PerDevice, left.pop(0), is_leaf=lambda v: isinstance(v, Ints)))
        else:
            found.append(left.pop(0))
    return found
