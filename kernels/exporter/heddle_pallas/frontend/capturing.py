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
import functools
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping

import jax
import numpy as np
from jax import lax
from jax.experimental import io_callback
from jax.extend.core import ClosedJaxpr, Jaxpr, Primitive

from ..errors import HeddleError, Place, Unsupported
from ..lower.jaxprs import argument_names, opened
from ..lower.kernels import kernel_name, kernel_place
from ..lower.source import place_of
from ..mesh import Mesh
from ..trace.plan import Plan
from ..trace.tracing import Traced
from .api import settle
from .interpreter import (
    Asked,
    Races,
    after_each_execution,
    asked,
    callbacks_of_numpy,
    cores_of,
    exception_for,
    own_races,
    show_races,
    want_its_consent,
)
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
    outputs: tuple[str, ...] = ()  # the names of their refs

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


def _structs(arguments: tuple[Any, ...]) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(np.shape(a), jax.typeof(a).dtype) for a in arguments]


def _capture_call(primitive: Primitive, bind: Callable[..., Any], arguments: tuple[Any, ...], params: dict[str, Any]) -> Captured:
    own = dict(params, interpret=False) if "interpret" in params else dict(params)
    closed = jax.make_jaxpr(lambda *values: bind(*values, **own))(*_structs(arguments))
    eqn = next(e for e in closed.eqns if e.primitive is primitive)
    body = params.get("jaxpr") or params["jaxprs"][0]
    body = opened(body)
    place = kernel_place(body, eqn)
    place = place if place.file else place_of(eqn)
    return Captured(kernel_name(params, body), _mesh_here(), cores_of(params), closed, place, _outputs_of(body, params))


def _outputs_of(body: Jaxpr, params: Mapping[str, Any]) -> tuple[str, ...]:
    mapping = params.get("grid_mapping")
    if mapping is None:
        return ()
    first = mapping.num_index_operands + mapping.num_inputs
    return tuple(argument_names(body)[first : first + mapping.num_outputs])


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
    """Each device arrives with its operands, in a thread of its own; the last one has the kernel checked for all.

    A thread that waits here is one that runs its device: nothing in here may need JAX.
    """

    def __init__(self, captured: Captured, check: Callable[[Captured, list[Any]], list[Any]]) -> None:
        self.captured = captured
        self.check = check
        self.lock = threading.Condition()
        self.present: dict[int, tuple[Any, ...]] = {}
        self.round = 0
        self.results: dict[int, Any] = {}  # by round

    def __call__(self, at: Any, *operands: Any) -> tuple[Any, ...]:
        device = int(at)
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

    def call(self, operands: tuple[Any, ...]) -> list[Any]:
        """Runs in place of the kernel, on each device."""
        mesh = self.captured.mesh
        device: Any = np.int32(0)
        if mesh.devices > 1:
            for name, size in zip(mesh.names, mesh.sizes):
                device = device * size + lax.axis_index(name)
        avals = [v.aval for v in self.captured.jaxpr.jaxpr.outvars]
        if any(not hasattr(a.dtype, "itemsize") for a in avals):
            raise Unsupported("a kernel that returns semaphores, in checked()", self.captured.place, "verify the whole function")
        return list(io_callback(self, tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals), device, *operands))


