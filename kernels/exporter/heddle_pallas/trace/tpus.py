"""Tracing for TPUs without a TPU: an abstract mesh of them, and answers to code that asks for the device."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import types
from typing import Any, Callable, Iterator

import jax
from jax._src import mesh as jax_mesh
from jax.sharding import AbstractMesh

from ..mesh import Mesh

KIND = "TPU v6e"


def abstract_mesh(mesh: Mesh, cores: int = 1, device_kind: str = KIND) -> AbstractMesh:
    """JAX's abstract mesh of TPUs."""
    if not hasattr(jax_mesh, "AbstractDevice"):  # JAX 0.7.0: a mesh cannot say of what; as_on_tpu does
        return AbstractMesh(mesh.sizes, mesh.names)
    fields = inspect.signature(jax_mesh.AbstractDevice).parameters
    given: dict[str, Any] = {"device_kind": device_kind, "num_cores": cores, "platform": "tpu"}
    device = jax_mesh.AbstractDevice(**{k: v for k, v in given.items() if k in fields})
    return AbstractMesh(mesh.sizes, mesh.names, abstract_device=device)


@contextlib.contextmanager
def as_on_tpu(kind: str = KIND, cores: int = 1) -> Iterator[None]:
    """Where Pallas asks for the device and there is no TPU, the answer is one."""
    changed: list[tuple[Any, str, Any]] = []
    answers = {"get_device_kind": kind, "get_num_device_cores": cores, "get_default_device": types.SimpleNamespace(device_kind=kind)}
    for name in ("core", "tpu_info", "pipeline"):
        try:
            module = importlib.import_module(f"jax._src.pallas.mosaic.{name}")
        except ImportError:
            continue
        for attribute, answer in answers.items():
            if hasattr(module, attribute):
                original = getattr(module, attribute)
                changed.append((module, attribute, original))
                setattr(module, attribute, _or_else(original, answer))
    try:
        yield
    finally:
        for module, attribute, original in changed:
            setattr(module, attribute, original)


def _or_else(original: Callable[[], Any], answer: Any) -> Callable[[], Any]:
    def ask() -> Any:
        try:
            found = original()
        except Exception:
            return answer
        return found if isinstance(found, int) or str(found).startswith("TPU") else answer

    return ask


class _NamedDevice:
    """One of JAX's devices, under the name of a TPU."""

    def __init__(self, device: Any, kind: str) -> None:
        self._device = device
        self.device_kind = kind
        self.platform = "tpu"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


@contextlib.contextmanager
def as_if_tpus(kind: str = KIND) -> Iterator[None]:
    """The same for the author's code: jax.devices()[0].device_kind, jax.default_backend()."""
    devices, backend = jax.devices, jax.default_backend
    asked: Any = jax
    asked.devices = lambda *given: [_NamedDevice(d, kind) for d in devices(*given)]
    asked.default_backend = lambda: "tpu"
    try:
        yield
    finally:
        asked.devices, asked.default_backend = devices, backend
