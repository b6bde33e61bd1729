"""A KERNEL in C, and what its launch passes to it: arrays, windows of arrays, scratch."""

from __future__ import annotations

import dataclasses

from ..errors import NOWHERE, Place
from .writer import Writer


@dataclasses.dataclass
class Dimension:
    size: int  # of the block
    whole: int  # of the array
    squeezed: bool
    unit: int  # elements from one block index to the next


@dataclasses.dataclass
class Windows:
    """What pl_windows is told of one argument, beside the array."""

    place: Place  # where the author says so
    output: bool
    space: str
    dimensions: list[Dimension]  # none: the whole array
    index: str = ""  # the C function; empty: always the first block
    buffers: int | None = None  # None: as usual
    revisit: bool = False  # an output that may come back to a block

    def options(self) -> str:
        found = []
        if any(d.size != d.whole or d.squeezed for d in self.dimensions):
            found.append(_listed("block", ["PL_SQUEEZED" if d.squeezed else str(d.size) for d in self.dimensions]))
        if any(d.unit != d.size for d in self.dimensions):
            found.append(_listed("stride", [str(d.unit) for d in self.dimensions]))
        if self.index:
            found.append(f".index = {self.index}")
        if self.buffers is not None:
            found.append(f".buffers = {self.buffers}")
        if self.output:
            found.append(".output = true")
        if self.output and self.revisit:
            found.append(".revisit = true")
        if self.space == "smem":
            found.append(".space = PL_SMEM")
        return "".join(f", {option}" for option in found)


def _listed(field: str, numbers: list[str]) -> str:
    return f".{field} = {{{', '.join(numbers)}}}"


@dataclasses.dataclass(frozen=True)
class Argument:
    """What a launch hands over: the i-th operand, the i-th result, or new scratch."""

    kind: str  # "operand", "result", "scratch"
    index: int = 0
    text: str = ""  # of scratch
    windows: Windows | None = None  # through which the kernel sees it; None: it is handed over as it is


@dataclasses.dataclass
class Kernel:
    name: str
    parameters: list[str]
    arguments: list[Argument]
    body: Writer
    place: Place
    grid: tuple[int | None, ...] = ()  # None: the launch says
    options: list[str] = dataclasses.field(default_factory=list)  # of pl_launch
    functions: list[Writer] = dataclasses.field(default_factory=list)  # index maps
    aliases: dict[int, int] = dataclasses.field(default_factory=dict)  # operand -> result

    def parameter(self, kind: str, index: int) -> str:
        """The name of the i-th operand or result."""
        return next((n for n, a in zip(self.parameters, self.arguments) if a.kind == kind and a.index == index), "x")

    def meets_all(self) -> bool:
        """Does a launch begin with the barrier of all devices? As in the checker: if it communicates, and has no barrier of its own."""
        body = self.body.text(lines=False)
        talks = "pl_async_remote_copy(" in body or any(f"{to}(" in body for to in ("pl_device", "pl_along", "pl_mesh"))
        own = "pl_get_barrier_semaphore(" in body or any(a.text.startswith("pl_barrier_semaphore") for a in self.arguments)
        return talks and not own and ".skip_device_barrier = true" not in self.options

    def text(self, out: Writer) -> None:
        for function in self.functions:
            out.add(function)
            out("")
        out.place = self.place
        out(f"KERNEL({', '.join([self.name, *self.parameters])})")
        out.place = NOWHERE
        out("{")
        out.add(self.body)
        out("}")
