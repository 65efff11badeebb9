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
from fsbp.graph import FactorGraph
from fsbp.inference.bounded import bounded_message, bounded_product, bounded_projection
from fsbp.inference.enumeration import enumerate_graph
from fsbp.inference.propagation import Status, infer
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.variables import Acceptor, StringTable
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
    with pytest.raises(MachineTooLargeError):
        bounded_projection(LISTS, S, machine, UNIFORM, RNG)
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
