"""N-gram messages: moments, exactness with enough order, growth of histories, and bounds."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.arrays import log_sum_exp
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.table import TableFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import FactorGraph
from fsbp.inference.enumeration import enumerate_graph
from fsbp.inference.propagation import Status, infer
from fsbp.messages.base import MessageFamily
from fsbp.messages.ngram import Ngram
from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import (
    expected_ngram_counts,
    full_history_automaton,
    ngram_acceptor,
    tilted_ngram_counts,
)
from fsbp.pathsum import DivergentSumError
from fsbp.potentials import product
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable
from tests.cases import ALPHABET, COLOUR, STRINGS, TOPOLOGY, S, random_machine
from tests.strategies import Shape, shapes, tree

SEEDS = st.integers(0, 2**32 - 1)
RNG = np.random.default_rng(0)
FULL = Ngram(5)
X, Y = Variable("X", ALPHABET), Variable("Y", ALPHABET)


def language(n: int = 2) -> Acceptor:
    """Return a proper distribution over all strings."""
    labels = [ALPHABET.labels(text) for text in ("ab", "abab", "aab", "b")]
    return Acceptor(ngram_acceptor(labels, len(ALPHABET), n), ALPHABET)


def ngrams(potential: Potential) -> NgramPotential:
    assert isinstance(potential, NgramPotential)
    return potential


def projected(
    family: MessageFamily, potential: StringPotential, context: Potential
) -> NgramPotential:
    return ngrams(family.project(S, potential, context, RNG))


@pytest.mark.parametrize(("smoothing", "error"), [(1e-12, 1e-8), (Ngram().smoothing, 1e-6)])
@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, order=st.integers(1, 4), in_context=st.booleans())
def test_moments_and_total_are_matched(
    smoothing: float, error: float, seed: int, order: int, in_context: bool
) -> None:
    """Up to what smoothing takes from the rows: below 1e-6 symbols per string by default."""
    rng = np.random.default_rng(seed)
    family = Ngram(order, smoothing=smoothing)
    context = ngrams(family.uniform(S))
    if in_context:
        context = projected(family, random_machine(rng), context)
    machine = random_machine(rng)
    message = projected(family, machine, context)
    exact = product([machine, context])
    assert isinstance(exact, Acceptor)
    belief = ngrams(product([message, context]))
    assert belief.log_total() == pytest.approx(exact.log_total(), abs=error)
    np.testing.assert_allclose(
        belief.expected_counts_hs(),
        expected_ngram_counts(exact.fst, belief.automaton, 100_000),
        atol=error,
    )


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, order=st.integers(1, 3))
def test_projection_is_the_nearest_model(seed: int, order: int) -> None:
    """No other row weights have a smaller KL(p || q), that is a larger expected log q."""
    rng = np.random.default_rng(seed)
    machine = random_machine(rng)
    message = projected(Ngram(order), machine, Ngram(order).uniform(S))
    log_prob = machine.log_weights(STRINGS) - machine.log_total()
    fitted = message.log_weights(STRINGS) - message.log_total()
    moved_hs = message.log_weight_hs + rng.normal(scale=0.05, size=message.log_weight_hs.shape)
    moved = NgramPotential(message.automaton, ALPHABET, moved_hs)
    if moved.is_summable:
        other = moved.log_weights(STRINGS) - moved.log_total()
        assert np.exp(log_prob) @ fitted >= np.exp(log_prob) @ other - 1e-9


@settings(max_examples=12, deadline=None)
@given(shape=shapes())
def test_enough_order_is_exact_on_trees(shape: Shape) -> None:
    graph = tree(shape)
    truth = enumerate_graph(graph, 3)
    for family in (FULL, Ngram("adaptive", penalty=0.0, max_order=5)):
        result = infer(graph, family, tolerance=1e-9)
        if truth.log_partition == -math.inf:
            continue
        assert result.status is Status.CONVERGED
        assert result.log_partition == pytest.approx(truth.log_partition, abs=1e-6)
        for name, belief in result.beliefs.items():
            for value, expected in truth.log_marginal(name).items():
                assert math.exp(belief.log_prob(value)) == pytest.approx(
                    math.exp(expected), abs=1e-6
                )


def noisy_chain(rng: np.random.Generator) -> FactorGraph:
    """Return three strings in a row, each with an opinion of its own."""
    variables = [Variable(name, ALPHABET) for name in "PQR"]
    theta = TOPOLOGY.theta({"copy": -0.3, "substitute": -2.0, "insert": -2.5, "delete": -2.5})
    links = [TransducerFactor(a, b, TOPOLOGY, theta) for a, b in pairwise(variables)]
    return FactorGraph((*(AcceptorFactor(v, random_machine(rng)) for v in variables), *links))


def test_higher_orders_come_nearer() -> None:
    errors = []
    for order in (1, 2, 3, 4):
        gaps = []
        for seed in range(2):
            graph = noisy_chain(np.random.default_rng(seed))
            result = infer(graph, Ngram(order), tolerance=1e-4)
            gaps.append(abs(result.log_partition - enumerate_graph(graph, 3).log_partition))
        errors.append(np.mean(gaps))
    assert errors[3] < 1e-4
    assert errors[3] < errors[2] < errors[0]
    assert errors[1] < errors[0]


def test_the_penalty_buys_accuracy_with_histories() -> None:
    graph = noisy_chain(np.random.default_rng(7))
    truth = enumerate_graph(graph, 3).log_partition
    sizes, errors = [], []
    for penalty in (0.5, 0.05, 0.0):
        result = infer(graph, Ngram("adaptive", penalty=penalty, max_order=5), tolerance=1e-6)
        sizes.append(len(ngrams(result.beliefs["Q"].potential).automaton.histories))
        errors.append(abs(result.log_partition - truth))
    assert sizes[0] < sizes[1] < sizes[2]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-6


def test_histories_grow_where_only_longer_ones_pay() -> None:
    """After a or b both are as likely: only pairs of symbols predict the next one."""
    table = StringTable(("aabbaabb", "bbaabbaa"), np.zeros(2))
    grown = projected(Ngram("adaptive", penalty=0.02), table, Ngram("adaptive").uniform(S))
    short = projected(Ngram(2), table, Ngram(2).uniform(S))
    assert any(len(history) >= 2 for history in grown.automaton.histories)
    assert np.all(grown.log_weights(table.strings) > short.log_weights(table.strings) + 1.0)


def test_adaptive_histories_only_ever_grow() -> None:
    family = Ngram("adaptive", penalty=0.01)
    machine, other = (random_machine(np.random.default_rng(seed)) for seed in (1, 2))
    uniform = family.uniform(S)
    first = projected(family, machine, uniform)
    context = projected(family, other, uniform)
    second = ngrams(family.updated(S, machine, context, first, visits=9))
    assert set(second.automaton.histories) >= set(first.automaton.histories)
    assert set(second.automaton.histories) >= set(context.automaton.histories)


def test_no_string_is_ever_forbidden() -> None:
    """Nor does a row underflow, however improbable what it says of a string."""
    family = Ngram(3)
    first, second = StringTable(("ab",), np.zeros(1)), StringTable(("bb",), np.zeros(1))
    message, context = ngrams(family.uniform(S)), projected(family, first, family.uniform(S))
    for visits in range(60):
        message = ngrams(family.updated(S, second, context, message, visits))
        assert np.all(np.isfinite(message.log_weights(STRINGS)))
        context = ngrams(family.updated(S, first, message, context, visits))
        assert np.all(np.isfinite(context.log_weights(STRINGS)))


def test_no_mass_and_wrong_values_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = StringTable(("ab",), np.array([-np.inf])).to_acceptor(ALPHABET)
    message = projected(FULL, nothing, FULL.uniform(S))
    assert message.log_total() == -math.inf

    def fail(machine: object) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr("fsbp.messages.ngram.without_parallel_arcs", fail)
    with pytest.raises(ValueError, match="a mistake"):
        projected(FULL, language(), FULL.uniform(S))


@pytest.mark.parametrize("family", [Ngram(5, max_arcs=2), Ngram("adaptive", max_arcs=2)])
def test_best_strings_beyond_the_bound_leave_the_message_as_it_was(
    family: Ngram, caplog: pytest.LogCaptureFixture
) -> None:
    graph = FactorGraph((AcceptorFactor(S, StringTable(("abab", "b"), np.zeros(2))),))
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        assert infer(graph, family).status is Status.DIVERGENT_SUM
    assert "kept as it was" in caplog.text
    with pytest.raises(MachineTooLargeError):
        infer(graph, replace(family, overflow=0))


def test_a_potential_whose_best_strings_are_too_dear_leaves_the_message_as_it_was() -> None:
    def refuse() -> Acceptor:
        raise MachineTooLargeError("too many arcs")

    machine = random_machine(np.random.default_rng(6))
    scored = Scored(machine.log_weights, refuse, tight=True)
    uniform = ngrams(FULL.uniform(S))
    np.testing.assert_array_equal(projected(FULL, scored, uniform).log_weight_hs, 0.0)


def test_a_product_without_a_finite_sum_keeps_the_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The first opinion has no sum on its own, and is used once the second has come."""
    loose = Acceptor(universe_acceptor(2, None), ALPHABET)
    with pytest.raises(DivergentSumError):
        projected(FULL, loose, FULL.uniform(S))
    sharp = random_machine(np.random.default_rng(3))
    graph = FactorGraph((AcceptorFactor(S, loose), AcceptorFactor(S, sharp)))
    with caplog.at_level(logging.INFO, logger="fsbp"):
        result = infer(graph, FULL)
    assert "no finite sum" in caplog.text
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(sharp.log_total(), abs=1e-6)


