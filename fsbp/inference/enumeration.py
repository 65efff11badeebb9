"""Brute force: every assignment, scored by `log_score` alone. Slow, obvious, and the oracle.

Public names: `enumerate_strings`, `enumerate_graph`, `Enumeration`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsbp.alphabet import Alphabet
from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.factors.base import Factor
from fsbp.graph import FactorGraph
from fsbp.variables import Variable


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All assignments of a small graph with their scores.

    Args:
        universes: The values of each variable that were enumerated, by name.
        log_score_table: float64, one axis per variable in the order of `universes`, nats.
    """

    universes: Mapping[str, tuple[str, ...]]
    log_score_table: FloatArray

    @property
    def log_partition(self) -> float:
        """Log Z over the enumerated assignments (nats)."""
        return float(log_sum_exp(self.log_score_table))

    def log_marginal(self, name: str) -> dict[str, float]:
        """Return the log-probability of each value of one variable."""
        axis = list(self.universes).index(name)
        rows = np.moveaxis(self.log_score_table, axis, 0).reshape(len(self.universes[name]), -1)
        totals = log_sum_exp(rows, axis=1) - self.log_partition
        return dict(zip(self.universes[name], totals.tolist(), strict=True))

    def log_max_marginal(self, name: str) -> dict[str, float]:
        """Return the log-score of the best assignment that contains each value of one variable."""
        axis = list(self.universes).index(name)
        rows = np.moveaxis(self.log_score_table, axis, 0).reshape(len(self.universes[name]), -1)
        return dict(zip(self.universes[name], rows.max(axis=1).tolist(), strict=True))

    def best(self) -> tuple[dict[str, str], float]:
        """Return the best assignment and its log-score; the first one on ties."""
        cell = np.unravel_index(int(self.log_score_table.argmax()), self.log_score_table.shape)
        values = (universe[n] for universe, n in zip(self.universes.values(), cell, strict=True))
        return dict(zip(self.universes, values, strict=True)), float(self.log_score_table[cell])


def enumerate_strings(alphabet: Alphabet, max_length: int) -> tuple[str, ...]:
    """Return all strings over an alphabet of at most `max_length` symbols, shortest first.

    Cost: O(len(alphabet) ** max_length).
    """
    return tuple(
        alphabet.join(symbols)
        for length in range(max_length + 1)
        for symbols in itertools.product(alphabet.symbols, repeat=length)
    )


def enumerate_graph(graph: FactorGraph, max_length: int) -> Enumeration:
    """Return the score of every assignment whose strings have at most `max_length` symbols.

    log_score(assignment) = sum over factors of their log_score. Observed variables have one value.

    Args:
        graph: The graph itself must forbid longer strings, or the sums are truncated.
        max_length: Bound on every free string variable.

    Cost: One entry per assignment, and one call of `log_score` per factor and assignment of its
        own variables.
    """
    universes = {v.name: _universe(graph, v, max_length) for v in graph.variables}
    total = np.zeros([len(universe) for universe in universes.values()])
    for factor in graph.factors:
        own = _scores(factor, [universes[v.name] for v in factor.variables])
        axes = [graph.positions[variable] for variable in factor.variables]
        own = own.transpose(np.argsort(axes))
        shape = [n if axis in axes else 1 for axis, n in enumerate(total.shape)]
        total = total + own.reshape(shape)
    return Enumeration(universes, total)


def _universe(graph: FactorGraph, variable: Variable, max_length: int) -> tuple[str, ...]:
    if variable.name in graph.evidence:
        return (graph.evidence[variable.name],)
    if not variable.is_string:
        return variable.values
    return enumerate_strings(variable.alphabet, max_length)


def _scores(factor: Factor, universes: Sequence[tuple[str, ...]]) -> FloatArray:
    """Return the factor's score of every assignment of its own variables, one axis each."""
    scores = [
        factor.log_score(dict(zip(factor.variables, values, strict=True)))
        for values in itertools.product(*universes)
    ]
    return np.array(scores).reshape([len(universe) for universe in universes])
