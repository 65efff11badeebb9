from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import (
    MachineTooLargeError,
    entropy,
    intersection,
    k_best_strings,
    length_restricted,
    sample_strings,
    scaled,
    string_acceptor,
    table_acceptor,
    universe_acceptor,
    without_parallel_arcs,
)
from fsbp.arrays import ArcArrays, fst_to_arrays
from fsbp.fixpoint import DivergentSumError
from fsbp.pathsum import is_acyclic, log_total, string_log_weights
from tests.machines import (
    SHORT_STRINGS,
    enumerated_strings,
    loop,
    machines,
    quick,
    solved_string,
    solved_total,
)

EMPTY = ArcArrays.from_arcs(0, [-np.inf], [], [], [], [], [])
tables = st.lists(
    st.tuples(st.lists(st.integers(1, 2), max_size=3).map(tuple), st.floats(-5.0, 5.0))
)


@quick
@given(tables)
def test_tables(rows):
    expected = {}
    for string, weight in rows:
        expected[string] = np.logaddexp(expected.get(string, -np.inf), weight)
    fst = table_acceptor([string for string, _ in rows], [weight for _, weight in rows])
    assert enumerated_strings(fst_to_arrays(fst)) == pytest.approx(expected, abs=1e-12)


@quick
@given(st.lists(st.integers(1, 2), max_size=4), st.floats(-9.0, 9.0))
def test_one_string(labels, weight):
    assert enumerated_strings(fst_to_arrays(string_acceptor(labels, weight))) == {
        tuple(labels): weight
    }


def test_universe():
    capped = universe_acceptor(2, 3)
    assert enumerated_strings(fst_to_arrays(capped)) == dict.fromkeys(SHORT_STRINGS, 0.0)
    assert enumerated_strings(fst_to_arrays(universe_acceptor(2, 0))) == {(): 0.0}
    assert string_log_weights(universe_acceptor(2), SHORT_STRINGS).tolist() == [0.0] * 15
    with pytest.raises(DivergentSumError):
        log_total(universe_acceptor(2))


@quick
@given(machines(cyclic=True), machines(cyclic=True))
def test_intersection_adds_log_weights(first, second):
    both = intersection(first, second, 10_000)
    np.testing.assert_allclose(
        string_log_weights(both, SHORT_STRINGS),
        string_log_weights(first, SHORT_STRINGS) + string_log_weights(second, SHORT_STRINGS),
        atol=1e-10,
    )


@quick
@given(machines(cyclic=True), st.integers(0, 3))
def test_length_restriction(arrays, length):
    short = length_restricted(arrays, length)
    expected = [
        weight if len(string) <= length else -np.inf
        for string, weight in zip(
            SHORT_STRINGS, string_log_weights(arrays, SHORT_STRINGS), strict=True
        )
    ]
    np.testing.assert_allclose(string_log_weights(short, SHORT_STRINGS), expected, atol=1e-12)
    if np.all(arrays.ilabel_a > 0):
        assert is_acyclic(short)


def test_length_restriction_makes_divergent_machines_summable():
    assert log_total(length_restricted(universe_acceptor(2), 3)) == pytest.approx(np.log(15))


@quick
@given(machines(cyclic=True), st.floats(-9.0, 9.0))
def test_scaling_moves_the_total(arrays, log_factor):
    moved = log_total(scaled(arrays, log_factor))
    assert moved == pytest.approx(log_total(arrays) + log_factor, abs=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_samples_of_cyclic_ambiguous_machines_within_four_standard_errors(seed):
    rng = np.random.default_rng(seed)
    size, arcs, draws = 3, 9, 10_000
    label_a = rng.integers(0, 3, arcs)
    arrays = ArcArrays.from_arcs(
        0,
        rng.normal(size=size),
        rng.integers(0, size, arcs),
        label_a,
        label_a,
        rng.integers(0, size, arcs),
        np.log(rng.uniform(0.0, 0.25, arcs)),
    )
    drawn = Counter(sample_strings(arrays, draws, rng))
    total = solved_total(arrays)
    for string in SHORT_STRINGS:
        prob = solved_string(arrays, string) / total
        error = np.sqrt(prob * (1 - prob) / draws)
        assert abs(drawn[string] / draws - prob) <= 4 * error


def test_samples_within_four_standard_errors():
    strings = [(), (1,), (1, 2), (2, 2)]
    prob_n = np.array([0.4, 0.3, 0.2, 0.1])
    fst = table_acceptor(strings, np.log(prob_n) + 7.0)
    drawn = Counter(sample_strings(fst, 20_000, np.random.default_rng(3)))
    assert set(drawn) == set(strings)
    for string, prob in zip(strings, prob_n, strict=True):
        error = np.sqrt(prob * (1 - prob) / 20_000)
        assert abs(drawn[string] / 20_000 - prob) <= 4 * error


def test_sampling_is_reproducible_and_silent_machines_give_the_empty_string():
    machine = loop(0.5)
    first = sample_strings(machine, 50, np.random.default_rng(1))
    assert first == sample_strings(machine, 50, np.random.default_rng(1))
    silent = ArcArrays.from_arcs(0, [-np.inf, 0.0], [0], [0], [0], [1], [0.0])
    assert sample_strings(silent, 2, np.random.default_rng(1)) == [(), ()]


@quick
@given(machines())
def test_entropy_is_enumeration(arrays):
    weights = np.array(list(enumerated_strings(arrays).values()))
    if len(weights) == 0:
        return
    log_prob_n = weights - np.logaddexp.reduce(weights)
    assert entropy(arrays) == pytest.approx(-np.exp(log_prob_n) @ log_prob_n, abs=1e-6)


def test_entropy_of_cyclic_acceptors():
    expected = 2 * np.log(2)
    assert entropy(loop(0.5)) == pytest.approx(expected, abs=1e-12)
    ambiguous = ArcArrays.from_arcs(0, [0.0], [0, 0], [1, 1], [1, 1], [0, 0], np.log([0.2, 0.3]))
    assert entropy(ambiguous) == pytest.approx(expected, abs=1e-6)
    with pytest.raises(MachineTooLargeError, match="sampled"):
        entropy(ambiguous, max_strings=5)


def test_machines_that_accept_nothing():
    with pytest.raises(ValueError, match="accepts nothing"):
        sample_strings(EMPTY, 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="accepts nothing"):
        entropy(EMPTY)
    assert k_best_strings(EMPTY, 3) == []
    assert length_restricted(fst_to_arrays(length_restricted(EMPTY, 2)), 2).num_states() == 0
    assert k_best_strings(intersection(EMPTY, loop(0.5), 10), 3) == []


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_merging_parallel_arcs_keeps_every_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    source_a, label_a, target_a = rng.integers(0, 3, size=(3, 40)).astype(np.int32)
    arrays = ArcArrays.from_arcs(
        0, rng.normal(size=3), source_a, label_a, label_a, target_a, rng.normal(size=40) - 6.0
    )
    merged = without_parallel_arcs(arrays)
    keys = np.stack((merged.source_a, merged.ilabel_a, merged.target_a), axis=1)
    assert len(np.unique(keys, axis=0)) == len(keys)
    strings = [(), (1,), (2, 1), (1, 1, 2)]
    np.testing.assert_allclose(
        string_log_weights(merged, strings), string_log_weights(arrays, strings), rtol=1e-9
    )
