"""Check Pallas TPU kernels for every order of their steps.

import heddle_pallas
heddle_pallas.verify(all_gather, "f32[8,128]", mesh=4)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import HeddleError, TraceError, Unsupported

if TYPE_CHECKING:
    from .frontend.api import check, compare, export, ints, per_device, shape, verify
    from .frontend.capturing import Captured, capture, checked
    from .frontend.given import given
    from .frontend.report import Report

__all__ = [
    "Captured",
    "HeddleError",
    "Report",
    "TraceError",
    "Unsupported",
    "capture",
    "check",
    "checked",
    "compare",
    "export",
    "given",
    "ints",
    "per_device",
    "shape",
    "verify",
]

_WHERE = {"Captured": "capturing", "capture": "capturing", "checked": "capturing", "Report": "report", "given": "given"}


def __getattr__(name: str) -> Any:
    """JAX is imported when it is first needed, so that its absence can be told in one line."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".frontend.{_WHERE.get(name, 'api')}", __name__), name)
    globals()[name] = value
    return value
