"""A stochastic edit channel between two strings.

Public names: `EditFactor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, cast

import numpy as np
import pynini

from fsbp.arrays import FloatArray, arrays_to_fst, log_sum_exp
from fsbp.edit_channel import EditChannel
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.factors.lattice import PairLattice, pair_lattice, pair_log_weights
from fsbp.factors.lists import all_strings, as_list, is_list
from fsbp.pathsum import Semiring
from fsbp.potentials import MAX_ARCS
from fsbp.transducers import expected_arc_counts_of_transducer, image, preimage
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable


@dataclass(frozen=True, eq=False)
class EditFactor(Factor):
    """P(target | source) of an edit channel, without its bound on length.

    Messages are images and preimages of machines, or score strings on a lattice where the other
    side is a list. Symbols outside the channel's alphabet have no probability.

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

    @property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """Source, then target."""
        return (self.source, self.target)

    def log_score(self, assignment: Assignment) -> float:
        """Return log P(target | source)."""
        return float(self._pairs([assignment[self.source]], [assignment[self.target]])[0, 0])

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the image (to the target) or preimage (to the source) of a potential.

        Raises:
            MachineTooLargeError: A product outgrew `max_arcs`, or a maximum is over more than
                10,000 strings.

        Cost: Nothing for a list until scored; that of `image` for a machine.
        """
        other = self.source if target == self.target else self.target
        potential = as_list(cast(StringPotential, incoming[other]))
        if not is_list(potential) and semiring == "sum":
            return self._mapped(target, potential)
        listed = potential if is_list(potential) else all_strings(potential)
        return Scored(
            score=lambda strings: self._scores(target, listed, strings, semiring),
            bound=lambda: self._mapped(target, listed),
            tight=semiring == "sum",
        )

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

    @cached_property
    def _fst(self) -> pynini.Fst:
        return arrays_to_fst(self.channel.transducer())

    @cached_property
    def _lattice(self) -> PairLattice:
        return pair_lattice(self.channel.transducer())

    def _pairs(self, inputs: Sequence[str], outputs: Sequence[str]) -> FloatArray:
        alphabet = self.channel.alphabet.extended((*inputs, *outputs))
        labels = [[alphabet.labels(text) for text in texts] for texts in (inputs, outputs)]
        return pair_log_weights(self._lattice, *labels)

    def _scores(
        self, target: Variable, table: StringTable, strings: Sequence[str], semiring: Semiring
    ) -> FloatArray:
        """Return the message's log-weight of each string, given a list on the other side."""
        if target == self.target:
            pair_nm = self._pairs(table.strings, strings)
        else:
            pair_nm = self._pairs(strings, table.strings).T
        pair_nm = pair_nm + table.log_weights_n[:, None]
        if semiring == "max":
            best: FloatArray = pair_nm.max(axis=0, initial=-np.inf)
            return best
        return cast(FloatArray, log_sum_exp(pair_nm, axis=0))

    def _mapped(self, target: Variable, potential: StringPotential) -> Acceptor:
        machine = potential.to_acceptor(self.channel.alphabet)
        mapped = image if target == self.target else preimage
        return Acceptor(mapped(self._fst, machine.fst, self.max_arcs), machine.alphabet)
