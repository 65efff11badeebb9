"""The contract of a factor.

A factor scores joint assignments of its variables and sends messages: it takes potentials over the
other variables and returns one over the target. It knows nothing of approximation. `log_score` is
the specification; everything else must agree with it. Factors are immutable.

Public names: `Assignment`, `Incoming`, `Factor`.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.pathsum import Semiring
from fsbp.potentials import log_inner
from fsbp.variables import Potential, Variable

Assignment: TypeAlias = Mapping[Variable, str]
Incoming: TypeAlias = Mapping[Variable, Potential]


class Factor(ABC):
    """A non-negative function of a few variables, in log space.

    A string table among the incoming potentials stands for the strings it lists, even when its
    floor is above -inf; a table that lists nothing stands for all strings, at its floor.
    """

    variables: tuple[Variable, ...]

    @property
    def determined(self) -> Variable | None:
        """The variable whose value the others' values decide; None by default.

        No variable of such a factor can change while the others stay, so that whoever changes
        values one at a time gets nowhere.
        """
        return None

    @abstractmethod
    def log_score(self, assignment: Assignment) -> float:
        """Return the log-weight of an assignment of the factor's variables (nats).

        Args:
            assignment: A string, or a finite variable's value, for each variable of the factor;
                other variables are ignored.
        """

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the log-score of every combination of values; override where batches are faster.

        Args:
            universes: Values of each of the factor's variables, in order.

        Returns:
            float64, one axis per variable.
        """
        scores = [
            self.log_score(dict(zip(self.variables, values, strict=True)))
            for values in itertools.product(*universes)
        ]
        return np.array(scores).reshape([len(universe) for universe in universes])

    @abstractmethod
    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the exact message to one variable.

        message(x) = log sum over the other variables of exp(log_score + their incoming
        potentials), or the maximum instead of the sum.

        Args:
            target: One of the factor's variables.
            incoming: A potential for every other variable; one for the target is ignored.
            semiring: "sum" or "max".
        """

    def messages(self, incoming: Incoming, semiring: Semiring) -> dict[Variable, Potential]:
        """Return the messages to all variables; override where one pass yields all of them.

        Args:
            incoming: A potential for every variable of the factor.
            semiring: "sum" or "max".
        """
        return {v: self.message_to(v, incoming, semiring) for v in self.variables}

    def log_total(self, incoming: Incoming, semiring: Semiring) -> float:
        """Return the log of the sum (maximum) of exp(log_score + all incoming potentials).

        Args:
            incoming: A potential for every variable of the factor.
            semiring: "sum" or "max".
        """
        target = self.variables[0]
        return log_inner(self.message_to(target, incoming, semiring), incoming[target], semiring)

    @property
    def theta(self) -> FloatArray:
        """The factor's learned parameters, float64[P]; none by default."""
        return np.zeros(0)

    def with_theta(self, theta: FloatArray) -> Self:
        """Return the factor with other parameters (float64[P]).

        Raises:
            ValueError: The number of parameters is not the factor's own.
        """
        if len(theta):
            raise ValueError(f"{type(self).__name__} has no parameters, but got {len(theta)}")
        return self

    def expected_counts(self, incoming: Incoming) -> FloatArray:
        """Return float64[P], the gradient of `log_total(incoming, "sum")` in `theta`.

        Args:
            incoming: A potential for every variable of the factor.
        """
        return np.zeros(0)
