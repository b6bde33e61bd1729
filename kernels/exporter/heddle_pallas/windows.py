"""BlockSpecs: windows of arrays in VMEM or SMEM, copied in before and out after the grid steps that use them.

Pallas makes these copies itself; they are not in a jaxpr. Here each grid step first writes back output blocks that the step before has
left, then fetches input blocks that are new. (A TPU fetches the next block while this one is worked on; the kernel cannot tell, unless it
reaches around its windows.) Which block a window holds is kept in scalar memory, as is which output blocks were left already: to come
back to one is the fault `revisit`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Sequence

import numpy as np

from .emitter import Emitter
from .errors import Unsupported
from .types import pl_type
from .values import ADD, MULTIPLY, Scalar, Value, View, number

STATIC_STEPS_MAX = 1 << 16


@dataclasses.dataclass
class Dimension:
    size: int  # of the block
    whole: int  # of the array
    squeezed: bool
    unit: int  # elements from one block index to the next


@dataclasses.dataclass
class Window:
    name: str
    output: bool
    view: View  # the window itself
    array: View
    dimensions: list[Dimension]
    index_map: Any  # a closed jaxpr; None: always the first block
    state: str = ""  # SMEM: which block it holds; empty: always the same
    visited: str = ""  # SMEM: which blocks were left already; empty: known not to come back
    block: list[Scalar] = dataclasses.field(default_factory=list)

    @property
    def moves(self) -> bool:
        return self.state != ""

    def counts(self) -> list[int]:
        return [math.ceil(d.whole / d.unit) for d in self.dimensions]


def dimensions_of(mapping: Any, place: Any) -> list[Dimension]:
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


def static_indices(index_map: Any, grid: Sequence[int]) -> np.ndarray[Any, Any] | None:
    """All block indices, one row a grid step; None: they depend on scalar memory, or there are too many."""
    import jax
    from jax._src import core as jax_core

    if len(index_map.jaxpr.invars) != len(grid) or math.prod(grid) > STATIC_STEPS_MAX:
        return None
    steps = np.indices(tuple(grid), dtype=np.int32).reshape(len(grid), -1)
    with jax.ensure_compile_time_eval():
        results = jax.vmap(lambda *ids: jax_core.eval_jaxpr(index_map.jaxpr, index_map.consts, *ids))(*steps) if grid else []
    return np.stack([np.broadcast_to(np.asarray(r), steps.shape[1:]) for r in results], axis=-1) if len(results) else None


def comes_back(indices: np.ndarray[Any, Any]) -> bool:
    left: set[tuple[int, ...]] = set()
    last: tuple[int, ...] | None = None
    for row in map(tuple, indices.tolist()):
        if row != last:
            if row in left:
                return True
            if last is not None:
                left.add(last)
        last = row
    return False


def _range(e: Emitter, window: Window, block: Sequence[Scalar], which: str) -> tuple[str, str, bool]:
    """The array's part and the window's, as views; is the block cut off at the array's end?"""
    array: list[str] = []
    inside: list[str] = []
    cut = False
    for i, (d, index) in enumerate(zip(window.dimensions, block)):
        if d.squeezed:
            array.append(index.text)
            continue
        start = (
            index
            if d.unit == 1
            else number(int(index.value) * d.unit)
            if index.value is not None
            else Scalar(f"{index.at(MULTIPLY)} * {d.unit}", "int32", MULTIPLY)
        )
        size = str(d.size)
        if d.whole % d.unit or d.unit != d.size:
            over = d.whole - d.size
            if start.value is None or int(start.value) > over:
                cut = True
                name = e.scope.take(f"{window.name}_{which}size_{i}", "size")
                e.out(
                    f"int {name} = {start.at(ADD)} > {over} && {start.at(ADD)} < {d.whole} ? {d.whole} - {start.at(MULTIPLY)} : {d.size};"
                )
                size = name
        array.append("PL_ALL" if d.size == d.whole and start.value == 0 else f"pl_ds({start.text}, {size})")
        inside.append("PL_ALL" if size == str(d.size) else f"pl_ds(0, {size})")
    return _at(window.array.text, array), _at(window.view.text, inside), cut


def _at(text: str, parts: list[str]) -> str:
    while parts and parts[-1] == "PL_ALL":
        parts.pop()
    return f"pl_at({text}, {', '.join(parts)})" if parts else text


def _copy(e: Emitter, source: str, target: str) -> None:
    name = e.scope.take("window_copy", "copy")
    e.out(f"PlCopy {name} = pl_async_copy({source}, {target}, window_sem);")
    e.out(f"pl_copy_wait({name});")


