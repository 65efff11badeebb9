"""Schedules: which factor-to-variable messages to update next.

On forests `two_pass` lists every message once. On loops a schedule is a plain function of the
graph, of a `StaleQueue` that says how stale each message is, and of the number of steps so far. It
returns batches of edges: batches are taken in turn, the edges of one batch are computed from the
same messages, and edges that are not stale by then are skipped.

Public names: `Schedule`, `StaleQueue`, `two_pass`, `synchronous`, `sequential`, `residual`,
`forward_backward`, `spanning_tree`, `residual_splash`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from fsbp.graph import DisjointSets, FactorGraph


class StaleQueue:
    """How stale each message is, with the stalest one at hand.

    A message's staleness is the largest change (nats) of its factor's other inputs since it was
    last computed: an upper bound on its own change where a factor does not amplify.

    Args:
        staleness_e: The staleness of each edge to begin with, at least 0.

    Cost: O(log E) amortised per change: outdated entries stay in the heap until they surface.
    """

    def __init__(self, staleness_e: Sequence[float]) -> None:
        """Make a queue of all edges."""
        self._staleness_e = list(staleness_e)
        self._heap = [(-staleness, edge) for edge, staleness in enumerate(self._staleness_e)]
        heapq.heapify(self._heap)

    def __len__(self) -> int:
        """Return the number of edges."""
        return len(self._staleness_e)

    def __getitem__(self, edge: int) -> float:
        """Return the staleness of an edge."""
        return self._staleness_e[edge]

    def increase(self, edge: int, staleness: float) -> None:
        """Make an edge at least that stale."""
        if staleness > self._staleness_e[edge]:
            self._set(edge, staleness)

    def settle(self, edge: int) -> None:
        """Make an edge fresh: its message has just been computed."""
        if self._staleness_e[edge] > 0.0:
            self._set(edge, 0.0)

    def stalest(self) -> int:
        """Return the stalest edge, the first one on ties.

        Raises:
            IndexError: There are no edges.
        """
        while -self._heap[0][0] != self._staleness_e[self._heap[0][1]]:
            heapq.heappop(self._heap)
        return self._heap[0][1]

    def largest(self) -> float:
        """Return the staleness of the stalest edge; 0 without edges."""
        return self._staleness_e[self.stalest()] if self._staleness_e else 0.0

    def _set(self, edge: int, staleness: float) -> None:
        self._staleness_e[edge] = staleness
        heapq.heappush(self._heap, (-staleness, edge))


Schedule: TypeAlias = Callable[[FactorGraph, StaleQueue, int], Iterable[Sequence[int]]]


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
            towards, away = _passes(graph, root, range(len(graph.edges)))
            order += towards
            order += _leading(graph, away, wanted.intersection(component) - {root})
    return order, roots


def _passes(
    graph: FactorGraph, root: int, kept: Collection[int]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the kept edges of a tree that point to its root, leaves first, and the others.

    Args:
        graph: Whose `kept` edges close no cycle.
        root: A variable.
        kept: Edges that the tree may use, in a container that is quick to search.

    Returns:
        Edges towards the root, and those away from it, each with the variable it comes from.
    """
    towards: list[int] = []
    away: list[tuple[int, int]] = []
    found = [(root, -1)]
    for variable, factor_above in found:
        for edge in graph.edges_of_variable[variable]:
            factor = graph.edges[edge].factor
            if factor == factor_above or edge not in kept:
                continue
            towards.append(edge)
            for below in graph.edges_of_factor[factor]:
                if below != edge and below in kept:
                    away.append((below, variable))
                    found.append((graph.edges[below].variable, factor))
    return towards[::-1], away


def _leading(graph: FactorGraph, away: Sequence[tuple[int, int]], wanted: set[int]) -> list[int]:
    """Return the edges away from a root that lead to wanted variables, in order."""
    needed = set(wanted)
    kept = []
    for edge, above in reversed(away):
        if graph.edges[edge].variable in needed:
            kept.append(edge)
            needed.add(above)
    return kept[::-1]


def synchronous(graph: FactorGraph, stale: StaleQueue, step: int) -> Iterable[Sequence[int]]:
    """Return all edges: every message is computed from the previous round's."""
    return (range(len(stale)),)


