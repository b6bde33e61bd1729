"""Windows are pipelined: who reaches around them into the same array races with copies that nothing in a kernel can wait for."""

import heddle_pallas
import kernels_memory
import kernels_windows as k
import numpy as np
import pytest
from jax.experimental import pallas as pl
from test_memory import one

X = "f32[32,128]"


@pytest.mark.parametrize(
    "function, arguments, devices",
    [
        (k.patch, {"ahead": 1}, 1),
        (k.read_back, {"back": 1}, 1),
        (k.feed, {}, 2),
        (kernels_memory.aliased, {}, 1),
    ],
    ids=["patch", "read_back", "feed", "aliased"],
)
def test_reaching_around_windows_races(heddle, function, arguments, devices):
    def called(x):
        return function(x, **arguments)

    assert heddle.check(called, X, mesh=devices).faults == ("race",)
    assert heddle.check(called, X, mesh=devices, windows="sequential").ok
    if function is not kernels_memory.aliased:
        assert heddle.check(lambda x: function(x, **arguments, buffers=1), X, mesh=devices).ok


def test_what_is_not_under_way_may_be_reached(heddle, numbers):
    x = numbers(32, 128)
    heddle.verify(lambda x: k.patch(x, ahead=0), x, mesh=1, expect=one(x * 2))
    heddle.verify(lambda x: k.patch(x, ahead=2), x, mesh=1, expect=one(np.concatenate([x[:16], x[:16] * 2])))
    heddle.verify(lambda x: k.read_back(x, back=2), x, mesh=1)


def test_a_pipeline_of_the_kernels_own_races_likewise(heddle):
    assert heddle.check(lambda x: k.pipeline(x, ahead=1), X, mesh=1).faults == ("race",)
    assert heddle.check(lambda x: k.pipeline(x, ahead=0), X, mesh=1).ok


def test_reports_name_the_block_and_the_line_of_its_spec(heddle):
    report = heddle.check(lambda x: k.patch(x, ahead=1), X, mesh=1)
    (fault,) = report.check["faults"]
    assert "the fetch of block (1, 0) of x_ref by device 0 reads x_ref[8:16, 0:128]" in fault["message"]
    lines = open(k.__file__, encoding="utf-8").read().splitlines()
    assert any("lambda i: (i, 0)" in lines[site["line"] - 1] for site in fault["sites"])
    assert report.check["knobs"]["windows"] == "pipelined"
    assert "pl.Buffered(1)" in report.text


def test_index_maps_look_at_tables(heddle, numbers):
    table, x = np.array([2, 0, 3, 1], np.int32), numbers(32, 128)
    blocks = x.reshape(4, 8, 128)
    want = np.stack([blocks[table[table[3 - i]]] + table[3 - i] for i in range(4)]).reshape(32, 128)
    heddle.verify(k.by_table, table, x, mesh=1, expect=one(want))


def test_vmap_adds_a_dimension_to_the_grid(heddle, numbers):
    x = numbers(3, 16, 128)
    heddle.verify(k.mapped, x, mesh=1, expect=one(x * np.repeat([1.0, 2.0], 8)[None, :, None]))


@pytest.mark.skipif("use_lookahead" not in pl.Buffered.__dataclass_fields__, reason="this version has no look-ahead")
def test_look_ahead_is_for_pipelines_of_the_kernels_own(heddle):
    with pytest.raises(Exception, match="use_lookahead in a pallas_call is not supported; only emit_pipeline has it"):
        heddle.check(k.lookahead, "f32[16,128]", mesh=1)


@pytest.mark.skipif(not hasattr(pl, "RevisitMode"), reason="this version has no modes of revisiting")
def test_blocks_may_be_revisited_if_that_is_said(heddle):
    assert heddle.check(lambda x: k.revisit(x, buffer_count=1), "f32[16,128]", mesh=1).faults == ("revisit",)
    assert heddle.check(lambda x: k.revisit(x, buffer_count=1, revisit=pl.RevisitMode.ANY), "f32[16,128]", mesh=1).ok
    with pytest.raises(Exception, match="RevisitMode.ANY with several buffers"):
        heddle.check(lambda x: k.revisit(x, buffer_count=2, revisit=pl.RevisitMode.ANY), "f32[16,128]", mesh=1)


def test_the_first_block_of_an_output_is_there_from_the_beginning(heddle, numbers):
    """A kernel that communicates begins with a barrier: then a neighbour may write to the output's room, which nobody has used yet."""
    x = numbers(3, 8, 128)
    heddle.verify(k.into_window, heddle_pallas.per_device(x), mesh=3, expect=np.roll(x, 1, axis=0))
    assert heddle.check(lambda x: k.into_window(x, fenced=-1), "f32[8,128]", mesh=3).ok


def test_an_output_of_a_neighbour_that_is_not_ready_is_not(heddle):
    assert heddle.check(lambda x: k.into_window(x, cleared=True), "f32[8,128]", mesh=3).faults == ("race",)
    assert "lifetime" in heddle.check(lambda x: k.into_window(x, fenced=1), "f32[8,128]", mesh=3).faults
    assert "race" in heddle.check(lambda x: k.into_window(x, steps=2), "f32[16,128]", mesh=3).faults
