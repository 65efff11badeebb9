"""A potential that weighs the strings other messages propose, and proposes none itself.

Public names: `Opinion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from fsbp.arrays import FloatArray, arrays_to_fst
from fsbp.pathsum import string_log_weights
from fsbp.variables import Acceptor, StringTable


@dataclass(frozen=True, eq=False)
class Opinion(Acceptor):
    """An acceptor whose weights need no finite sum, since only listed strings are asked about.

    Args:
        fst: log64 acceptor without symbol tables.
        alphabet: Owner of the labels.
        unseen: Log-weight of a symbol outside the alphabet (nats), so that none forbids a string.
    """

    unseen: float = 0.0

    @classmethod
    def tempered(cls, acceptor: Acceptor, exponent: float, per_symbol: float) -> Self:
        """Return exponent x log-weight + per_symbol x length, for a deterministic acceptor.

        A symbol outside the alphabet counts like one drawn evenly from it.

        Args:
            acceptor: Deterministic and free of epsilons.
            exponent: 0 says nothing, 1 repeats the acceptor.
            per_symbol: Added for each symbol (nats).
        """
        arrays = acceptor.arrays
        final_s = arrays.final_s.copy()
        final_s[np.isfinite(final_s)] *= exponent
        machine = replace(
            arrays, final_s=final_s, log_weight_a=exponent * arrays.log_weight_a + per_symbol
        )
        unseen = per_symbol - exponent * float(np.log(len(acceptor.alphabet) + 1))
        return cls(arrays_to_fst(machine), acceptor.alphabet, unseen)

    def log_weights(self, strings: Sequence[str]) -> FloatArray:
        """Return the log-weight of each string, symbols outside the alphabet weighed apart.

        Cost: O(sum of lengths x arcs leaving the states met).
        """
        parted = [self._parted(text) for text in strings]
        missing_n = np.array([missing for _, missing in parted])
        labels = [labels for labels, _ in parted]
        return string_log_weights(self._reader, labels) + self.unseen * missing_n

    def k_best(self, k: int) -> StringTable:
        """Return the table that lists nothing and says nothing of other strings."""
        return StringTable((), np.zeros(0), floor=0.0)

    def _parted(self, text: str) -> tuple[tuple[int, ...], int]:
        """Return the labels of the symbols in the alphabet, and the number of the others."""
        alphabet = self.alphabet
        unseen = set(alphabet.unseen(text))
        if not unseen:
            return alphabet.labels(text), 0
        symbols = alphabet.split(text)
        seen = [symbol for symbol in symbols if symbol not in unseen]
        labels = tuple(label for symbol in seen for label in alphabet.labels(symbol))
        return labels, len(symbols) - len(seen)
