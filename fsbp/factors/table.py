"""A table over finite variables.

Public names: `TableFactor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, cast

import numpy as np

from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.pathsum import Semiring
from fsbp.variables import Potential, Variable

LINEAR_RANGE = 300.0


@dataclass(frozen=True, eq=False)
class TableFactor(Factor):
    """A log table with one axis per finite variable; its entries are its parameters.

    Args:
        variables: Distinct finite variables.
        log_table: float64, one axis per variable in order, nats; -inf forbids.

    Raises:
        ValueError: The shape of the table is not that of the variables' domains.
        TypeError: A variable is string-valued.
    """

    variables: tuple[Variable, ...]
    log_table: FloatArray

    def __post_init__(self) -> None:
        """Check the shape."""
        shape = tuple(len(variable.values) for variable in self.variables)
        if self.log_table.shape != shape:
            raise ValueError(f"table of shape {self.log_table.shape} for domains of {shape}")

    def log_score(self, assignment: Assignment) -> float:
        """Return the table's entry."""
        entry = tuple(v.positions[assignment[v]] for v in self.variables)
        return float(self.log_table[entry])

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the table's entries at the given values."""
        positions = [
            [variable.positions[value] for value in universe]
            for variable, universe in zip(self.variables, universes, strict=True)
        ]
        return self.log_table[np.ix_(*positions)]

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the table with the incoming log tables added and the other axes eliminated.

        Cost: O(entries); with two variables and moderate weights, one matrix product.
        """
        axis = self.variables.index(target)
        if len(self.variables) == 1:
            return self.log_table
        if len(self.variables) == 2 and semiring == "sum":
            message = self._linear_message(axis, _table(incoming, self.variables[1 - axis]))
            if message is not None:
                return message
        scores = self._scores(incoming, [v for v in self.variables if v != target])
        others = tuple(n for n in range(len(self.variables)) if n != axis)
        if semiring == "max":
            best: FloatArray = scores.max(axis=others)
            return best
        rows = np.moveaxis(scores, axis, 0).reshape(scores.shape[axis], -1)
        return cast(FloatArray, log_sum_exp(rows, axis=1))

    @property
    def theta(self) -> FloatArray:
        """The entries of the table in row-major order."""
        return self.log_table.ravel()

    def with_theta(self, theta: FloatArray) -> Self:
        """Return the factor with other entries, given in row-major order."""
        return replace(self, log_table=theta.reshape(self.log_table.shape))

    def expected_counts(self, incoming: Incoming) -> FloatArray:
        """Return the probability of each entry under table and incoming potentials."""
        scores = self._scores(incoming, self.variables)
        probabilities: FloatArray = np.exp(scores - log_sum_exp(scores)).ravel()
        return probabilities

    def _scores(self, incoming: Incoming, added: Sequence[Variable]) -> FloatArray:
        """Return the table plus the incoming potentials of the `added` variables."""
        scores = self.log_table
        for variable in added:
            shape = [1] * len(self.variables)
            shape[self.variables.index(variable)] = -1
            scores = scores + _table(incoming, variable).reshape(shape)
        return scores

    @cached_property
    def _weights(self) -> tuple[FloatArray, float] | None:
        """exp(table - largest entry) and that entry, or None where exp would underflow."""
        finite = self.log_table[self.log_table > -np.inf]
        if not finite.size or np.ptp(finite) > LINEAR_RANGE:
            return None
        return np.exp(self.log_table - finite.max()), float(finite.max())

    def _linear_message(self, axis: int, other: FloatArray) -> FloatArray | None:
        """Return the message by a matrix product, or None where it would underflow."""
        if self._weights is None:
            return None
        weights, largest = self._weights
        best = other.max()
        if not np.isfinite(best) or other.min(where=other > -np.inf, initial=best) < (
            best - LINEAR_RANGE
        ):
            return None
        incoming = np.exp(other - best)
        total = weights @ incoming if axis == 0 else incoming @ weights
        with np.errstate(divide="ignore"):
            message: FloatArray = np.log(total) + (largest + best)
        return message


def _table(incoming: Incoming, variable: Variable) -> FloatArray:
    return cast(FloatArray, incoming[variable])
