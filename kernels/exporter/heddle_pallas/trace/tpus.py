"""Tracing for TPUs without a TPU: an abstract mesh of them, and answers to code that asks for the device."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import types
from contextvars import ContextVar
from typing import Any, Callable, Iterator, NamedTuple

import jax
from jax._src import mesh as jax_mesh
from jax.sharding import AbstractMesh

from ..errors import HeddleError
from ..mesh import Mesh


class Tpu(NamedTuple):
    kind: str  # as JAX names it
    memory: int  # bytes of HBM of a device


GIB = 1 << 30
TPUS = {
    "v4": Tpu("TPU v4", 32 * GIB),
    "v5e": Tpu("TPU v5 lite", 16 * GIB),
    "v5p": Tpu("TPU v5", 95 * GIB),
    "v6e": Tpu("TPU v6e", 32 * GIB),
    "7x": Tpu("TPU7x", 96 * GIB),
}
_here: ContextVar[Tpu] = ContextVar("tpu", default=TPUS["v6e"])  # what is simulated


def tpu_named(name: str) -> Tpu:
    """v5e, or as JAX names it: TPU v5 lite."""
    found = next((t for short, t in TPUS.items() if name.lower() in (short, f"tpu {short}", t.kind.lower())), None)
    if found is None:
        raise HeddleError(f"{name}: no TPU that is known; the kinds are {', '.join(TPUS)}")
    return found


def abstract_mesh(mesh: Mesh, cores: int = 1) -> AbstractMesh:
    """JAX's abstract mesh of TPUs."""
    if not hasattr(jax_mesh, "AbstractDevice"):  # JAX 0.7.0: a mesh cannot say of what; as_on_tpu does
        return AbstractMesh(mesh.sizes, mesh.names)
    fields = inspect.signature(jax_mesh.AbstractDevice).parameters
    given: dict[str, Any] = {"device_kind": _here.get().kind, "num_cores": cores, "platform": "tpu"}
    device = jax_mesh.AbstractDevice(**{k: v for k, v in given.items() if k in fields})
    return AbstractMesh(mesh.sizes, mesh.names, abstract_device=device)


@contextlib.contextmanager
def as_on_tpu(cores: int = 1) -> Iterator[None]:
    """Where Pallas asks for the device and there is no TPU, the answer is one."""
    kind = _here.get().kind
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


def _memory_stats(device: Any) -> dict[str, int]:
    """Nothing is in use."""
    return {"bytes_limit": _here.get().memory, "bytes_in_use": 0, "peak_bytes_in_use": 0, "num_allocs": 0}


class _NamedDevice:
    """One of JAX's devices, as a TPU."""

    platform = "tpu"
    memory_stats = _memory_stats

    def __init__(self, device: Any) -> None:
        self._device = device
        self.device_kind = _here.get().kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


@contextlib.contextmanager
def as_if_tpus() -> Iterator[None]:
    """The same for the author's code: jax.devices()[0].device_kind, jax.default_backend(). Nothing can run on such devices."""
    asked: Any = jax
    listed, backend = {name: getattr(jax, name) for name in ("devices", "local_devices")}, jax.default_backend
    for name, original in listed.items():
        setattr(asked, name, _as_tpus(original))
    asked.default_backend = lambda: "tpu"
    try:
        yield
    finally:
        for name, original in listed.items():
            setattr(asked, name, original)
        asked.default_backend = backend


def _as_tpus(listed: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    return lambda *given, **named: [_NamedDevice(d) for d in listed(*given, **named)]


@contextlib.contextmanager
def on_tpu(name: str | None) -> Iterator[None]:
    """Devices claim to be of this kind, and run as before. None: nothing changes."""
    if name is None:
        yield
        return
    tpu, device = tpu_named(name), type(jax.devices()[0])
    answers = {"device_kind": property(lambda _: tpu.kind), "memory_stats": _memory_stats, "num_cores": 1}
    before = {attribute: vars(device)[attribute] for attribute in answers if attribute in vars(device)}
    jax.clear_caches()  # of functions that were traced for other devices
    token = _here.set(tpu)
    try:
        for attribute, answer in answers.items():
            setattr(device, attribute, answer)
        yield
    finally:
        for attribute in answers:
            if attribute in before:
                setattr(device, attribute, before[attribute])
            else:
                delattr(device, attribute)
        _here.reset(token)
        jax.clear_caches()
