"""What must not matter: names, order, units; and loops that carry no influence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.alphabet import Alphabet
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.table import TableFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import FactorGraph
from fsbp.inference.enumeration import enumerate_graph
from fsbp.inference.propagation import Status, infer
from fsbp.inference.schedules import Schedule, sequential, synchronous
from fsbp.messages.kbest import KBest
from fsbp.transducers import edit_topology
from fsbp.variables import StringTable, Variable
from tests.cases import (
    ALPHABET,
    COLOUR,
    FLAG,
    MAX_LENGTH,
    TOPOLOGY,
    S,
    T,
    random_machine,
    switch_of_acceptors,
    transducer_factor,
)
from tests.strategies import Shape, shapes, tree

HARD_LISTS = KBest(k=15, backoff=math.inf)


@settings(max_examples=30, deadline=None)
@given(shape=shapes(), shift=st.floats(-5, 5))
def test_scaling_a_factor_scales_z(shape: Shape, shift: float) -> None:
    graph = tree(shape)
    variable = graph.variables[0]
    constant: Factor
    if variable.is_string:
        constant = AcceptorFactor(variable, StringTable((), np.zeros(0), floor=shift))
    else:
        constant = TableFactor((variable,), np.full(len(variable.values), shift))
    scaled = FactorGraph((*graph.factors, constant), graph.evidence)
    before = infer(graph, HARD_LISTS).log_partition
    after = infer(scaled, HARD_LISTS).log_partition
    assert after == pytest.approx(before + shift, rel=1e-9, abs=1e-9)


def renamed(variable: Variable) -> Variable:
    return replace(variable, name=f"other {variable.name}")


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_renaming_variables_changes_nothing(seed: int) -> None:
    results = []
    for rename in (lambda variable: variable, renamed):
        rng = np.random.default_rng(seed)
        s, t, colour = rename(S), rename(T), rename(COLOUR)
        factors = (
            AcceptorFactor(s, random_machine(rng)),
            AcceptorFactor(t, random_machine(rng)),
            transducer_factor(s, t, rng),
            switch_of_acceptors(colour, t, rng),
        )
        results.append(infer(FactorGraph(factors)))
    first, second = results
    assert first.log_partition == second.log_partition
    assert first.beliefs["S"].kbest(4) == second.beliefs["other S"].kbest(4)


def test_renaming_labels_changes_nothing() -> None:
    """The same model with the symbols numbered the other way round."""
    costs = {"substitute": -2.0, "substitute 'a' > 'b'": 0.5, "insert": -2.5, "delete": -1.5}
    found = []
    for alphabet in (Alphabet(("a", "b")), Alphabet(("b", "a"))):
        s, t = Variable("S", alphabet), Variable("T", alphabet)
        topology = edit_topology(alphabet)
        table = StringTable(("ab", "ba", "bb"), np.array([0.0, -1.0, 0.5]))
        graph = FactorGraph(
            (
                TransducerFactor(s, t, topology, topology.theta(costs)),
                AcceptorFactor(s, table.to_acceptor(alphabet)),
                AcceptorFactor(t, table.to_acceptor(alphabet)),
            )
        )
        found.append(infer(graph))
    assert found[0].log_partition == pytest.approx(found[1].log_partition, rel=1e-12)
    for name in ("S", "T"):
        first, second = (dict(result.beliefs[name].kbest(3)) for result in found)
        assert first == pytest.approx(second)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), damping=st.sampled_from([0.0, 0.4]))
def test_a_loop_without_influence_is_exact(seed: int, damping: float) -> None:
    """Strings and a finite variable on a cycle, one of whose factors ignores one side."""
    rng = np.random.default_rng(seed)
    ignored = AcceptorFactor(T, random_machine(rng))
    graph = FactorGraph(
        (
            AcceptorFactor(S, random_machine(rng)),
            AcceptorFactor(T, random_machine(rng)),
            TableFactor((FLAG,), rng.normal(size=2)),
            transducer_factor(S, T, rng),
            switch_of_acceptors(FLAG, S, rng),
            SwitchFactor(FLAG, (ignored, ignored), (0, 1)),
        )
    )
    assert not graph.is_forest
    truth = enumerate_graph(graph, MAX_LENGTH)
    result = infer(graph, HARD_LISTS, damping=damping, tolerance=1e-12)
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(truth.log_partition, abs=1e-8)
    for name in ("S", "T", "flag"):
        marginal = truth.log_marginal(name)
        for value, probability in result.beliefs[name].kbest(5):
            assert probability == pytest.approx(math.exp(marginal[value]), abs=1e-8)


def test_same_seed_same_answer() -> None:
    rng = np.random.default_rng(1)
    graph = FactorGraph((AcceptorFactor(S, random_machine(rng)), transducer_factor(S, T, rng)))
    cut = graph.observe({"T": "ab"})
    first, second = (infer(cut, KBest(3)) for _ in range(2))
    assert first.beliefs["S"].kbest(3) == second.beliefs["S"].kbest(3)
    drawn = [r.beliefs["S"].sample(np.random.default_rng(4), 5) for r in (first, second)]
    assert drawn[0] == drawn[1]
    assert ALPHABET.unseen("".join(drawn[0])) == ()


@pytest.mark.parametrize("schedule", [None, synchronous, sequential])
def test_strings_on_a_cycle_settle_near_the_truth(schedule: Schedule | None) -> None:
    """Three strings, each an edit of the others; influence round the cycle is weak."""
    rng = np.random.default_rng(3)
    middle = Variable("M", ALPHABET)
    opinions = tuple(AcceptorFactor(v, random_machine(rng)) for v in (S, T, middle))
    weights = TOPOLOGY.theta({"copy": -0.8, "substitute": -1.0, "insert": -1.5, "delete": -1.5})
    links = tuple(
        TransducerFactor(a, b, TOPOLOGY, weights) for a, b in ((S, T), (T, middle), (middle, S))
    )
    graph = FactorGraph((*opinions, *links))
    truth = enumerate_graph(graph, MAX_LENGTH)
    result = infer(graph, HARD_LISTS, schedule=schedule)
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(truth.log_partition, abs=0.1)
    for name in ("S", "T", "M"):
        marginal = truth.log_marginal(name)
        for value, probability in result.beliefs[name].kbest(5):
            assert probability == pytest.approx(math.exp(marginal[value]), abs=0.03)
