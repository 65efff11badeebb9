"""Potentials to a power: what tempering makes of opinions and messages.

Public names: `powered`, `Powered`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, FloatArray, arrays_to_fst
from fsbp.ngram_potential import NgramPotential
from fsbp.opinions import Opinion
from fsbp.pathsum import Semiring
from fsbp.variables import (
    Acceptor,
    Potential,
    Scored,
    StringPotential,
    StringTable,
    complete_list,
)


@dataclass(frozen=True, eq=False)
class Powered(StringPotential):
    """A potential whose log-weights are those of another times an exponent.

    A power of a sum over paths is carried by no machine but a list, so this potential is to be read
    by its best strings; machines and sums are for potentials of few strings.

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

    @cached_property
    def bounding_acceptor(self) -> Acceptor:
        """A machine whose weights are nowhere smaller.

        With the weights w of the paths of x, and z(x) their sum: z^e <= max(z)^(e - 1) z where
        e >= 1, and z^e <= sum of w^e where e < 1.
        """
        if isinstance(self.potential, Scored):
            base = self.potential.bounding_acceptor
        else:
            base = self.potential.to_acceptor(Alphabet(()))
        if self.exponent < 1.0:
            return _scaled(base, self.exponent)
        best = self.potential.log_total("max")
        return base.shifted((self.exponent - 1.0) * best) if best > -math.inf else base

    def log_total(self, semiring: Semiring = "sum") -> float:
        """Return the log of the sum, from `to_acceptor`, or the maximum of the weights."""
        return self.k_best(1).log_total("max") if semiring == "max" else self._complete.log_total()

    def to_acceptor(self, alphabet: Alphabet) -> Acceptor:
        """Return the machine of all strings.

        Raises:
            MachineTooLargeError: There are more than 10,000.
            DivergentSumError: The base has no finite sum.
        """
        return self._complete.to_acceptor(alphabet)

    def sample(self, n: int, rng: np.random.Generator) -> list[str]:
        """Return `n` strings drawn in proportion to their weight; raises as `to_acceptor`."""
        return self._complete.sample(n, rng)

    def entropy(self) -> float:
        """Return the entropy over all strings (nats); raises as `to_acceptor`."""
        return self._complete.entropy()

    @cached_property
    def _complete(self) -> StringTable:
        return complete_list(self, "a power of path sums")


def powered(potential: Potential, exponent: float) -> Potential:
    """Return the potential with all log-weights multiplied by an exponent.

    Args:
        potential: Of any carrier; arrays, tables and n-gram potentials keep theirs, as do
            machines with one path per string, unless flattened.
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
    if isinstance(potential, Acceptor) and exponent >= 1.0 and _has_one_path_each(potential.arrays):
        return _scaled(potential, exponent)
    if isinstance(potential, Powered):
        return Powered(potential.potential, exponent * potential.exponent)
    return Powered(potential, exponent)


def _scaled(acceptor: Acceptor, exponent: float) -> Acceptor:
    """Return the acceptor with all weights of arcs and ends multiplied by an exponent."""
    arrays = acceptor.arrays
    scaled = replace(
        arrays,
        final_s=exponent * arrays.final_s,
        log_weight_a=exponent * arrays.log_weight_a,
    )
    fst = arrays_to_fst(scaled)
    if isinstance(acceptor, Opinion):
        return replace(acceptor, fst=fst, unseen=exponent * acceptor.unseen)
    return replace(acceptor, fst=fst)


def _has_one_path_each(arrays: ArcArrays) -> bool:
    """Return whether an acceptor is deterministic and without empty labels."""
    moves = np.stack([arrays.source_a, arrays.ilabel_a], axis=1)
    return bool((arrays.ilabel_a > 0).all()) and len(np.unique(moves, axis=0)) == len(moves)
