"""pytest: a fixture that verifies, options for sizes, pages and time.

    def test_all_gather(heddle, heddle_devices):            # once for each size of --heddle-devices
        heddle.verify(all_gather, "f32[8,128]", mesh=heddle_devices)

A missing checker or compiler is an error: a green run that checked nothing is worse than a red one. --heddle-optional makes it a skip.

--heddle-checked runs tests that were written for Pallas's interpreter as they are: each in checked(), so that kernels return what the
checked run computed, and a kernel that is not verified fails its test.
"""

from __future__ import annotations

import functools
import re
import subprocess
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
    group.addoption("--heddle-optional", action="store_true", help="skip tests if the checker or a compiler is missing")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "heddle_devices" in metafunc.fixturenames:
        try:
            sizes = parse_sizes(metafunc.config.getoption("--heddle-devices"))
        except HeddleError as wrong:
            raise pytest.UsageError(str(wrong).replace("-n ", "--heddle-devices=")) from None
        metafunc.parametrize("heddle_devices", sizes)


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    if not pyfuncitem.config.getoption("--heddle-checked"):
        yield
        return
    from .capturing import checked, unless_verified

    notes = Heddle(pyfuncitem)
    _want_ready(pyfuncitem.config)
    try:
        with checked(raise_faults=False, timeout=notes.timeout, page=notes.pages is not None) as reports:
            outcome: Any = yield
    except Exception as wrong:  # the test itself, if it failed, failed of this
        outcome.force_exception(wrong)
        return
    for report in reports:
        notes.note(report)
    if outcome.excinfo is None:
        try:
            unless_verified(reports)
        except AssertionError as wrong:
            outcome.force_exception(wrong)


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

    def note(self, report: "Report") -> None:
        """For JUnit, and as a page."""
        self._count += 1
        suffix = "" if self._count == 1 else f"_{self._count}"
        self._node.user_properties.append((f"heddle_verdict{suffix}", report.verdict))
        if report.faults:
            self._node.user_properties.append((f"heddle_faults{suffix}", " ".join(report.faults)))
        if self.pages is not None:
            self._page(report, Path(self.pages), suffix)

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
