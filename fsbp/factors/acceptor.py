"""A potential over one string variable.

Public names: `AcceptorFactor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fsbp.arrays import FloatArray
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.pathsum import Semiring
from fsbp.variables import Potential, StringPotential, Variable


@dataclass(frozen=True, eq=False)
class AcceptorFactor(Factor):
    """A fixed opinion about one string: a machine, or a table of strings.

    Args:
        variable: A string variable.
        potential: Over that variable.
    """

    variable: Variable
    potential: StringPotential

    @property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """The one variable."""
        return (self.variable,)

    def log_score(self, assignment: Assignment) -> float:
        """Return the potential's log-weight of the assigned string."""
        return float(self.potential.log_weights([assignment[self.variable]])[0])

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the potential's log-weights of the given strings."""
        return self.potential.log_weights(universes[0])

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the potential itself."""
        return self.potential
