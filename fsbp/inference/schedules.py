"""Schedules: which factor-to-variable messages to update next.

On forests `two_pass` lists every message once. On loops a schedule is a function of the edges'
priorities (how much the messages an edge depends on have changed since it was last updated) and
of the number of updates so far; it returns the edges to update together.

Public names: `Schedule`, `two_pass`, `synchronous`, `sequential`, `residual`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.graph import FactorGraph

Schedule: TypeAlias = Callable[[FloatArray, int], Sequence[int]]


def two_pass(graph: FactorGraph, queries: Collection[int]) -> tuple[list[int], list[int]]:
    """Return the edges of a forest in an order in which each message needs only earlier ones.

    Args:
        graph: Without cycles through free variables.
        queries: Positions of the free variables whose beliefs are needed.

    Returns:
        Edges to update in order, and one root per component that has a query. The first pass runs
        towards the roots, the second away from them and only towards other queries.

    Cost: O(edges).
    """
    wanted = set(queries)
    order: list[int] = []
    roots = []
    for component in graph.components:
        root = next((variable for variable in component if variable in wanted), None)
        if root is not None:
            roots.append(root)
            towards, away = _passes(graph, root, wanted.intersection(component))
            order += towards
            order += away
    return order, roots


def _passes(graph: FactorGraph, root: int, wanted: set[int]) -> tuple[list[int], list[int]]:
    """Return the edges that point to the root, leaves first, and those that point to queries."""
    towards: list[int] = []
    away: list[int] = []
    edge_above: dict[int, int] = {}
    found = [(root, -1)]
    for variable, factor_above in found:
        for edge in graph.edges_of_variable[variable]:
            factor = graph.edges[edge].factor
            if factor == factor_above:
                continue
            towards.append(edge)
            for below in graph.edges_of_factor[factor]:
                if below != edge:
                    away.append(below)
                    edge_above[below] = variable
                    found.append((graph.edges[below].variable, factor))
    needed = {v for v in wanted if v != root}
    kept = []
    for edge in reversed(away):
        if graph.edges[edge].variable in needed:
            kept.append(edge)
            needed.add(edge_above[edge])
    return towards[::-1], kept[::-1]


def synchronous(priority_e: FloatArray, updates: int) -> Sequence[int]:
    """Return all edges: every message is computed from the previous round's."""
    return range(len(priority_e))


def sequential(priority_e: FloatArray, updates: int) -> Sequence[int]:
    """Return one edge, in turn."""
    return (updates % len(priority_e),)


def residual(priority_e: FloatArray, updates: int) -> Sequence[int]:
    """Return the edge whose inputs have changed most.

    Source: Elidan, McGraw and Koller (2006); Sutton and McCallum (2007) for the priorities.
    """
    return (int(np.argmax(priority_e)),)
