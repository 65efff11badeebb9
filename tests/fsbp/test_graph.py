"""Shape of factor graphs, with and without evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph, spanning_forest
from fsbp.inference.schedules import two_pass
from fsbp.variables import Variable

LINKS = st.lists(
    st.frozensets(st.integers(0, 7), min_size=1, max_size=3).map(sorted), min_size=1, max_size=9
)


def graph_of(links: list[list[int]]) -> FactorGraph:
    return FactorGraph(tuple(link_factor(link) for link in links))


def link_factor(link: list[int]) -> TableFactor:
    variables = tuple(Variable(f"x{n}", ("0", "1")) for n in link)
    return TableFactor(variables, np.zeros([2] * len(link)))


def reachable(graph: FactorGraph, start: int) -> set[int]:
    """Return the free variables connected to one, by a walk."""
    met, stack = {start}, [start]
    while stack:
        here = stack.pop()
        for factor in graph.factors:
            members = {graph.positions[v] for v in factor.variables} & set(graph.free)
            if here in members:
                stack += members - met
                met |= members
    return met


@given(links=LINKS, observed=st.frozensets(st.integers(0, 7), max_size=3))
def test_components_are_what_a_walk_reaches(
    links: list[list[int]], observed: frozenset[int]
) -> None:
    graph = graph_of(links)
    names = {v.name for v in graph.variables}
    graph = graph.observe({f"x{n}": "1" for n in observed if f"x{n}" in names})
    assert sorted(v for component in graph.components for v in component) == list(graph.free)
    for component in graph.components:
        assert reachable(graph, component[0]) == set(component)


@given(links=LINKS)
def test_two_passes_respect_dependencies(links: list[list[int]]) -> None:
    graph = graph_of(links)
    if not graph.is_forest:
        return
    order, roots = two_pass(graph, graph.free)
    assert sorted(order) == list(range(len(graph.edges)))
    assert len(roots) == len(graph.components)
    done: set[int] = set()
    for edge in order:
        factor, target = graph.edges[edge]
        for other in graph.edges_of_factor[factor]:
            if other != edge:
                inputs = graph.edges_of_variable[graph.edges[other].variable]
                assert {e for e in inputs if e != other} <= done
        assert target == graph.edges[edge].variable
        done.add(edge)


@given(links=LINKS, weights=st.lists(st.floats(-5, 5), min_size=9, max_size=9))
def test_spanning_forest_has_no_cycle_and_connects_as_much(
    links: list[list[int]], weights: list[float]
) -> None:
    binary = [link for link in links if len(link) < 3]
    if not binary:
        return
    factors = [link_factor(link) for link in binary]
    kept = spanning_forest(factors, weights[: len(factors)])
    pruned = FactorGraph(tuple(factors[f] for f in kept))
    assert pruned.is_forest
    components = {frozenset(graph_names(pruned, c)) for c in pruned.components}
    whole = FactorGraph(tuple(factors))
    assert components == {frozenset(graph_names(whole, c)) for c in whole.components}


def graph_names(graph: FactorGraph, component: tuple[int, ...]) -> list[str]:
    return [graph.variables[v].name for v in component]


def test_heavier_factors_are_kept() -> None:
    factors = [link_factor(link) for link in ([0, 1], [1, 2], [0, 2])]
    assert spanning_forest(factors, [1.0, 3.0, 2.0]) == [1, 2]


def test_evidence_cuts_a_cycle() -> None:
    graph = graph_of([[0, 1], [1, 2], [0, 2]])
    assert not graph.is_forest
    cut = graph.observe({"x1": "0"})
    assert cut.is_forest
    assert cut.components == ((0, 2),)
    assert graph.evidence == {}
    assert cut.neighbours("x1") == (0, 1)


def test_misfits_are_errors() -> None:
    other = TableFactor((Variable("x0", ("0", "1", "2")),), np.zeros(3))
    with pytest.raises(ValueError, match="differ in domain"):
        FactorGraph((link_factor([0, 1]), other))
    with pytest.raises(ValueError, match="no factor has"):
        graph_of([[0]]).observe({"y": "0"})
    with pytest.raises(ValueError, match="no value"):
        graph_of([[0]]).observe({"x0": "5"})
    with pytest.raises(KeyError):
        graph_of([[0]]).variable("y")
