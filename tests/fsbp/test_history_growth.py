"""Which histories a model should tell apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.history_growth import coarser_counts, grown_automaton, longer_histories
from fsbp.ngram_potential import history_map
from fsbp.ngrams import full_history_automaton, history_automaton, ngram_counts

PERIODIC = [(1, 1, 2, 2, 1, 1, 2, 2), (2, 2, 1, 1, 2, 2, 1, 1)]
EMPTY = history_automaton([], 2)
TRIAL = full_history_automaton(2, 4)


def state_counts(strings: list[tuple[int, ...]], automaton) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Return how often each symbol follows each state, an end being the last column."""
    counts_hs = np.zeros((len(automaton.histories), 3))
    for string in strings:
        history = automaton.start
        for label in string:
            counts_hs[history, label - 1] += 1.0
            history = automaton.next_ha[history, label - 1]
        counts_hs[history, -1] += 1.0
    return counts_hs / len(strings)


def test_the_likeliest_ngrams_come_first() -> None:
    counts_hs = state_counts([(1, 1, 1), (1, 2)], EMPTY)
    found = longer_histories(EMPTY, counts_hs, longest=2, number=10)
    assert found[0] == (0, 1)
    assert set(found) <= {(1,), (2,), (0, 1), (1, 1), (1, 2), (2, 1), (2, 2), (0, 2)}
    assert all(history not in EMPTY.histories for history in found)
    assert longer_histories(EMPTY, counts_hs, longest=2, number=1) in ([(1,)], [(0, 1)])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), penalty=st.sampled_from([0.0, 0.01, 0.1, 1.0]))
def test_what_is_kept_pays_for_its_arcs(seed: int, penalty: float) -> None:
    """Growing lowers KL by more than penalty x histories added (each has an arc or more)."""
    rng = np.random.default_rng(seed)
    strings = [tuple(rng.integers(1, 3, size=rng.integers(0, 7)).tolist()) for _ in range(6)]
    counts_hs = state_counts(strings, TRIAL)
    grown = grown_automaton(EMPTY, TRIAL, counts_hs, penalty)
    assert set(EMPTY.histories) <= set(grown.histories) <= set(TRIAL.histories)

    def log_likelihood(automaton) -> float:  # type: ignore[no-untyped-def]
        own_hs = state_counts(strings, automaton)
        row_h = own_hs.sum(axis=1, keepdims=True)
        seen = own_hs > 0
        return float((own_hs[seen] * np.log((own_hs / np.where(row_h > 0, row_h, 1))[seen])).sum())

    assert log_likelihood(grown) >= log_likelihood(EMPTY) - 1e-9
    if grown is EMPTY:
        return
    assert len(grown.histories) > len(EMPTY.histories)


def test_histories_that_pay_only_together_are_found() -> None:
    counts_hs = state_counts(PERIODIC, TRIAL)
    grown = grown_automaton(EMPTY, TRIAL, counts_hs, penalty=0.02)
    assert {(1, 1), (1, 2), (2, 1), (2, 2)} <= set(grown.histories)


def test_nothing_pays_a_high_price() -> None:
    assert grown_automaton(EMPTY, TRIAL, state_counts(PERIODIC, TRIAL), 100.0) is EMPTY


def test_coarser_counts_are_those_of_the_coarser_automaton() -> None:
    finer_hs = state_counts(PERIODIC, TRIAL)
    coarser = history_automaton([(1,)], 2)
    found = coarser_counts(finer_hs, history_map(coarser, TRIAL), len(coarser.histories))
    np.testing.assert_allclose(found, state_counts(PERIODIC, coarser))
    everything = ngram_counts(PERIODIC, 2, 1).counts_hs[0] / len(PERIODIC)
    assert found.sum(axis=0) == pytest.approx(everything)
