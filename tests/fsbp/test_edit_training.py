"""Each step of learning against central differences of the log-likelihood."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.edit_contexts import (
    COPY,
    DELETE,
    END,
    NUM_CONTEXTS,
    WRITE,
    read_contexts,
    written_contexts,
)
from fsbp.edit_scores import normalise
from fsbp.edit_training import FIRST_SQUARE, TOLERATED, trained_weights
from tests.fsbp.edit_sequences import GROUPS, SEEDS, codes, group_hashes, log_softmax, rows_at

ALIGNED = (("ab", "abb", (COPY, COPY, 4, END)), ("bab", "aa", (DELETE, COPY, DELETE, 3, END)))
"""Sources, targets and edits where 3 writes "a" and 4 writes "b"; a is a vowel."""


def places(
    x: str, y: str, edits: Sequence[int], groups: Sequence[str], num_rows: int
) -> list[tuple[np.ndarray, bool, int]]:
    """Return the rows before each edit, whether a symbol is left to read, and the edit before."""
    found = []
    i, j, last, vowel = 0, 0, COPY, -1
    for edit in edits:
        rows = rows_at(codes(x), i, codes(y), j, last, vowel, group_hashes(groups), num_rows)
        found.append((rows, i < len(x), last))
        last = min(edit, WRITE)
        i += edit in (COPY, DELETE)
        if edit == COPY or edit >= WRITE:
            vowel = ord("a") if y[j] == "a" else vowel
            j += 1
    return found


def stepped(
    x: str, y: str, edits: Sequence[int], groups: Sequence[str], weight_re: np.ndarray, rate: float
) -> np.ndarray:
    return trained_weights(
        [codes(x)], [codes(y)], [np.array(edits, dtype=np.int32)], [group_hashes(groups)],
        codes("a"), weight_re.copy(), np.zeros((1, 1), dtype=np.int64), rate,
    )  # fmt: skip


@settings(max_examples=25)
@given(SEEDS, st.sampled_from(ALIGNED), st.integers(0, 4), GROUPS)
def test_a_step_follows_the_gradient(
    seed: int, aligned: tuple[str, str, tuple[int, ...]], at: int, groups: tuple[str, ...]
) -> None:
    """A row used for the first time moves by -rate x g / sqrt(FIRST_SQUARE + g^2)."""
    x, y, edits = aligned
    at = min(at, len(edits) - 1)
    edit, num_rows, rate = edits[at], 1 << 14, 0.05
    start_re = np.random.default_rng(seed).normal(0.0, 0.15, (num_rows, 5)).astype(np.float32)
    before_re = stepped(x, y, edits[:at], groups, start_re, rate)
    after_re = stepped(x, y, edits[: at + 1], groups, start_re, rate)
    reached = places(x, y, edits[: at + 1], groups, num_rows)
    rows, left, last = reached[-1]
    uses = Counter(row for rows_before, _, _ in reached for row in rows_before.tolist())
    first_used = [row for row in rows.tolist() if uses[row] == 1]
    assert len(first_used) >= NUM_CONTEXTS // 2
    weight_re = before_re.astype(np.float64)

    def log_likelihood(row: int, e: int, change: float) -> float:
        logit_e = weight_re[rows].sum(axis=0)
        logit_e[e] += change * (rows == row).sum()
        return float(log_softmax(logit_e, left, last)[edit])

    missed = 1.0 - math.exp(log_likelihood(first_used[0], edit, 0.0))
    for row, e in product(first_used, range(5)):
        above, below = log_likelihood(row, e, 1e-5), log_likelihood(row, e, -1e-5)
        gradient = (below - above) / 2e-5
        if min(abs(abs(g) - TOLERATED) for g in (gradient, missed)) < 1e-4:
            continue
        moves = missed > TOLERATED and abs(gradient) > TOLERATED
        size = math.sqrt(float(FIRST_SQUARE) + gradient**2)
        expected = -rate * gradient / size if moves else 0.0
        assert after_re[row, e] - before_re[row, e] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    elsewhere = np.setdiff1d(np.arange(num_rows), rows)
    np.testing.assert_array_equal(after_re[elsewhere], before_re[elsewhere])


def test_a_second_step_is_shorter() -> None:
    """The squares add up, and all weights used once move alike."""
    start_re = np.zeros((1 << 14, 5), dtype=np.float32)
    all_rows = places("", "", [END], (), len(start_re))[0][0]
    twice_re = trained_weights(
        [codes("")], [codes("")], [np.array([END], dtype=np.int32)], [group_hashes(())],
        codes("a"), start_re.copy(), np.zeros((2, 1), dtype=np.int64), 0.001,
    )  # fmt: skip
    once_re = stepped("", "", [END], (), start_re, 0.001)
    rows, uses = np.unique(all_rows, return_counts=True)
    rows = rows[uses == 1]
    first = 1 / 3 - 1
    second = math.exp(log_softmax(once_re[all_rows].sum(axis=0), False, COPY)[END]) - 1
    square = float(FIRST_SQUARE) + first**2
    expected = -0.001 * first / math.sqrt(square)
    assert once_re[rows, END] == pytest.approx(expected, rel=1e-4)
    expected -= 0.001 * second / math.sqrt(square + second**2)
    assert twice_re[rows, END] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("probability", "moves"), [(0.995, False), (0.97, True)])
def test_what_is_nearly_right_teaches_nothing(probability: float, moves: bool) -> None:
    weight_re = np.zeros((1 << 12, 5), dtype=np.float32)
    weight_re[:, END] = math.log(2 * probability / (1 - probability)) / NUM_CONTEXTS
    assert (stepped("", "", [END], (), weight_re, 0.05) != weight_re).any() == moves


@settings(max_examples=40)
@given(SEEDS, st.booleans(), st.booleans())
def test_probabilities_of_edits(seed: int, may_read: bool, may_delete: bool) -> None:
    score_e = np.random.default_rng(seed).normal(0.0, 8.0, 6).astype(np.float32)
    found_e = score_e.copy()
    normalise(found_e, may_read, may_read and may_delete)
    expected_e = log_softmax(score_e, may_read, COPY if may_delete else WRITE)
    np.testing.assert_allclose(found_e, expected_e, rtol=1e-4, atol=1e-4)


def test_no_two_contexts_are_one() -> None:
    """Symbols are told apart by where they stand, also where all are alike."""
    hash_c = np.empty(NUM_CONTEXTS, dtype=np.uint64)
    for text in ("aaaa", "abab", "aab", ""):
        for last in (COPY, WRITE):
            read_contexts(codes(text), len(text) // 2, last, hash_c)
            written_contexts(codes(text), len(text) // 2, codes(text), 2, last, ord("a"), hash_c)
            assert len(set(hash_c.tolist())) == NUM_CONTEXTS