class Judgement:
    """What came of the kernels of some code that runs in checked().

    The code itself may expect a fault: it catches the exception that JAX's interpreter would have raised, or reads `races.races_found`.
    It was told then, and if it goes on, the fault is what it wants.
    """

    def __init__(self, in_words_of_jax: bool = True, **options: Unpack[RunOptions]) -> None:
        self.reports: list[Report] = []
        self.refused: list[tuple[str, Exception]] = []  # the kernel's name, and why it has no report
        self._options = options
        self._in_words_of_jax = in_words_of_jax
        self._told: list[Report] = []
        self._to_raise: tuple[Report, str] | None = None

    def was_told(self, report: Report) -> bool:
        return any(r is report for r in self._told)

    def not_wanted(self, wrong: BaseException | None) -> None:
        """The code was told by this exception, and failed of it."""
        self._told = [r for r in self._told if r is not getattr(wrong, "heddle_report", None)]

    def wrong(self) -> list[Report]:
        """What is not verified, and was not told to the code."""
        return [r for r in self.reports if not r.ok and not self.was_told(r)]

    def settle(self) -> None:
        """Raises what is wrong with the kernels: why one has no report, or an AssertionError with the faulty reports."""
        __tracebackhide__ = True
        if self.refused:
            raise self.refused[0][1]
        unless_verified(self.wrong())

    @contextlib.contextmanager
    def judging(self) -> Iterator[None]:
        """Kernels that are traced inside are judged here."""
        jax.clear_caches()
        try:
            with _wrapped(self._replace), callbacks_of_numpy(_Meeting), after_each_execution(self._raise), own_races():
                yield
                jax.effects_barrier()
        except BaseException as wrong:
            self.not_wanted(wrong)
            raise
        finally:
            jax.clear_caches()

    def _replace(self, primitive: Primitive, bind: Callable[..., Any], arguments: tuple[Any, ...], params: dict[str, Any]) -> Any:
        try:
            wants = asked(params)
            if wants.interprets and self._in_words_of_jax:
                want_its_consent(bind, _structs(arguments), params)
            captured = _capture_call(primitive, bind, arguments, params)
            return _Meeting(captured, functools.partial(self._decide, wants)).call(arguments)
        except HeddleError as wrong:
            self.refused.append((kernel_name(params, opened(params.get("jaxpr") or params["jaxprs"][0])), wrong))
            raise

    def _decide(self, wants: Asked, captured: Captured, stacked: list[Any]) -> list[Any]:
        nothing = [np.zeros((captured.mesh.devices, *v.aval.shape), v.aval.dtype) for v in captured.jaxpr.jaxpr.outvars]
        if self._to_raise is not None:  # the interpreter would not have come here
            return nothing
        options: RunOptions = {"bounds": "padded", **self._options} if wants.padded else self._options
        try:
            report = run(captured.traced(stacked), wants, **options)
            self.reports.append(report)
            if wants.interprets:
                show_races(Races(wants.detects_races and "race" in report.faults, functools.partial(self._read_races, report)))
            words = exception_for(report.check["faults"], wants, captured.outputs) if self._in_words_of_jax and wants.interprets else None
            if words is not None:
                self._to_raise = (report, words)
            if report.results is not None:
                return list(report.results)
            raise HeddleError(f"{captured.name}: the run kept no arrays")
        except Exception as error:  # an exception in a callback would be JAX's to tell: ours comes at the end
            self.refused.append((captured.name, error))
            return nothing

    def _read_races(self, report: Report, found: bool) -> None:
        if found and report.faults == ("race",):
            self._told.append(report)

    def _raise(self) -> None:
        """Runs in the thread that called the kernel."""
        if self._to_raise is not None:
            report, words = self._to_raise
            self._to_raise = None
            self._told.append(report)
            wrong: Any = jax.errors.JaxRuntimeError(f"INTERNAL: CpuCallback error calling callback: {words}")
            wrong.heddle_report = report
            raise wrong


@contextlib.contextmanager
def checked(raise_faults: bool = True, **options: Unpack[RunOptions]) -> Iterator[list[Report]]:
    """Kernels that are traced inside run in the checker, and return the arrays that it computed.

    At the end, a kernel that is not verified raises an AssertionError, unless raise_faults is False; then no exception is raised in the
    words of JAX's interpreter, either. Functions that were compiled before are not checked.
    """
    judgement = Judgement(raise_faults, **options)
    try:
        with judgement.judging():
            yield judgement.reports
    except Exception:
        if judgement.refused or (raise_faults and judgement.wrong()):
            judgement.settle()
        raise
    if raise_faults or judgement.refused:
        judgement.settle()


def unless_verified(reports: list[Report]) -> None:
    """Raises an AssertionError with all reports that are not."""
    __tracebackhide__ = True
    wrong = [r for r in reports if not r.ok]
    if wrong:
        raise AssertionError("\n".join(f"{r.name}: {r.verdict}\n\n{r.text}" for r in wrong))
