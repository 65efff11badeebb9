"""A potential that weighs the strings other messages propose, and proposes none itself.

Public names: `Opinion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from fsbp.arrays import FloatArray, arrays_to_fst
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
        machine = replace(
            arrays,
            final_s=np.where(np.isfinite(arrays.final_s), exponent * arrays.final_s, -np.inf),
            log_weight_a=exponent * arrays.log_weight_a + per_symbol,
        )
        unseen = per_symbol - exponent * float(np.log(len(acceptor.alphabet) + 1))
        return cls(arrays_to_fst(machine), acceptor.alphabet, unseen)

    def log_weights(self, strings: Sequence[str]) -> FloatArray:
        """Return the log-weight of each string, symbols outside the alphabet weighed apart.

        Cost: O(sum of lengths x arcs leaving the states met).
        """
        unseen = [self.alphabet.unseen(text) for text in strings]
        seen = [
            self._seen_part(text) if missing else text
            for text, missing in zip(strings, unseen, strict=True)
        ]
        missing_n = np.array([len(missing) for missing in unseen])
        weights_n: FloatArray = super().log_weights(seen) + self.unseen * missing_n
        return weights_n

    def k_best(self, k: int) -> StringTable:
        """Return the table that lists nothing and says nothing of other strings."""
        return StringTable((), np.zeros(0), floor=0.0)

    def _seen_part(self, text: str) -> str:
        alphabet = self.alphabet
        return alphabet.join(s for s in alphabet.split(text) if not alphabet.unseen(s))
