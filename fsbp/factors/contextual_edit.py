"""Two strings, one of which a model of contextual edits makes of the other.

Public names: `ContextualEditFactor`, `EDIT_FLOOR`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NoReturn, Self

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.contextual_edits import ContextualEdits
from fsbp.factors.base import Incoming
from fsbp.factors.evidence import EvidenceFactor, few_strings
from fsbp.pathsum import Semiring
from fsbp.variables import Potential, Scored, StringTable, Variable

EDIT_FLOOR = 1e-6
BEAM = 8
"""Width of the search for the likeliest targets of one source."""


@dataclass(frozen=True, eq=False)
class ContextualEditFactor(EvidenceFactor):
    """P(target | source, groups) of contextual edits, with a floor and a learned exponent.

    log_score(x, y) = exponent x log(1 + P(y | x, groups) / floor).

    Every string can be scored. Towards the target a message lists what a beam search finds; towards
    the source it lists nothing, and scores what others list.

    Args:
        source: The string read.
        target: The string written.
        model: Of many relations.
        groups: What tells this relation from others; see `ContextualEdits`.
        exponent: How much this factor counts among others at the same target.
        floor: Probability at which a pair starts to count.
    """

    source: Variable
    target: Variable
    model: ContextualEdits
    groups: tuple[str, ...] = ()
    exponent: float = 1.0
    floor: float = EDIT_FLOOR

    def with_theta(self, theta: FloatArray) -> Self:
        """Return the factor with another exponent."""
        (exponent,) = theta.tolist()
        return replace(self, exponent=exponent)

    def evidence_xy(self, sources: Sequence[str], targets: Sequence[str]) -> FloatArray:
        """Return float64[X, Y], log(1 + P(y | x, groups) / floor) of all pairs.

        Cost: That of `ContextualEdits.log_probs` for each source.
        """
        log_prob_xy = [self.model.log_probs(x, targets, self.groups) for x in sources]
        stacked_xy = np.array(log_prob_xy).reshape(len(sources), len(targets))
        return np.log1p(np.exp(stacked_xy) / self.floor)

    def proposals(self, source: str) -> list[str]:
        """Return the targets that a beam search finds, likeliest edits first."""
        return self.model.likeliest(source, BEAM, self.groups)

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return a potential that scores every string, and lists the likeliest targets.

        Args:
            target: Either variable.
            incoming: A string table for the other one, or a machine that accepts few strings. A
                table that lists nothing says nothing, and so does the message.
            semiring: "sum" or "max".

        Raises:
            MachineTooLargeError: The incoming machine accepts more than 1,000 strings.
        """
        forwards = target == self.target
        given = few_strings(incoming[self.source if forwards else self.target])
        if not given.strings:
            return StringTable((), np.zeros(0), floor=0.0)
        score = partial(self._scores, given, forwards, semiring)
        found = (self.proposals(x) for x in given.strings if forwards)
        proposals = tuple(dict.fromkeys(chain.from_iterable(found)))

        def best(k: int) -> StringTable:
            base = given.log_total(semiring)
            return StringTable(proposals, score(proposals), floor=base).k_best(k)

        return Scored(score, _no_machine, tight=False, search=best)

    def _scores(
        self, given: StringTable, forwards: bool, semiring: Semiring, strings: Sequence[str]
    ) -> FloatArray:
        """Return the message's weights of some strings, float64[N]."""
        evidence_gn = (
            self.evidence_xy(given.strings, strings)
            if forwards
            else self.evidence_xy(strings, given.strings).T
        )
        weight_gn = given.log_weights_n[:, None] + self.exponent * evidence_gn
        best_only = semiring == "max" or len(weight_gn) == 1
        weights: FloatArray = weight_gn.max(axis=0) if best_only else log_sum_exp(weight_gn, 0)
        return weights


def _no_machine() -> NoReturn:
    raise MachineTooLargeError("contextual edits list no machine: use a k-best message family")
