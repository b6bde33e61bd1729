"""BlockSpecs: windows of arrays in VMEM or SMEM, as arguments of a launch that the checker's pipeline copies in and out.

Pallas makes these copies itself; they are not in a jaxpr. What they do when is told in heddle/windows.h: here stand the blocks' sizes and,
as one C function for each window, their index maps.
"""

from __future__ import annotations

from typing import Any, Sequence

from jax.extend.core import ClosedJaxpr, Literal

from ..c.kernel import Dimension
from ..c.writer import Writer
from ..errors import Place, Unsupported
from .emitter import Emitter
from .values import UNARY, Scalar, Value


def dimensions_of(mapping: Any, place: Place) -> list[Dimension]:
    shape = getattr(mapping, "array_aval", None) or mapping.array_shape_dtype
    found = []
    for block, whole in zip(mapping.block_shape, shape.shape):
        kind = type(block).__name__
        if block is None or kind in ("Squeezed", "Mapped"):
            found.append(Dimension(1, whole, True, 1))
        elif isinstance(block, int) or kind == "Blocked":
            size = block if isinstance(block, int) else int(block.block_size)
            found.append(Dimension(size, whole, False, size))
        elif kind == "Element" and tuple(getattr(block, "padding", (0, 0))) == (0, 0):
            found.append(Dimension(int(block.block_size), whole, False, 1))
        else:
            raise Unsupported(f"a BlockSpec with {kind} dimensions", place, "use plain block sizes")
    return found


def pipeline_of(mapping: Any, place: Place) -> tuple[int | None, bool]:
    """How many buffers, and may an output's block be revisited at any time?"""
    mode = getattr(mapping, "pipeline_mode", None)
    if mode is None:
        return None, False
    if not hasattr(mode, "buffer_count"):
        raise Unsupported(f"the pipeline mode {mode}", place, "use pl.Buffered(n)")
    if getattr(mode, "use_lookahead", False):
        raise Unsupported("pl.Buffered with use_lookahead in a pallas_call", place, "only emit_pipeline has it")
    revisit = str(getattr(getattr(mode, "revisit", None), "value", "")) == "any"
    if revisit and mode.buffer_count != 1:
        raise Unsupported("pl.RevisitMode.ANY with several buffers", place, "use pl.Buffered(1, revisit=pl.RevisitMode.ANY)")
    return int(mode.buffer_count), revisit


def is_first(index_map: ClosedJaxpr) -> bool:
    """Always the first block?"""
    return all(isinstance(v, Literal) and int(v.val) == 0 for v in index_map.jaxpr.outvars)


def index_function(e: Emitter, name: str, index_map: ClosedJaxpr, grid: Sequence[int | None], prefetched: Sequence[Value]) -> Writer:
    """e: a fresh one. prefetched: the scalars' refs, as the function finds them."""
    ids: list[Value] = [Scalar(f"(int)step[{i}]", "int32", UNARY) for i in range(len(grid))]
    found = e.run(index_map, [*ids, *prefetched], None, [True] * len(index_map.jaxpr.outvars))
    for i, value in enumerate(found):
        e.out(f"block[{i}] = {e.steering(value, 'a block index').text};")
    text = Writer()
    text(f"static void {name}(const int64_t *step, int64_t *block, const PlRef *refs)")
    with text.block(""):
        text("(void)step, (void)block, (void)refs;")
        text.add(e.out)
    return text