def sequential(graph: FactorGraph, stale: StaleQueue, step: int) -> Iterable[Sequence[int]]:
    """Return all edges in turn, each computed from the newest messages."""
    return ((edge,) for edge in range(len(stale)))


def residual(graph: FactorGraph, stale: StaleQueue, step: int) -> Iterable[Sequence[int]]:
    """Return the stalest edge.

    Source: Elidan, McGraw and Koller (2006); Sutton and McCallum (2007) for staleness by inputs.
    """
    return ((stale.stalest(),),)


def forward_backward(graph: FactorGraph, stale: StaleQueue, step: int) -> Iterable[Sequence[int]]:
    """Return the messages up the order of the variables, then those down it.

    Variables are in the order in which the factors name them. One step is exact on a chain in that
    order, and sensible wherever loops are short beside the chain.

    Cost: O(E log E) to order the edges.
    """
    variables_of_factor = [
        [graph.edges[edge].variable for edge in edges] for edges in graph.edges_of_factor
    ]
    order = sorted(range(len(stale)), key=lambda edge: graph.edges[edge].variable)
    for edge in order:
        factor, variable = graph.edges[edge]
        if min(variables_of_factor[factor]) < variable or len(variables_of_factor[factor]) == 1:
            yield (edge,)
    for edge in reversed(order):
        factor, variable = graph.edges[edge]
        if max(variables_of_factor[factor]) > variable:
            yield (edge,)


def spanning_tree(graph: FactorGraph, stale: StaleQueue, step: int) -> Iterable[Sequence[int]]:
    """Return two passes, to a root and back, over the spanning forest of the stalest edges.

    Edges join the forest by decreasing staleness unless they would close a cycle, so that every
    stale message is on a forest sooner or later. Forests span variables and factors: a factor may
    belong to one with only some of its variables.

    Cost: O(E log E) to find the forest.
    Source: Wainwright, Jaakkola and Willsky (2001), "Tree-based reparameterization for approximate
        inference on loopy graphs", in its form as a schedule.
    """
    sets = DisjointSets(len(graph.variables) + len(graph.factors))
    kept = set()
    for edge in sorted(range(len(stale)), key=lambda edge: -stale[edge]):
        factor, variable = graph.edges[edge]
        if sets.merge(variable, len(graph.variables) + factor):
            kept.add(edge)
    for component in graph.components:
        yield from _two_passes(graph, component[0], kept)


def residual_splash(
    graph: FactorGraph, stale: StaleQueue, step: int, size: int = 16
) -> Iterable[Sequence[int]]:
    """Return two passes, to a root and back, over a small tree around the stalest message.

    The tree grows breadth-first from the variable that the message is for, stalest factors first.

    Args:
        graph: Its edges.
        stale: Of each edge.
        step: Not used.
        size: Edges in the tree, at least 1; set it with `functools.partial`.

    Raises:
        ValueError: The size is below 1, so that nothing would ever be updated.

    Source: Gonzalez, Low and Guestrin (2009), "Residual splash for optimally parallelizing belief
        propagation".
    """
    if size < 1:
        raise ValueError(f"a splash of {size} edges updates nothing: give it at least 1")
    root = graph.edges[stale.stalest()].variable
    kept: set[int] = set()
    reached = {root}
    found = [(root, -1)]
    for variable, factor_above in found:
        for edge in sorted(graph.edges_of_variable[variable], key=lambda edge: -stale[edge]):
            factor = graph.edges[edge].factor
            below = [e for e in graph.edges_of_factor[factor] if e != edge]
            fresh = [e for e in below if graph.edges[e].variable not in reached]
            if factor == factor_above or len(kept) >= size or (below and not fresh):
                continue
            kept.update((edge, *fresh))
            for e in fresh:
                reached.add(graph.edges[e].variable)
                found.append((graph.edges[e].variable, factor))
    yield from _two_passes(graph, root, kept)


def _two_passes(graph: FactorGraph, root: int, kept: Collection[int]) -> Iterator[tuple[int]]:
    towards, away = _passes(graph, root, kept)
    for edge in towards:
        yield (edge,)
    for edge, _ in away:
        yield (edge,)
