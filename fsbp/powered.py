"""Potentials to a power: what tempering makes of opinions and messages.

Public names: `powered`, `Powered`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.ngram_potential import NgramPotential
from fsbp.pathsum import Semiring
from fsbp.variables import Acceptor, Potential, StringPotential, StringTable


@dataclass(frozen=True, eq=False)
class Powered(StringPotential):
    """A potential whose log-weights are those of another times an exponent.

    A power of a sum over paths is carried by no machine, so sums over strings are out of reach:
    this potential is to be read by its best strings.

    Args:
        potential: The base.
        exponent: Above 0.
    """

    potential: StringPotential
    exponent: float

    def log_weights(self, strings: Sequence[str]) -> FloatArray:
        """Return the exponent times the log-weight of each string."""
        return self.exponent * self.potential.log_weights(strings)

    def k_best(self, k: int) -> StringTable:
        """Return the `k` best strings of the base, in the same order."""
        best = self.potential.k_best(k)
        return StringTable(
            best.strings, self.exponent * best.log_weights_n, self.exponent * best.floor
        )

    def shifted(self, log_weight: float) -> Powered:
        """Return the potential with `log_weight` added to every string's log-weight."""
        return replace(self, potential=self.potential.shifted(log_weight / self.exponent))

    def log_total(self, semiring: Semiring = "sum") -> float:
        """Return the log of the best string's weight.

        Raises:
            TypeError: The sum over all strings is asked for.
        """
        return self.k_best(1).log_total("max") if semiring == "max" else self._no_machine()

    def to_acceptor(self, alphabet: object) -> Acceptor:
        """Refuse.

        Raises:
            TypeError: Always.
        """
        self._no_machine()

    def sample(self, n: int, rng: np.random.Generator) -> list[str]:
        """Refuse, as `to_acceptor`."""
        self._no_machine()

    def entropy(self) -> float:
        """Refuse, as `to_acceptor`."""
        self._no_machine()

    def _no_machine(self) -> NoReturn:
        raise TypeError("a power of path sums is no acceptor: use a k-best message family")


def powered(potential: Potential, exponent: float) -> Potential:
    """Return the potential with all log-weights multiplied by an exponent.

    Args:
        potential: Of any carrier; arrays, tables and n-gram potentials keep theirs.
        exponent: Above 0: more than 1 sharpens, less than 1 flattens.
    """
    if not isinstance(potential, StringPotential):
        return exponent * potential
    if isinstance(potential, StringTable):
        return StringTable(
            potential.strings, exponent * potential.log_weights_n, exponent * potential.floor
        )
    if isinstance(potential, NgramPotential):
        return replace(potential, log_weight_hs=exponent * potential.log_weight_hs)
    if isinstance(potential, Powered):
        return Powered(potential.potential, exponent * potential.exponent)
    return Powered(potential, exponent)
