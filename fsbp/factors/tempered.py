"""Factors at a temperature: their log-scores divided by it.

Public names: `TemperedFactor`, `tempered`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.lists import all_strings, summed
from fsbp.factors.pairs import PairFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.table import TableFactor
from fsbp.pathsum import Semiring
from fsbp.potentials import log_inner
from fsbp.powered import Powered, powered
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable


def tempered(factor: Factor, temperature: float) -> Factor:
    """Return a factor with log_score / temperature, of the same kind where that is possible.

    Args:
        factor: Any.
        temperature: Above 0, up to 1.

    Raises:
        ValueError: The temperature is out of range.
    """
    exponent = 1.0 / _checked(temperature)
    match factor:
        case TableFactor():
            return replace(factor, log_table=exponent * factor.log_table)
        case AcceptorFactor():
            potential = cast(StringPotential, powered(factor.potential, exponent))
            return replace(factor, potential=potential)
        case RewriteFactor():
            return replace(factor, exponent=exponent * factor.exponent)
        case SwitchFactor():
            branches = tuple(tempered(branch, temperature) for branch in factor.branches)
            if not any(_is_scored(branch) for branch in branches):
                return replace(factor, branches=branches)
        case ConcatenationFactor():
            return factor
    return TemperedFactor(factor, temperature)


@dataclass(frozen=True, eq=False)
class TemperedFactor(Factor):
    """Any factor over listed strings and finite variables, at a temperature.

    Messages score strings, and no machine carries them. A product with a machine is read off a
    bound, so families of lists suit this factor best; the others need a finite number of strings
    at its variables. It has no parameters: learn at temperature 1.

    Args:
        factor: At temperature 1.
        temperature: Above 0, up to 1.

    Raises:
        ValueError: The temperature is out of range.
    """

    factor: Factor
    temperature: float

    def __post_init__(self) -> None:
        """Check the temperature."""
        _checked(self.temperature)

    @property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """Those of the factor."""
        return self.factor.variables

    def log_score(self, assignment: Assignment) -> float:
        """Return the factor's log-score divided by the temperature."""
        return self.factor.log_score(assignment) / self.temperature

    def log_scores(self, universes: Sequence[Sequence[str]]) -> FloatArray:
        """Return the factor's log-scores divided by the temperature."""
        return self.factor.log_scores(universes) / self.temperature

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the message; a list that lists nothing says nothing, and so does the message.

        The best strings of a message are searched for where the factor is a `PairFactor`, and else
        found by reading those of the factor's own message in decreasing order, which bounds it:
        sum_x z(x)^(1/T) <= (sum_x z(x))^(1/T).

        Raises:
            MachineTooLargeError: An incoming machine accepts more than 10,000 strings.
            DivergentSumError: An incoming machine has no finite sum.

        Cost: That of the factor's `log_scores` for the listed strings.
        """
        others = {v: _listed(v, incoming[v]) for v in self.variables if v != target}
        if any(not table.strings and table.floor > -math.inf for table in others.values()):
            return _uniform(target)
        if not target.is_string:
            return self._scores(target, others, target.values, semiring)
        at_one = {
            v: cast(StringTable, powered(table, self.temperature)) for v, table in others.items()
        }
        sharp = Scored(
            score=lambda texts: self.temperature * self._scores(target, others, texts, semiring),
            bound=lambda: self._message_at_one(target, at_one),
            tight=False,
            search=self._search(target, others, semiring),
        )
        return powered(sharp, 1.0 / self.temperature)

    def log_total(self, incoming: Incoming, semiring: Semiring) -> float:
        """Return the log of the sum (maximum) of exp(log_score + all incoming potentials).

        Raises:
            MachineTooLargeError: An incoming machine accepts more than 10,000 strings.
            DivergentSumError: An incoming machine has no finite sum.
        """
        target = self.variables[0]
        message = self.message_to(target, incoming, semiring)
        at_target: Potential = incoming[target]
        if target.is_string:
            at_target = _listed(target, at_target)
        return log_inner(message, at_target, semiring)

    def _search(
        self, target: Variable, others: Mapping[Variable, StringTable], semiring: Semiring
    ) -> Callable[[int], StringTable] | None:
        """Return how to find the best strings of a message, scores times the temperature."""
        pair = self.factor
        if not isinstance(pair, PairFactor):
            return None
        (table,) = others.values()
        exponent = 1.0 / self.temperature

        def search(k: int) -> StringTable:
            best = pair.best_strings(target, table, semiring, exponent, k)
            return cast(StringTable, powered(best, self.temperature))

        return search

    def _message_at_one(
        self, target: Variable, incoming: Mapping[Variable, StringTable]
    ) -> Acceptor:
        """Return the factor's own message, as the machine of the strings it lists if any."""
        sent = {v: t if v.is_string else t.log_weights_n for v, t in incoming.items()}
        message = cast(StringPotential, self.factor.message_to(target, sent, "sum"))
        if isinstance(message, StringTable):
            message = replace(message, floor=-math.inf)
        return message.to_acceptor(target.alphabet)

    def _scores(
        self,
        target: Variable,
        others: Mapping[Variable, StringTable],
        values: Sequence[str],
        semiring: Semiring,
    ) -> FloatArray:
        """Return float64[N], the message's log-weight of each value of the target."""
        axis = self.variables.index(target)
        universes = [values if v == target else others[v].strings for v in self.variables]
        scores = self.log_scores(universes)
        for n, variable in enumerate(self.variables):
            if variable != target:
                shape = [1] * scores.ndim
                shape[n] = -1
                scores = scores + others[variable].log_weights_n.reshape(shape)
        combinations = math.prod(len(table.strings) for table in others.values())
        by_value = np.moveaxis(scores, axis, -1).reshape(combinations, len(values))
        return summed(by_value, semiring)


def _checked(temperature: float) -> float:
    if not 0.0 < temperature <= 1.0:
        raise ValueError(f"temperature is {temperature}: it must be above 0 and at most 1")
    return temperature


def _listed(variable: Variable, potential: Potential) -> StringTable:
    """Return a potential as a list of values; a table as it is, even one that lists nothing.

    Raises:
        MachineTooLargeError: It is carried by a machine that accepts too many strings.
        DivergentSumError: It is carried by a machine without a finite sum.
    """
    if not isinstance(potential, StringPotential):
        return StringTable(variable.values, potential)
    if isinstance(potential, StringTable):
        return potential
    return all_strings(potential, "a tempered factor")


def _is_scored(factor: Factor) -> bool:
    """Return whether a tempered factor's messages have no machine, and cannot be mixed."""
    if isinstance(factor, AcceptorFactor):
        return isinstance(factor.potential, Powered)
    return isinstance(factor, TemperedFactor)


def _uniform(variable: Variable) -> Potential:
    if variable.is_string:
        return StringTable((), np.zeros(0), floor=0.0)
    return np.zeros(len(variable.values))
