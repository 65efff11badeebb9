"""Dense sums over histories, against the fixpoint over arcs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.arrays import log_sum_exp
from fsbp.dense_sums import dense_completions, log_moves
from fsbp.fixpoint import DivergentSumError, Semiring, completions
from fsbp.ngrams import full_history_automaton, history_automaton

SEEDS = st.integers(0, 2**32 - 1)


def over_arcs(moves_hh: np.ndarray, exit_h: np.ndarray, semiring: Semiring) -> np.ndarray:
    source_a, target_a = (end.astype(np.int32) for end in np.nonzero(moves_hh > -np.inf))
    return completions(source_a, target_a, moves_hh[source_a, target_a], exit_h, semiring)


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, semiring=st.sampled_from(["sum", "max"]))
def test_completions_equal_the_fixpoint_over_arcs(seed: int, semiring: Semiring) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    moves_hh = rng.normal(loc=-2.5, scale=2.0, size=(size, size))
    moves_hh[rng.random(moves_hh.shape) < 0.5] = -np.inf
    exit_h = 50 * rng.normal(size=size)
    exit_h[rng.random(size) < 0.4] = -np.inf
    try:
        expected = over_arcs(moves_hh, exit_h, semiring)
    except DivergentSumError:
        with pytest.raises(DivergentSumError):
            dense_completions(moves_hh, exit_h, semiring)
        return
    np.testing.assert_allclose(
        dense_completions(moves_hh, exit_h, semiring), expected, rtol=1e-9, atol=1e-9
    )


def test_moves_add_up_the_symbols_between_two_histories() -> None:
    rng = np.random.default_rng(1)
    automaton = history_automaton([(1,)], 4)
    weight_hs = rng.normal(size=(3, 5))
    empty, start, after_one = (automaton.histories.index(h) for h in ((), (0,), (1,)))
    moves_hh, exit_h = log_moves(automaton.next_ha, weight_hs, start, False)
    assert moves_hh[start, empty] == pytest.approx(log_sum_exp(weight_hs[start, 1:4]))
    assert moves_hh[empty, after_one] == pytest.approx(weight_hs[empty, 0])
    assert moves_hh[empty, start] == -np.inf
    np.testing.assert_array_equal(exit_h, weight_hs[:, -1])
    best_hh, _ = log_moves(automaton.next_ha, weight_hs, start, True)
    assert best_hh[start, empty] == weight_hs[start, 1:4].max()


def test_histories_that_no_string_reaches_lead_nowhere() -> None:
    automaton = full_history_automaton(2, 2)
    weight_hs = np.zeros((len(automaton.histories), 3))
    moves_hh, exit_h = log_moves(automaton.next_ha, weight_hs, automaton.start, False)
    empty = automaton.histories.index(())
    assert np.all(moves_hh[empty] == -np.inf)
    assert exit_h[empty] == -np.inf
