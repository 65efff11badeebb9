from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbp.metrics import (
    calibration_error,
    coverage_at_precision,
    edit_distance,
    exact_match,
    mean_reciprocal_rank,
    paired_bootstrap,
    sign_test,
)
from tests.machines import quick

words = st.text(alphabet="abü", max_size=6)


def recursive_distance(a, b):
    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        substituted = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, substituted)

    return distance(len(a), len(b))


@quick
@given(words, words)
def test_edit_distance(a, b):
    assert edit_distance(a, b) == recursive_distance(a, b) == edit_distance(b, a)


def test_edit_distance_of_symbol_sequences():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance(("t", "ʃa"), ("t", "a")) == 1


def test_exact_match_and_rank():
    assert exact_match(["a", "b"], ["a", "c"]) == 0.5
    assert mean_reciprocal_rank([["a"], ["x", "y", "b"], []], ["a", "b", "c"]) == pytest.approx(
        (1 + 1 / 3) / 3
    )
    with pytest.raises(ValueError, match="no prediction"):
        exact_match([], [])
    with pytest.raises(ValueError, match="no list"):
        mean_reciprocal_rank([], [])
    with pytest.raises(ValueError, match="shorter"):
        exact_match(["a", "b"], ["a"])


def test_calibration_by_hand():
    prob, correct = [0.9, 0.1, 0.8, 0.2], [True, False, False, True]
    assert calibration_error(prob, correct, bins=2) == pytest.approx(
        (abs(0.3 - 1.0) + abs(1.7 - 1.0)) / 4
    )
    assert calibration_error(prob, correct, bins=1) == pytest.approx(0.0)
    assert calibration_error(prob, correct, bins=99) == pytest.approx((0.1 + 0.1 + 0.8 + 0.8) / 4)


def test_calibrated_predictions_have_a_small_error():
    rng = np.random.default_rng(0)
    prob = rng.random(20_000)
    assert calibration_error(prob, rng.random(20_000) < prob) < 4 * 0.5 / np.sqrt(2_000)


@pytest.mark.parametrize(
    ("prob", "correct", "bins"), [([], [], 10), ([0.5], [], 10), ([1], [1], 0)]
)
def test_calibration_needs_pairs(prob, correct, bins):
    with pytest.raises(ValueError, match="probabilities"):
        calibration_error(prob, correct, bins)


def coverage_by_thresholds(pairs, precision):
    """The share kept at the best of all thresholds, one list of outcomes for each."""
    kept = ([right for prob, right in pairs if prob >= bound] for bound, _ in pairs)
    sizes = [len(each) for each in kept if Fraction(sum(each), len(each)) >= precision]
    return max(sizes, default=0) / len(pairs)


@quick
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), st.booleans()), min_size=1),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(3, 4), Fraction(19, 20), Fraction(1)]),
)
def test_coverage_is_that_of_the_best_threshold(pairs, precision):
    probs, outcomes = zip(*pairs, strict=True)
    assert coverage_at_precision(probs, outcomes, float(precision)) == coverage_by_thresholds(
        pairs, precision
    )


def test_coverage_by_hand():
    one_in_twenty_wrong = [True] * 19 + [False]
    assert coverage_at_precision(np.linspace(1, 0.5, 20), one_in_twenty_wrong) == 1.0
    assert coverage_at_precision([0.9, 0.8, 0.8, 0.7], [True, True, False, True]) == 0.25
    assert coverage_at_precision([0.9, 0.5], [False, True]) == 0.0


@pytest.mark.parametrize(
    ("prob", "correct", "precision", "message"),
    [
        ([], [], 0.5, "probabilities"),
        ([0.5], [], 0.5, "outcomes"),
        ([0.5], [True], 1.5, "precision"),
        ([np.nan], [True], 0.5, "NaN"),
    ],
)
def test_coverage_needs_ordered_pairs(prob, correct, precision, message):
    with pytest.raises(ValueError, match=message):
        coverage_at_precision(prob, correct, precision)


def test_bootstrap_of_a_clear_and_of_no_difference():
    rng = np.random.default_rng(1)
    better, worse = np.ones(50), np.zeros(50)
    assert paired_bootstrap(better, worse, rng, 999) == (1.0, 1.0, 1.0, 0.002)
    assert paired_bootstrap(better, better, rng, 99).p_value == 1.0


def test_bootstrap_interval_matches_the_normal_one():
    rng = np.random.default_rng(2)
    first, second = rng.normal(0.1, 1.0, 400), rng.normal(0.0, 1.0, 400)
    result = paired_bootstrap(first, second, rng, 4_000)
    error = np.std(first - second) / 20
    assert result.low == pytest.approx(result.difference - 1.96 * error, abs=0.15 * error)
    assert result.high == pytest.approx(result.difference + 1.96 * error, abs=0.15 * error)


def test_bootstrap_is_reproducible_and_needs_pairs():
    a, b = [1, 0, 1, 1], [0, 0, 1, 0]
    first = paired_bootstrap(a, b, np.random.default_rng(5), 100)
    assert first == paired_bootstrap(a, b, np.random.default_rng(5), 100)
    with pytest.raises(ValueError, match="paired"):
        paired_bootstrap([1], [], np.random.default_rng(5))


@quick
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 3))
def test_sign_test_is_the_binomial_tail(wins, losses, ties):
    first = [1] * wins + [0] * losses + [1] * ties
    second = [0] * wins + [1] * losses + [1] * ties
    n = wins + losses
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
    assert sign_test(first, second) == pytest.approx(min(1.0, 2 * tail))


def test_sign_test_needs_pairs():
    with pytest.raises(ValueError, match="paired"):
        sign_test([1], [])
