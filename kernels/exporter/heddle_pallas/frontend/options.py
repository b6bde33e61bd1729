"""The options of a check: of the functions, of the command, of the checker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, TypedDict

from ..errors import HeddleError

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack


class CheckerOptions(TypedDict, total=False):
    """Options of `heddle check`, under its names; one that is missing, or None, has its default."""

    search: str | None  # auto, prove, enumerate, random, pct, pos, starve
    dma_order: str | None  # unordered, link-fifo, issue-order
    dma_progress: str | None  # fluid, whole
    bounds: str | None  # logical, padded
    scopes: str | None  # static, strict
    windows: str | None  # pipelined, sequential
    data: str | None  # real, opaque
    seed: int | None
    inputs: str | int | None  # of arguments made by ints(): all, one, or how many; all or 1000 if there are any
    inputs_seed: int | None
    states: int | None
    time: str | float | None
    memory: str | int | None
    runs: int | None
    depth: int | None
    workers: int | None
    advice: bool
    first: bool
    sweep: bool
    stop_at_bounds: bool
    verbose: bool


class RunOptions(CheckerOptions, total=False):
    """Options of one run of the checker."""

    schedules: str | None  # a folder for the C and the schedules of faults; None: they are not kept
    timeout: float | None  # in seconds
    opaque: bool  # track where floats go, not their values
    page: bool  # the report holds a page of HTML, too


class CheckOptions(RunOptions, total=False):
    """All options of check()."""

    mesh: Any  # a number of devices, "x=4,y=2", a dict, or a mesh of JAX; 2 devices if it is not given
    cores: int | None  # a device; None: as the kernels say
    tpu: str | None  # what devices say that they are: v4, v5e, v5p, v6e, 7x; None: what they are, or v6e to who wants a TPU
    name: str  # of the program; empty: the function's
    expect: Any  # what the function should return, or a function of the arguments that computes it; None: nothing is compared
    tolerance: float  # of floats, relative and absolute; TOLERANCE if it is not given


TOLERANCE = 1e-5


FLAGS = ("advice", "first", "sweep", "stop_at_bounds", "verbose")
VALUES = tuple(name for name in CheckerOptions.__annotations__ if name not in FLAGS)


def arguments_of(chosen: Mapping[str, Any]) -> list[str]:
    """For the command line of heddle."""
    found: list[str] = []
    for key, value in chosen.items():
        name = key.replace("_", "-")
        if key in FLAGS:
            found += [f"--{name}"] if value else []
        elif key not in VALUES:
            raise HeddleError(f"unknown option {key}; the options are {', '.join((*VALUES, *FLAGS))}")
        elif value is not None:
            found.append(f"--{name}={value}")
    return found
