"""The contract of a message family: what makes an exact potential small enough to send.

A family knows nothing of factors; it is a frozen set of hyperparameters.

Public names: `MessageFamily`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from fsbp.alphabet import Alphabet
from fsbp.potentials import MAX_ARCS, difference, product
from fsbp.variables import Potential, StringPotential, Variable


class MessageFamily(ABC):
    """A way to approximate messages.

    Args:
        max_arcs: Bound on every machine that a product of messages builds.
        overflow: Best strings that replace a potential beyond its bounds; 0 raises instead.
    """

    max_arcs: int = MAX_ARCS
    overflow: int = 100
    samples: ClassVar[bool] = False
    """Whether products are drawn at random, so that they estimate sums and never maxima."""
    iterates: ClassVar[bool] = False
    """Whether a message is replaced by `updated` each time its context changes."""

    def uniform(self, variable: Variable) -> Potential:
        """Return the message that favours no value: log-weight 0 for each."""
        if variable.is_string:
            return self.every_string(variable.alphabet)
        return np.zeros(len(variable.values))

    @abstractmethod
    def every_string(self, alphabet: Alphabet) -> StringPotential:
        """Return the message that gives every string log-weight 0."""

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

    def on_loops(self) -> Self:
        """Return the family for loops, where messages are products of products; itself by default.

        Families whose messages do not grow have no need of another.
        """
        return self

    def context(self, variable: Variable, others: Sequence[Potential]) -> Potential:
        """Return what a message to a variable is projected against: the product of the others.

        Args:
            variable: Whose values the messages weigh.
            others: Projected messages from the variable's other factors.
        """
        return product(others, self.max_arcs) if others else self.uniform(variable)

    def updated(
        self,
        variable: Variable,
        potential: Potential,
        context: Potential,
        previous: Potential,
        visits: int,
    ) -> Potential:
        """Return the message that replaces a previous one, in families that iterate.

        Args:
            variable: Whose values the potential weighs.
            potential: What a factor sent.
            context: The product of the variable's other messages.
            previous: The present message, uniform at first.
            visits: How often the message was replaced before.

        Raises:
            TypeError: The family does not iterate.
        """
        raise TypeError(f"{type(self).__name__} projects messages once: call `project`")

    def change(self, after: Potential, before: Potential, belief: Potential) -> float:
        """Return by how much a message has changed (nats): the largest change of a log-weight.

        Args:
            after: The new message.
            before: The one it replaced.
            belief: The product of all messages to the variable.
        """
        return difference(after, before)

    def product(
        self, variable: Variable, messages: Sequence[Potential], rng: np.random.Generator
    ) -> Potential:
        """Return the product of projected messages, as it goes to a factor or into a belief.

        Args:
            variable: Whose values the messages weigh.
            messages: Any number.
            rng: For families that sample.
        """
        return product(messages, self.max_arcs) if messages else self.uniform(variable)
