"""What factors share that say how much speaks for a pair of strings, and never forbid one.

Public names: `EvidenceFactor`, `few_strings`, `MAX_STRINGS`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.pathsum import Semiring
from fsbp.potentials import log_total
from fsbp.variables import Potential, StringPotential, StringTable, Variable

MAX_STRINGS = 1000


class EvidenceFactor(Factor):
    """P(target | source) of some model, with a floor and a learned exponent.

    log_score(x, y) = exponent x log(1 + P(y | x) / floor).

    So a target of probability 0 scores 0, and others score above it: no source can rule a target
    out, it can only fail to speak for it.

    Args:
        source: The string rewritten.
        target: The result.
        exponent: How much this factor counts among others at the same target.
        floor: Probability at which a pair starts to count.
    """

    source: Variable
    target: Variable
    exponent: float
    floor: float

    @abstractmethod
    def evidence_xy(self, sources: Sequence[str], targets: Sequence[str]) -> FloatArray:
        """Return float64[X, Y], log(1 + P(y | x) / floor) of all pairs."""

    @abstractmethod
    def proposals(self, source: str) -> list[str]:
        """Return the targets that a source suggests, without repetition."""

    @property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """Source, then target."""
        return (self.source, self.target)

    @property
    def theta(self) -> FloatArray:
        """The exponent, float64[1]."""
        return np.array([self.exponent])

    def log_score(self, assignment: Assignment) -> float:
        """Return the exponent times the log-evidence for the target."""
        return float(self.log_scores([[assignment[v]] for v in self.variables])[0, 0])

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the exponent times the log-evidence for every pair of the given strings."""
        sources, targets = universes
        return self.exponent * self.evidence_xy(sources, targets)

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
        source, target = few_strings(incoming[self.source]), few_strings(incoming[self.target])
        evidence_xy = self.evidence_xy(source.strings, target.strings)
        weight_x, weight_y = source.log_weights_n, target.log_weights_n
        return evidence_xy, self.exponent * evidence_xy + weight_x[:, None] + weight_y


def few_strings(potential: Potential) -> StringTable:
    """Return a potential as a table.

    Raises:
        MachineTooLargeError: It is carried by a machine that accepts more than `MAX_STRINGS`.
    """
    if isinstance(potential, StringTable):
        return potential
    table = cast(StringPotential, potential).k_best(MAX_STRINGS + 1)
    if len(table.strings) > MAX_STRINGS:
        raise MachineTooLargeError(
            f"this factor sums over at most {MAX_STRINGS} strings: use a k-best message family"
        )
    return table
