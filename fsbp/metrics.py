"""Measures of predictions: distance, rank, calibration, coverage and significance.

Public names: `edit_distance`, `exact_match`, `mean_reciprocal_rank`, `calibration_error`,
`coverage_at_precision`, `Difference`, `paired_bootstrap`, `sign_test`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest


class Difference(NamedTuple):
    """A difference between paired samples, with a 95 % interval and a two-sided p-value."""

    difference: float
    low: float
    high: float
    p_value: float


def edit_distance(first: Sequence[object], second: Sequence[object]) -> int:
    """Return the least number of insertions, deletions and substitutions between two sequences.

    Args:
        first: Any sequence: a string counts code points, a tuple its items.
        second: Likewise.

    Cost: O(len(first) * len(second)).
    Source: Wagner and Fischer (1974), "The string-to-string correction problem".
    """
    above = list(range(len(second) + 1))
    for i, item in enumerate(first, start=1):
        row = [i]
        for j, other in enumerate(second, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (item != other)))
        above = row
    return above[-1]


def exact_match(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Return the share of predictions equal to the gold strings.

    Args:
        predicted: N strings.
        gold: N strings.

    Raises:
        ValueError: There is nothing to compare, or the lengths differ.

    Cost: O(N).
    """
    hits = [p == g for p, g in zip(predicted, gold, strict=True)]
    if not hits:
        raise ValueError("no prediction to compare")
    return sum(hits) / len(hits)


def mean_reciprocal_rank(ranked: Sequence[Sequence[str]], gold: Sequence[str]) -> float:
    """Return the mean of 1 / rank of the gold string, 0 where a list lacks it.

    Args:
        ranked: N lists, best first.
        gold: N strings.

    Raises:
        ValueError: There is nothing to compare, or the lengths differ.

    Cost: O(total length of the lists).
    Source: Voorhees (1999), "The TREC-8 question answering track report".
    """
    scores = [
        1.0 / (list(candidates).index(answer) + 1) if answer in candidates else 0.0
        for candidates, answer in zip(ranked, gold, strict=True)
    ]
    if not scores:
        raise ValueError("no list to rank")
    return sum(scores) / len(scores)


def calibration_error(prob_n: npt.ArrayLike, correct_n: npt.ArrayLike, bins: int = 10) -> float:
    """Return the expected calibration error over bins of equal mass.

    sum over bins of (size / N) * |mean probability - share correct|, predictions sorted by
    probability and cut into bins whose sizes differ by at most one.

    Args:
        prob_n: float64[N], the probability given to each prediction.
        correct_n: bool[N], whether it was right.
        bins: The number of bins; fewer when there are fewer predictions.

    Raises:
        ValueError: There is no prediction, the lengths differ, or `bins` is not positive.

    Cost: O(N log N).
    Source: Nguyen and O'Connor (2015), "Posterior calibration and exploratory analysis for natural
        language processing models".
    """
    prob = np.asarray(prob_n, dtype=np.float64)
    correct = np.asarray(correct_n, dtype=np.float64)
    if len(prob) != len(correct) or len(prob) == 0 or bins < 1:
        raise ValueError(f"{len(prob)} probabilities, {len(correct)} outcomes, {bins} bins")
    order = np.argsort(prob, kind="stable")
    gaps = np.array_split(prob[order] - correct[order], min(bins, len(prob)))
    return float(sum(abs(gap.sum()) for gap in gaps) / len(prob))


def coverage_at_precision(
    prob_n: npt.ArrayLike, correct_n: npt.ArrayLike, precision: float = 0.95
) -> float:
    """Return the largest share of predictions that can be kept at a precision.

    max over thresholds t of (number with probability >= t) / N, among the thresholds at which at
    least the share `precision` of those predictions is right: predictions are taken from the most
    probable down, equal probabilities together.

    Args:
        prob_n: float64[N], the probability given to each prediction.
        correct_n: bool[N], whether it was right.
        precision: The share that must be right, 0 to 1.

    Returns:
        The share of all N predictions, 0 to 1; 0 where no threshold is precise enough.

    Raises:
        ValueError: There is no prediction, the lengths differ, a probability is NaN, or `precision`
            is not between 0 and 1.

    Cost: O(N log N).
    Source: El-Yaniv and Wiener (2010), "On the foundations of noise-free selective classification".
    """
    prob = np.asarray(prob_n, dtype=np.float64)
    correct = np.asarray(correct_n, dtype=np.bool_)
    if len(prob) != len(correct) or len(prob) == 0 or not 0 <= precision <= 1:
        raise ValueError(f"{len(prob)} probabilities, {len(correct)} outcomes, {precision=}")
    if np.isnan(prob).any():
        raise ValueError("a probability is NaN: it has no place in the order")
    order = np.argsort(-prob, kind="stable")
    kept = np.arange(1, len(prob) + 1)
    ends_a_tie = np.append(np.diff(prob[order]) != 0, True)
    precise = np.cumsum(correct[order]) / kept >= precision
    return float(kept[ends_a_tie & precise].max(initial=0) / len(prob))


def paired_bootstrap(
    first_n: npt.ArrayLike, second_n: npt.ArrayLike, rng: np.random.Generator, draws: int = 10_000
) -> Difference:
    """Return the difference of two means over the same items, by resampling the items.

    The p-value is twice the smaller share of draws whose difference lies on either side of zero
    (both sides hold a difference of zero), with one added to both counts.

    Args:
        first_n: float64[N], one system's score on each item.
        second_n: float64[N], the other's.
        rng: The source of randomness; it is advanced.
        draws: The number of resamples.

    Returns:
        Mean of first minus mean of second, the 2.5 % and 97.5 % quantiles, and the p-value.

    Raises:
        ValueError: There is no item, or the lengths differ.

    Cost: O(N * draws) time, O(N) memory.
    Source: Efron and Tibshirani (1993), "An introduction to the bootstrap", chapters 13 and 16.
    """
    first, second = np.asarray(first_n, np.float64), np.asarray(second_n, np.float64)
    if first.shape != second.shape or first.size == 0:
        raise ValueError(f"paired samples of sizes {first.size} and {second.size}")
    gain = first - second
    means = np.array([gain[rng.integers(0, gain.size, gain.size)].mean() for _ in range(draws)])
    low, high = np.quantile(means, (0.025, 0.975))
    smaller_tail = min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
    p_value = min(1.0, 2 * (smaller_tail + 1) / (draws + 1))
    return Difference(float(gain.mean()), float(low), float(high), p_value)


def sign_test(first_n: npt.ArrayLike, second_n: npt.ArrayLike) -> float:
    """Return the two-sided p-value of the exact sign test over paired items, ties left out.

    For right-or-wrong outcomes this is McNemar's exact test.

    Args:
        first_n: float64[N] or bool[N], one system's score on each item.
        second_n: Likewise, the other's.

    Returns:
        The p-value; 1 when every pair is tied.

    Raises:
        ValueError: The lengths differ.

    Cost: O(N).
    Source: Dixon and Mood (1946), "The statistical sign test"; McNemar (1947).
    """
    first, second = np.asarray(first_n, np.float64), np.asarray(second_n, np.float64)
    if first.shape != second.shape:
        raise ValueError(f"paired samples of sizes {first.size} and {second.size}")
    wins = int(np.count_nonzero(first > second))
    losses = int(np.count_nonzero(first < second))
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
