"""The same verdicts and the same fault identifiers as the kernels that were written in C by hand."""

import functools
import json
import subprocess

import kernels_jax as jaxs
import kernels_memory as memory
import kernels_mixed as mixed
import kernels_protocols as protocols
import kernels_ring as rings
import numpy as np
import pytest
from heddle_pallas.frontend.binary import find_heddle
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

X = "f32[8,128]"
CHAIN, COLLIDING = [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (3, 2), (3, 0)]


def table(rows):
    return np.array(rows, np.int32)


def ragged(n):
    return table([[(i + 2 * j) % 3 for j in range(n)] for i in range(n)])


def ring(function, *shape):
    return function, lambda n: [f"f32[{','.join(str(d or n) for d in shape or (8, 128))}]"], [{"mesh": n} for n in (2, 4)]


def one(function, *arguments, cores=1):
    return function, lambda n: list(arguments) or [X], [{"mesh": 1, "cores": cores}]


def of(function, *sizes, arguments=None, **options):
    return functools.partial(function, **options), arguments or (lambda n: [X]), [{"mesh": n} for n in sizes]


CASES = {
    "right_permute": ring(rings.right_permute),
    "all_gather": ring(rings.all_gather),
    "all_gather_shared_semaphore": ring(rings.all_gather_shared_semaphore),
    "all_reduce": ring(rings.all_reduce),
    "all_reduce_no_capacity": ring(rings.all_reduce_no_capacity),
    "reduce_scatter": ring(rings.reduce_scatter, 0, 8, 128),
    "reduce_scatter_no_capacity": ring(rings.reduce_scatter_no_capacity, 0, 8, 128),
    "reduce_scatter_no_cleanup": ring(rings.reduce_scatter_no_cleanup, 0, 8, 128),
    "reduce_scatter_missing_wait": ring(rings.reduce_scatter_missing_wait, 0, 8, 128),
    "four_devices": of(rings.four_devices, 4),
    "permute_twice": of(protocols.permute_twice, 2, 5, double=True),
    "permute_twice_single_barrier": of(protocols.permute_twice, 4, 5),
    "jax_all_to_device_0": of(protocols.all_to_first, 2, 4),
    "jax_async_pair_local": of(protocols.asynchronous, 1, remote=False),
    "jax_async_pair_remote": of(protocols.asynchronous, 2, 4, remote=True),
    "jax_barrier_of_all": of(protocols.ready, 2, 4, barrier="all"),
    "jax_copy_beyond_hbm": one(memory.copy_beyond_the_source),
    "jax_copy_into_row_10": one(memory.copy_into_row_10),
    "jax_copy_into_rows_4_to_11": one(memory.copy_beyond_the_target),
    "jax_copy_into_smem_beyond": one(memory.copy_beyond_the_target_in_smem),
    "jax_copy_then_read": one(memory.copy_then_read),
    "jax_core_map": (functools.partial(mixed.core_map, cores=2), lambda n: ["f32[16,128]"], [{"mesh": n, "cores": 2} for n in (1, 8)]),
    "jax_direct_load": one(memory.direct_load_of_any),
    "jax_even_and_odd": of(jaxs.even_and_odd, 2, 4),
    "jax_fence_and_copy_to_the_left": of(protocols.one_sided, 2, 3, 4, to_the_left=True),
    "jax_fence_to_the_left": of(protocols.ready, 2, 3, 4, 5, barrier="right"),
    "jax_hbm_of_a_scope": one(jaxs.scope_in_hbm, cores=2),
    "jax_masked_store": one(memory.masked_store),
    "jax_masked_store_beyond": one(memory.store_outside_unmasked),
    "jax_out_of_bounds_before_a_barrier": of(protocols.row_beyond_before_a_barrier, 4, 8),
    "jax_out_of_bounds_on_core_1": one(jaxs.core_1_reads_beyond, cores=2),
    "jax_overlapping_rows": (jaxs.overlapping_rows, lambda n: ["f32[16,128]"], [{"mesh": n, "cores": 2} for n in (3, 8)]),
    "jax_parallel_blocks": one(mixed.parallel_blocks, cores=2),
    "jax_parallel_whole": one(functools.partial(mixed.parallel_blocks, same=True), cores=2),
    "jax_permute_on_mesh": (
        functools.partial(mixed.two_axes, form="tuple"),
        lambda n: [X],
        [{"mesh": "x=2,y=2"}, {"mesh": "x=2,y=3"}, {"mesh": "x=1,y=3"}],
    ),
    "jax_ragged_all_to_all": of(mixed.ragged_all_to_all, 2, 4, arguments=lambda n: [ragged(n), f"f32[{2 * n},128]"]),
    "jax_read_before_wait": one(memory.read_before_the_wait),
    "jax_reduce_scatter_in_hbm": ring(rings.reduce_scatter_pipeline, 0, 16, 256),
    "jax_run_ahead": of(jaxs.run_ahead, 3, 4),
    "jax_scalar_beyond_smem": one(memory.scalar_load_beyond, "i32[16]"),
    "jax_shared_scratch": one(mixed.shared_scratch, cores=2),
    "jax_shared_scratch_unordered": one(functools.partial(mixed.shared_scratch, ordered=False), cores=2),
    "jax_shipped_all_gather": of(jaxs.both_ways, 2, 3, 4),
    "jax_shipped_all_gather_repaired": of(jaxs.both_ways, 2, 3, 4, shared=False),
    "jax_swap": of(protocols.swap, 2),
    "jax_swap_regular": of(protocols.swap_on_regular_semaphores, 2),
    "jax_told_from_the_other_side": of(protocols.ready, 2, 4),
    "jax_transfers": of(mixed.transfers, 4, arguments=lambda n: [table(CHAIN), X], at_once=True),
    "jax_transfers_collide": of(mixed.transfers, 4, arguments=lambda n: [table(COLLIDING), X], at_once=True),
    "jax_zeroed_output": of(protocols.zeroed_before_it_arrives, 2, 3),
}
if hasattr(pltpu, "select_ref") or hasattr(pl, "select_ref"):
    CASES["jax_selected_refs"] = of(jaxs.swap_the_second, 2, arguments=lambda n: [table([1]), X, X])
if jaxs.CAN_SKIP:
    CASES["jax_semaphore_handed_on"] = of(jaxs.ready_a_launch_before, 2, 4)
    CASES["jax_ready_said_too_soon"] = of(jaxs.ready_a_launch_before, 2, 4, too_soon=True)


def by_hand(name, folder, mesh, cores=1):
    mesh = mesh if isinstance(mesh, str) else f"x={mesh}"
    wanted = ["--mesh", mesh, "--cores", str(cores), "--json", folder / "report.json", "--schedules", folder / "schedules"]
    subprocess.run([find_heddle(), "check", name, *wanted], capture_output=True, check=False)
    (check,) = json.loads((folder / "report.json").read_text())["checks"]
    return check["verdict"], {fault["id"] for fault in check["faults"]}


@pytest.mark.parametrize("name, size", [(name, size) for name, (_, _, sizes) in CASES.items() for size in sizes], ids=str)
def test_same_verdict(heddle, tmp_path, name, size):
    function, arguments, _ = CASES[name]
    report = heddle.check(function, *arguments(size["mesh"]), **size)
    assert (report.verdict, set(report.faults)) == by_hand(name, tmp_path, **size)
