"""One pallas_call, core_map or mpmd_map: a KERNEL, and the arguments that its launch must be given."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Sequence

from jax.extend.core import Jaxpr, JaxprEqn

from ..c.kernel import Argument, Kernel, Windows
from ..c.names import Scope, c_name
from ..c.writer import Helpers, Writer
from ..errors import NOWHERE, Place, Unsupported
from ..mesh import Mesh
from . import windows as win
from .emitter import Emitter
from .jaxprs import Aval, argument_names, opened
from .scopes import allocation
from .source import place_of, place_of_function
from .spaces import kind_of, space_of
from .values import Scalar, Value, View
from .views import view_of

REFS_MAX = 64


def kernel_name(params: dict[str, Any], jaxpr: Jaxpr) -> str:
    if params.get("name"):
        return str(params["name"])
    info = params.get("name_and_src_info")
    if info is not None and getattr(info, "name", None):
        return str(info.name)
    match = re.match(r"([\w<>.]+)", str(getattr(jaxpr.debug_info, "func_src_info", "") or ""))
    return match[1].split(".")[-1] if match and "<" not in match[1] else "kernel"


def ref_names(jaxpr: Jaxpr) -> list[str]:
    return [name or f"ref_{i}" for i, name in enumerate(argument_names(jaxpr))]


def kernel_place(jaxpr: Jaxpr, eqn: JaxprEqn) -> Place:
    """Where the author's body begins; or, where pl.kernel hides it (JAX before 0.10), the author's first equation."""
    for body in [jaxpr, *(q.params["jaxpr"] for q in jaxpr.eqns if q.primitive.name == "run_scoped")]:
        place = place_of_function(body)
        if place.file:
            return place
    return next((p for p in map(place_of, [eqn, *jaxpr.eqns]) if p.file), NOWHERE)


def compiler_options(params: Any) -> dict[str, Any]:
    """compiler_params as a dict: an object, None, or (JAX before 0.9) a dict by backend."""
    given = params.get("compiler_params")
    if given is None:
        return {}
    if hasattr(given, "items"):
        by_backend: Any = dict(given)
        given = by_backend.get("mosaic_tpu", by_backend)
        if hasattr(given, "items"):
            return dict(given.items())
    return {f.name: getattr(given, f.name) for f in dataclasses.fields(given)}


def aliases_of(eqn: JaxprEqn) -> dict[int, int]:
    """operand -> result; operands begin with the refs that a pallas_call closes over."""
    given = eqn.params.get("input_output_aliases") or ()
    pairs = given.items() if hasattr(given, "items") else given
    before = len(opened(eqn.params["jaxpr"]).constvars) if eqn.primitive.name == "pallas_call" else 0
    return {int(i) + before: int(o) for i, o in pairs}


def launch_options(options: dict[str, Any], grid: Sequence[int | None]) -> list[str]:
    found = []
    if options.get("collective_id") is not None:
        found.append(f".collective_id = {int(options['collective_id'])}")
    for name in ("skip_device_barrier", "allow_collective_id_without_custom_barrier"):
        if options.get(name):
            found.append(f".{name} = true")
    semantics = [str(getattr(s, "value", s)).lower() for s in options.get("dimension_semantics") or ()]
    if any(s in ("parallel", "core_parallel") for s in semantics) and grid:
        names = ["PL_PARALLEL" if s in ("parallel", "core_parallel") else "PL_ARBITRARY" for s in semantics[: len(grid)]]
        found.append(f".dimension_semantics = {{{', '.join(names)}}}")
    return found


RESIDENT = ("vmem", "smem")  # where arrays may stay between launches, if a kernel says so of its results


class KernelBuilder:
    def __init__(
        self,
        mesh: Mesh,
        helpers: Helpers,
        taken: Scope,
        grid_bounds: Sequence[int | None] = (),
        cores: int = 1,
        spaces: tuple[Sequence[str], Sequence[str]] = ((), ()),
    ) -> None:
        """grid_bounds: None: PROGRAM computes it. spaces: where the operands are, and where the results will be."""
        self.spaces = {"operand": list(spaces[0]), "result": list(spaces[1])}
        self.mesh = mesh
        self.cores = cores
        self.helpers = helpers
        self.taken = taken
        self.grid_bounds = list(grid_bounds)
        self.scope = Scope()
        self.parameters: list[str] = []
        self.arguments: list[Argument] = []
        self.functions: list[Writer] = []
        self.name = ""
        self.place = NOWHERE

    def ref(self, wanted: str, argument: Argument, aval: Aval, space: str) -> View:
        """A parameter of the kernel."""
        name = self.scope.take(wanted, "ref")
        self.parameters.append(name)
        self.arguments.append(argument)
        return view_of(name, aval, space)

    def emitter(self, place: Place, core_axis: str | None = None) -> Emitter:
        e = Emitter(self.mesh, self.helpers, Writer(depth=1, place=place), self.scope, core_axis)
        e.place = place
        return e

    # pallas_call

    def pallas_call(self, eqn: JaxprEqn) -> Kernel:
        params, jaxpr = eqn.params, opened(eqn.params["jaxpr"])
        mapping, place = params["grid_mapping"], place_of(eqn)
        grid = self._grid(mapping, place)
        self.name, self.place = kernel_name(params, jaxpr), kernel_place(jaxpr, eqn)
        e = self.emitter(place)
        e.grid_axes = tuple(getattr(mapping, "grid_names", None) or ())
        closed = [self._closed_over(i, v.aval) for i, v in enumerate(jaxpr.constvars)]
        refs = self._refs(e, jaxpr, mapping, ref_names(jaxpr), grid)
        mapped = tuple(getattr(mapping, "vmapped_dims", ()))  # of vmap: index maps know of them, the kernel does not
        if mapped:
            ids = [e.variable(f"program_id_{i}", Scalar(f"pl_program_id({i})", "int32")) for i in range(len(grid))]
            e.grid = [v for i, v in enumerate(ids) if i not in mapped]
            e.sizes = [n for i, n in enumerate(grid) if i not in mapped and n is not None]
            if None in grid:
                raise Unsupported("vmap of a kernel whose grid depends on an input with a domain", place, "call the kernel without vmap")
        e.run(jaxpr, refs, closed)
        kernel = self.finish(eqn, jaxpr, e, grid, compiler_options(params))
        if self.cores > 1 and not any("PL_PARALLEL" in o for o in kernel.options):
            kernel.options.append(".one_core = true")  # no dimension of the grid is parallel: one core does it all
        kernel.aliases = aliases_of(eqn)
        return kernel

    def _grid(self, mapping: Any, place: Place) -> tuple[int | None, ...]:
        bounds = list(self.grid_bounds)
        grid = tuple(int(d) if isinstance(d, int) else bounds.pop(0) for d in mapping.grid)
        if len(grid) > 8:
            raise Unsupported("a grid of more than 8 dimensions", place)
        return grid

    def finish(self, eqn: JaxprEqn, jaxpr: Jaxpr, e: Emitter, grid: tuple[int | None, ...], options: dict[str, Any]) -> Kernel:
        name = self.taken.take(kernel_name(eqn.params, jaxpr), "kernel")
        if len(self.parameters) > REFS_MAX:
            raise Unsupported(f"a kernel of {len(self.parameters)} refs (at most {REFS_MAX})", place_of(eqn))
        options_of_launch = launch_options(options, grid)
        return Kernel(
            name, self.parameters, self.arguments, e.out, kernel_place(jaxpr, eqn), grid, options_of_launch, functions=self.functions
        )

    def _closed_over(self, i: int, aval: Aval) -> View:
        """A ref that the kernel closes over: it comes before the operands, and stays in its memory space."""
        return self.ref(f"ref_{i}", Argument("operand", i), aval, self.stays("operand", i) or "any")

    def stays(self, kind: str, index: int) -> str:
        """The memory space of an operand or a result that is in VMEM or SMEM between launches; empty: it is not."""
        given = self.spaces.get(kind, [])
        return given[index] if index < len(given) and given[index] in RESIDENT else ""

    def _refs(self, e: Emitter, jaxpr: Jaxpr, mapping: Any, names: list[str], grid: tuple[int | None, ...]) -> list[Value]:
        """The refs of the body: arrays, windows of arrays, scratch. Prefetched scalars come first."""
        refs: list[Value] = []
        prefetch, inputs, outputs = mapping.num_index_operands, mapping.num_inputs, mapping.num_outputs
        before = len(jaxpr.constvars)
        for i, v in enumerate(jaxpr.invars):
            if i < prefetch:
                refs.append(self.window(v.aval, names[i], Argument("operand", before + i), "smem"))
            elif i < prefetch + inputs + outputs:
                block = mapping.block_mappings[i - prefetch]
                output = i >= prefetch + inputs
                argument = Argument("result", i - prefetch - inputs) if output else Argument("operand", before + i)
                refs.append(self._block(e, v.aval, names[i], argument, block, grid, refs[:prefetch]))
            else:
                refs.append(self.scratch(e, v.aval, names[i]))
        return refs

    def scratch(self, e: Emitter, aval: Aval, name: str) -> View:
        text = "pl_barrier_semaphore()" if kind_of(aval) == "barrier" else allocation(aval, e)
        return self.ref(name, Argument("scratch", text=text), aval, space_of(aval, place=e.place))

    def _block(
        self, e: Emitter, aval: Aval, name: str, argument: Argument, block: Any, grid: tuple[int | None, ...], prefetched: Sequence[Value]
    ) -> View:
        ref = getattr(block, "transformed_block_aval", aval)
        if getattr(block, "transforms", ()):
            raise Unsupported("a BlockSpec with transforms", e.place)
        space = space_of(aval)
        if kind_of(aval):
            return self.ref(name, argument, aval, space)
        dimensions = win.dimensions_of(block, e.place)
        whole = all(d.size == d.whole and not d.squeezed for d in dimensions)
        if space in ("any", "hbm"):
            if not whole:
                raise Unsupported(
                    f"a block of {name} that stays in {space.upper()}",
                    e.place,
                    "leave the block's shape out, and slice the ref in the kernel",
                )
            return self.ref(name, argument, aval, space)
        if whole and self.stays(argument.kind, argument.index) == space:
            return self.ref(name, argument, aval, space)
        index_map = block.index_map_jaxpr
        written = place_of_function(opened(index_map))
        place = written if written.file else self.place  # the kernel's, if JAX made the map up
        buffers, revisit = win.pipeline_of(block, e.place)
        windows = Windows(place, argument.kind == "result", space, dimensions, buffers=buffers, revisit=revisit)
        if dimensions and not win.is_first(index_map):
            windows.index = self._index_function(name, index_map, grid, prefetched, place)
        return self.window(ref, name, argument, space, windows)

    def _index_function(self, name: str, index_map: Any, grid: Sequence[int | None], prefetched: Sequence[Value], place: Place) -> str:
        function = self.taken.take(f"{self.name}_{c_name(name)}_block", "block")
        e = self.emitter(place)
        e.scope = Scope()
        for c in ("step", "block", "refs"):
            e.scope.take(c)
        found = [dataclasses.replace(v, text=f"refs[{self.parameters.index(v.text)}]") for v in prefetched if isinstance(v, View)]
        self.functions.append(win.index_function(e, function, index_map, grid, found))
        return function

    def window(self, aval: Aval, name: str, argument: Argument, space: str, windows: Windows | None = None) -> View:
        """windows None: one window of the whole array."""
        seen = windows or Windows(self.place, argument.kind == "result", space, [])
        return self.ref(name, dataclasses.replace(argument, windows=seen), aval, space)
