"""pytest: a fixture that verifies, options for sizes, pages and time.

    def test_all_gather(heddle, heddle_devices):            # once for each size of --heddle-devices
        heddle.verify(all_gather, "f32[8,128]", mesh=heddle_devices)

A missing checker or compiler is an error: a green run that checked nothing is worse than a red one. --heddle-optional makes it a skip.

--heddle-checked runs tests that were written for Pallas's interpreter as they are, functions and TestCases: each in checked(), so that
kernels return what the checked run computed, and a kernel that is not verified fails its test.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator

import pytest

from ..errors import HeddleError
from ..mesh import parse_sizes
from .binary import find_compiler, find_heddle

if TYPE_CHECKING:
    from .options import CheckOptions, Unpack
    from .report import Report

# pytest loads this in every run where the package is installed, so what imports JAX is imported where it is used.


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("heddle", "checking of Pallas kernels")
    group.addoption("--heddle-devices", default="2..4", metavar="SIZES", help="sizes of the heddle_devices fixture: 4, 2..8 or 2,4,8")
    group.addoption("--heddle-html", default=None, metavar="DIR", help="write a page for each check into DIR")
    group.addoption("--heddle-timeout", type=float, default=120.0, metavar="SECONDS", help="limit of one check (default 120)")
    group.addoption(
        "--heddle-checked", action="store_true", help="run the kernels of all tests in the checker; one that is not verified fails its test"
    )
    group.addoption("--heddle-want-kernels", action="store_true", help="with --heddle-checked: a run in which no kernel was judged fails")
    group.addoption("--heddle-tpu", default=None, metavar="KIND", help="with --heddle-checked: what devices say that they are, such as v5e")
    group.addoption("--heddle-optional", action="store_true", help="skip tests if the checker or a compiler is missing")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "heddle_devices" in metafunc.fixturenames:
        try:
            sizes = parse_sizes(metafunc.config.getoption("--heddle-devices"))
        except HeddleError as wrong:
            raise pytest.UsageError(str(wrong).replace("-n ", "--heddle-devices=")) from None
        metafunc.parametrize("heddle_devices", sizes)


# --heddle-checked


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Wraps whatever runs a test: a function, a method of a TestCase, an item of another plugin."""
    if not item.config.getoption("--heddle-checked"):
        yield
        return
    from ..trace.tpus import on_tpu
    from .capturing import Judgement

    __tracebackhide__ = True
    _want_ready(item.config)
    notes = Heddle(item)
    judgement = Judgement(timeout=notes.timeout, page=notes.pages is not None)
    with judgement.judging(), on_tpu(item.config.getoption("--heddle-tpu")):
        outcome: Any = yield
    own = _own_failure(item, outcome)
    judgement.not_wanted(own)
    for report in judgement.reports:
        notes.note(report, own is None and judgement.was_told(report))
    for name, why in judgement.refused:
        notes.note_refused(name, why)
    try:
        judgement.settle()
    except Exception as wrong:
        if own is None or judgement.refused or hasattr(own, "heddle_report"):
            _fail(item, outcome, wrong)
        else:  # of itself, and the kernel may be why
            item.add_report_section("call", "heddle", str(wrong))


def _own_failure(item: pytest.Item, outcome: Any) -> BaseException | None:
    """The exception that ends the test. What ends a TestCase is kept by its item, not raised."""
    kept = getattr(item, "_excinfo", None)
    error: BaseException | None = kept[0].value if kept else None if outcome.excinfo is None else outcome.excinfo[1]
    return error


def _fail(item: pytest.Item, outcome: Any, wrong: BaseException) -> None:
    if getattr(item, "_excinfo", None):
        item._excinfo = None  # type: ignore[attr-defined]
    outcome.force_exception(wrong)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--heddle-checked") and not hasattr(config, "workerinput"):  # with xdist: where the reports come together
        config.pluginmanager.register(Tally(), "heddle-tally")


def pytest_report_header(config: pytest.Config) -> str | None:
    kind = config.getoption("--heddle-tpu")
    return f"heddle: as on a {kind}" if kind is not None else None