def test_a_message_that_never_has_a_sum_is_reported() -> None:
    graph = FactorGraph((AcceptorFactor(S, Acceptor(universe_acceptor(2, None), ALPHABET)),))
    assert infer(graph, FULL).status is Status.DIVERGENT_SUM


def test_too_large_a_product_is_replaced_by_its_best_strings(
    caplog: pytest.LogCaptureFixture,
) -> None:
    machine = random_machine(np.random.default_rng(5))
    family = Ngram(5, max_arcs=25, overflow=3)
    table = machine.k_best(3)
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        message = projected(family, machine, family.uniform(S))
    assert "3 best strings" in caplog.text
    np.testing.assert_allclose(
        message.log_weights(table.strings), table.log_weights_n, rtol=1e-6, atol=1e-6
    )


def test_a_potential_without_a_machine_is_replaced_by_its_best_strings() -> None:
    machine = random_machine(np.random.default_rng(6))
    scored = Scored(machine.log_weights, lambda: machine, tight=False)
    message = projected(FULL, scored, FULL.uniform(S))
    np.testing.assert_allclose(
        message.log_weights(STRINGS), machine.log_weights(STRINGS), rtol=1e-6, atol=1e-6
    )


def test_an_order_with_too_many_histories_is_lowered(caplog: pytest.LogCaptureFixture) -> None:
    letters = Variable("letters", Alphabet(tuple("abcdefghij")))
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        family = Ngram(4, max_states=200)
        table = StringTable(("abc", "j"), np.zeros(2))
        message = ngrams(family.project(letters, table, family.uniform(letters), RNG))
    assert "order 3 instead" in caplog.text
    assert len(message.automaton.histories) == len(full_history_automaton(10, 3).histories)


