"""Values of a block of variables drawn together: forward filtering, backward sampling.

Messages sum the variables out from the last to the first; then each variable is drawn given those
before it. Where the block is a forest and no machine outgrows its bound, this draws from the
block's distribution given what is outside. Where not, it proposes, and knows with what probability.

Public names: `JointDraws`, `BlockSampler`, `weighed`, `impossible`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.graph import FactorGraph
from fsbp.inference.blocks import Block, block
from fsbp.messages.exact import Exact
from fsbp.pathsum import DivergentSumError
from fsbp.potentials import point, product
from fsbp.powered import Powered
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable

MAX_CACHED = 1_000
MAX_CACHED_OUTSIDE = 20


@dataclass(frozen=True, eq=False)
class _Conditional:
    """What a variable is drawn from, and the log of its sum, computed when first needed."""

    potential: StringPotential

    @cached_property
    def log_total(self) -> float:
        return self.potential.log_total()

    def log_prob(self, value: str) -> float:
        if self.log_total == -math.inf:
            return -math.inf
        return float(self.potential.log_weights([value])[0]) - self.log_total


class JointDraws:
    """Draws of a block's variables given those outside.

    A message or product that would outgrow `max_arcs` is left out: it then has no say in what is
    drawn, though every possible value still may be. From then on, draws are proposals.

    `proposes` says whether they are: what is drawn is not from the block's distribution. It turns
    true when something is first left out, so that it is known of draws after they were made.

    Args:
        graph: Factors and evidence.
        block: What to draw.
        outside: A potential for each variable outside that shares a factor with the block.
        max_arcs: Bound on machines.
    """

    def __init__(
        self,
        graph: FactorGraph,
        block: Block,
        outside: Mapping[Variable, Potential],
        max_arcs: int,
    ) -> None:
        """Send the messages from the last variable to the first."""
        self._graph = graph
        self._block = block
        self._outside = outside
        self._max_arcs = max_arcs
        self._conditionals: dict[tuple[object, ...], _Conditional] = {}
        self._ratios: dict[tuple[str, ...], float] = {}
        self._summed: dict[int, Potential] = {}
        self.proposes = not block.sums_out_later
        for variable in reversed(block.order):
            messages = self._messages_within_bound(variable, block.below[variable], {})
            if messages:
                self._summed[variable] = self._product_within_bound(messages)

    def draw(self, count: int, rng: np.random.Generator) -> list[dict[int, str]]:
        """Return independent values of the block's variables, without draws that had a dead end.

        Raises:
            DivergentSumError: What a variable is to be drawn from has no finite sum.
            MachineTooLargeError: The machine to draw from outgrew a factor's own bound.

        Cost: A message per variable and different values before it, unless met before, and `count`
            draws from it.
        """
        drawn: list[dict[int, str]] = [{} for _ in range(count)]
        for variable in self._block.order:
            alike: dict[_Conditional, list[dict[int, str]]] = {}
            for values in drawn:
                alike.setdefault(self._conditional(variable, values), []).append(values)
            for conditional, group in alike.items():
                if conditional.log_total > -math.inf:
                    texts = conditional.potential.sample(len(group), rng)
                    for values, text in zip(group, texts, strict=True):
                        values[variable] = text
            drawn = [values for values in drawn if variable in values]
        return drawn

    def log_ratio(self, values: Mapping[int, str]) -> float:
        """Return log (weight / probability of being drawn) of values of the block's variables.

        The weight is the product of the block's factors; values that are never drawn have ratio 0.

        Raises:
            DivergentSumError: What a variable is drawn from has no finite sum.
        """
        key = tuple(values[variable] for variable in self._block.order)
        if key not in self._ratios:
            if len(self._ratios) >= MAX_CACHED:
                self._ratios.clear()
            log_prob = sum(
                self._conditional(variable, values).log_prob(values[variable])
                for variable in self._block.order
            )
            possible = log_prob > -math.inf
            self._ratios[key] = self.log_weight(values) - log_prob if possible else -math.inf
        return self._ratios[key]

    def log_weight(self, values: Mapping[int, str]) -> float:
        """Return the log of the product of the block's factors (nats)."""
        total = 0.0
        seen: set[int] = set()
        for variable in self._block.order:
            target = self._graph.variables[variable]
            for f in (*self._block.below[variable], *self._block.above[variable]):
                if f in seen:
                    continue
                seen.add(f)
                incoming = self._given(f, target, values)
                message = self._graph.factors[f].message_to(target, incoming, "sum")
                total += float(_as_strings(target, message).log_weights([values[variable]])[0])
        return total

    def _conditional(self, variable: int, drawn: Mapping[int, str]) -> _Conditional:
        """Return what a variable is drawn from, given those before it."""
        target = self._graph.variables[variable]
        above = self._block.above[variable]
        before = self._block.order[: self._block.order.index(variable)]
        given = {v: drawn[v] for v in before if self._meets(v, above)}
        key = (variable, *given.values())
        if key not in self._conditionals:
            if len(self._conditionals) >= MAX_CACHED:
                self._conditionals.clear()
            messages = self._messages_within_bound(variable, above, given)
            if variable in self._summed:
                messages.append(self._summed[variable])
            if not messages:
                raise DivergentSumError(f"nothing limits the values of {target.name!r}")
            potential = self._drawable(self._product_within_bound(messages))
            self._conditionals[key] = _Conditional(_as_strings(target, potential))
        return self._conditionals[key]

    def _meets(self, variable: int, factors: tuple[int, ...]) -> bool:
        target = self._graph.variables[variable]
        return any(target in self._graph.factors[f].variables for f in factors)

    def _messages_within_bound(
        self, variable: int, factors: tuple[int, ...], drawn: Mapping[int, str]
    ) -> list[Potential]:
        """Return the factors' messages to a variable, but for those that outgrow their bound."""
        target = self._graph.variables[variable]
        messages = []
        for f in factors:
            try:
                incoming = self._given(f, target, drawn)
                message = self._graph.factors[f].message_to(target, incoming, "sum")
            except MachineTooLargeError:
                self.proposes = True
                continue
            if incoming and _num_arcs(message) > self._max_arcs:
                self.proposes = True
                continue
            messages.append(_without_floor(target, message))
        return messages

    def _given(
        self, factor: int, target: Variable, drawn: Mapping[int, str]
    ) -> dict[Variable, Potential]:
        """Return a potential for each other variable of a factor.

        That of a drawn one is a point, and that of one yet to be drawn the product of its messages.
        """
        incoming: dict[Variable, Potential] = {}
        for other in self._graph.factors[factor].variables:
            position = self._graph.positions[other]
            if other == target:
                continue
            if other in self._outside:
                incoming[other] = self._outside[other]
            elif position in drawn:
                incoming[other] = point(other, drawn[position])
            elif position in self._summed:
                incoming[other] = self._drawable(self._summed[position])
            else:
                incoming[other] = Exact().uniform(other)
        return incoming

    def _product_within_bound(self, messages: list[Potential]) -> Potential:
        """Return the product of messages, without those by which it would outgrow its bound."""
        try:
            return product(messages, self._max_arcs)
        except MachineTooLargeError:
            self.proposes = True
        kept = messages[0]
        for message in messages[1:]:
            try:
                kept = product([kept, message], self._max_arcs)
            except MachineTooLargeError:
                continue
        return kept

    def _drawable(self, potential: Potential) -> Potential:
        """Return the potential, or the machine that bounds it where it is no machine itself."""
        if isinstance(potential, Powered) or (
            isinstance(potential, Scored) and not potential.tight
        ):
            self.proposes = True
            return potential.bounding_acceptor
        return potential


