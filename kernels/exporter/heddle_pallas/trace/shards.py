"""How a shard_map splits global arrays among devices, and puts their results together."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from jax.extend.core import JaxprEqn
from numpy.typing import NDArray

from ..mesh import Mesh

Spec = tuple[tuple[str, ...], ...]  # for each dimension, the axes that it is split over


def specs_of(eqn: JaxprEqn, which: str) -> list[Spec]:
    """Of its operands ("in") or its results ("out")."""
    given = eqn.params.get(f"{which}_specs")
    if given is None:
        given = eqn.params[f"{which}_names"]
        return [tuple(tuple(names.get(d, ())) for d in range(max(names, default=-1) + 1)) for names in given]
    found = []
    for spec in given:
        found.append(tuple(() if p is None else (p,) if isinstance(p, str) else tuple(p) for p in tuple(spec)))
    return found


def _index(mesh: Mesh, device: int, axes: tuple[str, ...]) -> tuple[int, int]:
    """The number of the device's part, and how many parts there are."""
    coordinates, at, parts = mesh.coordinates(device), 0, 1
    for name in axes:
        size = mesh.size(name)
        at, parts = at * size + coordinates[mesh.names.index(name)], parts * size
    return at, parts


def _part(shape: Sequence[int], spec: Spec, mesh: Mesh, device: int) -> tuple[slice, ...]:
    found = []
    for size, axes in zip(shape, spec):
        at, parts = _index(mesh, device, axes)
        found.append(slice(at * (size // parts), (at + 1) * (size // parts)))
    return tuple(found)


def shards(values: NDArray[Any], spec: Spec, mesh: Mesh) -> NDArray[Any]:
    return np.stack([values[_part(values.shape, spec, mesh, d)] for d in range(mesh.devices)])


def joined(stacked: NDArray[Any], spec: Spec, mesh: Mesh) -> NDArray[Any]:
    shape = list(stacked.shape[1:])
    for d, axes in enumerate(spec):
        shape[d] *= _index(mesh, 0, axes)[1]
    whole = np.empty(shape, stacked.dtype)
    for device in range(mesh.devices - 1, -1, -1):  # where parts coincide, the first device's counts
        whole[_part(shape, spec, mesh, device)] = stacked[device]
    return whole
