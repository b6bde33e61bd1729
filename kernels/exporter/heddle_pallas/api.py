"""verify, check and export: a Python function to a verdict, or to C."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np

from .errors import HeddleError
from .report import Report, run, write_source
from .tracing import PerDevice, Shape, trace
from .types import parse_dtype


def per_device(values: Any) -> PerDevice:
    """An argument whose first dimension is the devices: each gets its own."""
    return PerDevice(values)


def shape(text: str) -> Shape:
    """f32[8,128]: an argument of which the checker makes up the values, different on each device."""
    kind, bracket, rest = text.strip().partition("[")
    dtype = parse_dtype(kind)
    sizes = [s.strip() for s in rest.rstrip("]").split(",") if s.strip()]
    if dtype is None or (bracket and not rest.endswith("]")) or not all(s.isdigit() for s in sizes):
        raise HeddleError(f"{text}: not a shape; write f32[8,128], i32[4] or bf16[16,256]")
    return Shape(tuple(int(s) for s in sizes), dtype)


def _prepared(arguments: Sequence[Any]) -> list[Any]:
    return [shape(a) if isinstance(a, str) else a for a in arguments]


def check(
    function: Callable[..., Any],
    *arguments: Any,
    mesh: Any = 2,
    cores: int | None = None,
    name: str = "",
    schedules: str | None = None,
    timeout: float | None = None,
    opaque: bool = False,
    expect: Any = None,
    tolerance: float = 1e-5,
    page: bool = False,
    **knobs: Any,
) -> Report:
    """The verdict on a function at one size; whatever it is.

    function is what one device does, or holds its own shard_map; arguments are arrays, per_device(arrays), or shapes such as "f32[8,128]".
    mesh is a number of devices, "x=4,y=2", or a mesh of JAX. opaque: floats have no values, only places. expect: what the function should
    return, or a function of the arguments that computes it; the checker judges it. Knobs are those of heddle.
    """
    traced = trace(function, _prepared(arguments), mesh, cores, name)
    if expect is not None:
        traced.promise(_leaves(expect(*arguments) if callable(expect) else expect), tolerance)
    return run(traced, knobs, schedules, timeout, opaque, page)


def verify(
    function: Callable[..., Any],
    *arguments: Any,
    mesh: Any = 2,
    cores: int | None = None,
    name: str = "",
    schedules: str | None = None,
    timeout: float | None = None,
    opaque: bool = False,
    expect: Any = None,
    tolerance: float = 1e-5,
    accept_bounded: bool = False,
    **knobs: Any,
) -> Report:
    """As check, for tests: anything but "verified" is an AssertionError with the report.

    expect: what the function should return, or a function of the arguments that computes it; compared exactly for integers.
    """
    __tracebackhide__ = True
    expected = expect(*arguments) if callable(expect) else expect
    report = check(
        function,
        *arguments,
        mesh=mesh,
        cores=cores,
        name=name,
        schedules=schedules,
        timeout=timeout,
        opaque=opaque,
        expect=expected,
        tolerance=tolerance,
        **knobs,
    )
    want_verified(report, accept_bounded)
    if expected is not None and not opaque:
        compare(report, expected, tolerance)
    return report


def want_verified(report: Report, accept_bounded: bool = False) -> None:
    __tracebackhide__ = True
    if not report.ok and not (accept_bounded and report.verdict == "bounded"):
        raise AssertionError(f"{report.name}: {report.verdict}\n\n{report.text}")


def _leaves(tree: Any) -> list[Any]:
    import jax

    return list(jax.tree.leaves(tree))


def compare(report: Report, expected: Any, tolerance: float = 1e-5) -> None:
    """Raises an AssertionError that names the first element that differs."""
    import jax

    __tracebackhide__ = True
    if report.results is None:
        raise AssertionError(f"{report.name}: the run kept no values to compare (opaque data)")
    got, want = jax.tree.leaves(report.results), jax.tree.leaves(expected)
    if len(got) != len(want):
        raise AssertionError(f"{report.name}: {len(got)} results, {len(want)} expected")
    for i, (a, b) in enumerate(zip(map(np.asarray, got), map(np.asarray, want))):
        if a.shape != b.shape:
            raise AssertionError(f"{report.name}: result {i} has the shape {a.shape}, expected is {b.shape}")
        exact = not np.issubdtype(np.asarray(a).dtype, np.inexact) and "float" not in str(a.dtype)
        x, y = a.astype(np.float64), b.astype(np.float64)
        same = (a == b) if exact else np.isclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
        if not same.all():
            at = tuple(int(k) for k in np.argwhere(~same)[0])
            raise AssertionError(
                f"{report.name}: result {i} differs at {list(at)}: {a[at]}, expected {b[at]} ({(~same).sum()} elements differ)"
            )


def export(
    function: Callable[..., Any],
    *arguments: Any,
    mesh: Any = 2,
    cores: int | None = None,
    name: str = "",
    folder: str = ".",
    opaque: bool = False,
) -> Path:
    """Writes the C file (and, for large inputs, a file of values beside it), and gives its path."""
    traced = trace(function, _prepared(arguments), mesh, cores, name)
    Path(folder).mkdir(parents=True, exist_ok=True)
    return write_source(traced, Path(folder), opaque)
