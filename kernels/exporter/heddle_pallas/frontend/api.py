"""verify, check and export: from a Python function to a verdict, or to C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Sequence

import jax
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..c.types import parse_dtype
from ..errors import HeddleError
from ..mesh import as_mesh
from ..trace.domains import Ints, has_domains
from ..trace.expecting import traced_expecting
from ..trace.tracing import PerDevice, Shape, Traced, trace
from .given import check_given, is_given
from .options import TOLERANCE
from .report import Report, run, write_source

if TYPE_CHECKING:
    from .options import CheckOptions, Unpack


def ints(
    shape: Sequence[int] | int, least: int, greatest: int, where: Callable[..., Any] | None = None, dtype: DTypeLike = "int32"
) -> Ints:
    """An argument that steers the kernel, such as a table of sizes or ids: the checker tries its values, all or as many as `inputs` says.

    Each element is any integer from `least` to `greatest`. where: a condition on the whole array, in jax.numpy:
    ints((4, 4), 0, 2, where=lambda sizes: (sizes.sum(axis=1) <= 4).all())
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    return Ints(sizes, int(least), int(greatest), where, np.dtype(dtype))


def per_device(values: ArrayLike | Ints) -> PerDevice:
    """An argument whose first dimension is the devices: each gets its own."""
    return PerDevice(values)


def shape(text: str) -> Shape:
    """f32[8,128]: an argument whose values the checker generates, different on each device."""
    kind, bracket, rest = text.strip().partition("[")
    dtype = parse_dtype(kind)
    sizes = [s.strip() for s in rest.rstrip("]").split(",") if s.strip()]
    if dtype is None or (bracket and not rest.endswith("]")) or not all(s.isdigit() for s in sizes):
        raise HeddleError(f"{text}: not a shape; write f32[8,128], i32[4] or bf16[16,256]")
    return Shape(tuple(int(s) for s in sizes), dtype)


def _prepared(arguments: Sequence[Any]) -> list[Any]:
    return [shape(a) if isinstance(a, str) else a for a in arguments]


def _traced(function: Callable[..., Any], arguments: Sequence[Any], mesh: Any, cores: int | None, name: str, tpu: str | None) -> Traced:
    return trace(function, _prepared(arguments), 2 if mesh is None else mesh, cores, name, mesh is not None, tpu)


def check(function: Callable[..., Any], *arguments: Any, **options: Unpack[CheckOptions]) -> Report:
    """Checks a function at one size, and returns the report.

    function is what one device does, or holds its own shard_map; arguments are arrays, per_device(arrays), or shapes such as "f32[8,128]".
    expect: what the function should return, or a function of the arguments that computes it; the checker compares it in every order, floats
    within the tolerance. The options are those of CheckOptions; others are errors.
    """
    given: dict[str, Any] = dict(options)
    mesh, cores, name, tpu = given.pop("mesh", None), given.pop("cores", None), given.pop("name", ""), given.pop("tpu", None)
    expect, tolerance = given.pop("expect", None), given.pop("tolerance", TOLERANCE)

    def traced_with(own: Sequence[Any]) -> Traced:
        if expect is not None and has_domains(own):
            return traced_expecting(
                lambda both, values: _traced(both, values, mesh, cores, name, tpu), function, own, expect, tolerance, as_mesh(mesh or 2)
            )
        traced = _traced(function, own, mesh, cores, name, tpu)
        if expect is not None:
            traced.promise(_leaves(expect(*own) if callable(expect) else expect), tolerance)
        return traced

    if any(is_given(a) for a in arguments):
        inputs, seed = given.pop("inputs", None), given.pop("inputs_seed", None) or 0
        return check_given(traced_with, arguments, name, inputs, seed, **given)
    return run(traced_with(arguments), **given)


def verify(function: Callable[..., Any], *arguments: Any, accept_bounded: bool = False, **options: Unpack[CheckOptions]) -> Report:
    """As check, for tests: raises an AssertionError with the report unless verified.

    What plain JAX makes of the results after the last kernel is compared, too.
    """
    __tracebackhide__ = True
    return verify_by(check, function, arguments, accept_bounded, options)


def verify_by(
    check: Callable[..., Report], function: Callable[..., Any], arguments: Sequence[Any], accept_bounded: bool, options: CheckOptions
) -> Report:
    """verify, with this function in place of check."""
    __tracebackhide__ = True
    expect = options.get("expect")
    if has_domains(arguments) or any(is_given(a) for a in arguments):  # the checker compares, with each input
        report = check(function, *arguments, **options)
        settle(report, accept_bounded=accept_bounded)
        return report
    expected = expect(*arguments) if callable(expect) else expect
    report = check(function, *arguments, **{**options, "expect": expected})
    settle(report, expected, options.get("tolerance", TOLERANCE), accept_bounded)
    return report


def settle(report: Report, expected: Any = None, tolerance: float = TOLERANCE, accept_bounded: bool = False) -> None:
    """Raises an AssertionError unless the program is verified and returns what is expected."""
    __tracebackhide__ = True
    if not report.ok and not (accept_bounded and report.verdict == "bounded"):
        raise AssertionError(f"{report.name}: {report.verdict}\n\n{report.text}")
    if expected is not None and report.results is not None:
        compare(report, expected, tolerance)


def _leaves(tree: Any) -> list[Any]:
    return list(jax.tree.leaves(tree))


def compare(report: Report, expected: Any, tolerance: float = TOLERANCE) -> None:
    """Raises an AssertionError that names the first element that differs."""
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
    mesh: Any = None,
    cores: int | None = None,
    name: str = "",
    folder: str = ".",
    opaque: bool = False,
    tpu: str | None = None,
) -> Path:
    """Writes the C file (and, for large inputs, a file of values beside it), and returns its path."""
    traced = _traced(function, arguments, mesh, cores, name, tpu)
    Path(folder).mkdir(parents=True, exist_ok=True)
    return write_source(traced, Path(folder), opaque)
