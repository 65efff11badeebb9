"""Schedules on a stated set of 20 loopy string graphs, and what each promises about its order."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.table import TableFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import DisjointSets, FactorGraph
from fsbp.inference.propagation import Status, infer
from fsbp.inference.schedules import (
    Schedule,
    StaleQueue,
    forward_backward,
    residual,
    residual_splash,
    sequential,
    spanning_tree,
    synchronous,
)
from fsbp.messages.kbest import KBest
from fsbp.transducers import edit_topology
from fsbp.variables import StringTable, Variable
from tests.cases import ALPHABET, STRINGS

LINKS = {
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "square": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "pentagon": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)),
    "two triangles": ((0, 1), (1, 2), (2, 0), (1, 3), (3, 2)),
    "house": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 1)),
}
SEEDS = range(4)
TOPOLOGY = edit_topology(ALPHABET, history="class")


def loopy_graph(shape: str, seed: int) -> FactorGraph:
    """Return strings that are edits of each other, with an opinion of six strings on each."""
    rng = np.random.default_rng(seed)
    links = LINKS[shape]
    strings = [Variable(f"x{n}", ALPHABET) for n in range(1 + max(map(max, links)))]
    factors: list[AcceptorFactor | TransducerFactor] = []
    for string in strings:
        words = tuple(rng.choice(np.array(STRINGS), size=6, replace=False).tolist())
        factors.append(AcceptorFactor(string, StringTable(words, rng.normal(scale=2.0, size=6))))
    edits = TOPOLOGY.theta({"copy": -0.5, "substitute": -1.5, "insert": -2.0, "delete": -2.0})
    for a, b in links:
        weights = edits + rng.normal(scale=0.3, size=len(edits))
        factors.append(TransducerFactor(strings[a], strings[b], TOPOLOGY, weights))
    return FactorGraph(tuple(factors))


@functools.cache
def updates_of(schedule: Schedule) -> list[int]:
    """Return the messages each of the 20 graphs takes to converge, 1000 where it does not."""
    counts = []
    for shape, seed in itertools.product(LINKS, SEEDS):
        graph = loopy_graph(shape, seed)
        assert not graph.is_forest
        result = infer(graph, KBest(6), schedule=schedule, max_updates=500, tolerance=1e-2)
        counts.append(result.updates if result.status is Status.CONVERGED else 1000)
    return counts


def test_residual_needs_fewer_messages_than_synchronous() -> None:
    pairs = list(zip(updates_of(residual), updates_of(synchronous), strict=True))
    assert len(pairs) == 20
    assert all(fewer < more for fewer, more in pairs)
    assert sum(fewer for fewer, _ in pairs) < 0.65 * sum(more for _, more in pairs)


@pytest.mark.parametrize("budget", [30, 60, 500])
def test_spanning_trees_converge_on_at_least_as_many(budget: int) -> None:
    converged = {
        schedule: sum(count <= budget for count in updates_of(schedule))
        for schedule in (synchronous, residual, spanning_tree)
    }
    assert converged[spanning_tree] >= converged[residual] >= converged[synchronous]
    assert budget < 500 or converged[spanning_tree] == 20


def test_a_spanning_tree_settles_where_others_swap_candidates_for_ever() -> None:
    """Lists of three for opinions of six: on this graph, of the 20, not every order settles."""
    statuses = [
        infer(
            loopy_graph("triangle", 2), KBest(3), schedule=s, max_updates=200, tolerance=1e-2
        ).status
        for s in (synchronous, residual, spanning_tree)
    ]
    assert statuses == [Status.MAX_STEPS, Status.MAX_STEPS, Status.CONVERGED]


def test_all_schedules_reach_the_same_beliefs() -> None:
    graph = loopy_graph("two triangles", 0)
    reached = []
    for schedule in (
        synchronous,
        sequential,
        residual,
        forward_backward,
        spanning_tree,
        functools.partial(residual_splash, size=4),
    ):
        result = infer(graph, KBest(6), schedule=schedule, tolerance=1e-8)
        assert result.status is Status.CONVERGED
        reached.append({n: dict(b.kbest(6)) for n, b in sorted(result.beliefs.items())})
    for beliefs in reached[1:]:
        for name, probability_of in reached[0].items():
            assert beliefs[name] == pytest.approx(probability_of, abs=1e-6)


def chain(length: int) -> FactorGraph:
    rng = np.random.default_rng(length)
    links = [Variable(f"x{n}", ("u", "v", "w")) for n in range(length)]
    tables = [TableFactor((a, b), rng.normal(size=(3, 3))) for a, b in itertools.pairwise(links)]
    return FactorGraph(tuple(tables))


@pytest.mark.parametrize("schedule", [forward_backward, spanning_tree])
def test_one_sweep_is_exact_on_a_chain(schedule: Schedule) -> None:
    """No message is computed twice: one update per edge, the last one included."""
    graph = chain(9)
    result = infer(graph, schedule=schedule)
    assert result.status is Status.CONVERGED
    assert result.updates == len(graph.edges)
    assert result.log_partition == pytest.approx(infer(graph).log_partition, abs=1e-12)


def test_forward_backward_leaves_no_edge_out() -> None:
    """Nor those of factors with one variable, which go stale in families that iterate."""
    graph = loopy_graph("house", 0)
    stale = StaleQueue([1.0] * len(graph.edges))
    assert {e for batch in forward_backward(graph, stale, 0) for e in batch} == set(
        range(len(graph.edges))
    )


def grid(side: int) -> FactorGraph:
    cells = np.array([[Variable(f"{r},{c}", ("u", "v")) for c in range(side)] for r in range(side)])
    pairs = [*zip(cells[:, :-1].flat, cells[:, 1:].flat, strict=True)]
    pairs += [*zip(cells[:-1].flat, cells[1:].flat, strict=True)]
    return FactorGraph(tuple(TableFactor(pair, np.zeros((2, 2))) for pair in pairs))


@given(seed=st.integers(0, 2**32 - 1))
def test_a_spanning_tree_spans_without_cycles(seed: int) -> None:
    """It reaches every variable, its factors close no cycle, and the stalest edge is on it."""
    graph = grid(4)
    staleness = np.random.default_rng(seed).random(len(graph.edges)).tolist()
    stale = StaleQueue(staleness)
    edges = [edge for (edge,) in spanning_tree(graph, stale, 0)]
    assert len(set(edges)) == len(edges)
    assert stale.stalest() in edges
    sets = DisjointSets(len(graph.variables) + len(graph.factors))
    for edge in edges:
        factor, variable = graph.edges[edge]
        assert sets.merge(variable, len(graph.variables) + factor)
    assert len({sets.root(variable) for variable in graph.free}) == 1


@pytest.mark.parametrize("size", [2, 6, 12, 1000])
def test_a_splash_is_a_tree_around_the_stalest_edge(size: int) -> None:
    graph = grid(4)
    rng = np.random.default_rng(size)
    stale = StaleQueue(rng.random(len(graph.edges)).tolist())
    edges = [edge for (edge,) in residual_splash(graph, stale, 0, size=size)]
    assert stale.stalest() in edges
    assert len(set(edges)) == len(edges) < size + 2
    sets = DisjointSets(len(graph.variables) + len(graph.factors))
    assert all(
        sets.merge(graph.edges[e].variable, len(graph.variables) + graph.edges[e].factor)
        for e in edges
    )
    assert size < 1000 or len({graph.edges[e].variable for e in edges}) == len(graph.free)


@given(changes=st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.floats(0, 10)), max_size=60))
def test_the_queue_knows_the_stalest(changes: list[tuple[int, bool, float]]) -> None:
    staleness = [1.0, 0.0, 1.0, 3.0, 0.5]
    queue = StaleQueue(staleness)
    for edge, settles, amount in changes:
        if settles:
            queue.settle(edge)
            staleness[edge] = 0.0
        else:
            queue.increase(edge, amount)
            staleness[edge] = max(staleness[edge], amount)
        assert queue.largest() == max(staleness)
        assert queue.stalest() == int(np.argmax(staleness))
        assert [queue[e] for e in range(len(queue))] == staleness


def test_a_schedule_that_leaves_edges_out_ends() -> None:
    """Nothing is ever updated, so the run says that it has not converged."""
    result = infer(grid(2), schedule=lambda graph, stale, step: [])
    assert result.status is Status.MAX_STEPS


@pytest.mark.parametrize("size", [0, -1])
def test_a_splash_of_nothing_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        infer(grid(2), schedule=functools.partial(residual_splash, size=size))
