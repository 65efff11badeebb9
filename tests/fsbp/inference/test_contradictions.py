"""A contradiction is found where there is one, and never where values are merely improbable."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp import supports
from fsbp.acceptors import universe_acceptor
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.table import TableFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import FactorGraph
from fsbp.inference.contradictions import empty_messages, without_values
from fsbp.inference.enumeration import enumerate_graph
from fsbp.inference.propagation import Status, infer
from fsbp.inference.schedules import Schedule, synchronous
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.messages.ngram import Ngram
from fsbp.pathsum import Semiring
from fsbp.variables import Acceptor, StringTable, Variable
from tests.cases import (
    ALPHABET,
    COLOUR,
    FAMILY_CASES,
    FLAG,
    REWRITES,
    STRINGS,
    TOPOLOGY,
    FamilyCase,
    S,
    random_table,
)
from tests.strategies import Shape, shapes, tree

NGRAMS = [Ngram(), Ngram(4), Ngram("adaptive")]
P, Q, R = (Variable(name, ALPHABET) for name in "PQR")


def words(*texts: str) -> StringTable:
    return StringTable(texts, np.zeros(len(texts)))


def shortening(source: Variable, target: Variable, edits: float = -math.inf) -> TransducerFactor:
    """Return a relation that copies and deletes, and does anything else at a price."""
    weights = {"copy": 0.0, "delete": -1.0, "substitute": edits, "insert": edits}
    return TransducerFactor(source, target, TOPOLOGY, TOPOLOGY.theta(weights))


def sparse_graph(rng: np.random.Generator, has_loop: bool) -> FactorGraph:
    """Return short lists along a chain that only shortens, often without a common solution."""
    factors: list[Factor] = [shortening(P, Q), shortening(Q, R)]
    if has_loop:
        factors.append(shortening(P, R))
    for variable in (P, Q, R):
        if variable == P or rng.random() < 0.7:
            texts = rng.choice(np.array(STRINGS), size=2, replace=False).tolist()
            table = StringTable(tuple(texts), rng.normal(scale=50.0, size=2))
            in_list = rng.random() < 0.5
            potential = table if in_list else table.to_acceptor(ALPHABET)
            factors.append(AcceptorFactor(variable, potential))
    return FactorGraph(tuple(factors))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_on_forests_every_contradiction_is_found_and_no_other(seed: int) -> None:
    graph = sparse_graph(np.random.default_rng(seed), has_loop=False)
    is_impossible = enumerate_graph(graph, 3).log_partition == -math.inf
    assert without_values(graph) == (set(graph.free) if is_impossible else set())


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_on_loops_what_is_found_is_one(seed: int) -> None:
    graph = sparse_graph(np.random.default_rng(seed), has_loop=True)
    if enumerate_graph(graph, 3).log_partition > -math.inf:
        assert without_values(graph) == set()


@settings(max_examples=60, deadline=None)
@given(shape=shapes())
def test_trees_of_all_factors(shape: Shape) -> None:
    """Finite variables and switches too; factors that are all observed are not looked at."""
    graph = tree(shape)
    observed = [f for f, edges in enumerate(graph.edges_of_factor) if not edges]
    evidence = {graph.variable(name): value for name, value in graph.evidence.items()}
    if all(graph.factors[f].log_score(evidence) > -math.inf for f in observed):
        is_impossible = enumerate_graph(graph, 3).log_partition == -math.inf
        assert bool(without_values(graph)) == is_impossible


CONTRADICTIONS = {
    "acceptors": FactorGraph((AcceptorFactor(P, words("a")), AcceptorFactor(P, words("b")))),
    "machines": FactorGraph(
        tuple(AcceptorFactor(P, words(text).to_acceptor(ALPHABET)) for text in "ab")
    ),
    "transducers": FactorGraph(
        (
            AcceptorFactor(P, words("ab")),
            shortening(P, Q),
            shortening(Q, R),
            AcceptorFactor(R, words("ba")),
        )
    ),
    "concatenation": FactorGraph(
        (
            AcceptorFactor(P, Acceptor(universe_acceptor(2, 1), ALPHABET)),
            AcceptorFactor(Q, Acceptor(universe_acceptor(2, 1), ALPHABET)),
            ConcatenationFactor((P, Q), R),
        )
    ).observe({"R": "ababab"}),
    "table": FactorGraph(
        (
            AcceptorFactor(P, words("a")),
            SwitchFactor(
                FLAG, (AcceptorFactor(P, words("a")), AcceptorFactor(P, words("b"))), (0, 1)
            ),
            TableFactor((FLAG,), np.array([-np.inf, 0.0])),
        )
    ),
    "loop": FactorGraph(
        (
            AcceptorFactor(P, words("a")),
            AcceptorFactor(R, words("b")),
            shortening(P, Q),
            shortening(Q, R),
            shortening(P, R),
        )
    ),
}


@pytest.mark.parametrize("family", [*NGRAMS, Exact()], ids=["two", "four", "adaptive", "exact"])
@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_reported_alike(name: str, family: MessageFamily) -> None:
    graph = CONTRADICTIONS[name]
    if not graph.is_forest and not family.iterates:
        assert infer(graph, family).status in (Status.EMPTY_BELIEF, Status.DIVERGENT_SUM)
        return
    result = infer(graph, family, max_updates=100)
    assert result.status is Status.EMPTY_BELIEF
    assert result.log_partition == -math.inf
    assert all(result.beliefs[graph.variables[v].name].is_empty for v in graph.free)
    assert result.updates < 30


@pytest.mark.parametrize("family", NGRAMS, ids=["two", "four", "adaptive"])
def test_improbable_values_are_no_contradiction(family: Ngram) -> None:
    """One edit at a price of 300 nats, which no smoothed row foresees."""
    graph = FactorGraph(
        (
            AcceptorFactor(P, words("a")),
            AcceptorFactor(R, words("b")),
            shortening(P, Q, edits=-300.0),
            shortening(Q, R, edits=-300.0),
        )
    )
    truth = enumerate_graph(graph, 2).log_partition
    assert truth < -298
    result = infer(graph, family)
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(truth, abs=1e-3)
    far = FactorGraph((*graph.factors[:2], shortening(P, Q, -1e6), shortening(Q, R, -1e6)))
    assert without_values(far) == set()
    assert infer(far, family, max_updates=40).status is Status.MAX_STEPS


def test_a_floor_is_no_contradiction() -> None:
    tables = [StringTable((text,), np.zeros(1), floor=-5.0) for text in ("a", "b")]
    graph = FactorGraph(tuple(AcceptorFactor(P, table) for table in tables))
    assert without_values(graph) == set()


def test_other_components_are_solved() -> None:
    table = random_table(np.random.default_rng(1))
    graph = FactorGraph((*CONTRADICTIONS["acceptors"].factors, AcceptorFactor(Q, table)))
    assert set(empty_messages(graph)) == {0, 1}
    result = infer(graph, Ngram(5))
    assert result.status is Status.EMPTY_BELIEF
    assert result.beliefs["P"].is_empty
    assert result.beliefs["Q"].log_total == pytest.approx(table.log_total(), abs=1e-6)
    assert result.log_partition == -math.inf


def test_symbols_outside_the_alphabet_are_no_contradiction() -> None:
    """Neither those of lists, nor those that only a relation passes on, nor those of evidence."""
    agreeing = FactorGraph((AcceptorFactor(P, words("ac")), AcceptorFactor(P, words("ac", "b"))))
    passed_on = FactorGraph((AcceptorFactor(P, words("ac")), shortening(P, Q), shortening(Q, R)))
    for graph in (agreeing, passed_on, passed_on.observe({"R": "c"})):
        assert without_values(graph) == set()
    assert infer(passed_on.observe({"R": "c"}), Exact()).log_partition == pytest.approx(
        math.log(2) - 1
    )
    assert without_values(passed_on.observe({"R": "d"})) == {0, 1}


def test_sets_that_are_too_dear_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supports, "MAX_STATES", 0)
    assert all(without_values(graph) == set() for graph in CONTRADICTIONS.values())


def test_factors_that_need_lists_forbid_nothing() -> None:
    graph = FactorGraph((RewriteFactor(P, Q, REWRITES), AcceptorFactor(Q, words("bbbb"))))
    assert without_values(graph) == set()


def test_nothing_is_possible_where_a_belief_is_empty() -> None:
    """A factor that takes an empty list for no opinion does not make the impossible possible."""
    lists = [AcceptorFactor(P, words(text)) for text in ("a", "b")]
    graph = FactorGraph((*lists, AcceptorFactor(Q, words("ab")), RewriteFactor(P, Q, REWRITES)))
    for semiring in get_args(Semiring):
        result = infer(graph, semiring=semiring)
        assert result.status is Status.EMPTY_BELIEF
        assert result.log_partition == -np.inf


@pytest.mark.parametrize("schedule", [None, synchronous], ids=["default", "synchronous"])
@pytest.mark.parametrize("case", FAMILY_CASES, ids=lambda case: case.name)
def test_evidence_that_a_factor_forbids_is_reported(
    case: FamilyCase, schedule: Schedule | None
) -> None:
    """All variables of the factor are observed, so that no belief is empty."""
    forbidding = TableFactor((FLAG, COLOUR), np.array([[0.0, -np.inf, 0.0], [0.0, 0.0, 0.0]]))
    opinion = AcceptorFactor(S, StringTable(("a", "ab"), np.zeros(2)))
    graph = FactorGraph((forbidding, opinion))
    for colour, status in (("green", Status.EMPTY_BELIEF), ("blue", Status.CONVERGED)):
        observed = graph.observe({"flag": "no", "colour": colour})
        semirings = get_args(Semiring)[: 1 if case.family.samples else 2]
        for semiring in semirings:
            result = infer(observed, case.family, semiring, schedule=schedule)
            assert result.status is status
            assert (result.log_partition == -np.inf) == (status is Status.EMPTY_BELIEF)