def test_adaptive_histories_stay_within_the_bound() -> None:
    family = Ngram("adaptive", penalty=0.0, max_order=5, max_states=12)
    message = projected(family, random_machine(np.random.default_rng(8)), family.uniform(S))
    assert len(message.automaton.histories) <= 12


def test_symbols_outside_the_alphabet_are_let_in_by_a_message_that_has_them() -> None:
    table = StringTable(("ac", "b"), np.array([0.0, -1.0]))
    message = projected(FULL, table, FULL.uniform(S))
    np.testing.assert_allclose(message.log_weights(table.strings), table.log_weights_n, atol=1e-6)


def test_order_one_has_one_history() -> None:
    machine = random_machine(np.random.default_rng(10))
    message = projected(Ngram(1), machine, Ngram(1).uniform(S))
    assert message.automaton.histories == ((),)
    again = projected(Ngram(1), message, Ngram(1).uniform(S))
    np.testing.assert_array_equal(again.log_weight_hs, message.log_weight_hs)


def test_a_table_alone_stands_for_its_list() -> None:
    table = StringTable(("ab", "b"), np.array([0.0, -1.0]), floor=-3.0)
    message = projected(FULL, table, FULL.uniform(S))
    np.testing.assert_allclose(message.log_weights(table.strings), table.log_weights_n, atol=1e-6)
    assert message.log_total() == pytest.approx(table.log_total(), abs=1e-6)
    empty = StringTable((), np.zeros(0), floor=-3.0)
    np.testing.assert_array_equal(
        projected(FULL, empty, FULL.uniform(S)).log_weights(STRINGS), -3.0
    )