def _forget(e: Emitter, window: Window) -> None:
    dims = "".join(f", {d}" for d in window.view.shape)
    e.out(f"pl_store({window.view.text}, pl_tile_empty({pl_type(window.view.dtype, e.place)}{dims}));")


def _fetch(e: Emitter, window: Window) -> None:
    array, inside, cut = _range(e, window, window.block, "")
    if cut:
        _forget(e, window)
    _copy(e, array, inside)


def write_back(e: Emitter, window: Window, block: Sequence[Scalar], which: str) -> None:
    array, inside, _ = _range(e, window, block, which)
    _copy(e, inside, array)


def enter(e: Emitter, windows: Sequence[Window], program_ids: Sequence[Value], prefetched: Sequence[Value], steps: int) -> None:
    """What comes before the body. Scalar-prefetch operands are fetched first: index maps look at them."""
    once = [w for w in windows if not w.moves]
    for window in once:
        window.block = [number(0)] * len(window.dimensions) if window.index_map is None else []
    _enter_once(e, [w for w in once if w.index_map is None], steps)
    for window in windows:
        if window.index_map is not None:
            found = e.run(window.index_map, [*program_ids, *prefetched], window.index_map.consts, [True] * len(window.dimensions))
            window.block = [_named(e, f"{window.name}_at_{i}", e.steering(v, "a block index"), window.moves) for i, v in enumerate(found)]
    _enter_once(e, [w for w in once if w.index_map is not None], steps)
    moving = [w for w in windows if w.moves]
    for window in moving:
        _is_new(e, window)
    for window in [w for w in moving if w.output]:
        _enter_output(e, window)
    for window in [w for w in moving if not w.output]:
        with e.inside(f"if ({window.name}_is_new)"):
            _fetch(e, window)
            _remember(e, window)


def _named(e: Emitter, name: str, value: Scalar, always: bool) -> Scalar:
    return value if value.value is not None or (value.text.isidentifier() and not always) else e.variable(name, value)


def _enter_once(e: Emitter, windows: Sequence[Window], steps: int) -> None:
    inputs = [w for w in windows if not w.output]
    if not inputs:
        return
    if steps == 1:
        for window in inputs:
            _fetch(e, window)
        return
    with e.inside("if (pl_first_step())"):
        for window in inputs:
            _fetch(e, window)


def _is_new(e: Emitter, window: Window) -> None:
    differs = " || ".join(f"pl_load_int(pl_at({window.state}, {i})) != {b.text}" for i, b in enumerate(window.block))
    e.out(f"bool {e.scope.take(f'{window.name}_is_new')} = pl_first_step() || {differs};")


def _remember(e: Emitter, window: Window) -> None:
    for i, b in enumerate(window.block):
        e.out(f"pl_store_int(pl_at({window.state}, {i}), {b.text});")


def _enter_output(e: Emitter, window: Window) -> None:
    if window.visited:
        with e.inside("if (pl_first_step())"):
            e.out(f"pl_store({window.visited}, pl_tile_zeros(PL_I32, {math.prod(window.counts())}));")
    with e.inside(f"if ({window.name}_is_new)"):
        with e.inside("if (!pl_first_step())"):
            old = [Scalar(e.scope.take(f"{window.name}_was_{i}"), "int32") for i in range(len(window.block))]
            for i, b in enumerate(old):
                e.out(f"int {b.text} = pl_load_int(pl_at({window.state}, {i}));")
            write_back(e, window, old, "old_")
        if window.visited:
            _visit(e, window)
        _forget(e, window)
        _remember(e, window)


def _visit(e: Emitter, window: Window) -> None:
    counts = window.counts()
    inside = " && ".join(f"{b.at(ADD)} >= 0 && {b.at(ADD)} < {n}" for b, n in zip(window.block, counts))
    place = "0"
    for b, n in zip(window.block, counts):
        place = b.at(ADD) if place == "0" else f"({place}) * {n} + {b.at(MULTIPLY)}"
    with e.inside(f"if ({inside})"):
        shown = ", ".join(b.text for b in window.block)
        mark = ", ".join(["%d"] * len(window.block))
        e.out(f"if (pl_load_int(pl_at({window.visited}, {place})) != 0)")
        e.out(f'    pl_fault(PL_REVISIT, "output {window.name}: block ({mark}) is visited again after another one", {shown});')
        e.out(f"pl_store_int(pl_at({window.visited}, {place}), 1);")


def leave(e: Emitter, windows: Sequence[Window], steps: int) -> None:
    """What comes after the body."""
    outputs = [w for w in windows if w.output]
    if not outputs:
        return
    if steps == 1:
        for window in outputs:
            write_back(e, window, window.block, "last_")
        return
    with e.inside("if (pl_last_step())"):
        for window in outputs:
            write_back(e, window, window.block, "last_")
