"""Meshes of devices without devices: what to trace with, and what to tell the checker."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import math
import re
import types
from typing import Any, Callable, Iterator, Sequence

from .errors import HeddleError


@dataclasses.dataclass(frozen=True)
class Mesh:
    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def devices(self) -> int:
        return math.prod(self.sizes)

    def size(self, name: str) -> int:
        return self.sizes[self.names.index(name)]

    def coordinates(self, device: int) -> tuple[int, ...]:
        found: list[int] = []
        for size in reversed(self.sizes):
            found.append(device % size)
            device //= size
        return tuple(reversed(found))

    def __str__(self) -> str:
        return ",".join(f"{n}={s}" for n, s in zip(self.names, self.sizes))


def parse_mesh(text: str) -> Mesh:
    """x=4,y=2"""
    names, sizes = [], []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(\d+)\s*", part)
        if match is None or int(match[2]) < 1:
            raise HeddleError(f"--mesh {text}: not a mesh; write --mesh x=4,y=2")
        names.append(match[1])
        sizes.append(int(match[2]))
    if len(set(names)) != len(names):
        raise HeddleError(f"--mesh {text}: an axis stands twice")
    return Mesh(tuple(names), tuple(sizes))


def as_mesh(mesh: Any) -> Mesh:
    """From ours, text, a number of devices, a dict, or one of JAX's."""
    if isinstance(mesh, Mesh):
        return mesh
    if isinstance(mesh, str):
        return parse_mesh(mesh)
    if isinstance(mesh, int):
        if mesh < 1:
            raise HeddleError(f"{mesh} devices: there must be one at least")
        return Mesh(("x",), (mesh,))
    shape = mesh if isinstance(mesh, dict) else getattr(mesh, "shape", None)
    if shape is None or not hasattr(shape, "items"):
        raise HeddleError(f'mesh={mesh!r}: give a number of devices, "x=4,y=2", a dict, or a mesh of JAX')
    return Mesh(tuple(str(n) for n in shape), tuple(int(s) for s in shape.values()))


def abstract_mesh(mesh: Mesh, cores: int = 1, device_kind: str = "TPU v6e") -> Any:
    """JAX's mesh of TPUs that are not there."""
    from jax._src import mesh as jax_mesh
    from jax.sharding import AbstractMesh

    if not hasattr(jax_mesh, "AbstractDevice"):  # JAX 0.7.0: a mesh cannot say of what; as_on_tpu does
        return AbstractMesh(mesh.sizes, mesh.names)
    fields = inspect.signature(jax_mesh.AbstractDevice).parameters
    given: dict[str, Any] = {"device_kind": device_kind, "num_cores": cores, "platform": "tpu"}
    device = jax_mesh.AbstractDevice(**{k: v for k, v in given.items() if k in fields})
    return AbstractMesh(mesh.sizes, mesh.names, abstract_device=device)


@contextlib.contextmanager
def as_on_tpu(kind: str = "TPU v6e", cores: int = 1) -> Iterator[None]:
    """Where Pallas asks what device this is, and there is no TPU, it is told of one."""
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
    """One of JAX's devices, which says that it is a TPU."""

    def __init__(self, device: Any, kind: str) -> None:
        self._device = device
        self.device_kind = kind
        self.platform = "tpu"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


@contextlib.contextmanager
def as_if_tpus(kind: str = "TPU v6e") -> Iterator[None]:
    """The author's own questions are answered so, too: jax.devices()[0].device_kind, jax.default_backend()."""
    import jax

    devices, backend = jax.devices, jax.default_backend
    asked: Any = jax
    asked.devices = lambda *given: [_NamedDevice(d, kind) for d in devices(*given)]
    asked.default_backend = lambda: "tpu"
    try:
        yield
    finally:
        asked.devices, asked.default_backend = devices, backend


def parse_sizes(text: str) -> list[int]:
    """4, 2..8 or 2,4,8"""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:\.\.(\d+))?\s*", part)
        if match is None or int(match[1]) < 1 or int(match[2] or match[1]) < int(match[1]):
            raise HeddleError(f"-n {text}: not a number of devices; write -n 4, -n 2..8 or -n 2,4,8")
        found.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
    return found


def joined(names: Sequence[str]) -> str:
    return ", ".join(f'"{n}"' for n in names)
