"""The messages of one run of belief propagation.

Factors' messages are kept as sent and as projected; products of messages are made when a factor
or a belief asks, and kept until one of their messages changes.

Public names: `Mailbox`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.graph import FactorGraph
from fsbp.inference.beliefs import Belief
from fsbp.inference.bounded import (
    bounded_context,
    bounded_inner,
    bounded_message,
    bounded_product,
    bounded_projection,
    is_shortened,
)
from fsbp.inference.contradictions import empty_messages
from fsbp.inference.free_energy import Pseudomarginals, pseudomarginals
from fsbp.inference.schedules import Schedule, StaleQueue, two_pass
from fsbp.messages.base import MessageFamily
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.potentials import cavities, damped, difference, log_total, normalised, point
from fsbp.powered import powered
from fsbp.variables import Potential, StringTable, Variable

LOG = logging.getLogger(__name__)


class Mailbox:
    """The messages of one run: from factors as sent and as projected, products on demand.

    Args:
        graph: Factors and evidence.
        family: What string messages look like.
        semiring: "sum" or "max".
        rng: For families that sample.
    """

    def __init__(
        self,
        graph: FactorGraph,
        family: MessageFamily,
        semiring: Semiring,
        rng: np.random.Generator,
    ) -> None:
        """Make a mailbox without messages."""
        self.graph = graph
        self.family = family
        self.semiring = semiring
        self.rng = rng
        self._seed = int(rng.integers(2**32)) if family.samples else 0
        self.updates = 0
        self.on_forest = False
        self._roots: list[int] = []
        self._sent: dict[int, Potential] = {}
        self._proposals: dict[int, Potential] = {}
        self._visits: dict[int, int] = {}
        self._asked: dict[int, tuple[dict[Variable, Potential], Potential]] = {}
        self.unsummable: set[int] = set()
        self._inboxes: dict[int, dict[int, Potential]] = {}
        self._outboxes: dict[int, dict[int, Potential]] = {}
        self._evidence = {
            graph.variable(name): point(graph.variable(name), value)
            for name, value in graph.evidence.items()
        }

    def start_from(self, other: Mailbox, exponent: float) -> None:
        """Take over the messages of another run on the same edges, to the power of an exponent."""
        for edge, message in other._sent.items():
            self.set(edge, powered(message, exponent))

    def pass_twice(self, wanted: list[int]) -> None:
        """Compute the messages that the wanted beliefs of a forest need."""
        self.on_forest = True
        free = set(self.graph.free)
        order, self._roots = two_pass(self.graph, [v for v in wanted if v in free])
        for edge in order:
            self.set(edge, self.from_factor(edge))

    def iterate(
        self,
        schedule: Schedule,
        damping: float,
        max_updates: int,
        tolerance: float,
        after_sweep: Callable[[], None],
    ) -> bool:
        """Update messages until none would change, or return False.

        False too when the schedule has left out what is stale for as many steps as there are edges.

        `after_sweep` is called whenever as many messages have been computed as change on loops.

        Messages of factors with one free variable are computed once, before the loop. A message
        is as stale as its factor's other inputs have changed since: 1 before the first update,
        infinite once a neighbour has spoken for the first time. Families that iterate smooth what
        they send, so for them contradictions are looked for beforehand.
        """
        edges, edges_of_factor = self.graph.edges, self.graph.edges_of_factor
        closed = empty_messages(self.graph) if self.family.iterates else {}
        self._sent.update(closed)
        self._proposals.update(closed)
        constant = {e for e, (factor, _) in enumerate(edges) if len(edges_of_factor[factor]) == 1}
        settled = constant.union(closed)
        stale = StaleQueue([0.0 if edge in settled else 1.0 for edge in range(len(edges))])
        for edge in sorted(constant.difference(closed)):
            self._replace(edge, self.from_factor(edge), 0.0, stale)
        if not self.graph.is_forest:
            self.family = self.family.on_loops()
        step, swept, idle = 0, self.updates, 0
        while stale.largest() > tolerance and idle <= len(edges):
            before_step = self.updates
            for batch in schedule(self.graph, stale, step):
                if self.updates >= max_updates:
                    return stale.largest() <= tolerance
                self._update(batch, stale, damping, tolerance)
                if self.updates - swept >= len(edges) - len(settled):
                    swept = self.updates
                    after_sweep()
            step += 1
            idle = idle + 1 if self.updates == before_step else 0
        return stale.largest() <= tolerance

    def _update(
        self, batch: Sequence[int], stale: StaleQueue, damping: float, tolerance: float
    ) -> None:
        """Compute the stale messages of a batch from the same messages, then replace them all."""
        computed = [(edge, self.from_factor(edge)) for edge in batch if stale[edge] > tolerance]
        for edge, _ in computed:
            stale.settle(edge)
        for edge, message in computed:
            self._replace(edge, message, damping, stale)

    def _replace(self, edge: int, message: Potential, damping: float, stale: StaleQueue) -> None:
        """Set one message, damped, and make the edges that depend on it stale."""
        variable = self.graph.edges[edge].variable
        before = self._inbox(variable)
        self.set(edge, message, damping)
        change_of = self._changes(variable, before)
        own = change_of.get(edge, 0.0)
        if own < math.inf:
            stale.increase(edge, own * damping / (1.0 - damping))
        for other in self.graph.edges_of_variable[variable]:
            change = max((c for e, c in change_of.items() if e != other), default=0.0)
            if self.family.iterates and other in self._sent:
                stale.increase(other, change)
            for dependent in self.graph.edges_of_factor[self.graph.edges[other].factor]:
                if dependent != other:
                    stale.increase(dependent, change)

    def set(self, edge: int, message: Potential, damping: float = 0.0) -> None:
        """Store what a factor sent, damped; products that depend on it are forgotten."""
        variable = self.graph.edges[edge].variable
        if self.family.iterates:
            self._proposals[edge] = self._replacement(edge, message, damping)
        else:
            message = damped(message, self._sent.get(edge, message), damping)
            self._proposals[edge] = self._proposal(variable, message)
        self._sent[edge] = message
        self._inboxes.pop(variable, None)
        self._outboxes.pop(variable, None)

    def _replacement(self, edge: int, message: Potential, damping: float) -> Potential:
        """Return the message that replaces an edge's, damped: the old one where there is no sum."""
        variable = self.graph.edges[edge].variable
        whose, inbox = self.graph.variables[variable], self._inbox(variable)
        others = [potential for other, potential in inbox.items() if other != edge]
        context = bounded_context(self.family, whose, others)
        previous = inbox.get(edge, self.family.uniform(whose))
        visits = self._visits.get(edge, 0)
        try:
            updated = self.family.updated(whose, message, context, previous, visits)
        except DivergentSumError:
            LOG.info("a message to %r has no finite sum in its context: kept as it was", whose.name)
            self.unsummable.add(edge)
            return previous
        self.unsummable.discard(edge)
        self._visits[edge] = visits + 1
        return damped(updated, previous, damping) if edge in inbox else updated

    def from_factor(self, edge: int) -> Potential:
        """Return the message along an edge, computed from the current messages to its factor."""
        factor, variable = self.graph.edges[edge]
        self.updates += 1
        incoming = self._incoming_except(edge, factor)
        if self.family.iterates:
            before = self._asked.get(edge)
            if before is not None and all(before[0][v] is incoming[v] for v in incoming):
                return before[1]
        whose = self.graph.variables[variable]
        asked = self.graph.factors[factor]
        message = bounded_message(self.family, asked, whose, incoming, self.semiring)
        if self.family.iterates:
            self._asked[edge] = incoming, message
        return message

    def incoming(self, factor: int) -> dict[Variable, Potential]:
        """Return the messages to a factor from all its variables."""
        return self._incoming_except(-1, factor)

    def _incoming_except(self, left_out: int, factor: int) -> dict[Variable, Potential]:
        """Return the messages to a factor along all its edges but one."""
        incoming: dict[Variable, Potential] = {}
        for variable in self.graph.factors[factor].variables:
            if variable in self._evidence:
                incoming[variable] = self._evidence[variable]
        for edge in self.graph.edges_of_factor[factor]:
            if edge != left_out:
                variable = self.graph.variables[self.graph.edges[edge].variable]
                incoming[variable] = self.to_factor(edge)
        return incoming

    def to_factor(self, edge: int) -> Potential:
        """Return the product of the messages to a variable from its other factors.

        On loops its best entry is put at 0, so that weights do not grow round after round.
        """
        variable = self.graph.edges[edge].variable
        outbox = self._outboxes.setdefault(variable, {})
        if edge not in outbox:
            for other, message in self._cavities(variable, edge).items():
                outbox[other] = message if self.on_forest else normalised(message)
        return outbox[edge]

    def _cavities(self, variable: int, edge: int) -> dict[int, Potential]:
        """Return the product of all messages to a variable but one edge's, by edge.

        Tables and lists yield all such products in one pass; machines only the one asked for.
        """
        inbox = self._inbox(variable)
        shared = not self.family.samples and edge in inbox and len(inbox) > 1
        if shared and all(isinstance(m, np.ndarray | StringTable) for m in inbox.values()):
            return dict(zip(inbox, cavities(list(inbox.values())), strict=True))
        others = [message for other, message in inbox.items() if other != edge]
        return {edge: self._family_product(variable, others, edge)}

    def _family_product(
        self, variable: int, messages: list[Potential], left_out: int = -1
    ) -> Potential:
        """Return the family's product of messages to a variable, all but one edge's perhaps.

        Families that sample get the same random numbers whenever they make the same product anew,
        so that their messages can settle on loops, and others for every product.
        """
        rng = self.rng
        if self.family.samples:
            rng = np.random.default_rng([self._seed, variable, left_out + 1])
        return bounded_product(self.family, self.graph.variables[variable], messages, rng)

    def _changes(self, variable: int, before: Mapping[int, Potential]) -> dict[int, float]:
        """Return by how much each message to a variable has changed; infinite for a first one."""
        after = self._inbox(variable)
        changes = {edge: math.inf for edge in after if edge not in before}
        changed = [edge for edge in before if after[edge] is not before[edge]]
        if not self.family.iterates:
            return changes | {e: difference(after[e], before[e]) for e in changed}
        if changed:
            belief = self._family_product(variable, list(after.values()))
            for edge in changed:
                changes[edge] = self.family.change(after[edge], before[edge], belief)
        return changes

    def _inbox(self, variable: int) -> dict[int, Potential]:
        """Return the messages to a variable, each projected against all the others, by edge."""
        if variable not in self._inboxes:
            self._inboxes[variable] = self._projected_together(variable)
        return self._inboxes[variable]

    def _projected_together(self, variable: int) -> dict[int, Potential]:
        """Return the messages to a variable; those that projection shortened, projected anew.

        A first projection sees no other message; the second one sees what all others propose.
        """
        inbox = {
            edge: self._proposals[edge]
            for edge in self.graph.edges_of_variable[variable]
            if edge in self._proposals
        }
        whose, final = self.graph.variables[variable], dict(inbox)
        for edge, proposal in inbox.items():
            if is_shortened(proposal, self._sent[edge]):
                others = [message for other, message in inbox.items() if other != edge]
                context = bounded_context(self.family, whose, others)
                if others and _lists_anything(context):
                    final[edge] = bounded_projection(
                        self.family, whose, self._sent[edge], context, self.rng
                    )
        return final

    def _proposal(self, variable: int, message: Potential) -> Potential:
        """Return a message's projection before others are known: nothing, where it has no sum."""
        whose = self.graph.variables[variable]
        uniform = self.family.uniform(whose)
        try:
            return bounded_projection(self.family, whose, message, uniform, self.rng)
        except DivergentSumError:
            return uniform

    def belief(self, variable: int) -> Belief:
        """Return the product of all messages to a variable, or its observed value."""
        whose = self.graph.variables[variable]
        if whose in self._evidence:
            return Belief(whose, self._evidence[whose], self.semiring)
        potential = self._family_product(variable, list(self._inbox(variable).values()))
        if not _lists_anything(potential):
            self._check_sums(variable)
        return Belief(whose, potential, self.semiring)

    def pseudomarginals(self, max_strings: int) -> Pseudomarginals:
        """Return the beliefs about all variables and all factors, over listed values."""
        graph = self.graph
        beliefs = {v.name: self.belief(n).potential for n, v in enumerate(graph.variables)}
        incoming = [self.incoming(factor) for factor in range(len(graph.factors))]
        return pseudomarginals(graph, beliefs, incoming, max_strings)

    def _check_sums(self, variable: int) -> None:
        """Raise if no string is listed because a message has no finite sum.

        Raises:
            DivergentSumError: A message has no best strings, and no other message lists any.
        """
        whose = self.graph.variables[variable]
        for edge in self._inbox(variable):
            uniform = self.family.uniform(whose)
            self.family.project(whose, self._sent[edge], uniform, self.rng)

    def expected_counts(self, factor: int) -> FloatArray:
        """Return the gradient of log Z in a factor's parameters."""
        return self.graph.factors[factor].expected_counts(self.incoming(factor))

    def log_partition(self) -> float:
        """Return log Z, completing the first pass of a forest where queries left it out."""
        constants = self.log_score_of_observed
        if not self.on_forest:
            return constants + self._bethe()
        done = set(self._roots)
        for component in self.graph.components:
            if done.isdisjoint(component):
                order, roots = two_pass(self.graph, component[:1])
                for edge in order:
                    self.set(edge, self.from_factor(edge))
                self._roots += roots
        totals = [log_total(self.belief(root).potential, self.semiring) for root in self._roots]
        return constants + math.fsum(totals)

    @cached_property
    def log_score_of_observed(self) -> float:
        """Return the log-score of the factors all of whose variables are observed."""
        evidence = {self.graph.variable(n): value for n, value in self.graph.evidence.items()}
        return math.fsum(
            factor.log_score(evidence)
            for factor, edges in zip(self.graph.factors, self.graph.edges_of_factor, strict=True)
            if not edges
        )

    def _bethe(self) -> float:
        """Return sum_f log Z_f + sum_v log Z_v - sum_e log Z_e.

        Z_v is the total of the product of all messages to v, Z_e that of the two messages along an
        edge, and Z_f that of a message from f, computed anew, times the one it meets.
        """
        beliefs = {variable: self.belief(variable) for variable in self.graph.free}
        if any(belief.is_empty for belief in beliefs.values()):
            return -math.inf
        terms = []
        for edges in self.graph.edges_of_factor:
            if edges:
                outgoing, meeting = self.from_factor(edges[0]), self.to_factor(edges[0])
                terms.append(self._inner(edges[0], outgoing, meeting))
        for variable, belief in beliefs.items():
            terms.append(belief.log_total)
            for edge, message in self._inbox(variable).items():
                terms.append(-self._inner(edge, message, self.to_factor(edge)))
        return math.fsum(terms)

    def _inner(self, edge: int, a: Potential, b: Potential) -> float:
        whose = self.graph.variables[self.graph.edges[edge].variable]
        return bounded_inner(self.family, whose, a, b, self.semiring)


def _lists_anything(message: Potential) -> bool:
    return not isinstance(message, StringTable) or bool(message.strings)