class BlockSampler:
    """What renews the particles of a block's variables, whatever is outside at the time.

    `is_exact` says whether all particles so far were drawn from the block's distribution.

    Args:
        graph: Factors and evidence.
        block: What to draw together.
        draws: Proposals for each particle where draws are not exact.
        max_arcs: Bound on machines.
        rng: Source of randomness.
    """

    def __init__(
        self, graph: FactorGraph, block: Block, draws: int, max_arcs: int, rng: np.random.Generator
    ) -> None:
        """Compute nothing yet."""
        self._graph = graph
        self._block = block
        self._draws = draws
        self._max_arcs = max_arcs
        self._rng = rng
        self._joint: dict[tuple[tuple[str, ...], ...], JointDraws] = {}
        self.is_exact = block.sums_out_later
        self.variables = block.order

    def renew(self, values: list[tuple[str, ...]]) -> None:
        """Replace the particles of the block's variables, one of each at a time.

        A message that outgrows its bound, or an infinite sum, makes it draw parts first from then
        on, with proposals that compete.

        Args:
            values: The particles of each of the graph's variables.

        Raises:
            ValueError: No values agree with those outside, or none was found.
            DivergentSumError: Not even with parts first is there a finite sum to draw from.
            MachineTooLargeError: Not even then is the machine to draw from within bounds.
        """
        current = [values[variable] for variable in self.variables]
        try:
            drawn = self._drawn(self._joint_draws(values), current)
        except (DivergentSumError, MachineTooLargeError):
            if self._block.parts_first:
                raise
            self._turn_round()
            drawn = self._drawn(self._joint_draws(values), current)
        for variable in self.variables:
            values[variable] = tuple(particle[variable] for particle in drawn)

    def _turn_round(self) -> None:
        self._block = block(self._graph, self.variables, parts_first=True)
        self._joint.clear()
        self.is_exact = False

    def _joint_draws(self, values: Sequence[tuple[str, ...]]) -> JointDraws:
        outside = tuple(values[variable] for variable in self._block.outside)
        if outside not in self._joint:
            if len(self._joint) >= MAX_CACHED_OUTSIDE:
                self._joint.clear()
            whose = [self._graph.variables[variable] for variable in self._block.outside]
            incoming = {v: weighed(v, own) for v, own in zip(whose, outside, strict=True)}
            self._joint[outside] = JointDraws(self._graph, self._block, incoming, self._max_arcs)
        return self._joint[outside]

    def _drawn(self, joint: JointDraws, current: Sequence[tuple[str, ...]]) -> list[dict[int, str]]:
        particles = [dict(zip(self.variables, v, strict=True)) for v in zip(*current, strict=True)]
        if self.is_exact and not joint.proposes:
            drawn = joint.draw(len(particles), self._rng)
            if not joint.proposes:
                if len(drawn) < len(particles):
                    raise impossible(self._graph.variables[self.variables[0]])
                return drawn
        self.is_exact = False
        return [self._from_proposals(joint, particle) for particle in particles]

    def _from_proposals(self, joint: JointDraws, current: dict[int, str]) -> dict[int, str]:
        """Return current or proposed values, in proportion to weight / proposal probability.

        This leaves the block's distribution unchanged.
        """
        competing = [current, *joint.draw(self._draws, self._rng)]
        log_ratio_n = np.array([joint.log_ratio(values) for values in competing])
        if log_ratio_n.max() == -np.inf:
            if joint.log_weight(current) > -np.inf:
                return current
            raise impossible(self._graph.variables[self.variables[0]])
        weight_n = np.exp(log_ratio_n - log_ratio_n.max())
        return competing[self._rng.choice(len(competing), p=weight_n / weight_n.sum())]


