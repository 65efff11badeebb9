"""Annealing: exact at every temperature on trees, and a start for max-product on loops."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings

from fsbp.arrays import log_sum_exp
from fsbp.edit_channel import EditChannel
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.edit import EditFactor
from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph
from fsbp.inference.annealing import anneal, tempered_graph
from fsbp.inference.enumeration import enumerate_graph, enumerate_strings
from fsbp.inference.propagation import Status, infer
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.variables import StringTable, Variable
from tests.cases import (
    ALPHABET,
    COLOUR,
    FLAG,
    MAX_LENGTH,
    random_machine,
    transducer_factor,
)
from tests.fsbp.inference.test_schedules import loopy_graph
from tests.strategies import Shape, shapes, tree

HARD_LISTS = KBest(k=15, backoff=math.inf)


@settings(max_examples=40, deadline=None)
@given(shape=shapes())
def test_tempered_trees_are_exact(shape: Shape) -> None:
    graph = tree(shape)
    score_table = enumerate_graph(graph, MAX_LENGTH).log_score_table / 0.4
    found = infer(tempered_graph(graph, 0.4), HARD_LISTS).log_partition
    assert found == pytest.approx(log_sum_exp(score_table), rel=1e-9, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(shape=shapes())
def test_annealed_trees_find_the_best_assignment(shape: Shape) -> None:
    graph = tree(shape)
    assignment, score = enumerate_graph(graph, MAX_LENGTH).best()
    result = anneal(graph, HARD_LISTS)
    assert result.log_partition == pytest.approx(score, rel=1e-9, abs=1e-9)
    if score > -math.inf:
        found = {name: belief.kbest(1)[0][0] for name, belief in result.beliefs.items()}
        assert found == assignment


def ring(seed: int) -> FactorGraph:
    """Return five binary variables in a ring, with couplings of either sign."""
    rng = np.random.default_rng(seed)
    spins = [Variable(f"x{n}", ("-", "+")) for n in range(5)]
    sign = np.array([[1.0, -1.0], [-1.0, 1.0]])
    fields = [TableFactor((spin,), rng.normal(size=2)) for spin in spins]
    links = [
        TableFactor((spins[n], spins[(n + 1) % 5]), rng.normal() * sign) for n in range(len(spins))
    ]
    return FactorGraph((*fields, *links))


def test_on_loops_it_decodes_better_than_marginals() -> None:
    """Of 15 rings, it finds the best assignment of each; the likeliest values miss some."""
    found = {"annealed": 0, "marginals": 0}
    for seed in range(15):
        graph = ring(seed)
        assignment, _ = enumerate_graph(graph, 0).best()
        for name, result in (("annealed", anneal(graph)), ("marginals", infer(graph))):
            assert result.status is Status.CONVERGED
            decoded = {n: belief.kbest(1)[0][0] for n, belief in result.beliefs.items()}
            found[name] += decoded == assignment
    assert found["annealed"] == 15
    assert found["marginals"] < 15


def test_strings_on_a_loop_end_at_a_fixed_point_of_max_product() -> None:
    graph = loopy_graph("triangle", 1)
    result = anneal(graph, KBest(6), temperatures=(1.0, 0.5, 0.25), tolerance=1e-8)
    alone = infer(graph, KBest(6), "max", tolerance=1e-8)
    assert result.status is alone.status is Status.CONVERGED
    for name, belief in alone.beliefs.items():
        assert dict(result.beliefs[name].kbest(5)) == pytest.approx(dict(belief.kbest(5)), abs=1e-6)


def edit_graph(links: Sequence[tuple[int, int]], seed: int) -> FactorGraph:
    """Return string variables with opinions on all strings of two symbols, linked by channels."""
    rng = np.random.default_rng(seed)
    names = [Variable(f"s{n}", ALPHABET) for n in range(1 + max(map(max, links)))]
    strings = enumerate_strings(ALPHABET, 2)
    channel = EditChannel.uniform(ALPHABET, 0.1, 0.1, 0.2)
    opinions = [
        AcceptorFactor(name, StringTable(strings, rng.normal(size=len(strings)))) for name in names
    ]
    return FactorGraph((*opinions, *(EditFactor(names[a], names[b], channel) for a, b in links)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("links", [[(0, 1)], [(0, 1), (2, 1)], [(0, 1), (1, 2), (0, 2)]])
def test_edit_channels_find_the_best_assignment(links: list[tuple[int, int]], seed: int) -> None:
    graph = edit_graph(links, seed)
    assignment, score = enumerate_graph(graph, 2).best()
    result = anneal(graph, HARD_LISTS)
    assert result.status is Status.CONVERGED
    assert {n: belief.kbest(1)[0][0] for n, belief in result.beliefs.items()} == assignment
    if graph.is_forest:
        assert result.log_partition == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("overflow", [0, 100])
@pytest.mark.parametrize("links", [[(0, 1)], [(0, 1), (2, 1)]])
def test_exact_messages_anneal_over_few_strings(
    links: list[tuple[int, int]], overflow: int
) -> None:
    """Machines with several paths per string, whose powers no machine carries."""
    rng = np.random.default_rng(3)
    names = [Variable(f"s{n}", ALPHABET) for n in range(1 + max(map(max, links)))]
    opinions = [AcceptorFactor(name, random_machine(rng)) for name in names]
    pairs = [transducer_factor(names[a], names[b], rng) for a, b in links]
    graph = FactorGraph((*opinions, *pairs))
    exact = Exact(overflow=overflow)
    reference = enumerate_graph(graph, MAX_LENGTH)
    cool = infer(tempered_graph(graph, 0.4), exact)
    expected = log_sum_exp(reference.log_score_table / 0.4)
    assert cool.log_partition == pytest.approx(expected, rel=1e-9)
    assignment, score = reference.best()
    result = anneal(graph, exact)
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(score, rel=1e-9)
    assert {n: belief.kbest(1)[0][0] for n, belief in result.beliefs.items()} == assignment


def test_annealing_edit_channels_on_a_loop_is_quick() -> None:
    graph = edit_graph([(0, 1), (1, 2), (0, 2)], 0)
    anneal(graph, temperatures=(1.0,), max_updates=8)
    started = time.process_time()
    assert anneal(graph).status is Status.CONVERGED
    assert time.process_time() - started < 5.0


def test_the_trace_cools() -> None:
    graph = loopy_graph("triangle", 1)
    result = anneal(graph, KBest(6), temperatures=(1.0, 0.5), tolerance=1e-6, trace=True)
    temperatures = [point.free_energy.temperature for point in result.trace]
    assert sorted(set(temperatures), reverse=True) == [1.0, 0.5]
    assert temperatures == sorted(temperatures, reverse=True)
    updates = [point.updates for point in result.trace]
    assert updates == sorted(set(updates))
    assert updates[-1] < result.updates
    warm = [point.free_energy for point in result.trace if point.free_energy.temperature == 1.0]
    assert warm[-1].total == pytest.approx(-infer(graph, KBest(6)).log_partition, abs=1e-4)
    cool = result.trace[-1].free_energy
    expected = -0.5 * infer(tempered_graph(graph, 0.5), KBest(6)).log_partition
    assert cool.total == pytest.approx(expected, abs=1e-4)
    assert cool.energy < warm[-1].energy


def test_bad_temperatures_are_refused() -> None:
    graph = FactorGraph((TableFactor((FLAG, COLOUR), np.zeros((2, 3))),))
    with pytest.raises(ValueError, match="temperature"):
        anneal(graph, temperatures=(2.0,))
