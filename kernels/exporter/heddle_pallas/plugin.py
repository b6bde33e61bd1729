"""pytest: a fixture that verifies, options for sizes, pages and time.

    def test_all_gather(heddle, heddle_devices):            # once for each size of --heddle-devices
        heddle.verify(all_gather, "f32[8,128]", mesh=heddle_devices)

A missing checker or compiler is an error: a green run that checked nothing is worse than a red one. --heddle-optional makes it a skip.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import pytest

from .errors import HeddleError

if TYPE_CHECKING:
    from .options import CheckOptions, Unpack
    from .report import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("heddle", "checking of Pallas kernels")
    group.addoption("--heddle-devices", default="2..4", metavar="SIZES", help="sizes of the heddle_devices fixture: 4, 2..8 or 2,4,8")
    group.addoption("--heddle-html", default=None, metavar="DIR", help="write a page for each check into DIR")
    group.addoption("--heddle-timeout", type=float, default=120.0, metavar="SECONDS", help="for one check (default 120)")
    group.addoption("--heddle-optional", action="store_true", help="skip tests where the checker or a compiler is missing")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "heddle_devices" in metafunc.fixturenames:
        from .meshes import parse_sizes

        try:
            sizes = parse_sizes(metafunc.config.getoption("--heddle-devices"))
        except HeddleError as wrong:
            raise pytest.UsageError(str(wrong).replace("-n ", "--heddle-devices=")) from None
        metafunc.parametrize("heddle_devices", sizes)


class Heddle:
    """What the fixture gives: check and verify, with the options of the command line, and their outcome noted for JUnit."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node = request.node
        self._config = request.config
        self._count = 0

    def check(
        self, function: Callable[..., Any], *arguments: Any, expect: Any = None, tolerance: float = 1e-5, **options: "Unpack[CheckOptions]"
    ) -> "Report":
        """As heddle_pallas.check."""
        from . import api

        options.setdefault("timeout", self._config.getoption("--heddle-timeout"))
        options.setdefault("page", self._config.getoption("--heddle-html") is not None)
        report = api.check(function, *arguments, expect=expect, tolerance=tolerance, **options)
        self._note(report)
        return report

    def verify(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        expect: Any = None,
        tolerance: float = 1e-5,
        accept_bounded: bool = False,
        **options: "Unpack[CheckOptions]",
    ) -> "Report":
        """As heddle_pallas.verify."""
        from . import api

        __tracebackhide__ = True
        expected = expect(*arguments) if callable(expect) else expect
        report = self.check(function, *arguments, expect=expected, tolerance=tolerance, **options)
        api.settle(report, expected, tolerance, accept_bounded)
        return report

    def _note(self, report: "Report") -> None:
        self._count += 1
        suffix = "" if self._count == 1 else f"_{self._count}"
        self._node.user_properties.append((f"heddle_verdict{suffix}", report.verdict))
        if report.faults:
            self._node.user_properties.append((f"heddle_faults{suffix}", " ".join(report.faults)))
        folder = self._config.getoption("--heddle-html")
        if folder is not None:
            self._page(report, Path(folder), suffix)

    def _page(self, report: "Report", folder: Path, suffix: str) -> None:
        """One file a check, of a name that is the test's alone: safe under pytest-xdist."""
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", self._node.nodeid) + suffix
        (folder / f"{name}.html").write_text(report.page, encoding="utf-8")


def _ready() -> str | None:
    """What is missing; None: nothing."""
    from .binary import find_compiler, find_heddle

    try:
        subprocess.run([find_heddle(), "--version"], capture_output=True, check=True, timeout=60)
        find_compiler()
    except HeddleError as wrong:
        return str(wrong)
    except (OSError, subprocess.SubprocessError) as wrong:
        return f"the checker does not run: {wrong}"
    return None


@pytest.fixture(scope="session")
def heddle_ready(request: pytest.FixtureRequest) -> None:
    missing = _ready()
    if missing is None:
        return
    if request.config.getoption("--heddle-optional"):
        pytest.skip(missing)
    pytest.fail(f"{missing} (--heddle-optional skips such tests)", pytrace=False)


@pytest.fixture
def heddle(request: pytest.FixtureRequest, heddle_ready: None) -> Heddle:
    """Verifies kernels: heddle.verify(function, "f32[8,128]", mesh=4)."""
    return Heddle(request)
