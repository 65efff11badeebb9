"""The Bethe free energy of beliefs, its parts, and how far the beliefs contradict one another.

Belief propagation does well when its free energy is low and its beliefs agree: its fixed points
are stationary points of the energy among beliefs that do. On a forest the lowest free energy is
-log Z, at the true marginals.

Public names: `Pseudomarginals`, `pseudomarginals`, `FreeEnergy`, `free_energy`, `TracePoint`,
`EmptyBeliefError`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.factors.base import Factor
from fsbp.graph import FactorGraph
from fsbp.potentials import log_total
from fsbp.variables import Potential, StringPotential, StringTable, Variable

MAX_STRINGS = 200
MAX_CELLS = 1_000_000
FIRST_STRINGS = 16
NEARLY_ALL = -1e-13


class EmptyBeliefError(ValueError):
    """A belief that allows no value is no distribution."""


@dataclass(frozen=True, eq=False)
class Pseudomarginals:
    """A distribution for each variable and each factor of a graph, over listed values.

    Nothing makes them the marginals of one joint distribution, or even consistent.

    Args:
        values: The values of every variable, by name; one for an observed variable.
        variable: float64[N] for every variable, by name: probabilities of its values.
        factor: For each factor in the order of the graph, float64 with one axis per variable of
            the factor: probabilities of the combinations of their values.
        covered: The smallest share of a variable's belief that its listed values hold, 0 to 1.
    """

    values: Mapping[str, tuple[str, ...]]
    variable: Mapping[str, FloatArray]
    factor: tuple[FloatArray, ...]
    covered: float = 1.0


@dataclass(frozen=True)
class FreeEnergy:
    """The Bethe free energy of a set of beliefs.

    Args:
        energy: -sum_f E_f[log_score_f] (nats); inf where a belief allows what its factor forbids.
        entropy: sum_f H(b_f) - sum_v (d_v - 1) H(b_v), with d_v the factors at a variable (nats).
        gap: The largest total variation between a variable's belief and what a factor's belief
            says of it, 0 to 1; at 0 the beliefs are locally consistent.
        covered: That of the pseudomarginals.
        temperature: What the entropy counts for; below 1 while annealing.
    """

    energy: float
    entropy: float
    gap: float
    covered: float
    temperature: float = 1.0

    @property
    def total(self) -> float:
        """Energy - temperature x entropy (nats): -log Z at the true marginals of a forest."""
        return self.energy - self.temperature * self.entropy


@dataclass(frozen=True)
class TracePoint:
    """The state of a run after a sweep.

    Args:
        updates: Messages computed so far.
        free_energy: Of the beliefs at that moment.
    """

    updates: int
    free_energy: FreeEnergy


def pseudomarginals(
    graph: FactorGraph,
    beliefs: Mapping[str, Potential],
    incoming: Sequence[Mapping[Variable, Potential]],
    max_strings: int = MAX_STRINGS,
) -> Pseudomarginals:
    """Return the distributions that beliefs and messages to factors define.

    b_v is proportional to exp(belief), b_f to exp(log_score + messages to the factor).

    Args:
        graph: Factors and evidence.
        beliefs: An unnormalised potential for every variable, by name.
        incoming: For each factor, a potential for each of its variables.
        max_strings: Values listed of a string variable: its best, fewer where they hold all.

    Raises:
        EmptyBeliefError: A belief is empty, or a factor allows none of the listed values together.
        ValueError: The variables of a factor have over a million combinations of listed values.
        DivergentSumError: A belief has no finite sum.

    Cost: That of `log_scores` on the listed values, per factor.
    """
    tables = {v.name: _listed(v, beliefs[v.name], max_strings) for v in graph.variables}
    values = {name: table.strings for name, table in tables.items()}
    covered = [
        table.log_total() - log_total(beliefs[name], "sum") for name, table in tables.items()
    ]
    return Pseudomarginals(
        values,
        {name: _probabilities(table.log_weights_n) for name, table in tables.items()},
        tuple(
            _probabilities(_log_weights(factor, messages, values))
            for factor, messages in zip(graph.factors, incoming, strict=True)
        ),
        math.exp(min(covered, default=0.0)),
    )


def free_energy(graph: FactorGraph, beliefs: Pseudomarginals) -> FreeEnergy:
    """Return the Bethe free energy of any pseudomarginals of a graph.

    Args:
        graph: Factors and evidence.
        beliefs: Over the graph's variables and factors.

    Cost: That of `log_scores` on the listed values, per factor.
    Source: Yedidia, Freeman and Weiss (2005), "Constructing free-energy approximations and
        generalized belief propagation algorithms".
    """
    energies, entropies, gaps = [], [], [0.0]
    for factor, belief in zip(graph.factors, beliefs.factor, strict=True):
        names = [variable.name for variable in factor.variables]
        scores = factor.log_scores([beliefs.values[name] for name in names])
        energies.append(-_expected(belief, scores))
        entropies.append(_entropy(belief))
        for axis, name in enumerate(names):
            others = tuple(n for n in range(belief.ndim) if n != axis)
            difference_n = belief.sum(axis=others) - beliefs.variable[name]
            gaps.append(0.5 * float(np.abs(difference_n).sum()))
    for variable in graph.free:
        name, degree = graph.variables[variable].name, len(graph.edges_of_variable[variable])
        entropies.append((1 - degree) * _entropy(beliefs.variable[name]))
    return FreeEnergy(math.fsum(energies), math.fsum(entropies), max(gaps), beliefs.covered)


def _listed(variable: Variable, belief: Potential, max_strings: int) -> StringTable:
    """Return a belief's best values: all, or enough to hold nearly all, or `max_strings`.

    Raises:
        EmptyBeliefError: The belief is empty.
    """
    total = log_total(belief, "sum")
    if not total > -math.inf:
        raise EmptyBeliefError(f"the belief about {variable.name!r} is empty")
    if not isinstance(belief, StringPotential):
        return StringTable(variable.values, belief)
    k = max_strings if isinstance(belief, StringTable) else min(FIRST_STRINGS, max_strings)
    while True:
        best = belief.k_best(k)
        if len(best.strings) < k or k == max_strings or best.log_total() - total > NEARLY_ALL:
            return best
        k = min(4 * k, max_strings)


def _log_weights(
    factor: Factor, incoming: Mapping[Variable, Potential], values: Mapping[str, tuple[str, ...]]
) -> FloatArray:
    """Return log_score plus the incoming potentials, one axis per variable of a factor.

    Raises:
        ValueError: There are too many combinations of values.
    """
    universes = [values[variable.name] for variable in factor.variables]
    if math.prod(len(universe) for universe in universes) > MAX_CELLS:
        names = ", ".join(repr(variable.name) for variable in factor.variables)
        raise ValueError(
            f"a belief about {names} has more than {MAX_CELLS} values: lower max_strings"
        )
    log_weights = factor.log_scores(universes)
    for axis, (variable, universe) in enumerate(zip(factor.variables, universes, strict=True)):
        potential = incoming[variable]
        if isinstance(potential, StringPotential):
            potential = potential.log_weights(universe)
        elif len(universe) < len(potential):
            potential = potential[[variable.positions[value] for value in universe]]
        shape = [1] * len(universes)
        shape[axis] = -1
        log_weights = log_weights + potential.reshape(shape)
    return log_weights


def _probabilities(log_weights: FloatArray) -> FloatArray:
    """Return exp(log_weights) divided by its sum.

    Raises:
        EmptyBeliefError: Nothing has positive weight.
    """
    best = log_weights.max(initial=-np.inf)
    if not best > -np.inf:
        raise EmptyBeliefError("a factor allows none of its variables' listed values together")
    weights = np.exp(log_weights - best)
    probabilities: FloatArray = weights / weights.sum()
    return probabilities


def _expected(probabilities: FloatArray, values: FloatArray) -> float:
    """Return the expectation of values that may be infinite where the probability is 0."""
    possible = probabilities > 0.0
    return float((probabilities[possible] * values[possible]).sum())


def _entropy(probabilities: FloatArray) -> float:
    """Return the entropy (nats)."""
    possible = probabilities[probabilities > 0.0]
    return -float((possible * np.log(possible)).sum())
