"""The contract of a message family: what makes an exact potential small enough to send.

A family knows nothing of factors; it is a frozen set of hyperparameters.

Public names: `MessageFamily`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from fsbp.potentials import MAX_ARCS, product
from fsbp.variables import Potential, Variable


class MessageFamily(ABC):
    """A way to approximate messages.

    Args:
        max_arcs: Bound on every machine that a product of messages builds.
    """

    max_arcs: int = MAX_ARCS

    @abstractmethod
    def uniform(self, variable: Variable) -> Potential:
        """Return the message that favours no value."""

    @abstractmethod
    def project(
        self, variable: Variable, potential: Potential, context: Potential, rng: np.random.Generator
    ) -> Potential:
        """Return a member of the family close to a potential.

        Args:
            variable: Whose values the potential weighs.
            potential: What a factor sent.
            context: What the variable's other factors say (see `context`): where to be close.
            rng: For families that sample.
        """

    def context(self, variable: Variable, others: Sequence[Potential]) -> Potential:
        """Return what a message to a variable is projected against: the product of the others.

        Args:
            variable: Whose values the messages weigh.
            others: Projected messages from the variable's other factors.
        """
        return product(others, self.max_arcs) if others else self.uniform(variable)
