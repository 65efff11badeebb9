"""Which variables certainly have no value: propagation of sets, without weights.

Public names: `without_values`, `empty_messages`.
"""

from __future__ import annotations

import numpy as np

from fsbp import acceptors
from fsbp.acceptors import MachineTooLargeError
from fsbp.alphabet import Alphabet
from fsbp.graph import FactorGraph
from fsbp.inference.schedules import StaleQueue, spanning_tree
from fsbp.pathsum import DivergentSumError
from fsbp.potentials import point
from fsbp.supports import (
    common_support,
    is_empty,
    is_same_support,
    named_symbols,
    nothing,
    support,
)
from fsbp.variables import Acceptor, Potential, Variable

ROUNDS = 3


def without_values(graph: FactorGraph) -> set[int]:
    """Return the free variables of the components in which the factors contradict each other.

    Sets of values are propagated instead of weights, so that a value is lost only where it is
    forbidden, however improbable it may be. The set D(v) that is known of a variable, and every
    message, hold the value x(v) of every assignment x of positive weight, by induction over the
    messages: at first they hold all values; a factor's message is
    { y : the factor and the evidence allow y with some values from the other sets }, which holds
    x(v) if the other sets hold theirs; intersections of sets that hold x(v) hold it too; and what
    is too dear to find is replaced by a larger set. So where a set is empty there is no such x,
    and the component has no value.

    On a forest two passes over exact sets find every contradiction, since a set then holds no other
    values than those of the assignments of the subtree behind it. On loops a contradiction may go
    unnoticed, as it may where a set outgrew its bounds.

    Strings are those over the variables' alphabets and all symbols that evidence and factors name.

    Args:
        graph: Factors and evidence.

    Cost: One message per edge on a forest, three at most on loops, each of machines within the
        bounds of `fsbp.supports`; as much again where there is a contradiction.
    Source: Mackworth (1977), "Consistency in networks of relations", with languages for domains.
    """
    symbols: set[str] = set()
    while True:
        alphabet_of = _alphabets(graph, symbols)
        supports = _Supports(graph, alphabet_of)
        empty = supports.empty_components()
        if empty:
            symbols |= supports.named_at_first()
        if not empty or _alphabets(graph, symbols) == alphabet_of:
            return empty


def empty_messages(graph: FactorGraph) -> dict[int, Potential]:
    """Return, for each edge of a component without values, the message that allows none.

    Args:
        graph: Factors and evidence.

    Cost: That of `without_values`.
    """
    return {
        edge: nothing(graph.variables[variable])
        for variable in without_values(graph)
        for edge in graph.edges_of_variable[variable]
    }


def _alphabets(graph: FactorGraph, symbols: set[str]) -> dict[Variable, Alphabet]:
    """Return each string variable's alphabet with all symbols of the graph and some others."""
    strings = [variable for variable in graph.variables if variable.is_string]
    named = set(symbols)
    for variable in strings:
        named.update(variable.alphabet.symbols)
        named.update(variable.alphabet.split(graph.evidence.get(variable.name, "")))
    texts = sorted(named)
    return {variable: variable.alphabet.extended(texts) for variable in strings}


class _Supports:
    """The sets of values that are still possible, as messages from factors."""

    def __init__(self, graph: FactorGraph, alphabet_of: dict[Variable, Alphabet]) -> None:
        """Allow every value, or the one observed."""
        self.graph = graph
        self._alphabet_of = alphabet_of
        self._everything = {variable: self._all_values(variable) for variable in graph.variables}
        self._sent: dict[int, Potential] = {}
        self._empty: set[int] = set()

    def _all_values(self, variable: Variable) -> Potential:
        if not variable.is_string:
            if variable.name in self.graph.evidence:
                return point(variable, self.graph.evidence[variable.name])
            return np.zeros(len(variable.values))
        alphabet = self._alphabet_of[variable]
        if variable.name in self.graph.evidence:
            labels = alphabet.labels(self.graph.evidence[variable.name])
            return Acceptor(acceptors.string_acceptor(labels), alphabet)
        return Acceptor(acceptors.universe_acceptor(len(alphabet)), alphabet)

    def empty_components(self) -> set[int]:
        """Propagate, and return the variables of the components where a set became empty."""
        edges = self.graph.edges
        order = [e for (e,) in spanning_tree(self.graph, StaleQueue([1.0] * len(edges)), 0)]
        order += sorted(set(range(len(edges))) - set(order))
        pending, left = set(order), ROUNDS * len(edges)
        component_of = {v: component for component in self.graph.components for v in component}
        while pending and left > 0:
            for edge in order:
                if edge in pending:
                    pending.discard(edge)
                    left -= 1
                    variable = edges[edge].variable
                    if variable not in self._empty and self._update(edge):
                        pending |= self._dependents(edge)
                        if is_empty(self._at(variable)):
                            self._empty |= set(component_of[variable])
        return self._empty

    def named_at_first(self) -> set[str]:
        """Return the symbols in the messages that factors send when nothing is known."""
        named: set[str] = set()
        for edge, (_, position) in enumerate(self.graph.edges):
            variable = self.graph.variables[position]
            if variable.is_string:
                message = self._message(edge, self._everything)
                named |= named_symbols(message, self._alphabet_of[variable])
        return named

    def _update(self, edge: int) -> bool:
        """Compute a message and return whether it has changed."""
        factor, variable = self.graph.edges[edge]
        incoming = {v: self._everything[v] for v in self.graph.factors[factor].variables}
        for other in self.graph.edges_of_factor[factor]:
            if other != edge:
                at = self.graph.edges[other].variable
                incoming[self.graph.variables[at]] = self._at(at, except_edge=other)
        everything = self._everything[self.graph.variables[variable]]
        sent = support(self._message(edge, incoming), everything)
        before = self._sent.get(edge, everything)
        self._sent[edge] = sent
        return not is_same_support(sent, before)

    def _message(self, edge: int, incoming: dict[Variable, Potential]) -> Potential:
        """Return a factor's message; every value where it has no finite sum or is too large."""
        factor, position = self.graph.edges[edge]
        variable = self.graph.variables[position]
        try:
            return self.graph.factors[factor].message_to(variable, incoming, "sum")
        except (DivergentSumError, MachineTooLargeError):
            return self._everything[variable]

    def _at(self, variable: int, except_edge: int = -1) -> Potential:
        """Return the values of a variable that all factors but one edge's perhaps allow."""
        sent = [
            self._sent[edge]
            for edge in self.graph.edges_of_variable[variable]
            if edge != except_edge and edge in self._sent
        ]
        return common_support([self._everything[self.graph.variables[variable]], *sent])

    def _dependents(self, edge: int) -> set[int]:
        """Return the edges whose messages depend on an edge's."""
        return {
            dependent
            for other in self.graph.edges_of_variable[self.graph.edges[edge].variable]
            if other != edge
            for dependent in self.graph.edges_of_factor[self.graph.edges[other].factor]
            if dependent != other
        }
