"""Conditions, loops, scopes and calls, kept as such.

A value that a branch or a loop hands on is a C variable if it can be one in every branch and round, else a tile: what a loop does is tried
with C variables first, and written again with tiles where that does not fit.
"""

from __future__ import annotations

from typing import Any, Sequence

from jax._src import core as jax_core

from . import demand
from .emitter import Emitter, handles, is_pure
from .errors import Unsupported
from .names import Scope, c_name
from .spaces import kind_of, space_of
from .types import c_type, pl_type
from .values import ADD, EQUALITY, PRIMARY, RELATION, Scalar, Tile, Value, View, number
from .writer import Writer


def condition(value: Scalar) -> str:
    return value.truth if value.truth is not None else value.text if str(value.dtype) == "bool" else f"{value.at(EQUALITY + 1)} != 0"


# Calls that are written out in place

@handles("jit", "pjit", "closed_call", "core_call", "remat", "checkpoint", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
         "jaxpr_call", "remat2")
def _call(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    inner = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr") or eqn.params.get("fun_jaxpr")
    if inner is None:
        raise Unsupported(f"the call {eqn.primitive.name}", e.place)
    steers = [v in e.block.steers for v in eqn.outvars]
    text = function_of_scalars(e, eqn, inner, operands)
    if text is not None:
        return [Scalar(text, eqn.outvars[0].aval.dtype)]
    return e.run(inner, operands, [_constant(e, c) for c in getattr(inner, "consts", ())], steers)


def function_of_scalars(e: Emitter, eqn: Any, closed: Any, operands: list[Value]) -> str | None:
    """A call that makes one number of several, such as jnp's % : a C function, written once."""
    jaxpr = getattr(closed, "jaxpr", closed)
    plain = all(isinstance(o, Scalar) and c_type(o.dtype) for o in operands) and len(operands) == len(jaxpr.invars) > 0
    if not plain or len(eqn.outvars) != 1 or not is_pure(eqn) or len(jaxpr.eqns) < 3 or not c_type(eqn.outvars[0].aval.dtype):
        return None
    if getattr(closed, "consts", ()) or not demand.is_scalar(eqn.outvars[0]) or not all(_plain_equation(q) for q in jaxpr.eqns):
        return None
    if all(isinstance(o, Scalar) and o.value is not None for o in operands):
        return None                                     # a constant, it will turn out
    kept, out, scope = e.scope, e.out, Scope()
    e.scope, e.out = scope, Writer()
    e.out.depth = 1
    names = [scope.take("abcdefgh"[i] if i < 8 else f"a{i}") for i in range(len(operands))]
    inner, e.known_copies = e.known_copies, []
    (result,) = e.run(jaxpr, [Scalar(n, v.aval.dtype) for n, v in zip(names, jaxpr.invars)], (), [True])
    body, e.known_copies, e.scope, e.out = e.out, inner, kept, out
    if not isinstance(result, Scalar) or "pl_" in body.text(lines=False):
        return None
    given = ", ".join(f"{c_type(v.aval.dtype)} {n}" for n, v in zip(names, jaxpr.invars))
    text = body.text(lines=False) if len(body) else ""
    body_text = f"({given})\n{{\n{text}    return {result.text};\n}}\n"
    name = e.helpers.function(c_name(f"{eqn.params.get('name') or 'call'}_{jaxpr.invars[0].aval.dtype}"),
                              f"static inline {c_type(eqn.outvars[0].aval.dtype)} ", body_text)
    return f"{name}({', '.join(o.text for o in operands)})"


def _plain_equation(eqn: Any) -> bool:
    inner = eqn.params.get("jaxpr") if eqn.primitive.name in ("jit", "pjit") else None
    if inner is not None:
        return all(_plain_equation(q) for q in inner.jaxpr.eqns)
    return all(demand.is_scalar(v) for v in [*eqn.invars, *eqn.outvars]) and (
        eqn.primitive.name not in ("cond", "while", "scan", "axis_index", "program_id", "num_programs", "multiple_of"))


def _constant(e: Emitter, value: Any) -> Value:
    from .hosts import constant
    return constant(e, value)


# Conditions

def _branch(e: Emitter, jaxpr: Any, operands: Sequence[Value], steers: Sequence[bool], named: bool = True) -> tuple[Writer, list[Value]]:
    part = e.out.sub()
    part.depth += 1
    outer, copies = e.scope, len(e.known_copies)
    e.scope = Scope(outer)
    with e.writing_to(part):
        results = e.run(jaxpr, operands, [_constant(e, c) for c in jaxpr.consts], steers, named)
    e.scope = outer
    del e.known_copies[copies:]
    return part, results


@handles("cond")
def _cond(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    which, rest = e.steering(operands[0], "a condition"), operands[1:]
    branches = eqn.params["branches"]
    if which.value is not None:
        chosen = branches[min(max(int(which.value), 0), len(branches) - 1)]
        return e.run(chosen, rest, [_constant(e, c) for c in chosen.consts], [v in e.block.steers for v in eqn.outvars])
    steers = [v in e.block.steers for v in eqn.outvars]
    place = e.out.place
    names = [e.scope.take(e.block.names.get(v) or "chosen") for v in eqn.outvars]      # before the branches take them for their own
    written = [_branch(e, b, rest, steers) for b in branches]
    results = [_merge(e, v, name, [values[i] for _, values in written]) for i, (v, name) in enumerate(zip(eqn.outvars, names))]
    for part, values in written:
        part.place = place
        for result, value in zip(results, values):
            if not isinstance(result, View) and result.text:
                part(f"{result.text} = {e.tile(value).text if isinstance(result, Tile) else value.text};")
    if len(branches) == 2:
        _write_if(e, condition(which), written[1][0], written[0][0])
    else:
        _write_switch(e, which, [part for part, _ in written])
    return results


def _merge(e: Emitter, var: Any, name: str, values: list[Value]) -> Value:
    """The variable that the branches assign."""
    if any(isinstance(v, View) for v in values):
        raise Unsupported("a condition that gives a ref", e.place)
    shape, dtype = tuple(var.aval.shape), var.aval.dtype
    if e.block.uses[var] == 0:
        return Tile("", shape, dtype)
    scalar = all(isinstance(v, Scalar) for v in values) and bool(c_type(dtype))
    e.out(f"{c_type(dtype) if scalar else 'PlTile'} {name};")
    return Scalar(name, dtype) if scalar else Tile(name, shape, dtype)


def _write_if(e: Emitter, test: str, yes: Writer, no: Writer) -> None:
    if not len(yes) and not len(no):
        return
    if not len(yes):
        test, yes, no = f"!({test})", no, yes
    e.out(f"if ({test}) {{")
    e.out.add(yes)
    if len(no):
        e.out("} else {")
        e.out.add(no)
    e.out("}")


def _write_switch(e: Emitter, which: Scalar, parts: list[Writer]) -> None:
    """The index is clamped, as in XLA."""
    which = e.simple(which)
    for i, part in enumerate(parts):
        test = f"{which.at(RELATION)} <= 0" if i == 0 else f"{which.at(EQUALITY)} == {i}"
        last = i + 1 == len(parts)
        e.out(f"if ({test}) {{" if i == 0 else "} else {" if last else f"}} else if ({test}) {{")
        e.out.add(part)
    e.out("}")


# Loops

class Loop:
    """Carried values as variables: those that fit are C variables, the others tiles."""

    def __init__(self, e: Emitter, init: Sequence[Value], steers: set[int], names: Sequence[str], fixed: Sequence[int] = ()) -> None:
        self.e = e
        self.init = list(init)
        self.names = list(names)
        self.fixed = set(fixed)                 # the loop hands these on as they are
        self.as_tile = [not isinstance(v, Scalar) and not (isinstance(v, Tile) and v.shape == () and i in steers and c_type(v.dtype))
                        for i, v in enumerate(init)]

    def declare(self, but: int | None = None) -> list[Value]:
        """The variables, with their first values, before the loop; `but` becomes one in the loop's head."""
        return [self._declare(i, value, i == but) for i, value in enumerate(self.init)]

    def _declare(self, i: int, value: Value, in_head: bool) -> Value:
        if isinstance(value, View):
            return value
        if i in self.fixed:
            return self.e.simple(value) if isinstance(value, Scalar) else (
                value if value.text.isidentifier() else self.e.tile_variable(self.names[i], value))
        if self.as_tile[i] and not in_head:
            name = self.e.scope.take(self.names[i], "t")
            tile = self.e.tile(value)
            self.e.out(f"PlTile {name} = {tile.text};")
            return Tile(name, tile.shape, tile.dtype)
        scalar = self.e.steering(value)
        name = self.e.scope.take(self.names[i], "v")
        if not in_head:
            self.e.out(f"{c_type(scalar.dtype)} {name} = {scalar.text};")
        return Scalar(name, scalar.dtype)

    def fits(self, results: Sequence[Value], keep: set[int]) -> bool:
        """False: some variable must be a tile after all; then the loop is to be written again."""
        fine = True
        for i, value in enumerate(results):
            if isinstance(value, Tile) and not self.as_tile[i] and i not in keep and i not in self.fixed:
                self.as_tile[i] = True
                fine = False
        return fine

    def assign(self, variables: Sequence[Value], results: Sequence[Value], skip: int | None = None) -> None:
        """All at once: a new value may be made of several old ones."""
        changed: list[tuple[Value, Value]] = [(v, self._as(v, r)) for i, (v, r) in enumerate(zip(variables, results))
                   if not isinstance(v, View) and i != skip and i not in self.fixed and v.text != r.text]
        if not changed:
            return
        if len(changed) == 1:
            variable, value = changed[0]
            self.e.out(f"{variable.text} = {value.text};")
            return
        old = {v.text for v, _ in changed}
        fresh: list[tuple[Value, Value]] = []
        for variable, value in changed:
            if value.text.isidentifier() and value.text not in old or isinstance(value, Scalar) and value.value is not None:
                fresh.append((variable, value))
            elif isinstance(value, Tile):
                fresh.append((variable, self.e.tile_variable(f"next_{variable.text}", value)))
            else:
                assert isinstance(value, Scalar)
                fresh.append((variable, self.e.variable(f"next_{variable.text}", value)))
        for variable, value in fresh:
            self.e.out(f"{variable.text} = {value.text};")

    def _as(self, variable: Value, result: Value) -> Value:
        return self.e.tile(result) if isinstance(variable, Tile) else self.e.steering(result)


def _carry_names(e: Emitter, eqn: Any, body: Any, count: int) -> list[str]:
    """From the variable that the loop's result is assigned to, else by kind."""
    found = []
    for i in range(count):
        var = eqn.outvars[i]
        found.append(e.block.names.get(var) or ("carry" if getattr(var.aval, "shape", ()) else "i"))
    return found


def _counter(jaxpr: Any, first: int, count: int) -> int | None:
    """Which carried scalar goes up by 1 in each round?"""
    for i in range(count):
        v, out = jaxpr.invars[first + i], jaxpr.outvars[i]
        if str(getattr(v.aval, "dtype", "")) not in ("int32", "int64", "uint32"):
            continue
        for eqn in jaxpr.eqns:
            if eqn.outvars == [out] and eqn.primitive.name == "add" and eqn.invars[0] is v and _is_one(eqn.invars[1]):
                return i
    return None


def _is_one(atom: Any) -> bool:
    return isinstance(atom, jax_core.Literal) and getattr(atom.aval, "shape", None) == () and int(atom.val) == 1


def _attempts(e: Emitter, loop: Loop, write: Any, keep: set[int]) -> list[Value]:
    """Writes the loop until its variables fit."""
    copies = len(e.known_copies)
    while True:
        part, outer = e.out.sub(), e.scope
        e.scope = Scope(outer)
        with e.writing_to(part):
            variables, results = write()
        del e.known_copies[copies:]
        trial, e.scope = e.scope, outer
        if loop.fits(results, keep):
            e.out.add(part)
            e.scope.absorb(trial)
            return list(variables)


@handles("scan")
def _scan(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    params = eqn.params
    consts, carry, length = params["num_consts"], params["num_carry"], params["length"]
    jaxpr = params["jaxpr"].jaxpr
    if len(jaxpr.invars) > consts + carry or len(jaxpr.outvars) > carry:
        from .scans import scan_over_arrays
        return scan_over_arrays(e, eqn, operands)
    steers = demand.demanded(jaxpr)
    steered = {i for i in range(carry) if jaxpr.invars[consts + i] in steers}
    fixed = [i for i in range(carry) if jaxpr.outvars[i] is jaxpr.invars[consts + i]]
    loop = Loop(e, operands[consts:], steered, _carry_names(e, eqn, jaxpr, carry), fixed)
    counter = _counter(jaxpr, consts, carry)
    start = operands[consts + counter] if counter is not None else None
    if counter is not None and (not isinstance(start, Scalar) or params["reverse"]):
        counter = None
    constants = [_constant(e, c) for c in params["jaxpr"].consts]

    def write() -> tuple[list[Value], list[Value]]:
        variables = loop.declare(counter)
        head = _scan_head(e, loop, variables, counter, length)
        with e.inside(head):
            results = e.run(jaxpr, [*operands[:consts], *variables], constants)
            loop.assign(variables, results, counter)
        return variables, results

    return _after_counting(e, loop, _attempts(e, loop, write, steered), counter, length)


def _scan_head(e: Emitter, loop: Loop, variables: list[Value], counter: int | None, length: int) -> str:
    if counter is None:
        name = e.scope.take("round", "i")
        return f"for (int {name} = 0; {name} < {length}; {name}++)"
    start, variable = loop.init[counter], variables[counter]
    assert isinstance(start, Scalar) and isinstance(variable, Scalar)
    end = str(int(start.value) + length) if start.value is not None else f"{start.at(ADD)} + {length}"
    return f"for ({c_type(start.dtype)} {variable.text} = {start.text}; {variable.text} < {end}; {variable.text}++)"


def _after_counting(e: Emitter, loop: Loop, variables: list[Value], counter: int | None, length: int) -> list[Value]:
    """What the counter is after the loop, where its variable is gone."""
    if counter is not None:
        start = loop.init[counter]
        assert isinstance(start, Scalar)
        known = None if start.value is None else int(start.value) + length
        variables[counter] = number(known) if known is not None else Scalar(f"{start.at(ADD)} + {length}", start.dtype, ADD)
    return variables


@handles("while")
def _while(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    params = eqn.params
    a, b = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    test_steers, body_steers = demand.demanded(test.jaxpr, [True]), demand.demanded(body.jaxpr)
    carry = len(operands) - b
    steered = {i for i in range(carry) if test.jaxpr.invars[a + i] in test_steers or body.jaxpr.invars[b - a + i] in body_steers}
    fixed = [i for i in range(carry) if body.jaxpr.outvars[i] is body.jaxpr.invars[b - a + i]]
    loop = Loop(e, operands[b:], steered, _carry_names(e, eqn, body.jaxpr, carry), fixed)
    counter = _counter(body.jaxpr, b - a, carry)
    if counter is not None and (not _counts_to(test.jaxpr, a + counter) or e.block.uses[eqn.outvars[counter]] > 0):
        counter = None
    head_constants, constants = [_constant(e, c) for c in test.consts], [_constant(e, c) for c in body.consts]

    def write() -> tuple[list[Value], list[Value]]:
        variables = loop.declare(counter)
        tested, (result,) = _branch(e, test, [*operands[:a], *variables], [True], False)
        plain = not len(tested)
        again = condition(e.steering(result)) if plain else ""
        with e.inside(_while_head(loop, variables, counter, again) if plain else "for (;;)"):
            if not plain:
                (found,) = e.run(test, [*operands[:a], *variables], head_constants, [True], False)
                e.out(f"if (!({condition(e.steering(found))}))")
                e.out("    break;")
            results = e.run(body, [*operands[a:b], *variables], constants)
            loop.assign(variables, results, counter if plain else None)
        return variables, results

    if counter is not None and not _is_plain(e, test, [*operands[:a], *operands[b:]]):
        counter = None
    return _attempts(e, loop, write, steered)


def _while_head(loop: "Loop", variables: list[Value], counter: int | None, test: str) -> str:
    if counter is None:
        return f"while ({test})"
    start = loop.e.steering(loop.init[counter])
    name = variables[counter].text
    return f"for ({c_type(start.dtype)} {name} = {start.text}; {test}; {name}++)"


def _counts_to(test: Any, at: int) -> bool:
    """Does the condition only compare the counter with a bound?"""
    return len(test.eqns) == 1 and test.eqns[0].primitive.name == "lt" and test.eqns[0].invars[0] is test.invars[at]


def _is_plain(e: Emitter, test: Any, operands: list[Value]) -> bool:
    tested, _ = _branch(e, test, operands, [True], False)
    return not len(tested)


# Scopes

@handles("run_scoped")
def _run_scoped(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    if eqn.params.get("collective_axes"):
        raise Unsupported("run_scoped with collective_axes", e.place)
    if any(eqn.params.get("ref_transforms") or ()):
        raise Unsupported("run_scoped of transformed refs", e.place)
    jaxpr = eqn.params["jaxpr"]
    arguments = list(getattr(jaxpr.debug_info, "arg_names", None) or ())
    results = [_outlives(e, eqn, i) for i in range(len(eqn.outvars))]
    with e.inside(""):
        refs = []
        for i, v in enumerate(jaxpr.invars):
            wanted = arguments[i] if i < len(arguments) and arguments[i] else "scratch"
            refs.append(allocate(e, v.aval, wanted))
        values = e.run(jaxpr, refs, operands, [v in e.block.steers for v in eqn.outvars])
        for result, value in zip(results, values):
            if isinstance(result, Tile) and result.text:
                e.out(f"pl_tile_assign({result.text}, {e.tile(value).text});")
            elif isinstance(result, Scalar):
                e.out(f"{result.text} = {e.steering(value).text};")
    return results


def _outlives(e: Emitter, eqn: Any, i: int) -> Value:
    """Tiles that a scope makes end with it; its results are copied out."""
    var = eqn.outvars[i]
    shape, dtype = tuple(var.aval.shape), var.aval.dtype
    if e.block.uses[var] == 0:
        return Tile("", shape, dtype)
    if shape == () and var in e.block.steers and c_type(dtype):
        name = e.scope.take(e.block.names.get(var) or "result", "v")
        e.out(f"{c_type(dtype)} {name};")
        return Scalar(name, dtype)
    dims = "".join(f", {d}" for d in shape)
    return e.tile_variable(e.block.names.get(var) or "result", Tile(f"pl_tile_empty({pl_type(dtype, e.place)}{dims})", shape, dtype))


def allocate(e: Emitter, aval: Any, wanted: str) -> View:
    """Scratch of the block that is open."""
    name = e.scope.take(wanted, "scratch")
    e.out(f"PL_SCOPED PlRef {name} = {allocation(aval, e)};")
    kind = kind_of(aval)
    return View(name, tuple(aval.shape), aval.dtype, "semaphore" if kind else space_of(aval, place=e.place), kind, name)


def allocation(aval: Any, e: Emitter) -> str:
    kind, dims = kind_of(aval), [str(d) for d in aval.shape]
    if kind == "barrier":
        raise Unsupported("a BARRIER semaphore in a scope", e.place, "use get_barrier_semaphore")
    if kind:
        return f"pl_{kind}_semaphore({', '.join(dims)})"
    space = space_of(aval, place=e.place)
    if space == "semaphore":
        raise Unsupported(f"a semaphore of type {aval.dtype}", e.place)
    return f"pl_{space}({', '.join([pl_type(aval.dtype, e.place), *dims])})"


# The grid

@handles("program_id", pure=True)
def _program_id(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    axis = int(eqn.params["axis"])
    return [e.grid[axis] if e.grid is not None else Scalar(f"pl_program_id({axis})", "int32")]


@handles("num_programs", pure=True)
def _num_programs(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    return [Scalar(f"pl_num_programs({int(eqn.params['axis'])})", "int32")]


@handles("axis_index", pure=True)
def _axis_index(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    name = eqn.params["axis_name"]
    if name == e.core_axis:
        return [Scalar("pl_core_index()", "int32")]
    names = name if isinstance(name, (tuple, list)) else (name,)
    if any(n not in e.mesh.names for n in names):
        raise Unsupported(f"the index along axis {name}, which the mesh {e.mesh} lacks,", e.place)
    text, level = f'pl_axis_index("{names[0]}")', PRIMARY
    for n in names[1:]:
        text, level = f'{text} * {e.mesh.size(n)} + pl_axis_index("{n}")', ADD
        text, level = f"({text})", PRIMARY
    return [Scalar(text, "int32", level)]


@handles("axis_size", pure=True)
def _axis_size(e: Emitter, eqn: Any, operands: list[Value]) -> list[Value]:
    return [number(e.mesh.size(eqn.params["axis_name"]))]
