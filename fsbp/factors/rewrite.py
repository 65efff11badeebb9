"""Two strings, one of which rewrites into the other by learned rules.

Public names: `RewriteFactor`, `FLOOR`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.factors.base import Incoming
from fsbp.factors.evidence import EvidenceFactor, few_strings
from fsbp.pathsum import Semiring
from fsbp.rewrite_model import RewriteModel
from fsbp.variables import Potential, StringTable, Variable

FLOOR = 1e-3


@dataclass(frozen=True, eq=False)
class RewriteFactor(EvidenceFactor):
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

    def with_theta(self, theta: FloatArray) -> Self:
        """Return the factor with another exponent."""
        (exponent,) = theta.tolist()
        return replace(self, exponent=exponent)

    def proposals(self, source: str) -> list[str]:
        """Return every target that a rule yields."""
        return list(self.model.distribution(source))

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
        given = few_strings(incoming[self.source if target == self.target else self.target])
        if target == self.target:
            links = [(y, x, s) for x in given.strings for y, s in self.log_evidence(x).items()]
        else:
            links = self._links_to(given.strings)
        return _message(links, given, self.exponent, semiring)

    def evidence_xy(self, sources: Sequence[str], targets: Sequence[str]) -> FloatArray:
        """Return float64[X, Y], log(1 + P(y | x) / floor) of all pairs.

        Cost: One distribution per source.
        """
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
