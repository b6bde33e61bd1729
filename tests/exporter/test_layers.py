"""The rooms of the package: who imports whom, read from its source."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "kernels" / "exporter" / "heddle_pallas"
ROOMS = ["", "c", "lower", "trace", "frontend"]  # from below: a room imports itself and those before it; "": what all may use
ABOVE_ALL = {"__init__", "__main__"}

START_UP = "JAX takes seconds to import: --help, replay, a missing JAX and every other pytest run do without"
VERSIONS = "not in all versions of JAX"
INSIDE_FUNCTIONS = {
    "frontend.cli": ({"numpy", "jax", "frontend.api", "frontend.report", "trace.tracing"}, START_UP),
    "frontend.init": ({"frontend.api", "trace.tracing"}, START_UP),
    "frontend.plugin": ({"frontend.api", "frontend.capturing", "frontend.report", "trace.tpus"}, START_UP),
    "frontend.given": ({"hypothesis", "hypothesis.strategies"}, "an extra of the package"),
    "frontend.capturing": ({"jax._src.pallas"}, VERSIONS),
    "frontend.interpreter": ({"jax._src", "jax._src.interpreters"}, VERSIONS),
    "frontend.manifest": ({"tomllib"}, "Python 3.10 has none"),
}


def modules(package):
    """Name, such as c.writer -> syntax tree."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts)] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(name, tree, names):
    """(what is imported, is it inside a function): our modules by their names here, all else by its own."""
    room = name.split(".")[:-1]
    inside = {n for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) for n in ast.walk(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module, node in inside
        elif isinstance(node, ast.ImportFrom):
            base = [*room[: len(room) - node.level + 1], *(node.module or "").split(".")]
            base = [part for part in base if part]
            deeper = [".".join([*base, alias.name]) for alias in node.names]
            yield from ((module if module in names else ".".join(base), node in inside) for module in deeper)


def room_of(name):
    return len(ROOMS) if name in ABOVE_ALL else ROOMS.index(name.rpartition(".")[0])


def upward(package):
    found = modules(package)
    return {
        (name, other)
        for name, tree in found.items()
        for other, _ in imports(name, tree, found)
        if other in found and room_of(other) > room_of(name)
    }


def circles(package):
    """Modules that import themselves, at last; a package's __init__ aside, which only collects them."""
    found = modules(package)
    graph = {n: {o for o, _ in imports(n, tree, found) if o in found} for n, tree in found.items() if not n.endswith("__init__")}
    while True:
        leaves = {n for n, others in graph.items() if not others & graph.keys()}
        if not leaves:
            return set(graph)
        graph = {n: others for n, others in graph.items() if n not in leaves}


def inside_functions(package):
    found = modules(package)
    listed = {(name, other) for name, (others, _) in INSIDE_FUNCTIONS.items() for other in others}
    return {(name, other) for name, tree in found.items() for other, inside in imports(name, tree, found) if inside} ^ listed


def test_rooms_import_what_is_below():
    assert not upward(PACKAGE)


def test_no_circle():
    assert not circles(PACKAGE)


def test_imports_inside_functions_are_listed():
    assert not inside_functions(PACKAGE)


def test_command_and_plugin_start_without_jax():
    code = "import sys, heddle_pallas, heddle_pallas.frontend.cli, heddle_pallas.frontend.plugin; sys.exit('jax' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})


def test_the_table_of_handlers_is_a_leaf():
    found = modules(PACKAGE)
    assert {other for other, _ in imports("lower.table", found["lower.table"], found) if other in found} == {"lower.values"}


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("c/writer.py", "from ..lower.values import Scalar", upward),
        ("c/names.py", "from . import program", circles),
        ("errors.py", "from .mesh import Mesh", circles),
        ("trace/plan.py", "def late():\n    from .around import Around", inside_functions),
    ],
)
def test_what_is_noticed(tmp_path, file, line, complaint):
    package = tmp_path / "heddle_pallas"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "bin"))
    with open(package / file, "a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")
    assert complaint(package)
