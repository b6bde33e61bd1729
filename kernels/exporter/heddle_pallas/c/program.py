"""The whole C file: values of inputs, helpers, kernels, and the PROGRAM that launches them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import NOWHERE, Place, Unsupported
from ..mesh import Mesh
from .kernel import Kernel, Windows
from .names import Scope, c_name
from .types import c_type, is_float, literal, pl_type
from .writer import Helpers, Writer

TABLE_ELEMENTS_MAX = 1024


@dataclasses.dataclass
class Domain:
    """The values of an input: each element is any integer from `least` to `greatest`. same: on all devices."""

    least: int
    greatest: int
    same: bool


@dataclasses.dataclass
class Array:
    """One array of each device: handed in, or made by a kernel."""

    name: str
    shape: tuple[int, ...]
    dtype: DTypeLike
    given: bool  # an input
    values: NDArray[Any] | None = None  # of an input: stacked; None: left to the checker's generator
    semaphore: str = ""  # its kind, if it is one
    space: str = "any"  # "vmem" or "smem" if a kernel's result stays there
    domain: Domain | None = None  # of an input: the checker tries many values
    constant: bool = False  # an input that no argument decides


@dataclasses.dataclass
class Constraint:
    """What holds of inputs: a C function of these arrays."""

    function: str
    arrays: list[Array]
    words: str


@dataclasses.dataclass
class GridSize:
    """The size of a grid that PROGRAM computes: a C function of these arrays."""

    function: str
    arrays: list[Array]


@dataclasses.dataclass
class Launch:
    kernel: Kernel
    operands: list[Array]
    results: list[Array]
    devices: tuple[int, ...] | None = None  # None: all
    sizes: list[GridSize] = dataclasses.field(default_factory=list)  # what stands for None in the kernel's grid


@dataclasses.dataclass
class Host:
    """Plain computation between launches, on each device alone: a kernel that takes these arrays as they are."""

    kernel: Kernel
    arrays: list[Array]


@dataclasses.dataclass
class Expected:
    """What an array must hold in the end."""

    array: Array
    values: NDArray[Any] | Array  # stacked; or what that array holds
    tolerance: float


@dataclasses.dataclass
class Program:
    mesh: Mesh
    cores: int = 1
    arrays: list[Array] = dataclasses.field(default_factory=list)
    steps: list[Launch | Host] = dataclasses.field(default_factory=list)
    expected: list[Expected] = dataclasses.field(default_factory=list)
    constraints: list[Constraint] = dataclasses.field(default_factory=list)
    helpers: Helpers = dataclasses.field(default_factory=Helpers)


class Data:
    """Values of inputs: small ones as tables in the text, large ones in one file beside it."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.text = Writer()

    def give(self, array: Array, name: str, values: NDArray[Any], expected: bool = False) -> str:
        """Defines a function of those values, for pl_fill or for pl_expect_values."""
        function, refs = ("expected", "const PlRef *refs, ") if expected else ("given", "")
        head = f"static double {function}_{name}({refs}int device, const int64_t *index)"
        unused = f"{'(void)refs, ' if expected else ''}(void)device, (void)index;"
        table = f"{name}_expected" if expected else f"{name}_values"
        self._define(array, head, unused, table, np.asarray(values).reshape(-1))
        return f"{function}_{name}"

    def _define(self, array: Array, head: str, unused: str, table: str, values: NDArray[Any]) -> None:
        wide = values.astype(np.float64 if str(array.dtype) == "float64" else np.float32) if is_float(array.dtype) else values
        if str(wide.dtype) == "bool":
            wide = wide.astype(np.uint8)
        self._check_exact(array, wide)
        c = c_type(wide.dtype)
        if wide.size and (wide == wide[0]).all():
            value, lines = literal(wide[0], wide.dtype), []
        elif wide.size <= TABLE_ELEMENTS_MAX:
            value, lines = (
                f"{table}[{_position(array)}]",
                [f"static const {c} {table}[] = {{ {', '.join(literal(x, wide.dtype) for x in wide)} }};"],
            )
        else:
            value, lines = f"{table}[{_position(array)}]", self._beside(table, c, wide)
        for line in lines:
            self.text(line)
        self.text(head)
        with self.text.block(""):
            self.text(unused)
            self.text(f"return {value};")
        self.text("")

    def _beside(self, table: str, c: str, values: NDArray[Any]) -> list[str]:
        """In the file beside the text, which the assembler includes."""
        start, size = len(self.bytes), values.nbytes
        self.bytes += np.ascontiguousarray(values).tobytes()
        self.bytes += bytes(-len(self.bytes) % 8)
        return [
            f'extern const {c} {table}[] __attribute__((visibility("hidden")));',
            '__asm__(".pushsection .rodata\\n.balign 8\\n"',
            f'        "{table}: .incbin \\"" HEDDLE_DATA "\\", {start}, {size}\\n.popsection\\n");',
        ]

    def _check_exact(self, array: Array, wide: NDArray[Any]) -> None:
        if str(wide.dtype) in ("int64", "uint64") and wide.size and (np.abs(wide.astype(np.float64)) > 2**53).any():
            raise Unsupported(f"values beyond 2^53 in the input {array.name}")


