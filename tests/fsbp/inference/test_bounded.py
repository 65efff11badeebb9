"""What outgrows its bounds is replaced by its best strings, and the log says so."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import numpy as np
import pytest

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.arrays import log_sum_exp
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Incoming
from fsbp.graph import FactorGraph
from fsbp.inference.bounded import (
    bounded_context,
    bounded_inner,
    bounded_message,
    bounded_product,
    bounded_projection,
)
from fsbp.inference.enumeration import enumerate_graph
from fsbp.inference.propagation import Status, infer
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.variables import Acceptor, Potential, Scored, StringTable, Variable
from tests.cases import ALPHABET, STRINGS, S, T, random_machine, transducer_factor

UNIFORM = Exact().uniform(S)
RNG = np.random.default_rng(0)
STRICT = Exact(max_arcs=10, overflow=0)
LISTS = Exact(max_arcs=10, overflow=len(STRINGS))


def test_a_large_message_is_sent_from_lists(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(1)
    factor = replace(transducer_factor(S, T, rng), max_arcs=20)
    incoming = {S: random_machine(rng)}
    with pytest.raises(MachineTooLargeError):
        bounded_message(STRICT, factor, T, incoming, "sum")
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        message = bounded_message(LISTS, factor, T, incoming, "sum")
    assert "best strings" in caplog.text
    exact = replace(factor, max_arcs=100_000).message_to(T, incoming, "sum")
    np.testing.assert_allclose(message.log_weights(STRINGS), exact.log_weights(STRINGS), rtol=1e-9)


def test_a_large_projection_is_a_list() -> None:
    machine = random_machine(np.random.default_rng(2))
    with pytest.raises(MachineTooLargeError):
        bounded_projection(STRICT, S, machine, UNIFORM, RNG)
    context = StringTable(("", "bbb"), np.zeros(2))
    listed = bounded_projection(Exact(max_arcs=10, overflow=2), S, machine, context, RNG)
    assert isinstance(listed, StringTable)
    assert set(listed.strings) == {*machine.k_best(2).strings, *context.strings}
    np.testing.assert_allclose(listed.log_weights_n, machine.log_weights(listed.strings))


def test_a_large_product_is_a_list() -> None:
    rng = np.random.default_rng(3)
    machines = [random_machine(rng), random_machine(rng)]
    with pytest.raises(MachineTooLargeError):
        bounded_product(STRICT, S, machines, RNG)
    listed = bounded_product(LISTS, S, machines, RNG)
    assert isinstance(listed, StringTable)
    expected = np.sum([machine.log_weights(STRINGS) for machine in machines], axis=0)
    np.testing.assert_allclose(listed.log_weights(STRINGS), expected)
    assert listed.log_total() == pytest.approx(log_sum_exp(expected))


def test_a_message_whose_best_strings_are_too_dear_scores_what_others_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = random_machine(np.random.default_rng(4))

    def refuse(self: Acceptor, k: int) -> StringTable:
        raise MachineTooLargeError("too many prefixes")

    monkeypatch.setattr(Acceptor, "k_best", refuse)
    proposal = bounded_projection(KBest(2), S, machine, KBest(2).uniform(S), RNG)
    assert isinstance(proposal, StringTable)
    assert proposal.strings == ()
    assert bounded_projection(LISTS, S, machine, UNIFORM, RNG).log_weights(["abab"])[0] == 0.0
    table = StringTable(("ab", "b"), np.zeros(2))
    graph = FactorGraph((AcceptorFactor(S, machine), AcceptorFactor(S, table)))
    belief = infer(graph, KBest(2)).beliefs["S"]
    gap = machine.log_weights(["ab", "b"])
    assert belief.log_prob("ab") - belief.log_prob("b") == pytest.approx(gap[0] - gap[1])


def test_a_tree_beyond_the_bounds_is_still_solved() -> None:
    """With lists of every string nothing is lost; with short ones log Z is bounded from below."""
    rng = np.random.default_rng(5)
    graph = FactorGraph(
        (
            AcceptorFactor(S, random_machine(rng)),
            AcceptorFactor(T, random_machine(rng)),
            replace(transducer_factor(S, T, rng), max_arcs=20),
        )
    )
    truth = enumerate_graph(graph, 3)
    full = infer(graph, LISTS)
    assert full.status is Status.CONVERGED
    assert full.log_partition == pytest.approx(truth.log_partition, abs=1e-9)
    short = infer(graph, Exact(max_arcs=10, overflow=3))
    assert -math.inf < short.log_partition < truth.log_partition
    with pytest.raises(MachineTooLargeError):
        infer(graph, STRICT)


def test_a_machine_without_a_sum_has_no_best_strings() -> None:
    loose = Acceptor(universe_acceptor(2, None), ALPHABET)
    factor = replace(transducer_factor(S, T, RNG), max_arcs=5)
    graph = FactorGraph((AcceptorFactor(S, loose), factor))
    assert infer(graph, Exact(), queries=["T"]).status is Status.DIVERGENT_SUM


def too_dear() -> Scored:
    """Return a potential that scores strings, and is too large to search."""

    def refuse() -> Acceptor:
        raise MachineTooLargeError("too many arcs")

    return Scored(lambda strings: np.array([-float(len(s)) for s in strings]), refuse, tight=True)


def test_lists_whose_message_is_too_large_too_say_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rng = np.random.default_rng(6)

    class Stubborn(AcceptorFactor):
        def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
            raise MachineTooLargeError("too many arcs")

    factor = Stubborn(S, random_machine(rng))
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        message = bounded_message(LISTS, factor, S, {T: random_machine(rng)}, "sum")
    assert "left out" in caplog.text
    np.testing.assert_array_equal(message.log_weights(STRINGS), 0.0)
    sent = bounded_message(LISTS, factor, S, {T: too_dear()}, "sum")
    np.testing.assert_array_equal(sent.log_weights(STRINGS), 0.0)


def test_a_product_takes_candidates_from_those_that_have_some() -> None:
    machine = random_machine(np.random.default_rng(7))
    listed = bounded_product(LISTS, S, [machine, too_dear()], RNG)
    lengths = np.array([len(text) for text in STRINGS])
    expected = machine.log_weights(STRINGS) - lengths
    np.testing.assert_allclose(listed.log_weights(STRINGS), expected)
    alone = bounded_product(LISTS, S, [too_dear(), too_dear()], RNG)
    assert isinstance(alone, Scored)
    loose = Acceptor(universe_acceptor(2, None), ALPHABET)
    with pytest.raises(DivergentSumError):
        bounded_product(LISTS, S, [loose, too_dear()], RNG)


def test_contexts_and_totals_are_within_bounds_too() -> None:
    rng = np.random.default_rng(8)
    machines = [random_machine(rng), random_machine(rng)]
    expected = np.sum([machine.log_weights(STRINGS) for machine in machines], axis=0)
    for bounded in (bounded_context, lambda *args: bounded_product(*args, RNG)):
        np.testing.assert_allclose(bounded(LISTS, S, machines).log_weights(STRINGS), expected)
    total = bounded_inner(LISTS, S, *machines, "sum")
    assert total == pytest.approx(log_sum_exp(expected))
    with pytest.raises(MachineTooLargeError):
        bounded_inner(STRICT, S, *machines, "sum")
    with pytest.raises(MachineTooLargeError):
        bounded_context(STRICT, S, machines)


def test_a_belief_that_no_bound_allows_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    factor = replace(transducer_factor(S, T, RNG), max_arcs=2)
    graph = FactorGraph((AcceptorFactor(S, StringTable(("abba",), np.zeros(1))), factor))
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        result = infer(graph, Exact(), queries=["T"])
    assert result.status is Status.TOO_LARGE
    assert math.isnan(result.log_partition)
    assert "outgrew its bounds" in caplog.text
    with pytest.raises(MachineTooLargeError):
        infer(graph, Exact(overflow=0), queries=["T"])
