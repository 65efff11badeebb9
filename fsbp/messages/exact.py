"""Messages as they are.

Public names: `Exact`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from fsbp import acceptors
from fsbp.alphabet import Alphabet
from fsbp.messages.base import MessageFamily
from fsbp.potentials import MAX_ARCS
from fsbp.variables import Acceptor, Potential, Variable


@dataclass(frozen=True)
class Exact(MessageFamily):
    """No approximation: string messages stay machines, which products make large.

    Args:
        max_arcs: Bound on every machine sent or built by a product.
        overflow: Best strings that propagation sends instead of a machine beyond its bounds, with
            a warning in the log; 0 raises instead.
        max_arcs_on_loops: The bound on loops, where machines grow with every round and each costs
            more than the one before; the messages of unary factors, and all where `overflow` is 0,
            have the bound `max_arcs` there too.
    """

    max_arcs: int = MAX_ARCS
    overflow: int = 100
    max_arcs_on_loops: int = 3_000

    def on_loops(self) -> Self:
        """Return the family with the bound on loops."""
        if self.overflow == 0:
            return self
        return replace(self, max_arcs=min(self.max_arcs, self.max_arcs_on_loops))

    def every_string(self, alphabet: Alphabet) -> Acceptor:
        """Return the machine of one state that accepts all strings."""
        return Acceptor(acceptors.universe_acceptor(len(alphabet), None), alphabet)

    def project(
        self, variable: Variable, potential: Potential, context: Potential, rng: np.random.Generator
    ) -> Potential:
        """Return the potential.

        Raises:
            MachineTooLargeError: It is a machine of more than `max_arcs` arcs.
        """
        if isinstance(potential, Acceptor) and potential.arrays.num_arcs > self.max_arcs:
            raise acceptors.MachineTooLargeError(
                f"a message to {variable.name!r} has {potential.arrays.num_arcs} arcs, more than "
                f"{self.max_arcs}: use a k-best message family"
            )
        return potential
