"""A learned log-linear relation between two strings.

Public names: `TransducerFactor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, cast

import numpy as np
import pynini

from fsbp.acceptors import MachineTooLargeError
from fsbp.alphabet import Alphabet
from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.factors.lattice import (
    PairLattice,
    expected_pair_counts,
    pair_lattice,
    pair_log_weights,
)
from fsbp.pathsum import Semiring
from fsbp.potentials import MAX_ARCS
from fsbp.transducers import EditTopology, expected_arc_counts_of_transducer, image, preimage
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable

MAX_LISTED = 10_000


@dataclass(frozen=True, eq=False)
class TransducerFactor(Factor):
    """A contextual edit transducer between two string variables.

    log_score(x, y) = log sum over paths that read x and write y of exp(weights . features(path)).
    Where one side is a list of strings, messages score strings on a lattice and build a machine
    only when asked for one; otherwise they are images and preimages of machines. Strings may hold
    symbols that the topology lacks: they get the features that all symbols share.

    Args:
        source: String variable on the input side.
        target: String variable on the output side.
        topology: Arcs and their features.
        weight_f: float64[F], one weight per feature of the topology (nats): the parameters.
        max_arcs: Bound on every machine built.

    Raises:
        ValueError: The number of weights is not the number of features.
    """

    source: Variable
    target: Variable
    topology: EditTopology
    weight_f: FloatArray
    max_arcs: int = MAX_ARCS

    def __post_init__(self) -> None:
        """Check the number of weights."""
        if len(self.weight_f) != len(self.topology.feature_names):
            raise ValueError(
                f"{len(self.weight_f)} weights for {len(self.topology.feature_names)} features"
            )

    @cached_property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """Source and target."""
        return (self.source, self.target)

    def log_score(self, assignment: Assignment) -> float:
        """Return the sum over paths for one pair of strings."""
        texts = [assignment[self.source]], [assignment[self.target]]
        return float(self._pair_log_weights(*texts)[0, 0])

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the sum over paths for every pair of the given strings.

        Cost: That of `pair_log_weights`.
        """
        inputs, outputs = universes
        return self._pair_log_weights(inputs, outputs)

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the image (to the target) or preimage (to the source) of a potential.

        Raises:
            MachineTooLargeError: A product outgrew `max_arcs`, or a maximum is over more than
                10,000 strings.

        Cost: Nothing for a list until scored; that of `image` for a machine.
        """
        other = self.source if target == self.target else self.target
        potential = cast(StringPotential, incoming[other])
        listed = _listed(potential, semiring)
        if listed is not None:
            return Scored(
                score=lambda strings: self._scores(target, listed, strings, semiring),
                bound=lambda: self._mapped(target, listed),
                tight=semiring == "sum",
            )
        return self._mapped(target, potential)

    @property
    def theta(self) -> FloatArray:
        """The feature weights."""
        return self.weight_f

    def with_theta(self, theta: FloatArray) -> Self:
        """Return the factor with other feature weights."""
        return replace(self, weight_f=theta)

    def expected_counts(self, incoming: Incoming) -> FloatArray:
        """Return the expected number of times each feature fires.

        Cost: That of `expected_pair_counts` where both sides are lists, else that of
            `expected_arc_counts_of_transducer`.
        """
        inputs = cast(StringPotential, incoming[self.source])
        outputs = cast(StringPotential, incoming[self.target])
        listed_inputs, listed_outputs = _listed(inputs, "sum"), _listed(outputs, "sum")
        if listed_inputs is not None and listed_outputs is not None:
            return self._expected_over_lists(listed_inputs, listed_outputs)
        in_machine = inputs.to_acceptor(self.topology.alphabet)
        out_machine = outputs.to_acceptor(in_machine.alphabet)
        model = self._over(out_machine.alphabet)
        count_a = expected_arc_counts_of_transducer(
            model._fst, in_machine.fst, out_machine.fst, self.max_arcs
        )
        return model.topology.expected_features(count_a)

    @cached_property
    def _fst(self) -> pynini.Fst:
        return self.topology.fst(self.weight_f)

    @cached_property
    def _lattice(self) -> PairLattice:
        return pair_lattice(self.topology.arrays(self.weight_f))

    @cached_property
    def _extensions(self) -> dict[tuple[str, ...], TransducerFactor]:
        """The factor over larger alphabets, built when first needed."""
        return {}

    def _over(self, alphabet: Alphabet) -> TransducerFactor:
        """Return the factor over an alphabet that begins with the topology's own."""
        if len(alphabet) == len(self.topology.alphabet):
            return self
        if alphabet.symbols not in self._extensions:
            extended = replace(self, topology=self.topology.extended(alphabet))
            self._extensions[alphabet.symbols] = extended
        return self._extensions[alphabet.symbols]

    def _over_texts(self, texts: Sequence[str]) -> TransducerFactor:
        return self._over(self.topology.alphabet.extended(texts))

    def _labels(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        return [self.topology.alphabet.labels(text) for text in texts]

    def _pair_log_weights(self, inputs: Sequence[str], outputs: Sequence[str]) -> FloatArray:
        model = self._over_texts((*inputs, *outputs))
        return pair_log_weights(model._lattice, model._labels(inputs), model._labels(outputs))

    def _scores(
        self, target: Variable, table: StringTable, strings: Sequence[str], semiring: Semiring
    ) -> FloatArray:
        """Return the message's log-weight of each string, given a list on the other side."""
        if target == self.target:
            pair_nm = self._pair_log_weights(table.strings, strings)
        else:
            pair_nm = self._pair_log_weights(strings, table.strings).T
        pair_nm = pair_nm + table.log_weights_n[:, None]
        if semiring == "max":
            best: FloatArray = pair_nm.max(axis=0, initial=-np.inf)
            return best
        return cast(FloatArray, log_sum_exp(pair_nm, axis=0))

    def _mapped(self, target: Variable, potential: StringPotential) -> Acceptor:
        """Return the image or preimage as a machine."""
        machine = potential.to_acceptor(self.topology.alphabet)
        model = self._over(machine.alphabet)
        mapped = image if target == self.target else preimage
        return Acceptor(mapped(model._fst, machine.fst, self.max_arcs), machine.alphabet)

    def _expected_over_lists(self, inputs: StringTable, outputs: StringTable) -> FloatArray:
        log_weight_nm = self._pair_log_weights(inputs.strings, outputs.strings)
        log_weight_nm = log_weight_nm + inputs.log_weights_n[:, None] + outputs.log_weights_n
        probability_nm = np.exp(log_weight_nm - log_sum_exp(log_weight_nm))
        model = self._over_texts((*inputs.strings, *outputs.strings))
        labels = model._labels(inputs.strings), model._labels(outputs.strings)
        count_a = expected_pair_counts(model._lattice, *labels, probability_nm)
        return model.topology.expected_features(count_a)


def _listed(potential: StringPotential, semiring: Semiring) -> StringTable | None:
    """Return the strings that a potential stands for, or None where a machine must do.

    Raises:
        MachineTooLargeError: A maximum needs the list, and it has more than 10,000 strings.
    """
    if isinstance(potential, StringTable) and (potential.strings or potential.floor == -np.inf):
        return replace(potential, floor=-np.inf)
    if semiring == "sum":
        return None
    listed = potential.k_best(MAX_LISTED + 1)
    if len(listed.strings) > MAX_LISTED:
        raise MachineTooLargeError(
            f"a maximum over more than {MAX_LISTED} strings: use a k-best message family"
        )
    return listed
