"""Tables with a floor: the same in two parts, in one machine, and by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import universe_acceptor
from fsbp.floors import floored_total, weighed_ngram_counts, weighed_table
from fsbp.messages.ngram import Ngram
from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import expected_ngram_counts, tilted_ngram_counts
from fsbp.pathsum import DivergentSumError
from fsbp.potentials import log_inner, product
from fsbp.variables import Acceptor, StringTable
from tests.cases import ALPHABET, S, random_machine, random_table

FAMILY = Ngram(3)
RNG = np.random.default_rng(0)


def counts_of_machine(machine: Acceptor, context: NgramPotential) -> tuple[np.ndarray, float]:
    return tilted_ngram_counts(machine.arrays, context.automaton, context.log_weight_hs, 100_000)


def context_of(rng: np.random.Generator) -> NgramPotential:
    found = FAMILY.project(S, random_machine(rng), FAMILY.uniform(S), RNG)
    assert isinstance(found, NgramPotential)
    return found


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), floor=st.sampled_from([-9.0, -1.0, 1.0, 9.0]))
def test_counts_and_totals_are_those_of_the_whole_machine(seed: int, floor: float) -> None:
    """Whether listed strings are above the floor, below it, or both."""
    rng = np.random.default_rng(seed)
    table, context = random_table(rng, floor), context_of(rng)
    exact = product([table.to_acceptor(ALPHABET), context])
    assert isinstance(exact, Acceptor)
    counts_hs, total = weighed_ngram_counts(
        weighed_table(table, context), context, counts_of_machine
    )
    assert total == pytest.approx(exact.log_total(), abs=1e-9)
    np.testing.assert_allclose(
        counts_hs, expected_ngram_counts(exact.fst, context.automaton, 100_000), atol=1e-9
    )
    assert floored_total(table, context, "sum") == pytest.approx(total, abs=1e-9)
    assert log_inner(table, context, "max") == pytest.approx(exact.log_total("max"), abs=1e-9)


def test_where_the_context_allows_no_listed_string_the_floor_is_left() -> None:
    table = StringTable(("b",), np.zeros(1), floor=-2.0)
    context = context_of(np.random.default_rng(1))
    closed = NgramPotential(context.automaton, ALPHABET, context.log_weight_hs.copy())
    closed.log_weight_hs[:, 1] = -np.inf
    _, total = weighed_ngram_counts(weighed_table(table, closed), closed, counts_of_machine)
    assert total == pytest.approx(closed.log_total() - 2.0, abs=1e-9)


def test_among_tables_only_sums_run_over_what_they_list() -> None:
    first = StringTable(("a", "ab"), np.array([0.5, -1.0]), floor=-2.0)
    second = StringTable(("b", "ab"), np.array([0.0, 1.0]), floor=-1.0)
    message = FAMILY.project(S, second, FAMILY.uniform(S), RNG)
    assert isinstance(message, NgramPotential)
    assert message.is_free
    assert message.log_total() == pytest.approx(second.log_total(), abs=1e-6)
    expected = product([first, second]).log_total()
    assert floored_total(first, message, "sum") == pytest.approx(expected, abs=1e-9)
    shifted = floored_total(first, message.shifted(-3.0), "sum")
    assert shifted == pytest.approx(expected - 3.0, abs=1e-9)


def test_a_floor_without_a_sum_is_refused() -> None:
    table = StringTable(("b",), np.zeros(1), floor=-2.0)
    loose = FAMILY.uniform(S).log_weight_hs - 0.1
    context = NgramPotential(FAMILY.uniform(S).automaton, ALPHABET, loose)
    with pytest.raises(DivergentSumError):
        weighed_ngram_counts(weighed_table(table, context), context, counts_of_machine)
    everything = Acceptor(universe_acceptor(2), ALPHABET)
    with pytest.raises(DivergentSumError):
        product([everything, context]).log_total()
