"""Gibbs sampling over string and finite variables.

A full conditional is the product of the messages that a variable's factors send when its
neighbours send their current values. With one value per variable this is Gibbs sampling; with
several, each factor averages over its neighbours' values, and one sweep renews all of them.

Public names: `gibbs`, `Samples`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.graph import FactorGraph
from fsbp.inference.beliefs import Belief
from fsbp.inference.propagation import infer
from fsbp.messages.kbest import KBest
from fsbp.potentials import point, product
from fsbp.proposals import Proposal, normalised_part
from fsbp.variables import Potential, StringPotential, StringTable, Variable

MAX_CACHED = 10_000


@dataclass(frozen=True, eq=False)
class Samples:
    """The values that sampling visited.

    Args:
        graph: That was sampled.
        values: For each free variable, one tuple of its particles per sweep.
    """

    graph: FactorGraph
    values: Mapping[str, Sequence[tuple[str, ...]]]

    def belief(self, name: str) -> Belief:
        """Return the distribution of a free variable's values over all sweeps and particles.

        Raises:
            KeyError: No free variable has the name.
        """
        counts = Counter(value for particles in self.values[name] for value in particles)
        variable = self.graph.variable(name)
        return Belief(variable, _weighed(variable, tuple(counts.elements())))

    def probability(self, name: str, value: str) -> tuple[float, float]:
        """Return the share of a value at a free variable, and the share's standard error.

        Successive sweeps resemble each other, so the error is that of the means of batches of
        sweeps, about as many batches as there are sweeps in each. It is NaN after a single sweep.

        Raises:
            KeyError: No free variable has the name.

        Source: Flegal and Jones (2010), batch means.
        """
        share_s = np.array([np.mean([v == value for v in p]) for p in self.values[name]])
        size = math.isqrt(len(share_s))
        batches = len(share_s) // size
        mean_b = share_s[: batches * size].reshape(batches, size).mean(axis=1)
        error = float(mean_b.std(ddof=1) / math.sqrt(batches)) if batches > 1 else math.nan
        return float(share_s.mean()), error


def gibbs(
    graph: FactorGraph,
    *,
    sweeps: int = 1000,
    burn_in: int = 100,
    particles: int = 1,
    draws: int = 32,
    initial: Mapping[str, str] | None = None,
    rng: np.random.Generator | None = None,
) -> Samples:
    """Return values of all free variables drawn in turn, sweep after sweep.

    With one particle the values' joint distribution converges to the graph's, provided that single
    moves lead everywhere: where a factor is deterministic, as a concatenation is, neighbours hold
    each other in place, and a standard error of 0 means that nothing moved. With more, messages
    are averages over particles: noise falls, and the limit is no longer exact where free variables
    are neighbours. Runs with other random numbers are independent samplers; where strong factors
    link variables, values move rarely, and only such runs tell whether one has seen enough.

    Lists and finite variables are drawn from their full conditional itself. For machines, whose
    products may be large, `draws` proposals compete with the current value.

    Args:
        graph: Factors and evidence.
        sweeps: Recorded sweeps, at least 1.
        burn_in: Sweeps before them.
        particles: Values kept for each variable, at least 1.
        draws: Proposals for each particle of a variable without a list, at least 1.
        initial: A first value for each free variable that should not start from its best k-best
            max-marginal; together they must be possible.
        rng: Source of randomness.

    Raises:
        ValueError: A number is out of range, a first value is missing, or a variable has no value
            that agrees with its neighbours' current ones.
        DivergentSumError: None of the messages to a string variable has a finite sum.

    Cost: A message per edge and sweep, unless its inputs were met before; for a machine also
        `draws` samples, and their scores by every message.
    Source: Geman and Geman (1984); Andrieu, Lee and Vihola (2018) for proposals that compete.
    """
    if min(sweeps, particles, draws) < 1 or burn_in < 0:
        raise ValueError("sweeps, particles and draws must be at least 1, burn_in at least 0")
    rng = rng or np.random.default_rng(0)
    sampler = _Sampler(graph, _first_values(graph, initial or {}, particles), draws, rng)
    names = [graph.variables[v].name for v in graph.free]
    visited: dict[str, list[tuple[str, ...]]] = {name: [] for name in names}
    for sweep in range(burn_in + sweeps):
        for variable, name in zip(graph.free, names, strict=True):
            values = sampler.renew(variable)
            if sweep >= burn_in:
                visited[name].append(values)
    return Samples(graph, visited)


@dataclass(frozen=True, eq=False)
class _Message:
    """A message, and the distribution it proposes strings from, computed when first needed."""

    potential: Potential

    @cached_property
    def part(self) -> StringPotential | None:
        return normalised_part(cast(StringPotential, self.potential))


class _Sampler:
    """The state of a run: the particles of each variable, and messages computed before."""

    def __init__(
        self,
        graph: FactorGraph,
        values: list[tuple[str, ...]],
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        self._graph = graph
        self._values = values
        self._draws = draws
        self._rng = rng
        self._sent: dict[tuple[object, ...], _Message] = {}

    def renew(self, variable: int) -> tuple[str, ...]:
        """Return new particles of a variable, which replace the old ones."""
        edges = self._graph.edges_of_variable[variable]
        messages = [self._message(self._graph.edges[edge].factor, variable) for edge in edges]
        self._values[variable] = self._drawn(variable, messages)
        return self._values[variable]

    def _message(self, factor: int, variable: int) -> _Message:
        """Return the factor's message, given its other variables' particles."""
        graph = self._graph
        others = [v for v in graph.factors[factor].variables if v != graph.variables[variable]]
        values = [self._values[graph.positions[other]] for other in others]
        key = (factor, variable, *values)
        if key not in self._sent:
            if len(self._sent) >= MAX_CACHED:
                self._sent.clear()
            incoming = {v: _weighed(v, own) for v, own in zip(others, values, strict=True)}
            target = graph.variables[variable]
            self._sent[key] = _Message(graph.factors[factor].message_to(target, incoming, "sum"))
        return self._sent[key]

    def _drawn(self, variable: int, messages: list[_Message]) -> tuple[str, ...]:
        whose, current = self._graph.variables[variable], self._values[variable]
        potentials = [message.potential for message in messages]
        if not whose.is_string:
            table = StringTable(whose.values, cast(FloatArray, product(potentials)))
            return self._from_list(whose, table, len(current))
        lists = [p for p in potentials if isinstance(p, StringTable)]
        if len(lists) == len(potentials) or any(table.floor == -math.inf for table in lists):
            return self._from_list(whose, cast(StringTable, product(potentials)), len(current))
        if len(potentials) == 1:
            return tuple(cast(StringPotential, potentials[0]).sample(len(current), self._rng))
        return self._from_proposals(whose, messages, current)

    def _from_list(self, variable: Variable, table: StringTable, count: int) -> tuple[str, ...]:
        if table.log_total("max") == -math.inf:
            raise _impossible(variable)
        return tuple(table.sample(count, self._rng))

    def _from_proposals(
        self, variable: Variable, messages: list[_Message], current: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return one value for each current one, drawn from it and proposals of its own.

        Each competes with weight product(x) / proposal(x), which leaves the product's distribution
        unchanged.
        """
        potentials = cast("list[StringPotential]", [message.potential for message in messages])
        proposal = Proposal.from_parts([message.part for message in messages])
        counts = [proposal.sample(self._draws, self._rng) + Counter([v]) for v in current]
        strings = tuple(dict.fromkeys(text for count_of in counts for text in count_of))
        ratio_n = np.sum([p.log_weights(strings) for p in potentials], axis=0)
        possible_n = proposal.log_probs(strings)
        ratio_n[possible_n > -np.inf] -= possible_n[possible_n > -np.inf]
        ratio_n[possible_n == -np.inf] = -np.inf
        log_ratio_of = dict(zip(strings, ratio_n.tolist(), strict=True))
        drawn: list[str] = []
        for count_of in counts:
            texts = tuple(count_of)
            weights = [log_ratio_of[text] + math.log(count_of[text]) for text in texts]
            drawn += self._from_list(variable, StringTable(texts, np.array(weights)), 1)
        return tuple(drawn)


