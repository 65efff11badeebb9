"""Where to look for strings to which several potentials give weight, without multiplying them.

Public names: `Proposal`, `normalised_part`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.opinions import Opinion
from fsbp.pathsum import DivergentSumError
from fsbp.variables import Scored, StringPotential, StringTable


@dataclass(frozen=True, eq=False)
class Proposal:
    """An even mixture of distributions over strings.

    Args:
        parts: Normalised potentials, at least one.
    """

    parts: tuple[StringPotential, ...]

    @classmethod
    def from_potentials(cls, potentials: Sequence[StringPotential]) -> Self:
        """Return the mixture of those potentials from which strings can be drawn.

        Raises:
            DivergentSumError: There is none.
        """
        return cls.from_parts([normalised_part(potential) for potential in potentials])

    @classmethod
    def from_parts(cls, parts: Sequence[StringPotential | None]) -> Self:
        """Return the mixture of what `normalised_part` returned for some potentials.

        Raises:
            DivergentSumError: All are None.
        """
        present = tuple(part for part in parts if part is not None)
        if not present:
            raise DivergentSumError("no message about a string variable has a finite sum")
        return cls(present)

    def sample(self, draws: int, rng: np.random.Generator) -> Counter[str]:
        """Return how often each string came up in independent draws."""
        even = np.full(len(self.parts), 1.0 / len(self.parts))
        count_of = Counter[str]()
        for part, count in zip(self.parts, rng.multinomial(draws, even).tolist(), strict=True):
            count_of.update(part.sample(count, rng))
        return count_of

    def log_probs(self, strings: Sequence[str]) -> FloatArray:
        """Return the log-probability of each string, float64[N]."""
        rows = np.stack([part.log_weights(strings) for part in self.parts])
        log_probs_n: FloatArray = log_sum_exp(rows, axis=0) - math.log(len(self.parts))
        return log_probs_n


def normalised_part(potential: StringPotential) -> StringPotential | None:
    """Return a potential as a distribution, or None where no string can be drawn from it.

    A list proposes what it lists, whatever its floor; an opinion proposes nothing, and neither does
    a machine without a finite, positive sum. A maximum of sums is proposed from its bound.

    Cost: That of the potential's total.
    """
    if isinstance(potential, Opinion):
        return None
    if isinstance(potential, StringTable):
        potential = replace(potential, floor=-math.inf)
    elif isinstance(potential, Scored):
        potential = potential.bounding_acceptor
    try:
        log_total = potential.log_total()
    except DivergentSumError:
        return None
    return potential.shifted(-log_total) if log_total > -math.inf else None
