"""What plain JAX alone computes of a function: values on all devices, stacked."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from jax.extend.core import JaxprEqn, Literal, Var
from numpy.typing import ArrayLike, NDArray

from ..c.program import Array
from ..lower.jaxprs import Atom
from ..mesh import Mesh
from . import evaluate
from .equations import KERNELS, REFS, Equation, State, inputs_of, variables


class Known:
    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.values: dict[Var, NDArray[Any]] = {}
        self.inputs: dict[Var, Array] = {}  # what was handed in
        self.of_arguments: set[Var] = set()  # what was computed from what was handed in
        self.generated: list[str] = []  # inputs whose values were generated here, since plain JAX reads them

    def __contains__(self, v: Var) -> bool:
        return v in self.values

    def add_constant(self, v: Var, value: ArrayLike) -> None:
        """The same on all devices."""
        self.values[v] = self._everywhere(np.asarray(value))

    def _everywhere(self, value: NDArray[Any]) -> NDArray[Any]:
        return np.broadcast_to(value, (self.mesh.devices, *value.shape))

    def value(self, atom: Atom) -> NDArray[Any]:
        return self._everywhere(np.asarray(atom.val, atom.aval.dtype)) if isinstance(atom, Literal) else self.values[atom]

    def is_of_argument(self, atom: Atom) -> bool:
        return atom in self.inputs or atom in self.of_arguments

    def find(self, v: Var) -> bool:
        """Is its value known? An input without values gets generated ones here, since plain JAX reads it."""
        if v in self.values:
            return True
        array = self.inputs.get(v)
        if array is None or array.semaphore or array.domain is not None:
            return False
        if array.values is None:
            array.values = evaluate.generated(self.mesh.devices, len(self.generated), array.shape, array.dtype)
            self.generated.append(array.name)
        self.values[v] = array.values
        return True

    def compute(self, eqns: Sequence[JaxprEqn], outputs: Sequence[Var]) -> None:
        """Computes the outputs from known values."""
        inputs = inputs_of(eqns)

        def on_one(*values: Any) -> list[Any]:
            local = dict(zip(inputs, values))
            evaluate.run_equations(eqns, local)
            return [local[v] for v in outputs]

        if any(self.is_of_argument(v) for v in inputs):
            self.of_arguments.update(outputs)
        found = evaluate.on_all_devices(self.mesh, on_one, [self.values[v] for v in inputs])
        self.values.update(zip(outputs, found))

    def decided(self, atom: Atom, before: Sequence[Equation]) -> NDArray[Any] | None:
        """Its values, if earlier equations of plain JAX alone compute it; else None."""
        if isinstance(atom, Literal):
            return self.value(atom)
        needed: list[JaxprEqn] = []
        missing = {atom} - self.values.keys()
        for eqn in reversed(before):
            if any(v in missing for v in eqn.outvars):
                if isinstance(eqn, State) or eqn.primitive.name in KERNELS | REFS:
                    return None
                needed.append(eqn)
                missing -= set(eqn.outvars)
                missing |= {v for v in variables(eqn.invars) if v not in self.values}
        if not all(self.find(v) for v in missing):
            return None
        if needed:
            self.compute(needed[::-1], [atom])
        return self.values[atom]
