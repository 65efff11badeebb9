import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbp import kbest
from fsbp.acceptors import table_acceptor, universe_acceptor
from fsbp.arrays import ArcArrays, fst_to_arrays
from fsbp.composition import MachineTooLargeError
from fsbp.fixpoint import DivergentSumError
from fsbp.kbest import best_strings, k_best_strings
from fsbp.pathsum import log_total
from fsbp.reading import string_log_weights
from tests.machines import enumerated_strings, loop, machines, quick


@quick
@given(machines(), st.integers(0, 6), st.sampled_from(["sum", "max"]))
def test_k_best_is_sorted_enumeration(arrays, k, semiring):
    expected = enumerated_strings(arrays, semiring)
    listed = k_best_strings(arrays, k, semiring)
    assert len(listed) == min(k, len(expected))
    assert len({string for string, _ in listed}) == len(listed)
    for string, weight in listed:
        assert weight == pytest.approx(expected[string], abs=1e-11)
    weights = [weight for _, weight in listed]
    assert weights == pytest.approx(sorted(expected.values(), reverse=True)[:k], abs=1e-11)


@pytest.mark.parametrize("semiring", ["sum", "max"])
@pytest.mark.parametrize("seed", range(6))
def test_k_best_among_dozens_of_ambiguous_strings(seed, semiring):
    rng = np.random.default_rng(seed)
    source_a = rng.integers(0, 8, 45)
    target_a = np.minimum(source_a + rng.integers(1, 3, 45), 8)
    label_a = rng.integers(0, 3, 45)
    weight_a = rng.normal(0.0, 2.0, 45) + 3.0 * rng.random(9)[target_a]
    arrays = ArcArrays.from_arcs(0, np.zeros(9), source_a, label_a, label_a, target_a, weight_a)
    expected = enumerated_strings(arrays, semiring)
    assert len(expected) > 30
    ranked = sorted(expected.values(), reverse=True)
    for k in (1, 5, 20):
        listed = k_best_strings(arrays, k, semiring)
        assert [weight for _, weight in listed] == pytest.approx(ranked[:k], abs=1e-10)
        assert all(expected[s] == pytest.approx(w, abs=1e-10) for s, w in listed)


def test_the_best_string_may_have_a_poor_prefix():
    late = table_acceptor([(1,), (1, 1), (2, 2, 2)], [-2.0, -3.0, -1.0])
    detour = fst_to_arrays(late)
    reweighted = detour.with_log_weights(np.array([0.0, -50.0, 0.0, 50.0, 0.0]))
    assert [s for s, _ in k_best_strings(reweighted, 2)] == [(2, 2, 2), (1,)]


@quick
@given(machines(cyclic=True), st.sampled_from(["sum", "max"]))
def test_k_best_of_cyclic_acceptors(arrays, semiring):
    listed = k_best_strings(arrays, 8, semiring)
    strings, weights = [s for s, _ in listed], [w for _, w in listed]
    np.testing.assert_allclose(weights, string_log_weights(arrays, strings, semiring), atol=1e-10)
    assert weights == sorted(weights, reverse=True)
    universe = universe_acceptor(2, 4)
    short = [string for string, _ in k_best_strings(universe, 100)]
    others = [string for string in short if string not in set(strings)]
    if len(listed) == 8:
        assert np.all(string_log_weights(arrays, others, semiring) <= weights[-1] + 1e-10)
    else:
        assert np.all(string_log_weights(arrays, others, semiring) == -np.inf)


def test_geometric_language():
    listed = k_best_strings(loop(0.5), 4)
    assert [string for string, _ in listed] == [(), (1,), (1, 1), (1, 1, 1)]
    assert np.exp([weight for _, weight in listed]).tolist() == pytest.approx([1, 0.5, 0.25, 0.125])


def test_ties_without_end():
    assert len(k_best_strings(universe_acceptor(2), 9, "max")) == 9
    with pytest.raises(DivergentSumError):
        k_best_strings(universe_acceptor(2), 9, "sum")


def test_listing_stops_at_a_mass():
    machine = loop(0.5)
    listed = best_strings(machine, 100, log_mass=log_total(machine) + np.log(0.9))
    assert len(listed) == 4


def test_too_many_prefixes_are_refused(monkeypatch):
    monkeypatch.setattr(kbest, "MAX_PREFIXES", 50)
    with pytest.raises(MachineTooLargeError, match="prefixes"):
        k_best_strings(universe_acceptor(5, 4), 100)
