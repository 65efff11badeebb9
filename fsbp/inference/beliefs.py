"""Beliefs: what inference says about one variable.

Public names: `Belief`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsbp.pathsum import Semiring
from fsbp.potentials import log_total
from fsbp.variables import Potential, StringPotential, StringTable, Variable


@dataclass(frozen=True, eq=False)
class Belief:
    """A distribution over one variable's values, known up to a factor.

    After max-product it holds max-marginals, and "probabilities" are relative to the best value's.

    Args:
        variable: Whose values.
        potential: Unnormalised.
        semiring: "sum" to normalise by the sum over values, "max" by the best.
    """

    variable: Variable
    potential: Potential
    semiring: Semiring = "sum"

    @cached_property
    def log_total(self) -> float:
        """The log of the sum (maximum) over all values (nats); -inf for an empty belief."""
        return log_total(self.potential, self.semiring)

    @property
    def is_empty(self) -> bool:
        """Whether no value has positive weight."""
        return self.log_total == -math.inf

    def kbest(self, k: int) -> list[tuple[str, float]]:
        """Return the `k` most probable values with their probabilities, best first.

        An empty belief has none.
        """
        if self.is_empty:
            return []
        best = self._table().k_best(k)
        probabilities = np.exp(best.log_weights_n - self.log_total)
        return list(zip(best.strings, probabilities.tolist(), strict=True))

    def log_prob(self, value: str) -> float:
        """Return the log-probability of a value; -inf for a string the belief does not list.

        Raises:
            KeyError: A finite variable has no such value.
        """
        if not isinstance(self.potential, StringPotential):
            weight = float(self.potential[self.variable.positions[value]])
        elif isinstance(self.potential, StringTable):
            weight = self.potential.weight_of.get(value, -math.inf)
        else:
            weight = float(self.potential.log_weights([value])[0])
        return -math.inf if self.is_empty else weight - self.log_total

    def sample(self, rng: np.random.Generator, n: int) -> list[str]:
        """Return `n` values drawn from the belief.

        Raises:
            ValueError: The belief is empty.
        """
        return self._table().sample(n, rng)

    def entropy(self) -> float:
        """Return the entropy (nats).

        Raises:
            ValueError: The belief is empty.
        """
        return self._table().entropy()

    def _table(self) -> StringPotential:
        """Return the potential, a finite variable's as a table of its values."""
        if self.is_empty:
            raise ValueError(f"the belief about {self.variable.name!r} is empty")
        if isinstance(self.potential, StringPotential):
            return self.potential
        return StringTable(self.variable.values, self.potential)
