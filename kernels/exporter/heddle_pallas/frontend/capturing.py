"""Kernels of existing code: a test suite, a notebook.

    with heddle_pallas.capture() as kernels:        collects every kernel that is traced inside
        existing_test()
    kernels[0].verify()

    with heddle_pallas.checked() as reports:        kernels return what the checked run computed, as an interpreter would
        existing_test()

Both wrap `bind` of the primitives that call a kernel. Each kernel is checked alone, as one launch, without what earlier launches left in
barrier semaphores or still have in flight. verify() on the whole function includes that.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping

import jax
import numpy as np
from jax import lax
from jax.experimental import io_callback
from jax.extend.core import ClosedJaxpr, Primitive

from ..errors import HeddleError, Place, Unsupported
from ..lower.jaxprs import opened
from ..lower.kernels import kernel_name, kernel_place
from ..lower.source import place_of
from ..mesh import Mesh
from ..trace.plan import Plan
from ..trace.tracing import Traced
from .api import settle
from .report import Report, run

if TYPE_CHECKING:
    from .options import RunOptions, Unpack


def _primitives() -> list[Primitive]:
    found = []
    try:
        from jax._src.pallas import pallas_call

        found.append(pallas_call.pallas_call_p)
    except ImportError:
        raise HeddleError("this JAX has no pallas_call where it is expected: JAX 0.7 to 0.10 are supported") from None
    with contextlib.suppress(ImportError, AttributeError):
        from jax._src.pallas import mpmd

        found.append(mpmd.mpmd_map_p)
    return found


def _mesh_here() -> Mesh:
    """The axes over which the calling code is mapped."""
    shape = dict(jax.sharding.get_abstract_mesh().shape)
    return Mesh(tuple(str(n) for n in shape), tuple(int(s) for s in shape.values())) if shape else Mesh(("x",), (1,))


@dataclasses.dataclass
class Captured:
    """One kernel as it was called, with the shapes of its operands."""

    name: str
    mesh: Mesh
    cores: int
    jaxpr: ClosedJaxpr  # of the call alone
    place: Place

    def traced(self, operands: Any = None) -> Traced:
        """operands: stacked values, one a operand; None: the checker's generator."""
        plan = Plan(self.mesh, self.cores if self.cores > 1 else None)
        jaxpr = self.jaxpr.jaxpr
        for i, v in enumerate(jaxpr.invars):
            plan.add_input(v, f"x{i}", None if operands is None else operands[i])
        plan.walk(jaxpr, self.jaxpr.consts)
        return Traced(plan, self.name, self.place, lambda results: results, lambda i, value: (i, value))

    def check(self, *operands: Any, **options: Unpack[RunOptions]) -> Report:
        """operands: stacked, a leading dimension for the devices; none: the checker generates them."""
        return run(self.traced(operands or None), **options)

    def verify(self, *operands: Any, **options: Unpack[RunOptions]) -> Report:
        """Like check, but raises an AssertionError with the report unless verified."""
        __tracebackhide__ = True
        report = self.check(*operands, **options)
        settle(report)
        return report


def _cores_of(params: Mapping[str, Any]) -> int:
    interpret = params.get("interpret")
    for name in ("num_cores_per_device", "num_cores_or_threads"):
        if isinstance(getattr(interpret, name, None), int):
            return int(getattr(interpret, name))
    return 1


def _capture_call(primitive: Primitive, bind: Callable[..., Any], arguments: tuple[Any, ...], params: dict[str, Any]) -> Captured:
    structs = [jax.ShapeDtypeStruct(np.shape(a), jax.typeof(a).dtype) for a in arguments]
    own = dict(params, interpret=False) if "interpret" in params else dict(params)
    closed = jax.make_jaxpr(lambda *values: bind(*values, **own))(*structs)
    eqn = next(e for e in closed.eqns if e.primitive is primitive)
    body = params.get("jaxpr") or params["jaxprs"][0]
    body = opened(body)
    place = kernel_place(body, eqn)
    return Captured(kernel_name(params, body), _mesh_here(), _cores_of(params), closed, place if place.file else place_of(eqn))


