"""Memory spaces and semaphore kinds, by the names that JAX's types have in all versions."""

from __future__ import annotations

from ..errors import NOWHERE, Place, Unsupported
from .jaxprs import Aval

_SPACES = {
    "any": "any",
    "hbm": "hbm",
    "host": "any",
    "device": "any",
    "vmem": "vmem",
    "smem": "smem",
    "semaphore_mem": "semaphore",
    "semaphore": "semaphore",
}
_KINDS = {"dma_sem": "dma", "semaphore": "regular", "barrier_semaphore": "barrier"}


def space_of(aval: Aval, default: str = "vmem", place: Place = NOWHERE) -> str:
    space = getattr(aval, "memory_space", None)
    if space is None:
        return default
    if hasattr(space, "memory_space") and hasattr(space, "mesh"):  # of the cores of a mesh
        space = space.memory_space
    value = getattr(space, "value", space)
    name = (value if isinstance(value, str) else str(getattr(space, "name", value))).lower()
    if name == "default":
        return default
    if name not in _SPACES:
        raise Unsupported(f"memory space {name}", place, "VMEM, SMEM, HBM, ANY and SEMAPHORE are")
    return _SPACES[name]


def kind_of(aval: Aval) -> str:
    """The kind of a semaphore; empty: it is none."""
    return _KINDS.get(str(getattr(aval, "dtype", "")), "")
