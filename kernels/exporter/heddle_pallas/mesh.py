"""A mesh: the named axes along which devices lie."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any, Sequence

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
        raise HeddleError(f"--mesh {text}: an axis is named twice")
    return Mesh(tuple(names), tuple(sizes))


def as_mesh(mesh: Any) -> Mesh:
    """From a Mesh, text, a number of devices, a dict, or a mesh of JAX."""
    if isinstance(mesh, Mesh):
        return mesh
    if isinstance(mesh, str):
        return parse_mesh(mesh)
    if isinstance(mesh, int):
        if mesh < 1:
            raise HeddleError(f"{mesh} devices: at least one is needed")
        return Mesh(("x",), (mesh,))
    shape = mesh if isinstance(mesh, dict) else getattr(mesh, "shape", None)
    if shape is None or not hasattr(shape, "items"):
        raise HeddleError(f'mesh={mesh!r}: give a number of devices, "x=4,y=2", a dict, or a mesh of JAX')
    return Mesh(tuple(str(n) for n in shape), tuple(int(s) for s in shape.values()))


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
