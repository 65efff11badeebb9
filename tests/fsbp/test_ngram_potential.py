"""N-gram potentials, against sums over listed strings and against the machine route."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import universe_acceptor
from fsbp.alphabet import Alphabet, common_alphabet
from fsbp.arrays import log_sum_exp
from fsbp.inference.enumeration import enumerate_strings
from fsbp.ngram_potential import (
    NgramPotential,
    common_refinement,
    history_map,
    on_common_refinement,
    sum_of_ngrams,
)
from fsbp.ngrams import HistoryAutomaton, expected_ngram_counts, history_automaton
from fsbp.pathsum import DivergentSumError
from fsbp.potentials import cavities, damped, difference, log_inner, log_total, normalised, product
from fsbp.variables import Acceptor, StringTable
from tests.cases import ALPHABET, STRINGS

SEEDS = st.integers(0, 2**32 - 1)
LONG_STRINGS = enumerate_strings(ALPHABET, 6)


def random_automaton(rng: np.random.Generator) -> HistoryAutomaton:
    lengths = rng.integers(1, 4, size=rng.integers(0, 4))
    histories = [
        [*([0] * int(rng.integers(0, 2))), *rng.integers(1, 3, size=length).tolist()]
        for length in lengths
    ]
    return history_automaton(histories, len(ALPHABET))


def random_ngrams(rng: np.random.Generator, shift: float = -2.5) -> NgramPotential:
    """Return weights whose sum is finite: those of symbols are far below 0."""
    automaton = random_automaton(rng)
    weight_hs = rng.normal(scale=0.5, size=(len(automaton.histories), 3)) + shift
    weight_hs[rng.random(weight_hs.shape) < 0.1] = -np.inf
    weight_hs[:, -1] = rng.normal(size=len(weight_hs))
    return NgramPotential(automaton, ALPHABET, weight_hs)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_weights_sums_and_best_strings_are_those_of_the_machine(seed: int) -> None:
    potential = random_ngrams(np.random.default_rng(seed))
    machine = Acceptor(potential.automaton.acceptor(potential.log_weight_hs), ALPHABET)
    weights = potential.log_weights(LONG_STRINGS)
    np.testing.assert_allclose(weights, machine.log_weights(LONG_STRINGS), rtol=1e-12)
    assert potential.log_total() == pytest.approx(machine.log_total(), abs=1e-12)
    assert potential.log_total("max") == pytest.approx(machine.log_total("max"), abs=1e-12)
    assert potential.k_best(5).strings == machine.k_best(5).strings
    assert potential.entropy() == pytest.approx(machine.entropy(), abs=1e-9)
    assert difference(potential, machine) <= 1e-12


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_expected_counts_are_those_of_the_machine(seed: int) -> None:
    potential = random_ngrams(np.random.default_rng(seed))
    machine = potential.to_acceptor(ALPHABET)
    np.testing.assert_allclose(
        potential.expected_counts_hs(),
        expected_ngram_counts(machine.fst, potential.automaton, 100_000),
        rtol=1e-9,
        atol=1e-12,
    )


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_log_probs_push_the_weights_without_changing_them(seed: int) -> None:
    potential = random_ngrams(np.random.default_rng(seed))
    log_prob_hs = potential.log_probs_hs()
    np.testing.assert_allclose(log_sum_exp(log_prob_hs, axis=1), 0.0, atol=1e-9)
    pushed = NgramPotential(potential.automaton, ALPHABET, log_prob_hs)
    expected = potential.log_weights(LONG_STRINGS) - potential.log_total()
    np.testing.assert_allclose(pushed.log_weights(LONG_STRINGS), expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, count=st.integers(1, 4))
def test_products_and_quotients_add_and_subtract_weights(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    potentials = [random_ngrams(rng) for _ in range(count)]
    weights = np.stack([p.log_weights(LONG_STRINGS) for p in potentials])
    found = product(potentials)
    assert isinstance(found, NgramPotential)
    np.testing.assert_allclose(found.log_weights(LONG_STRINGS), weights.sum(axis=0), rtol=1e-12)
    finite = np.isfinite(weights[0])
    quotient = found.minus(potentials[0]).log_weights(LONG_STRINGS)
    expected = weights[1:].sum(axis=0)
    np.testing.assert_allclose(quotient[finite], expected[finite], rtol=1e-9, atol=1e-9)
    if count > 1:
        for n, cavity in enumerate(cavities(potentials)):
            assert isinstance(cavity, NgramPotential)
            others = np.delete(weights, n, axis=0).sum(axis=0)
            np.testing.assert_allclose(cavity.log_weights(LONG_STRINGS), others, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_refinement_keeps_the_potential(seed: int) -> None:
    rng = np.random.default_rng(seed)
    potential = random_ngrams(rng)
    finer = common_refinement([potential.automaton, random_automaton(rng)])
    refined = potential.refined(finer)
    assert refined.automaton is finer
    np.testing.assert_array_equal(
        refined.log_weights(LONG_STRINGS), potential.log_weights(LONG_STRINGS)
    )
    assert refined.log_total() == pytest.approx(potential.log_total(), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_products_with_other_carriers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    potential = random_ngrams(rng)
    machine = Acceptor(universe_acceptor(2, 3), ALPHABET)
    table = StringTable(STRINGS[3:9], rng.normal(size=6))
    floored = StringTable(STRINGS[3:9], rng.normal(size=6), floor=-4.0)
    for other in (machine, table, floored):
        weights = potential.log_weights(STRINGS) + other.log_weights(STRINGS)
        mixed = product([potential, other])
        np.testing.assert_allclose(mixed.log_weights(STRINGS), weights, rtol=1e-9, atol=1e-9)
    inner = log_sum_exp(potential.log_weights(STRINGS))
    assert log_inner(potential, machine) == pytest.approx(inner, abs=1e-9)


def test_symbols_outside_the_alphabet_are_forbidden() -> None:
    potential = random_ngrams(np.random.default_rng(1))
    larger = Alphabet(("a", "b", "c"))
    over = potential.over(larger)
    assert over.alphabet is larger
    np.testing.assert_array_equal(over.log_weights(STRINGS), potential.log_weights(STRINGS))
    assert potential.log_weights(["c"])[0] == over.log_weights(["ac"])[0] == -np.inf
    assert potential.to_acceptor(larger).alphabet == larger
    first, second = on_common_refinement([potential, over])
    assert first.alphabet == second.alphabet == larger
    with pytest.raises(ValueError, match="has its symbols"):
        potential.over(Alphabet(("b", "c")))


def test_alphabets_in_any_order_have_one_union() -> None:
    rng = np.random.default_rng(2)
    first = random_ngrams(rng).over(Alphabet(("a", "b", "y")))
    second = replace(random_ngrams(rng), unseen=-0.5).over(Alphabet(("c", "b", "a")))
    texts = [*STRINGS, "ca", "ya", "yc"]
    for pair in ((first, second), (second, first)):
        both = sum_of_ngrams(pair)
        assert set(both.alphabet.symbols) == set("abcy")
        expected = first.log_weights(texts) + second.log_weights(texts)
        np.testing.assert_allclose(both.log_weights(texts), expected)
    assert common_alphabet([Alphabet(tuple("bayz")), Alphabet(tuple("bax"))]).symbols == tuple(
        "baxyz"
    )


def test_the_uniform_potential_weighs_unseen_symbols() -> None:
    uniform = NgramPotential.uniform(history_automaton([], 2), ALPHABET).shifted(-1.0)
    np.testing.assert_array_equal(uniform.log_weights(["", "a", "xy"]), -1.0)
    wider = uniform.to_acceptor(Alphabet(("a", "b", "x")))
    np.testing.assert_allclose(wider.log_weights(["xa", "y"]), [-1.0, -np.inf])
    nothing = uniform.k_best(3)
    assert (nothing.strings, nothing.floor) == ((), -1.0)


def test_an_infinite_sum_raises_and_is_not_normalised_by() -> None:
    uniform = NgramPotential.uniform(history_automaton([(1,)], 2), ALPHABET)
    assert not uniform.is_summable
    with pytest.raises(DivergentSumError):
        uniform.log_total()
    np.testing.assert_array_equal(uniform.log_weights(STRINGS), 0.0)
    assert log_total(normalised(uniform.shifted(3.0)), "max") == pytest.approx(0.0)


def test_histories_that_no_string_reaches_do_not_make_a_sum_infinite() -> None:
    """With all one-symbol histories, the empty one is never visited."""
    automaton = history_automaton([(1,), (2,)], 2)
    weight_hs = np.full((len(automaton.histories), 3), -2.0)
    weight_hs[automaton.histories.index(())] = 50.0
    potential = NgramPotential(automaton, ALPHABET, weight_hs)
    twice = 2 * np.exp(-2.0)
    assert potential.log_total() == pytest.approx(-2.0 - np.log1p(-twice))
    assert not potential.expected_counts_hs()[automaton.histories.index(())].any()


def test_an_empty_potential_has_no_counts() -> None:
    empty = random_ngrams(np.random.default_rng(2)).shifted(-np.inf)
    assert empty.log_total() == -np.inf
    assert not empty.is_summable
    with pytest.raises(ValueError, match="no string"):
        empty.expected_counts_hs()


def test_normalised_has_total_one() -> None:
    potential = random_ngrams(np.random.default_rng(3))
    assert log_total(normalised(potential)) == pytest.approx(0.0, abs=1e-12)


def test_damping_mixes_weights() -> None:
    rng = np.random.default_rng(4)
    new, old = on_common_refinement([random_ngrams(rng), random_ngrams(rng)])
    mixed = damped(new, old, 0.25)
    finite = np.isfinite(new.log_weight_hs) & np.isfinite(old.log_weight_hs)
    expected_hs = 0.75 * new.log_weight_hs[finite] + 0.25 * old.log_weight_hs[finite]
    np.testing.assert_allclose(mixed.log_weight_hs[finite], expected_hs)
    np.testing.assert_array_equal(mixed.log_weight_hs[~finite], new.log_weight_hs[~finite])


def test_samples_follow_the_weights() -> None:
    potential = random_ngrams(np.random.default_rng(5))
    drawn = potential.sample(20_000, np.random.default_rng(6))
    best = potential.k_best(1)
    share = np.exp(best.log_weights_n[0] - potential.log_total())
    error = np.sqrt(share * (1 - share) / len(drawn))
    assert abs(drawn.count(best.strings[0]) / len(drawn) - share) < 4 * error


def test_what_does_not_fit_is_refused() -> None:
    automaton = history_automaton([(1,)], 2)
    with pytest.raises(ValueError, match="3 histories"):
        NgramPotential(automaton, ALPHABET, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="refines"):
        history_map(automaton, history_automaton([(2,)], 2))
    with pytest.raises(ValueError, match="different numbers"):
        common_refinement([automaton, history_automaton([], 3)])
    assert sum_of_ngrams([NgramPotential.uniform(automaton, ALPHABET)]).automaton is automaton