def test_an_ngram_potential_passes_as_it_is() -> None:
    message = projected(Ngram(2), language(), Ngram(2).uniform(S))
    kept = projected(Ngram(3), message, Ngram(2).uniform(S))
    np.testing.assert_array_equal(kept.log_weights(STRINGS), message.log_weights(STRINGS))
    lowered = projected(Ngram(1), message, Ngram(1).uniform(S))
    counts_hs, total = tilted_ngram_counts(
        message.to_acceptor(ALPHABET).fst, *_unweighted(lowered), 10_000
    )
    assert lowered.log_total() == pytest.approx(total, abs=1e-7)
    np.testing.assert_allclose(lowered.expected_counts_hs(), counts_hs, atol=1e-6)


def _unweighted(potential: NgramPotential) -> tuple:  # type: ignore[type-arg]
    return potential.automaton, np.zeros_like(potential.log_weight_hs)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_coarsened_messages_keep_block_probabilities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    family = Ngram(blocks={"colour": (0, 1, 0)})
    table, context = rng.normal(size=3), rng.normal(size=3)
    coarse = family.project(COLOUR, table, context, RNG)
    assert isinstance(coarse, np.ndarray)
    assert coarse[0] == coarse[2]
    assert coarse[1] == pytest.approx(table[1])
    for block in ([0, 2], [1]):
        expected = log_sum_exp(table[block] + context[block])
        assert log_sum_exp(coarse[block] + context[block]) == pytest.approx(expected)
    again = family.project(COLOUR, coarse, context, RNG)
    np.testing.assert_allclose(again, coarse, atol=1e-12)
    assert Ngram().project(COLOUR, table, context, RNG) is table


def test_singleton_blocks_are_ordinary_propagation() -> None:
    rng = np.random.default_rng(9)
    flag = Variable("flag", ("no", "yes"))
    graph = FactorGraph(
        (TableFactor((COLOUR, flag), rng.normal(size=(3, 2))), TableFactor((flag,), np.ones(2)))
    )
    fine = infer(graph, Ngram(blocks={"colour": (0, 1, 2), "flag": (0, 1)}))
    assert fine.log_partition == pytest.approx(infer(graph).log_partition, abs=1e-9)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Ngram(0)
    with pytest.raises(ValueError, match="at least"):
        Ngram(penalty=-1.0)
    with pytest.raises(ValueError, match="2 blocks"):
        Ngram(blocks={"colour": (0, 1)}).project(COLOUR, np.zeros(3), np.zeros(3), RNG)
    with pytest.raises(TypeError, match="project it first"):
        FULL.project(S, language(), StringTable(("a",), np.zeros(1)), RNG)
