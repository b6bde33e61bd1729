"""Device ids in all the forms that Pallas takes, checked here since tracing does not: rank, axis names, range of constants."""

from __future__ import annotations

import math
from typing import Any

from ..errors import TraceError
from ..mesh import joined
from .emitter import Emitter
from .values import MULTIPLY, Scalar


def target(e: Emitter, device_id: Any, id_type: Any, core: Any = None) -> str:
    """A PlDevice; empty: the own device and core."""
    text, own_core = _device(e, device_id, str(getattr(id_type, "name", id_type)).upper())
    core_text = e.steering(core, "a core index").text if core is not None else own_core
    if core_text is None:
        return text
    return f"pl_on_core({text}, {core_text})" if text else f"pl_core({core_text})"


def _device(e: Emitter, device_id: Any, id_type: str) -> tuple[str, str | None]:
    if device_id is None:
        return "", None
    if isinstance(device_id, dict):
        if id_type != "MESH":
            raise TraceError(f"{e.place}: a dict as device_id needs device_id_type=MESH")
        return _from_dict(e, device_id)
    parts = [e.steering(p, "a device id") for p in _flat(device_id)]
    if id_type == "LOGICAL":
        if len(parts) != 1:
            raise TraceError(f"{e.place}: a LOGICAL device_id is one number, not {len(parts)}")
        _check_range(e, parts[0], e.mesh.devices, "device")
        return f"pl_device({parts[0].text})", None
    if len(parts) != len(e.mesh.sizes):
        raise TraceError(
            f"{e.place}: device_id has {len(parts)} coordinate{'s' * (len(parts) != 1)}, but the mesh {e.mesh} has {len(e.mesh.sizes)}"
        )
    for part, name in zip(parts, e.mesh.names):
        _check_range(e, part, e.mesh.size(name), f"axis {name}")
    if len(parts) == 1:
        return f"pl_device({parts[0].text})", None
    return f"pl_mesh({', '.join(p.text for p in parts)})", None


def _flat(device_id: Any) -> list[Any]:
    if isinstance(device_id, (tuple, list)):
        return [leaf for part in device_id for leaf in _flat(part)]
    return [device_id]


def _check_range(e: Emitter, part: Scalar, size: int, what: str) -> None:
    if part.value is not None and not 0 <= int(part.value) < size:
        raise TraceError(f"{e.place}: device id {part.value} is out of range: {what} has {size}")


def _from_dict(e: Emitter, device_id: dict[Any, Any]) -> tuple[str, str | None]:
    chosen: dict[str, Scalar] = {}
    core: str | None = None
    for key, value in device_id.items():
        part = e.steering(value, "a device id")
        names = key if isinstance(key, tuple) else (key,)
        if names == (e.core_axis,):
            core = part.text
            continue
        for name in names:
            if name not in e.mesh.names:
                known = joined([*e.mesh.names, *([e.core_axis] if e.core_axis else [])])
                raise TraceError(f'{e.place}: device_id names the axis "{name}", but the mesh has {known}')
        _check_range(e, part, math.prod(e.mesh.size(n) for n in names), f"axis {'*'.join(names)}")
        _split(e, chosen, names, part)
    if not chosen:
        return "", core
    if len(chosen) == 1:
        ((name, part),) = chosen.items()
        return f'pl_along("{name}", {part.text})', core
    parts = [chosen[n].text if n in chosen else f'pl_axis_index("{n}")' for n in e.mesh.names]
    return f"pl_mesh({', '.join(parts)})", core


def _split(e: Emitter, chosen: dict[str, Scalar], names: tuple[str, ...], part: Scalar) -> None:
    """A joint axis: one index over several axes, row-major."""
    if len(names) > 1:
        part = e.simple(part)
    inner = math.prod(e.mesh.size(n) for n in names)
    for position, name in enumerate(names):
        size = e.mesh.size(name)
        inner //= size
        text = part.text if inner == 1 else f"{part.at(MULTIPLY)} / {inner}"
        if position > 0:
            text = f"({text}) % {size}" if inner != 1 else f"{part.at(MULTIPLY)} % {size}"
        chosen[name] = Scalar(text, "int32", part.level if len(names) == 1 else MULTIPLY)
