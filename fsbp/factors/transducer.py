"""A learned log-linear relation between two strings.

Public names: `TransducerFactor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, cast

import numpy as np

from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, FloatArray, log_sum_exp
from fsbp.factors.base import Incoming
from fsbp.factors.lattice import expected_pair_counts, pair_log_weights
from fsbp.factors.lists import as_list, is_list
from fsbp.factors.pairs import PairFactor
from fsbp.potentials import MAX_ARCS
from fsbp.transducers import EditTopology, expected_arc_counts_of_transducer
from fsbp.variables import StringPotential, StringTable, Variable


@dataclass(frozen=True, eq=False)
class TransducerFactor(PairFactor):
    """A contextual edit transducer between two string variables.

    log_score(x, y) = log sum over paths that read x and write y of exp(weights . features(path)).
    Strings may hold symbols that the topology lacks: they get the features that all symbols share.

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

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the sum over paths for every pair of the given strings.

        Cost: That of `pair_log_weights`.
        """
        inputs, outputs = universes
        model = self._over_texts((*inputs, *outputs))
        return pair_log_weights(model._lattice, model._labels(inputs), model._labels(outputs))

    @property
    def alphabet(self) -> Alphabet:
        """The topology's alphabet."""
        return self.topology.alphabet

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
        inputs = as_list(cast(StringPotential, incoming[self.source]))
        outputs = as_list(cast(StringPotential, incoming[self.target]))
        if is_list(inputs) and is_list(outputs):
            return self._expected_over_lists(inputs, outputs)
        in_machine = inputs.to_acceptor(self.topology.alphabet)
        out_machine = outputs.to_acceptor(in_machine.alphabet)
        model = self._over(out_machine.alphabet)
        count_a = expected_arc_counts_of_transducer(
            model._fst, in_machine.fst, out_machine.fst, self.max_arcs
        )
        return model.topology.expected_features(count_a)

    def _arrays(self) -> ArcArrays:
        return self.topology.arrays(self.weight_f)

    @cached_property
    def _extensions(self) -> dict[tuple[str, ...], Self]:
        """The factor over larger alphabets, built when first needed."""
        return {}

    def _over(self, alphabet: Alphabet) -> Self:
        """Return the factor over an alphabet that begins with the topology's own."""
        if len(alphabet) == len(self.topology.alphabet):
            return self
        if alphabet.symbols not in self._extensions:
            extended = replace(self, topology=self.topology.extended(alphabet))
            self._extensions[alphabet.symbols] = extended
        return self._extensions[alphabet.symbols]

    def _over_texts(self, texts: Sequence[str]) -> Self:
        return self._over(self.topology.alphabet.extended(texts))

    def _labels(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        return [self.topology.alphabet.labels(text) for text in texts]

    def _expected_over_lists(self, inputs: StringTable, outputs: StringTable) -> FloatArray:
        log_weight_nm = self.log_scores((inputs.strings, outputs.strings))
        log_weight_nm = log_weight_nm + inputs.log_weights_n[:, None] + outputs.log_weights_n
        probability_nm = np.exp(log_weight_nm - log_sum_exp(log_weight_nm))
        model = self._over_texts((*inputs.strings, *outputs.strings))
        labels = model._labels(inputs.strings), model._labels(outputs.strings)
        count_a = expected_pair_counts(model._lattice, *labels, probability_nm)
        return model.topology.expected_features(count_a)
