"""The Bethe free energy against enumeration, and what it says of beliefs that are not the truth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from fsbp.acceptors import universe_acceptor
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph
from fsbp.inference.enumeration import Enumeration, enumerate_graph
from fsbp.inference.free_energy import Pseudomarginals, free_energy
from fsbp.inference.propagation import Status, infer
from fsbp.inference.schedules import Schedule, residual, spanning_tree, synchronous
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.variables import Acceptor, Variable
from tests.cases import ALPHABET, COLOUR, FLAG, MAX_LENGTH, S, T, random_machine, transducer_factor
from tests.fsbp.inference.test_schedules import loopy_graph
from tests.strategies import Shape, shapes, tree

HARD_LISTS = KBest(k=15, backoff=math.inf)


def marginals(graph: FactorGraph, joint: np.ndarray, truth: Enumeration) -> Pseudomarginals:
    """Return the marginals of a joint distribution that has one axis per variable."""
    names = list(truth.universes)

    def over(kept: list[str]) -> np.ndarray:
        summed = joint.sum(axis=tuple(n for n, name in enumerate(names) if name not in kept))
        order = [name for name in names if name in kept]
        return summed.transpose([order.index(name) for name in kept])

    return Pseudomarginals(
        truth.universes,
        {name: over([name]) for name in names},
        tuple(over([variable.name for variable in factor.variables]) for factor in graph.factors),
    )


@settings(max_examples=60, deadline=None)
@given(shape=shapes())
def test_on_trees_it_is_minus_log_z(shape: Shape) -> None:
    graph = tree(shape)
    truth = enumerate_graph(graph, MAX_LENGTH)
    for family in (Exact(), HARD_LISTS):
        result = infer(graph, family)
        if truth.log_partition == -math.inf:
            with pytest.raises(ValueError, match=r"empty|allows none"):
                result.free_energy()
            continue
        found = result.free_energy()
        joint = np.exp(truth.log_score_table - truth.log_partition)
        possible = joint > 0
        energy = -(joint[possible] * truth.log_score_table[possible]).sum()
        assert found.total == pytest.approx(-truth.log_partition, abs=1e-8)
        assert found.energy == pytest.approx(energy, abs=1e-8)
        assert found.entropy == pytest.approx(energy + truth.log_partition, abs=1e-8)
        assert found.gap < 1e-9
        assert found.covered == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(shape=shapes())
def test_on_trees_other_beliefs_cost_their_divergence(shape: Shape) -> None:
    """F(marginals of q) = -log Z + KL(q || p) for q of the same tree: never below -log Z."""
    graph = tree(shape)
    truth = enumerate_graph(graph, MAX_LENGTH)
    other = tree(replace(shape, seed=shape.seed + 1))
    other = FactorGraph(other.factors, graph.evidence)
    names = list(truth.universes)
    wrong = enumerate_graph(other, MAX_LENGTH)
    if not (wrong.log_partition > -math.inf and set(wrong.universes) == set(names)):
        return
    order = [list(wrong.universes).index(name) for name in names]
    log_q = wrong.log_score_table.transpose(order) - wrong.log_partition
    found = free_energy(graph, marginals(graph, np.exp(log_q), truth))
    possible = log_q > -700.0
    q, log_q, score = np.exp(log_q[possible]), log_q[possible], truth.log_score_table[possible]
    divergence = float((q * (log_q - score)).sum())
    if math.isinf(divergence):
        assert math.isinf(found.total)
    else:
        assert found.total == pytest.approx(divergence, abs=1e-8)
        assert found.total >= -truth.log_partition - 1e-9
    assert found.gap < 1e-9


def test_by_hand() -> None:
    """Two binary variables, one table: E = -(.1 a + .2 b + .3 c + .4 d), H by its definition."""
    a, b = Variable("A", ("0", "1")), Variable("B", ("0", "1"))
    graph = FactorGraph((TableFactor((a, b), np.array([[1.0, 2.0], [3.0, 4.0]])),))
    pair = np.array([[0.1, 0.2], [0.3, 0.4]])
    values = {"A": ("0", "1"), "B": ("0", "1")}
    consistent = Pseudomarginals(
        values, {"A": np.array([0.3, 0.7]), "B": np.array([0.4, 0.6])}, (pair,)
    )
    found = free_energy(graph, consistent)
    assert found.energy == pytest.approx(-(0.1 + 0.4 + 0.9 + 1.6))
    assert found.entropy == pytest.approx(-sum(p * math.log(p) for p in (0.1, 0.2, 0.3, 0.4)))
    assert found.gap == pytest.approx(0.0)
    skewed = replace(consistent, variable={"A": np.array([0.5, 0.5]), "B": np.array([0.4, 0.6])})
    assert free_energy(graph, skewed).gap == pytest.approx(0.2)


@pytest.mark.parametrize("schedule", [residual, spanning_tree])
@pytest.mark.parametrize("shape", ["triangle", "two triangles"])
def test_on_loops_it_meets_the_bethe_estimate(shape: str, schedule: Schedule) -> None:
    result = infer(loopy_graph(shape, 1), KBest(6), schedule=schedule, tolerance=1e-11)
    assert result.status is Status.CONVERGED
    found = result.free_energy()
    assert found.total == pytest.approx(-result.log_partition, abs=1e-8)
    assert found.gap < 1e-8


def test_strings_beyond_the_list_are_counted_as_missing() -> None:
    rng = np.random.default_rng(6)
    graph = FactorGraph((AcceptorFactor(S, random_machine(rng)), transducer_factor(S, T, rng)))
    result = infer(graph.observe({"T": "ab"}))
    best = result.beliefs["S"].kbest(3)
    assert result.free_energy(max_strings=3).covered == pytest.approx(sum(p for _, p in best))
    assert result.free_energy(max_strings=3).total > result.free_energy().total


def test_the_trace_follows_a_run_to_its_end() -> None:
    graph = loopy_graph("square", 2)
    result = infer(graph, KBest(6), schedule=synchronous, tolerance=1e-8, trace=True)
    assert result.status is Status.CONVERGED
    updates = [point.updates for point in result.trace]
    assert updates == sorted(set(updates))
    assert updates[-1] == result.updates
    assert len(updates) > 4
    assert result.trace[-1].free_energy == result.free_energy()
    gaps = [point.free_energy.gap for point in result.trace]
    assert gaps[-1] < 1e-6 < gaps[0]
    plain = infer(graph, KBest(6), schedule=synchronous, tolerance=1e-8)
    assert plain.trace == ()
    assert plain.updates == result.updates
    assert plain.log_partition == result.log_partition


def test_a_forest_has_one_point_and_an_empty_belief_none() -> None:
    rng = np.random.default_rng(0)
    link = transducer_factor(S, T, rng)
    opinions = tuple(AcceptorFactor(v, random_machine(rng)) for v in (S, T))
    (point,) = infer(FactorGraph((*opinions, link)), trace=True).trace
    assert point.free_energy.gap < 1e-9
    forbidden = TableFactor((FLAG,), np.full(2, -np.inf))
    assert infer(FactorGraph((forbidden,)), trace=True).trace == ()
    everything = Acceptor(universe_acceptor(len(ALPHABET), None), ALPHABET)
    assert infer(FactorGraph((AcceptorFactor(S, everything),)), trace=True).trace == ()


def test_what_has_no_free_energy_says_so() -> None:
    graph = FactorGraph((TableFactor((FLAG, COLOUR), np.zeros((2, 3))),))
    with pytest.raises(ValueError, match="sum"):
        infer(graph, semiring="max", trace=True)
    with pytest.raises(ValueError, match="sum"):
        infer(graph, semiring="max").free_energy()
    many = tuple(Variable(f"x{n}", tuple("abcdefghijklmnopqrst")) for n in range(5))
    wide = FactorGraph((TableFactor(many, np.zeros([20] * 5)),))
    with pytest.raises(ValueError, match="max_strings"):
        infer(wide).free_energy()