def weighed(variable: Variable, values: tuple[str, ...]) -> Potential:
    """Return the potential in which a variable's values weigh as much as they are frequent."""
    count_of = Counter(values)
    if len(count_of) == 1:
        return point(variable, values[0])
    log_share_of = {value: math.log(count / len(values)) for value, count in count_of.items()}
    if variable.is_string:
        return StringTable(tuple(log_share_of), np.array(list(log_share_of.values())))
    return np.array([log_share_of.get(value, -math.inf) for value in variable.values])


def impossible(variable: Variable) -> ValueError:
    """Return the error that a variable has no value to draw."""
    return ValueError(
        f"no value of {variable.name!r} agrees with the current values of its neighbours: "
        "give other initial values, or soften the factors that forbid"
    )


def _num_arcs(potential: Potential) -> int:
    """Return the size of a machine; 0 for what is none."""
    return potential.arrays.num_arcs if isinstance(potential, Acceptor) else 0


def _as_strings(variable: Variable, potential: Potential) -> StringPotential:
    """Return a potential as one over strings, the values of a finite variable among them."""
    if isinstance(potential, StringPotential):
        return potential
    return StringTable(variable.values, potential)


def _without_floor(variable: Variable, potential: Potential) -> Potential:
    """Return a table with a floor as a machine: it weighs every string, and proposes so."""
    if isinstance(potential, StringTable) and potential.floor > -math.inf:
        return potential.to_acceptor(variable.alphabet)
    return potential