@contextlib.contextmanager
def _wrapped(replacement: Callable[..., Any]) -> Iterator[None]:
    """replacement(primitive, its own bind, operands, params) stands for bind."""
    wrapped = _primitives()
    inside = threading.local()
    for primitive in wrapped:
        original = primitive.bind

        def bind(*arguments: Any, _primitive: Any = primitive, _original: Any = original, **params: Any) -> Any:
            if getattr(inside, "busy", False):
                return _original(*arguments, **params)
            inside.busy = True
            try:
                return replacement(_primitive, _original, arguments, params)
            finally:
                inside.busy = False

        primitive.bind = bind
    try:
        yield
    finally:
        for primitive in wrapped:
            del primitive.bind


@contextlib.contextmanager
def capture() -> Iterator[list[Captured]]:
    """Collects the kernels that the code inside calls; it runs as usual."""
    kernels: list[Captured] = []

    def note(primitive: Primitive, bind: Callable[..., Any], arguments: tuple[Any, ...], params: dict[str, Any]) -> Any:
        kernels.append(_capture_call(primitive, bind, arguments, params))
        return bind(*arguments, **params)

    with _wrapped(note):
        yield kernels


class _Meeting:
    """Each device arrives with its operands, in a thread of its own; the last one has the kernel checked for all."""

    def __init__(self, captured: Captured, check: Callable[[Captured, list[Any]], list[Any]]) -> None:
        self.captured = captured
        self.check = check
        self.lock = threading.Condition()
        self.present: dict[int, tuple[Any, ...]] = {}
        self.round = 0
        self.results: dict[int, Any] = {}  # by round

    def come(self, device: int, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        with self.lock:
            while device in self.present:  # the round before is not over yet
                self.lock.wait()
            mine = self.round
            self.present[device] = operands
            if len(self.present) == self.captured.mesh.devices:
                stacked = [np.stack([np.asarray(self.present[d][i]) for d in range(len(self.present))]) for i in range(len(operands))]
                self.results[mine] = self.check(self.captured, stacked)
                self.present = {}
                self.round += 1
                self.lock.notify_all()
            while mine not in self.results:
                self.lock.wait()
            found = self.results[mine]
        return tuple(np.asarray(r)[device] for r in found)


@contextlib.contextmanager
def checked(raise_faults: bool = True, **options: Unpack[RunOptions]) -> Iterator[list[Report]]:
    """Kernels that are traced inside run in the checker, and return the arrays that it computed.

    At the end, a kernel that is not verified raises an AssertionError, unless raise_faults is False. Functions that were compiled
    before are not checked.
    """
    reports: list[Report] = []
    errors: list[Exception] = []

    def decide(captured: Captured, stacked: list[Any]) -> list[Any]:
        try:
            report = run(captured.traced(stacked), **options)
            reports.append(report)
            if report.results is not None:
                return list(report.results)
            raise HeddleError(f"{captured.name}: the run kept no arrays")
        except Exception as error:  # an exception in a callback would be JAX's to tell: ours comes at the end
            errors.append(error)
            return [np.zeros((captured.mesh.devices, *v.aval.shape), v.aval.dtype) for v in captured.jaxpr.jaxpr.outvars]

    def replace(primitive: Primitive, bind: Callable[..., Any], arguments: tuple[Any, ...], params: dict[str, Any]) -> Any:
        captured = _capture_call(primitive, bind, arguments, params)
        meeting = _Meeting(captured, decide)
        shapes = tuple(jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in captured.jaxpr.jaxpr.outvars)
        return list(_call_back(meeting, shapes, arguments, captured.mesh))

    jax.clear_caches()
    try:
        with _wrapped(replace):
            yield reports
            jax.effects_barrier()
    finally:
        jax.clear_caches()
        if errors:
            raise errors[0]
    if raise_faults:
        unless_verified(reports)


def unless_verified(reports: list[Report]) -> None:
    """Raises an AssertionError with all reports that are not."""
    wrong = [r for r in reports if not r.ok]
    if wrong:
        raise AssertionError("\n".join(f"{r.name}: {r.verdict}\n\n{r.text}" for r in wrong))


def _call_back(meeting: _Meeting, shapes: tuple[Any, ...], arguments: tuple[Any, ...], mesh: Mesh) -> Any:
    device: Any = np.int32(0)
    if mesh.devices > 1:
        for name, size in zip(mesh.names, mesh.sizes):
            device = device * size + lax.axis_index(name)

    def come(at: Any, *operands: Any) -> tuple[Any, ...]:
        return meeting.come(int(at), operands)

    if any(not hasattr(s.dtype, "itemsize") for s in shapes):
        raise Unsupported("a kernel that returns semaphores, in checked()")
    return io_callback(come, shapes, device, *arguments)
