"""Two strings, one of which rewrites into the other by learned rules.

Public names: `RewriteFactor`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.pathsum import Semiring
from fsbp.potentials import log_total
from fsbp.rewrite_model import RewriteModel
from fsbp.variables import Potential, StringPotential, StringTable, Variable

FLOOR = 1e-3
MAX_STRINGS = 1000


@dataclass(frozen=True, eq=False)
class RewriteFactor(Factor):
    """P(target | source) of a rewrite model, with a floor and a learned exponent.

    log_score(x, y) = exponent x log(1 + P(y | x) / floor).

    So a target that no rule yields scores 0, and others score above it: no source can rule a
    target out, it can only fail to propose it. Since every pair has positive weight, messages are
    string tables with a floor.

    Args:
        source: The string rewritten.
        target: The result.
        model: Of the pair.
        exponent: How much this factor counts among others at the same target.
        floor: Probability at which a proposal starts to count.
    """

    source: Variable
    target: Variable
    model: RewriteModel
    exponent: float = 1.0
    floor: float = FLOOR

    @property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """Source, then target."""
        return (self.source, self.target)

    @property
    def theta(self) -> FloatArray:
        """The exponent, float64[1]."""
        return np.array([self.exponent])

    def with_theta(self, theta: FloatArray) -> Self:
        """Return the factor with another exponent."""
        (exponent,) = theta.tolist()
        return replace(self, exponent=exponent)

    def log_score(self, assignment: Assignment) -> float:
        """Return the exponent times the log-evidence for the target."""
        targets = self.log_evidence(assignment[self.source])
        return self.exponent * targets.get(assignment[self.target], 0.0)

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the exponent times the log-evidence for every pair of the given strings.

        Cost: One distribution per source.
        """
        sources, targets = universes
        return self.exponent * self._evidence(sources, targets)

    def log_evidence(self, source: str) -> dict[str, float]:
        """Return log(1 + P(y | source) / floor) for every y that a rule yields."""
        distribution = self.model.distribution(source)
        return {y: math.log1p(p / self.floor) for y, p in distribution.items()}

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the message over the strings that rules reach; all others get the floor.

        Args:
            target: Either variable.
            incoming: A string table for the other one, or a machine that accepts few strings. A
                table that lists nothing says nothing, and so does the message.
            semiring: "sum" or "max".

        Raises:
            MachineTooLargeError: The incoming machine accepts more than `MAX_STRINGS` strings.

        Cost: One distribution per listed source; towards the source, one per string from which
            rules reach a listed target.
        """
        given = _listed(incoming[self.source if target == self.target else self.target])
        if target == self.target:
            links = [(y, x, s) for x in given.strings for y, s in self.log_evidence(x).items()]
        else:
            links = self._links_to(given.strings)
        return _message(links, given, self.exponent, semiring)

    def log_total(self, incoming: Incoming, semiring: Semiring) -> float:
        """Return the log of the sum (maximum) of exp(log_score + both incoming potentials).

        Args:
            incoming: A potential for each of the two variables.
            semiring: "sum" or "max".

        Raises:
            MachineTooLargeError: An incoming machine accepts more than `MAX_STRINGS` strings.
        """
        return log_total(self._weighed(incoming)[1].ravel(), semiring)

    def expected_counts(self, incoming: Incoming) -> FloatArray:
        """Return float64[1], the expected log-evidence over the listed sources and targets.

        Args:
            incoming: A potential for each of the two variables.

        Raises:
            MachineTooLargeError: An incoming machine accepts more than `MAX_STRINGS` strings.
        """
        evidence_xy, weight_xy = self._weighed(incoming)
        probability_xy = np.exp(weight_xy - log_sum_exp(weight_xy))
        return np.array([(probability_xy * evidence_xy).sum()])

    def _weighed(self, incoming: Incoming) -> tuple[FloatArray, FloatArray]:
        """Return the log-evidence and the log-weight of all listed pairs, float64[X, Y] each."""
        source, target = _listed(incoming[self.source]), _listed(incoming[self.target])
        evidence_xy = self._evidence(source.strings, target.strings)
        weight_x, weight_y = source.log_weights_n, target.log_weights_n
        return evidence_xy, self.exponent * evidence_xy + weight_x[:, None] + weight_y

    def _evidence(self, sources: Sequence[str], targets: Sequence[str]) -> FloatArray:
        """Return float64[X, Y], the log-evidence of all pairs."""
        evidence_xy = np.zeros((len(sources), len(targets)))
        for row, x in zip(evidence_xy, sources, strict=True):
            evidence_of = self.log_evidence(x)
            row[:] = [evidence_of.get(y, 0.0) for y in targets]
        return evidence_xy

    def _links_to(self, targets: Sequence[str]) -> list[tuple[str, str, float]]:
        """Return every source, target and log-evidence where rules lead to one of the targets."""
        sources: dict[str, None] = {}
        for target in targets:
            sources.update(dict.fromkeys(self.model.sources(target)))
        listed = set(targets)
        return [(x, y, s) for x in sources for y, s in self.log_evidence(x).items() if y in listed]


def _message(
    links: Sequence[tuple[str, str, float]], given: StringTable, exponent: float, semiring: Semiring
) -> StringTable:
    """Return the message over the first strings of the links, from a table over the second ones.

    Strings that nothing links have the weight of the whole table.
    """
    if not given.strings:
        return StringTable((), np.zeros(0), floor=0.0)
    evidence_of: dict[str, dict[str, float]] = defaultdict(dict)
    for reached, origin, evidence in links:
        evidence_of[reached][origin] = exponent * evidence
    base = given.log_total(semiring)
    if semiring == "max":
        weights = [
            max(weight + linked.get(origin, 0.0) for origin, weight in given.weight_of.items())
            for linked in evidence_of.values()
        ]
    else:
        weights = [
            base
            + math.log1p(
                sum(
                    math.exp(given.weight_of[origin] - base) * math.expm1(evidence)
                    for origin, evidence in linked.items()
                )
            )
            for linked in evidence_of.values()
        ]
    return StringTable(tuple(evidence_of), np.array(weights), floor=base)


def _listed(potential: Potential) -> StringTable:
    """Return the potential as a table.

    Raises:
        MachineTooLargeError: It is carried by a machine that accepts too many strings.
    """
    if isinstance(potential, StringTable):
        return potential
    table = cast(StringPotential, potential).k_best(MAX_STRINGS + 1)
    if len(table.strings) > MAX_STRINGS:
        raise MachineTooLargeError(
            f"a rewrite factor sums over at most {MAX_STRINGS} strings: use a k-best message family"
        )
    return table
