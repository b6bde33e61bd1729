"""Arguments of which many values are tried: one export, inputs as data."""

import functools

import heddle_pallas
import jax.numpy as jnp
import kernels_inputs as k
import numpy as np
import pytest
from heddle_pallas import HeddleError, ints, per_device

X = np.arange(3 * 128, dtype=np.float32).reshape(3, 128)
ALWAYS = functools.partial(k.experts, always=True)


def tokens(count):
    return per_device(np.arange(1, 2 * count * 8 + 1, dtype=np.float32).reshape(2, count, 8))


SCALE = np.array([2, 3, 5, 7], np.float32)


def test_all_routings_of_four_tokens(heddle):
    report = heddle.verify(k.experts, ints(4, 0, 3), tokens(2), SCALE, mesh=2, inputs="all", expect=k.scaled)
    assert report.inputs["tried"] == 256 and report.inputs["all"]
    assert "verified for all 256 inputs (" in report.text and "results checked" in report.text


def test_a_thousand_routings(heddle):
    report = heddle.check(k.experts, ints(8, 0, 3), tokens(4), SCALE, mesh=2, inputs=1000, expect=k.scaled)
    assert report.verdict == "bounded" and report.inputs["tried"] == 1000 and report.inputs["faulty"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_more_slots_than_tokens(heddle, seed):
    report = heddle.check(ALWAYS, ints(8, 0, 3), tokens(4), SCALE, mesh=2, inputs=1000, inputs_seed=seed, expect=k.scaled)
    assert report.verdict == "faulty" and "in-flight" in report.faults
    assert report.inputs["shown"] in ("ids = [0, 0, 0, 0, 0, 0, 0, 0]", "ids = [0, 0, 0, 0, 0, 0, 0, 2]")


def test_right_with_one_table(heddle):
    table = np.array([0, 1, 2, 3, 0, 1, 2, 3], np.int32)
    report = heddle.verify(ALWAYS, table, tokens(4), SCALE, mesh=2)
    assert "no-domain" in report.advice and "ids steers " in report.text and "give it a domain" in report.text


def test_a_domain_is_not_missed(heddle):
    assert "no-domain" not in heddle.check(k.experts, ints(4, 0, 3), tokens(2), SCALE, mesh=2).advice


def test_steered_through_plain_jax_and_the_grid(heddle):
    report = heddle.verify(k.sorted_rows, ints(3, 0, 2), ints(1, 0, 4), X, mesh=1, expect=k.taken)
    assert report.inputs["tried"] == 135 and report.inputs["all"]
    wrong = heddle.check(functools.partial(k.sorted_rows, skip=1), ints(3, 0, 2), ints(1, 0, 3), X, mesh=1)
    assert "out-of-bounds" in wrong.faults and wrong.inputs["shown"].endswith("count = [3]")


@pytest.mark.parametrize(
    "where, tried",
    [
        (lambda ids: ids.sum() <= 2, 10),
        (lambda ids: (jnp.sort(ids) == jnp.arange(3)).all(), 6),
        (lambda ids: (ids[1:] >= ids[:-1]).all(), 10),
        (lambda ids: jnp.cumsum(ids)[-1] % 2 == 0, 14),
        (lambda ids: (ids[:, None] == jnp.arange(3)).sum(axis=0).max() == 1, 6),
        (lambda ids: jnp.where(ids > 1, -ids, ids * ids).min() == -2, 19),
        (lambda ids: (jnp.clip(ids, 1, 2) << 1 == 2).any() & ~(ids[0] == ids[2]), 18),
        (lambda ids: jnp.argsort(ids)[0] == 2, 5),
    ],
)
def test_conditions(heddle, where, tried):
    """As many as Python counts."""
    every = np.stack(np.meshgrid(*[np.arange(3)] * 3, indexing="ij"), -1).reshape(-1, 3).astype(np.int32)
    assert sum(bool(where(jnp.asarray(ids))) for ids in every) == tried
    report = heddle.verify(k.picked, ints(3, 0, 2, where=where), X, mesh=1, inputs="all")
    assert report.inputs["tried"] == tried and report.inputs["refused"] == 27 - tried


def test_each_device_its_own(heddle):
    report = heddle.check(k.picked, per_device(ints((2, 2), 0, 3)), X, mesh=2, inputs="all")
    assert report.inputs["tried"] == 256 and "out-of-bounds" in report.faults
    assert report.inputs["shown"] == "ids = [0, 0] on device 0, [0, 3] on device 1"


def test_split_by_a_shard_map(heddle):
    def function(ids, x, mesh):
        return k.replaced(mesh)(ids, x)

    report = heddle.verify(function, ints(4, 0, 2, where=lambda ids: ids[0] <= ids[3]), np.concatenate([X, X]), mesh=2, inputs="all")
    assert report.inputs["tried"] == 54


def strategies():
    pytest.importorskip("hypothesis")
    import hypothesis.extra.numpy
    import hypothesis.strategies

    return hypothesis.strategies, hypothesis.extra.numpy.arrays


def test_given_shrinks_to_the_smallest(heddle):
    st, arrays = strategies()
    ids = heddle_pallas.given(arrays(np.int32, 8, elements=st.integers(0, 3)))
    report = heddle.check(ALWAYS, ids, tokens(4), SCALE, mesh=2, inputs=200, expect=k.scaled)
    assert report.verdict == "faulty" and report.inputs["shown"] == "ids = [0, 0, 0, 0, 0, 0, 0, 0]"
    assert "the last of " in report.text


def test_given_of_a_right_kernel(heddle):
    st, arrays = strategies()
    keys, count = heddle_pallas.given(arrays(np.int32, 3, elements=st.integers(0, 5)), arrays(np.int32, 1, elements=st.integers(0, 3)))
    report = heddle.verify(k.sorted_rows, keys, count, X, mesh=1, inputs=100, expect=k.taken, accept_bounded=True)
    assert report.verdict == "bounded" and report.inputs["tried"] == 100


def test_given_for_each_device(heddle):
    st, arrays = strategies()
    ids = per_device(heddle_pallas.given(arrays(np.int32, (2, 2), elements=st.integers(0, 3))))
    report = heddle.check(k.picked, ids, X, mesh=2, inputs=200)
    assert "out-of-bounds" in report.faults and "3" in report.inputs["shown"]


def test_what_cannot_be(heddle):
    def refused(says, function, *arguments, **options):
        with pytest.raises(HeddleError, match=says):
            heddle.check(function, *arguments, mesh=1, **options)

    refused("3 to 0 is no range of int32", lambda: ints(3, 3, 0))
    refused("float32 is no type of integers", lambda: ints(3, 0, 1, dtype="float32"))
    refused("must return one truth value", k.picked, ints(3, 0, 2, where=lambda ids: ids > 0), X)
    refused("floats, in what is computed from an input", k.picked, ints(3, 0, 2, where=lambda ids: ids.mean() > 0), X)
    refused("write it with jax.numpy", k.picked, ints(3, 0, 2, where=lambda ids: len(set(ids)) == 3), X)
    refused("give a function of the arguments", k.picked, ints(3, 0, 2), X, expect=X)
    refused("no device knows the inputs of the others", k.picked, per_device(ints((1, 3), 0, 2)), X, expect=lambda ids, x: x)


def test_what_strategies_cannot_be(heddle):
    st, arrays = strategies()

    def refused(says, strategy, **options):
        with pytest.raises(HeddleError, match=says):
            heddle.check(k.picked, heddle_pallas.given(strategy), X, mesh=1, **options)

    refused("a strategy has no list of its values", arrays(np.int32, 3), inputs="all")
    refused("the strategy draws float32", arrays(np.float32, 3))
    refused("the strategy drew the shape", arrays(np.int32, st.integers(1, 3), elements=st.integers(0, 2)), inputs=50)
    with pytest.raises(HeddleError, match="is no strategy"):
        heddle_pallas.given(3)