class Tally:
    """How many kernels --heddle-checked judged, for the last lines of a run."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.wanted = 0
        self.refused: Counter[tuple[str, str]] = Counter()  # a kernel's name, and the reason

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties if report.when == "call" else ():
            if name.startswith("heddle_verdict"):
                self.verdicts[str(value)] += 1
            elif name.startswith("heddle_wanted"):
                self.wanted += 1
            elif name.startswith("heddle_refused"):
                kernel, _, why = str(value).partition(": ")
                self.refused[kernel, why] += 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.config.getoption("--heddle-want-kernels") and not self.verdicts and session.exitstatus in (0, 5):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        judged = sum(self.verdicts.values())
        terminalreporter.section("heddle")
        counts = [f"{count} {verdict}" for verdict, count in sorted(self.verdicts.items(), key=lambda v: _ORDER.index(v[0]))]
        refused = sum(self.refused.values())
        terminalreporter.line(f"{_kernels(judged)} judged" + (f": {', '.join(counts)}" if counts else "") + f"; {refused} refused")
        if self.wanted:
            terminalreporter.line(f"{self.wanted} of the faulty ones are wanted so by their tests")
        for (kernel, why), times in sorted(self.refused.items()):
            terminalreporter.line(f"refused: {kernel}: {why}" + (f" ({times} times)" if times > 1 else ""))
        if not judged and config.getoption("--heddle-want-kernels"):
            terminalreporter.line("no kernel was judged, and --heddle-want-kernels wants one: are these tests of Pallas kernels?", red=True)


_ORDER = ("verified", "faulty", "bounded", "not applicable")


def _kernels(count: int) -> str:
    return "1 kernel" if count == 1 else f"{count} kernels"


class Heddle:
    """The fixture: check and verify, with the options of the command line; outcomes are noted for JUnit."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node
        self._count = 0
        self.timeout: float = node.config.getoption("--heddle-timeout")
        self.pages: str | None = node.config.getoption("--heddle-html")

    def check(self, function: Callable[..., Any], *arguments: Any, **options: "Unpack[CheckOptions]") -> "Report":
        """As heddle_pallas.check."""
        from . import api

        options.setdefault("timeout", self.timeout)
        options.setdefault("page", self.pages is not None)
        report = api.check(function, *arguments, **options)
        self.note(report)
        return report

    def verify(
        self, function: Callable[..., Any], *arguments: Any, accept_bounded: bool = False, **options: "Unpack[CheckOptions]"
    ) -> "Report":
        """As heddle_pallas.verify."""
        from . import api

        __tracebackhide__ = True
        return api.verify_by(self.check, function, arguments, accept_bounded, options)

    def note(self, report: "Report", wanted: bool = False) -> None:
        """Keeps a report for JUnit and as a page. wanted: the test expects the fault."""
        suffix = self._suffix()
        self._node.user_properties.append((f"heddle_verdict{suffix}", report.verdict))
        if report.faults:
            self._node.user_properties.append((f"heddle_faults{suffix}", " ".join(report.faults)))
        if wanted:
            self._node.user_properties.append((f"heddle_wanted{suffix}", "yes"))
        if self.pages is not None:
            self._page(report, Path(self.pages), suffix)

    def note_refused(self, name: str, why: Exception) -> None:
        line = (str(why).strip().splitlines() or [type(why).__name__])[0]
        self._node.user_properties.append((f"heddle_refused{self._suffix()}", f"{name}: {line}"))

    def _suffix(self) -> str:
        self._count += 1
        return "" if self._count == 1 else f"_{self._count}"

    def _page(self, report: "Report", folder: Path, suffix: str) -> None:
        """One file per check, under a name that only this test has: safe with pytest-xdist."""
        from .report import digest

        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", self._node.nodeid)[-120:] + suffix
        (folder / f"{name}-{digest(self._node.nodeid.encode())}.html").write_text(report.page, encoding="utf-8")


@functools.lru_cache(maxsize=1)
def _missing() -> str | None:
    """What a check needs and does not find; None: nothing."""
    try:
        subprocess.run([find_heddle(), "--version"], capture_output=True, check=True, timeout=60)
        find_compiler()
    except HeddleError as wrong:
        return str(wrong)
    except (OSError, subprocess.SubprocessError) as wrong:
        return f"the checker does not run: {wrong}"
    return None


def _want_ready(config: pytest.Config) -> None:
    missing = _missing()
    if missing is not None and config.getoption("--heddle-optional"):
        pytest.skip(missing)
    if missing is not None:
        pytest.fail(f"{missing} (--heddle-optional skips such tests)", pytrace=False)


@pytest.fixture(scope="session")
def heddle_ready(request: pytest.FixtureRequest) -> None:
    _want_ready(request.config)


@pytest.fixture
def heddle(request: pytest.FixtureRequest, heddle_ready: None) -> Heddle:
    """Verifies kernels: heddle.verify(function, "f32[8,128]", mesh=4)."""
    return Heddle(request.node)
