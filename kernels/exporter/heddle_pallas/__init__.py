"""Check Pallas TPU kernels for every order of their steps.

    import heddle_pallas
    heddle_pallas.verify(all_gather, "f32[8,128]", mesh=4)
"""

from .api import check, compare, export, per_device, shape, verify
from .capture import Captured, capture, checked
from .errors import HeddleError, TraceError, Unsupported
from .report import Report

__all__ = ["Captured", "HeddleError", "Report", "TraceError", "Unsupported", "capture", "check", "checked", "compare", "export",
           "per_device", "shape", "verify"]
