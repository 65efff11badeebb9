"""Messages as lists of candidate strings.

Public names: `KBest`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.alphabet import Alphabet
from fsbp.messages.base import MessageFamily
from fsbp.pathsum import DivergentSumError
from fsbp.potentials import MAX_ARCS
from fsbp.variables import Potential, StringPotential, StringTable, Variable


@dataclass(frozen=True)
class KBest(MessageFamily):
    """The `k` best strings of a message, and whatever strings its context lists.

    Each message scores its neighbours' candidates itself, so weights come from the message and
    never from a rank, and messages are never intersected to find candidates. A string that a
    message forbids gets the back-off, so that two lists without a common string cannot empty a
    belief. Finite variables' messages are left alone.

    Args:
        k: Strings kept per message besides the context's.
        backoff: Log-weight of unlisted strings below the best listed one (nats); infinite makes
            lists hard, and then the k-best log Z of a tree is a lower bound. A table that comes
            with a floor keeps it.
        max_arcs: Bound on every machine that a product of messages builds.

    Source: Dreyer and Eisner (2009), "Graphical models over multiple strings", section 4.
    """

    k: int = 20
    backoff: float = 40.0
    max_arcs: int = MAX_ARCS

    def every_string(self, alphabet: Alphabet) -> StringTable:
        """Return an empty list with floor 0."""
        return StringTable((), np.zeros(0), floor=0.0)

    def project(
        self, variable: Variable, potential: Potential, context: Potential, rng: np.random.Generator
    ) -> Potential:
        """Return the best strings of the potential, and those of the context, with their weights.

        A potential without a finite sum has no best strings, and scores those of the context; so
        does one whose best strings are too dear to find.

        Raises:
            DivergentSumError: The potential has no finite sum, and the context lists nothing.
            MachineTooLargeError: The search outgrew its bound, and the context lists nothing.

        Cost: A k-best search for a machine; O(N log N) for a table of N strings.
        """
        if not isinstance(potential, StringPotential):
            return potential
        others = context.strings if isinstance(context, StringTable) else ()
        if isinstance(potential, StringTable):
            return self._with_floor(self._pruned(potential, others))
        best = self._best(potential, others)
        new = tuple(text for text in others if text not in best.weight_of)
        weights_n = np.concatenate([best.log_weights_n, potential.log_weights(new)])
        table = self._with_floor(StringTable(best.strings + new, weights_n))
        kept = np.flatnonzero(table.log_weights_n > table.floor)
        return table.subset(kept.tolist())

    def context(self, variable: Variable, others: Sequence[Potential]) -> Potential:
        """Return a table of all strings that any of the others lists, never their intersection."""
        if not variable.is_string:
            return super().context(variable, others)
        lists = (other.strings for other in others if isinstance(other, StringTable))
        strings = tuple(dict.fromkeys(chain.from_iterable(lists)))
        return StringTable(strings, np.zeros(len(strings)), floor=0.0)

    def _best(self, potential: StringPotential, others: tuple[str, ...]) -> StringTable:
        try:
            return potential.k_best(self.k)
        except (DivergentSumError, MachineTooLargeError):
            if not others:
                raise
            return StringTable((), np.zeros(0))

    def _pruned(self, table: StringTable, others: tuple[str, ...]) -> StringTable:
        """Return the `k` best strings of a table and those that others list."""
        if len(table.strings) <= self.k:
            return table
        best = table.k_best(self.k)
        named = tuple(s for s in others if s in table.weight_of and s not in best.weight_of)
        return StringTable(
            best.strings + named,
            np.concatenate([best.log_weights_n, table.log_weights(named)]),
            table.floor,
        )

    def _with_floor(self, table: StringTable) -> StringTable:
        if table.floor > -math.inf or not table.strings or self.backoff == math.inf:
            return table
        floor = table.log_total("max") - self.backoff
        return StringTable(table.strings, table.log_weights_n, floor)
