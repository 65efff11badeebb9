"""Factor graphs: variables, factors, evidence, and the shape of what is left.

An observed variable cuts the graph: factors see its value as a constant, and neither components
nor cycles run through it. Shape is that of the free (unobserved) variables.

Public names: `Edge`, `FactorGraph`, `spanning_forest`, `DisjointSets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fsbp.factors.base import Factor
from fsbp.variables import Variable


class Edge(NamedTuple):
    """A factor and one of its free variables, both by position in their graph."""

    factor: int
    variable: int


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """A product of factors over string and finite variables.

    Args:
        factors: In any order.
        evidence: Observed values by variable name.

    Raises:
        ValueError: Two variables share a name but not a domain, or evidence names a variable
            that no factor has, or a value that a finite variable lacks.
    """

    factors: tuple[Factor, ...]
    evidence: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check names and evidence."""
        for factor in self.factors:
            for variable in factor.variables:
                if self._by_name[variable.name] != variable:
                    raise ValueError(f"two variables named {variable.name!r} differ in domain")
        for name, value in self.evidence.items():
            if name not in self._by_name:
                raise ValueError(f"evidence names {name!r}, a variable that no factor has")
            observed = self._by_name[name]
            if not observed.is_string and value not in observed.positions:
                raise ValueError(f"variable {name!r} has no value {value!r}")

    @cached_property
    def _by_name(self) -> dict[str, Variable]:
        by_name: dict[str, Variable] = {}
        for factor in self.factors:
            for variable in factor.variables:
                by_name.setdefault(variable.name, variable)
        return by_name

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, in the order in which the factors name them."""
        return tuple(self._by_name.values())

    def variable(self, name: str) -> Variable:
        """Return the variable of that name.

        Raises:
            KeyError: No factor has it.
        """
        return self._by_name[name]

    @cached_property
    def positions(self) -> Mapping[Variable, int]:
        """Position of each variable."""
        return {variable: position for position, variable in enumerate(self.variables)}

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Positions of the variables without evidence."""
        return tuple(n for n, v in enumerate(self.variables) if v.name not in self.evidence)

    def observe(self, values: Mapping[str, str]) -> FactorGraph:
        """Return the graph with more evidence; a value replaces an earlier one.

        Args:
            values: Strings, or values of finite variables, by variable name.
        """
        return FactorGraph(self.factors, {**self.evidence, **values})

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Edges between factors and free variables, factor by factor."""
        free = set(self.free)
        return tuple(
            Edge(f, self.positions[variable])
            for f, factor in enumerate(self.factors)
            for variable in factor.variables
            if self.positions[variable] in free
        )

    @cached_property
    def edges_of_factor(self) -> tuple[tuple[int, ...], ...]:
        """For each factor, the positions of its edges in `edges`."""
        return _grouped([edge.factor for edge in self.edges], len(self.factors))

    @cached_property
    def edges_of_variable(self) -> tuple[tuple[int, ...], ...]:
        """For each variable, the positions of its edges in `edges`; none for an observed one."""
        return _grouped([edge.variable for edge in self.edges], len(self.variables))

    def neighbours(self, name: str) -> tuple[int, ...]:
        """Return the positions of the factors that have the variable."""
        return tuple(
            f for f, factor in enumerate(self.factors) if self._by_name[name] in factor.variables
        )

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Free variables connected by factors, one tuple of positions per component."""
        sets = DisjointSets(len(self.variables))
        for edges in self.edges_of_factor:
            for edge in edges[1:]:
                sets.merge(self.edges[edges[0]].variable, self.edges[edge].variable)
        members: dict[int, list[int]] = {}
        for variable in self.free:
            members.setdefault(sets.root(variable), []).append(variable)
        return tuple(tuple(component) for component in members.values())

    @cached_property
    def is_forest(self) -> bool:
        """Whether no cycle runs through free variables, so that two passes are exact."""
        connected = sum(1 for edges in self.edges_of_factor if edges)
        return len(self.free) + connected - len(self.edges) == len(self.components)


def spanning_forest(factors: Sequence[Factor], weight_f: Sequence[float]) -> list[int]:
    """Return the positions of a cycle-free subset of factors of largest total weight.

    Factors are taken by decreasing weight; one is skipped when it would close a cycle.

    Args:
        factors: Any factors; unary ones are always kept.
        weight_f: Larger is better, any sign.

    Returns:
        Increasing positions.

    Cost: O(F log F).
    Source: Kruskal (1956); exact for binary factors.
    """
    graph = FactorGraph(tuple(factors))
    sets = DisjointSets(len(graph.variables))
    kept = []
    for f in np.argsort(-np.asarray(weight_f, dtype=np.float64), kind="stable").tolist():
        members = [graph.positions[variable] for variable in factors[f].variables]
        if len({sets.root(member) for member in members}) == len(members):
            kept.append(f)
            for member in members[1:]:
                sets.merge(members[0], member)
    return sorted(kept)


class DisjointSets:
    """Disjoint sets of integers, with path halving."""

    def __init__(self, size: int) -> None:
        """Put each integer below `size` into a set of its own."""
        self._parent = list(range(size))

    def root(self, member: int) -> int:
        """Return the member that stands for a set."""
        parent = self._parent
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    def merge(self, a: int, b: int) -> bool:
        """Unite two members' sets and return whether they were apart."""
        apart = self.root(a) != self.root(b)
        self._parent[self.root(b)] = self.root(a)
        return apart


def _grouped(keys: Sequence[int], count: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each key below `count`, the positions at which it occurs."""
    groups: list[list[int]] = [[] for _ in range(count)]
    for position, key in enumerate(keys):
        groups[key].append(position)
    return tuple(tuple(group) for group in groups)
