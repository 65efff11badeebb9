"""A finite variable that chooses which factor applies.

Public names: `SwitchFactor`.
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
from fsbp.pooled import log_inner_of_each
from fsbp.potentials import log_inner, mixture
from fsbp.variables import Potential, StringTable, Variable


@dataclass(frozen=True, eq=False)
class SwitchFactor(Factor):
    """One of several factors over the same variables, chosen by a finite variable.

    log_score(v, x) = branches[branch_of[v]].log_score(x).

    Args:
        selector: The finite variable that chooses.
        branches: At least one factor, all over the same variables, the selector not among them.
        branch_of: For each value of the selector, the position of its branch.

    Raises:
        ValueError: Branches differ in their variables or hold the selector, or `branch_of` does
            not fit the selector's values.
    """

    selector: Variable
    branches: tuple[Factor, ...]
    branch_of: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check that selector and branches fit."""
        inner = set(self.branches[0].variables)
        if any(set(branch.variables) != inner for branch in self.branches):
            raise ValueError("the branches of a switch must be over the same variables")
        if self.selector in inner:
            raise ValueError(f"the selector {self.selector.name!r} is also inside the branches")
        if len(self.branch_of) != len(self.selector.values):
            raise ValueError("a switch needs one branch position per value of its selector")
        if not set(self.branch_of) <= set(range(len(self.branches))):
            raise ValueError("a switch names a branch it does not have")

    @cached_property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """The selector, then the branches' variables."""
        return (self.selector, *self.branches[0].variables)

    @property
    def determined(self) -> Variable | None:
        """What every branch determines, if that is the same variable."""
        determined = {branch.determined for branch in self.branches}
        return determined.pop() if len(determined) == 1 else None

    def log_score(self, assignment: Assignment) -> float:
        """Return the chosen branch's score."""
        chosen = self.branch_of[self.selector.positions[assignment[self.selector]]]
        return self.branches[chosen].log_score(assignment)

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the chosen branch's scores for every combination of the given values."""
        universe_of = dict(zip(self.variables, universes, strict=True))
        inner = self.variables[1:]
        scores = []
        for branch in self.branches:
            own = branch.log_scores([universe_of[variable] for variable in branch.variables])
            scores.append(own.transpose([branch.variables.index(variable) for variable in inner]))
        values = universe_of[self.selector]
        chosen = [self.branch_of[self.selector.positions[value]] for value in values]
        return np.stack([scores[branch] for branch in chosen])

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the branches' totals (to the selector) or the mixture of their messages.

        Cost: One message of every branch that the selector allows.
        """
        if target == self.selector:
            totals = self._log_totals(incoming, semiring)
            to_selector: FloatArray = totals[list(self.branch_of)]
            return to_selector
        weight_b = self._log_weights(incoming, semiring)
        allowed = [b for b in range(len(self.branches)) if weight_b[b] > -np.inf]
        if not allowed:
            return _nothing(target)
        messages = [self.branches[b].message_to(target, incoming, semiring) for b in allowed]
        return mixture(messages, [float(weight_b[b]) for b in allowed], semiring)

    @property
    def theta(self) -> FloatArray:
        """The branches' parameters, end to end."""
        return np.concatenate([branch.theta for branch in self.branches])

    def with_theta(self, theta: FloatArray) -> Self:
        """Return the switch with its branches' parameters cut from one vector."""
        sizes = [len(branch.theta) for branch in self.branches]
        parts = np.split(theta, np.cumsum(sizes)[:-1])
        return replace(
            self,
            branches=tuple(
                branch.with_theta(part) for branch, part in zip(self.branches, parts, strict=True)
            ),
        )

    def expected_counts(self, incoming: Incoming) -> FloatArray:
        """Return each branch's expected counts times the branch's probability."""
        log_score_b = self._log_weights(incoming, "sum") + self._log_totals(incoming, "sum")
        probability_b = np.exp(log_score_b - log_sum_exp(log_score_b))
        return np.concatenate(
            [
                p * branch.expected_counts(incoming) if p > 0 else np.zeros(len(branch.theta))
                for p, branch in zip(probability_b, self.branches, strict=True)
            ]
        )

    def _log_weights(self, incoming: Incoming, semiring: Semiring) -> FloatArray:
        """Return float64[B], the weight that the selector's potential gives each branch."""
        selector_v = cast(FloatArray, incoming[self.selector])
        weight_b = np.full(len(self.branches), -np.inf)
        combine = np.maximum if semiring == "max" else np.logaddexp
        combine.at(weight_b, list(self.branch_of), selector_v)
        return weight_b

    def _log_totals(self, incoming: Incoming, semiring: Semiring) -> FloatArray:
        """Return float64[B], each branch's total under the potentials of its variables."""
        inner = self.branches[0].variables[0]
        messages = [branch.message_to(inner, incoming, semiring) for branch in self.branches]
        at_inner = incoming[inner]
        if isinstance(at_inner, StringTable) and all(isinstance(m, StringTable) for m in messages):
            tables = cast("Sequence[StringTable]", messages)
            return log_inner_of_each(tables, at_inner, semiring)
        return np.array([log_inner(message, at_inner, semiring) for message in messages])


def _nothing(variable: Variable) -> Potential:
    """Return the potential that allows no value."""
    if variable.is_string:
        return StringTable((), np.zeros(0))
    return np.full(len(variable.values), -np.inf)
