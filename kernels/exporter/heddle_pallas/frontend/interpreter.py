"""In place of JAX's interpreter of Pallas: what its parameters ask for, its words, its record of races.

Tests that were written for it give it InterpretParams, expect its exceptions, and read `races.races_found`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from typing import Any, Callable, Iterator, Mapping, Sequence

import jax
import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import HeddleError, Unsupported


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a kernel's InterpretParams ask for."""

    interprets: bool = False
    detects_races: bool = False
    reads_anywhere: bool = False  # a read outside of a buffer is no error to it
    padded: bool = False
    zeros: bool = False  # are what nothing wrote; else NaN, and the largest integer
    skips_floats: bool = False

    def unwritten(self, dtype: DTypeLike) -> Any:
        """What the interpreter has in memory that nothing wrote."""
        kind = np.dtype(dtype)
        if self.zeros or kind == np.bool_:
            return not self.zeros
        return np.iinfo(kind).max if np.issubdtype(kind, np.integer) else np.nan

    def filled(self, values: NDArray[Any], written: NDArray[Any]) -> NDArray[Any]:
        return np.where(written, values, np.asarray(self.unwritten(values.dtype)).astype(values.dtype))


def cores_of(params: Mapping[str, Any]) -> int:
    given = params.get("interpret")
    cores = [getattr(given, name, None) for name in ("num_cores_or_threads", "num_cores_per_device")]
    return next((c for c in cores if isinstance(c, int)), 1)


def asked(params: Mapping[str, Any]) -> Asked:
    """Chosen by the parameters of a kernel's call."""
    given = params.get("interpret")
    if given is None or isinstance(given, bool):
        return Asked()
    if getattr(given, "grid_point_recorder", None) is not None:
        raise Unsupported("InterpretParams(grid_point_recorder=...)", advice="it asks in which order JAX's interpreter goes over the grid")
    return Asked(
        True,
        bool(getattr(given, "detect_races", False)),
        getattr(given, "out_of_bounds_reads", "raise") == "uninitialized",
        getattr(given, "buffer_bounds", "logical") == "padded",
        getattr(given, "uninitialized_memory", "nan") == "zero",
        bool(getattr(given, "skip_floating_point_ops", False)),
    )


def want_its_consent(bind: Callable[..., Any], structs: list[Any], params: Mapping[str, Any]) -> None:
    """Raises what the interpreter raises for this kernel before it runs it."""
    if not jax.sharding.get_abstract_mesh().shape:  # under a shard_map the call cannot be lowered alone
        jax.jit(lambda *operands: bind(*operands, **params)).lower(*structs)


# Its exceptions


def exception_for(faults: Sequence[Mapping[str, Any]], wants: Asked, outputs: Sequence[str]) -> str | None:
    """What the interpreter would have raised, if one of the faults of the report is of a kind that it raises at. outputs: their names."""
    for fault in faults:
        if fault["id"] == "revisit":
            return _revisited(fault, outputs)
        if fault["id"] == "out-of-bounds":
            reads = fault["message"].startswith(("load", "masked load", "copy (its read)", "the fetch"))
            if not (reads and wants.reads_anywhere):
                return _out_of_bounds(fault)
    return None


def _revisited(fault: Mapping[str, Any], outputs: Sequence[str]) -> str:
    name, _, rest = fault["message"].removeprefix("output ").partition(": block ")
    output = outputs.index(name) if name in outputs else name
    return f"RuntimeError: Revisited block {rest.partition(' is ')[0]} of output {output} in iteration {tuple(fault['sites'][0]['grid'])}"


def _out_of_bounds(fault: Mapping[str, Any]) -> str:
    message: str = fault["message"]
    site = fault["sites"][0]
    where = f"device {site['device']} (core {site['core']})"
    if message.startswith(("the fetch", "the write-back")):
        label, _, reach = message.partition(" reaches ")
        kind = "input" if message.startswith("the fetch") else "output"
        step = tuple(site["grid"])
        return (
            f'IndexError: Out-of-bounds block index outside its array for {kind} "{label.rpartition(" of ")[2]}" '
            f"in iteration {step} on {where}: it reaches {reach}"
        )
    words = (
        ("copy (its read)", "IndexError", "read"),
        ("copy (its write)", "ValueError", "write"),
        ("masked load", "IndexError", "masked read"),
        ("load", "IndexError", "read"),
        ("masked", "ValueError", "masked swap"),
        ("", "ValueError", "swap"),
    )
    error, what = next((e, w) for start, e, w in words if message.startswith(start))
    return f"{error}: Out-of-bounds {what} on {where}: {message}"


# Its record of races


class Races:
    """Takes the place of the interpreter's `races` after a kernel."""

    def __init__(self, found: bool, read: Callable[[bool], None]) -> None:
        self._found = found
        self._read = read

    @property
    def races_found(self) -> bool:
        self._read(self._found)
        return self._found


def _interpreter() -> Any:
    try:
        return importlib.import_module("jax._src.pallas.mosaic.interpret.interpret_pallas_call")
    except ImportError:  # before JAX 0.9 the package was one module
        with contextlib.suppress(ImportError):
            return importlib.import_module("jax._src.pallas.mosaic.interpret")
        return None


def show_races(races: Races) -> None:
    module = _interpreter()
    if module is not None:
        module.races = races


@contextlib.contextmanager
def own_races() -> Iterator[None]:
    """The interpreter's own record is back at the end."""
    module = _interpreter()
    before = getattr(module, "races", None)
    try:
        yield
    finally:
        if module is not None:
            module.races = before


# Callbacks


@contextlib.contextmanager
def callbacks_of_numpy(ours: type) -> Iterator[None]:
    """Callbacks to objects of this class get their operands as they come.

    JAX makes arrays of its own of them, by work on the threads that run the devices. There is one thread a device; where each of them is
    in a callback that waits for the others, nobody does that work.
    """
    from jax._src import callback as module

    original = getattr(module, "io_callback_impl", None)
    if original is None:
        raise HeddleError("this JAX has no io_callback_impl where it is expected: JAX 0.7 to 0.10 are supported")

    def implementation(*operands: Any, callback: Any, **rest: Any) -> Any:
        if isinstance(getattr(callback, "callback_func", None), ours):
            return list(callback(*map(np.asarray, operands)))
        return original(*operands, callback=callback, **rest)

    changed: Any = module
    changed.io_callback_impl = implementation
    try:
        yield
    finally:
        changed.io_callback_impl = original


@contextlib.contextmanager
def after_each_execution(then: Callable[[], None]) -> Iterator[None]:
    """Waits for each compiled function that calls back, and calls `then` in the thread that called it."""
    from jax._src.interpreters import pxla

    executed: Any = pxla.ExecuteReplicated
    original = executed.__call__

    def call(self: Any, *arguments: Any) -> Any:
        results = original(self, *arguments)
        if self.has_host_callbacks:
            jax.block_until_ready(results)
            then()
        return results

    executed.__call__ = call
    try:
        yield
    finally:
        executed.__call__ = original
