"""The package from the source tree, if it is not installed, and helpers of all tests."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))
try:
    import heddle_pallas  # noqa: F401
except ImportError:
    sys.path.insert(0, str(TREE / "kernels" / "exporter"))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TREE / "kernels" / "exporter"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    pytest_plugins = ["heddle_pallas.frontend.plugin"]

sys.dont_write_bytecode = True
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")


@pytest.fixture
def numbers():
    """Small whole numbers as floats: sums are exact in any order."""
    generator = np.random.default_rng(1)
    return lambda *shape: generator.integers(0, 50, shape).astype(np.float32)


@pytest.fixture
def interpreted():
    """The function through JAX's interpreter of Pallas, on one device."""
    import jax
    from jax.experimental.pallas import tpu as pltpu

    def through(function):
        def run(*arguments):
            with pltpu.force_tpu_interpret_mode():
                return jax.jit(function)(*arguments)

        return run

    return through