def _first_values(
    graph: FactorGraph, initial: Mapping[str, str], particles: int
) -> list[tuple[str, ...]]:
    """Return the first particles of each variable, all alike; an observed one has one particle."""
    given = {**initial, **graph.evidence}
    missing = [v.name for v in graph.variables if v.name not in given]
    beliefs = infer(graph, KBest(), "max", queries=missing).beliefs if missing else {}
    values = []
    for variable in graph.variables:
        if variable.name not in given:
            belief = beliefs.get(variable.name)
            best = belief.kbest(1) if belief else []
            if not best:
                raise ValueError(f"no first value for {variable.name!r} is known: give an initial")
            given[variable.name] = best[0][0]
        observed = variable.name in graph.evidence
        values.append((given[variable.name],) * (1 if observed else particles))
    return values


def _weighed(variable: Variable, values: tuple[str, ...]) -> Potential:
    """Return the potential in which a variable's values weigh as much as they are frequent."""
    count_of = Counter(values)
    if len(count_of) == 1:
        return point(variable, values[0])
    log_share_of = {value: math.log(count / len(values)) for value, count in count_of.items()}
    if variable.is_string:
        return StringTable(tuple(log_share_of), np.array(list(log_share_of.values())))
    return np.array([log_share_of.get(value, -math.inf) for value in variable.values])


def _impossible(variable: Variable) -> ValueError:
    return ValueError(
        f"no value of {variable.name!r} agrees with the current values of its neighbours: "
        "give other initial values, or soften the factors that forbid"
    )
