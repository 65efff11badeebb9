"""A stochastic edit channel between two strings.

Public names: `EditFactor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

import numpy as np

from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, FloatArray
from fsbp.edit_channel import EditChannel
from fsbp.factors.base import Incoming
from fsbp.factors.pairs import PairFactor
from fsbp.potentials import MAX_ARCS
from fsbp.transducers import expected_arc_counts_of_transducer
from fsbp.variables import StringPotential, Variable


@dataclass(frozen=True, eq=False)
class EditFactor(PairFactor):
    """P(target | source) of an edit channel, without its bound on length.

    Symbols outside the channel's alphabet have no probability.

    Args:
        source: String variable read.
        target: String variable written.
        channel: Its log-probabilities are the parameters.
        max_arcs: Bound on every machine built.
    """

    source: Variable
    target: Variable
    channel: EditChannel
    max_arcs: int = MAX_ARCS

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return log P(target | source) for every pair of the given strings.

        Cost: That of `EditChannel.log_probs`.
        """
        sources, targets = universes
        return self.channel.log_probs(sources, targets)

    @property
    def alphabet(self) -> Alphabet:
        """The channel's alphabet."""
        return self.channel.alphabet

    @property
    def theta(self) -> FloatArray:
        """The channel's log-probabilities, float64[36]."""
        return self.channel.log_prob_pno.ravel()

    def with_theta(self, theta: FloatArray) -> Self:
        """Return the factor with other weights, normalised or not.

        Raises:
            ValueError: There are not 36.
        """
        return replace(self, channel=replace(self.channel, log_prob_pno=theta.reshape(3, 3, 4)))

    def expected_counts(self, incoming: Incoming) -> FloatArray:
        """Return the expected uses of each operation in each context, float64[36].

        Cost: That of `expected_arc_counts_of_transducer`, and one more sum for the end.
        """
        alphabet = self.channel.alphabet
        inputs = cast(StringPotential, incoming[self.source]).to_acceptor(alphabet)
        outputs = cast(StringPotential, incoming[self.target]).to_acceptor(inputs.alphabet)
        inputs = inputs.to_acceptor(outputs.alphabet)
        machine, cell_a = self.channel.counting_transducer()
        count_a = expected_arc_counts_of_transducer(machine, inputs.fst, outputs.fst, self.max_arcs)
        return np.bincount(cell_a, weights=count_a, minlength=36).astype(np.float64)

    def _arrays(self) -> ArcArrays:
        return self.channel.transducer()

    def _over(self, alphabet: Alphabet) -> Self:
        return self