def _position(array: Array) -> str:
    text = "device"
    for d, size in enumerate(array.shape):
        text = f"({text} * INT64_C({size}) + index[{d}])"
    return text


class ProgramWriter:
    def __init__(self, program: Program, name: str, summary: str, place: Place = NOWHERE, opaque: bool = False) -> None:
        self.program = program
        self.name = c_name(name, "program")
        self.summary = summary
        self.place = place
        self.opaque = opaque
        self.data = Data()
        self.body = Writer(depth=1)
        self.kernels = Writer()
        self.scope = Scope()
        self.refs: dict[int, str] = {}
        self.written: list[Kernel] = []

    def write(self) -> tuple[Writer, bytes]:
        """The text, and the bytes of the file beside it (possibly none)."""
        for array in self.program.arrays:
            self._declare(array)
        for constraint in self.program.constraints:
            self.body(f'pl_require({self._call(constraint.function, constraint.arrays)}, "{_quoted(constraint.words)}");')
        self.body("")
        for step in self.program.steps:
            if isinstance(step, Launch):
                self._launch(step)
            else:
                self._host(step)
        for expected in self.program.expected:
            self._expect(expected)
        out = Writer()
        self._head(out)
        out.add(self.data.text)
        for helper in self.program.helpers.text.values():
            out(helper)
        out.add(self.kernels)
        out.place = self.place
        out(f'PROGRAM({self.name}, "{_quoted(self.summary)}")')
        out.place = NOWHERE
        with out.block(""):
            out(_needs(self.program.mesh, self.program.cores))
            out.add(self.body)
        return out, bytes(self.data.bytes)

    def _head(self, out: Writer) -> None:
        out(f"/* {self.name}: exported from Python by heddle-pallas, for the mesh {self.program.mesh}. */")
        out("#include <heddle/pallas.h>")
        out("#include <math.h>")
        if self.data.bytes:
            out("#ifndef HEDDLE_DATA                             /* the inputs' values, in a file beside this one */")
            out('#define HEDDLE_DATA __FILE__ ".data"')
            out("#endif")
        out("")

    def _declare(self, array: Array) -> None:
        name = self.refs[id(array)] = self.scope.take(array.name, "x")
        dims = [str(d) for d in array.shape]
        if array.semaphore:
            kind = f"PL_{array.semaphore.upper()}"
            self.body(f"PlRef {name} = pl_semaphore_output({', '.join([kind, *dims])});")
            return
        if array.domain is not None:
            kind = "pl_table_among_in" if array.domain.same else "pl_input_among_in"
            limits = [literal(array.domain.least, "int64"), literal(array.domain.greatest, "int64")]
            self.body(f"PlRef {name} = {kind}({', '.join(['PL_ANY', pl_type(array.dtype), *limits, *dims])});")
            self.body(f'pl_named({name}, "{name}");')
            return
        role = "pl_input(" if array.given else "pl_output(" if array.space == "any" else f"pl_output_in(PL_{array.space.upper()}, "
        self.body(f"PlRef {name} = {role}{', '.join([pl_type(array.dtype), *dims])});")
        if array.given and array.values is not None:
            self.body(f"pl_fill({name}, {self.data.give(array, name, array.values)});")
        if array.constant and not is_float(array.dtype):
            self.body(f"pl_constant({name});")
        if self.opaque and is_float(array.dtype):
            self.body(f"pl_opaque({name});")

    def _call(self, function: str, arrays: list[Array]) -> str:
        return f"{function}({', '.join(self.refs[id(a)] for a in arrays)})"

    def _expect(self, expected: Expected) -> None:
        if not (self.opaque and is_float(expected.array.dtype)):
            name = self.refs[id(expected.array)]
            if isinstance(expected.values, Array):
                self.body(f"pl_expect_same({name}, {self.refs[id(expected.values)]}, {expected.tolerance:g});")
                return
            given = self.data.give(expected.array, name, expected.values, True)
            self.body(f"pl_expect_values({name}, {given}, {expected.tolerance:g}, {name});")

    def _define(self, kernel: Kernel) -> None:
        """Writes a kernel once, however often it is launched."""
        if all(kernel is not k for k in self.written):
            self.written.append(kernel)
            kernel.text(self.kernels)
            self.kernels("")

    def _launch(self, step: Launch) -> None:
        kernel = step.kernel
        self._define(kernel)
        arguments = []
        for argument, name in zip(kernel.arguments, kernel.parameters):
            if argument.kind == "scratch":
                arguments.append(self.scope.take(name))
                self.body(f"PlRef {arguments[-1]} = {argument.text};")
            else:
                array = (step.operands if argument.kind == "operand" else step.results)[argument.index]
                arguments.append(self.refs[id(array)] if argument.windows is None else self._windows(argument.windows, name, array))
        options = list(kernel.options)
        if kernel.grid:
            computed = [self._call(size.function, size.arrays) for size in step.sizes]
            sizes = [str(size) if size is not None else computed.pop(0) for size in kernel.grid]
            options.insert(0, f".grid = {{{', '.join(sizes)}}}")
        self.body.place = kernel.place
        call = "pl_launch(" if step.devices is None else f"pl_launch_on(pl_devices({', '.join(map(str, step.devices))}), "
        self.body(f"{call}{', '.join([kernel.name, *options])}, .args = {{{', '.join(arguments)}}});")
        self.body.place = NOWHERE

    def _windows(self, windows: Windows, name: str, array: Array) -> str:
        blocks = self.scope.take(f"{name}_blocks")
        self.body.place = windows.place
        self.body(f"PlRef {blocks} = pl_windows({self.refs[id(array)]}{windows.options()});")
        self.body.place = NOWHERE
        return blocks

    def _host(self, step: Host) -> None:
        self._define(step.kernel)
        self.body(f"pl_host({', '.join([step.kernel.name, *(self.refs[id(a)] for a in step.arrays)])});")


def _needs(mesh: Mesh, cores: int) -> str:
    parts = [f"pl_num_devices() == {mesh.devices}"]
    if len(mesh.names) > 1:
        parts += [f'pl_axis_size("{n}") == {s}' for n, s in zip(mesh.names, mesh.sizes)]
    parts.append(f"pl_num_cores() == {cores}")
    what = f"exported for the mesh {mesh}" + (f" with {cores} cores a device" if cores > 1 else "")
    return f'PL_NEEDS({" && ".join(parts)}, "{what}");'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
