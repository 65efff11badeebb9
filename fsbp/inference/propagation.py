"""Belief propagation: sum-product and max-product, exact on forests, iterated on loops.

`infer` owns the only loop. Messages from variables to factors are products, made when a factor
asks; messages from factors are projected into the message family at the variable, against what the
variable's other factors say.

Public names: `infer`, `Result`, `Status`.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.graph import FactorGraph
from fsbp.inference.beliefs import Belief
from fsbp.inference.schedules import Schedule, residual, two_pass
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.potentials import (
    cavities,
    damped,
    difference,
    log_inner,
    log_total,
    normalised,
    point,
    product,
)
from fsbp.variables import Potential, StringTable, Variable


class Status(enum.Enum):
    """How propagation ended; the value says what to do next."""

    CONVERGED = "the messages no longer change: beliefs and log Z are ready to use"
    MAX_STEPS = "the messages still change: raise max_updates, or set damping to 0.5"
    EMPTY_BELIEF = (
        "a variable has no value that all its factors allow: check the evidence, or use a message "
        "family with a finite backoff"
    )
    DIVERGENT_SUM = (
        "a sum over strings is infinite: cap the length in a unary acceptor, or lower the weights "
        "of insertions"
    )
    NONFINITE = "a message is not a number: look for +inf among the factors' log-weights"


@dataclass(frozen=True, eq=False)
class Result:
    """What propagation found.

    Args:
        status: How it ended.
        beliefs: By name of the variable, for the queried variables.
        updates: Factor-to-variable messages computed.
    """

    status: Status
    beliefs: Mapping[str, Belief]
    updates: int
    _messages: _Messages

    @cached_property
    def log_partition(self) -> float:
        """Log Z (nats): exact on forests with exact messages, the Bethe estimate on loops.

        Under max-product on a forest it is the log-score of the best assignment. Computed when
        first asked for, over all factors, observed ones included. NaN after DIVERGENT_SUM.

        Cost: On a forest, the first pass of the components without a query; on loops, one message
            and two products per factor.
        """
        if self.status is Status.DIVERGENT_SUM:
            return math.nan
        return self._messages.log_partition()

    def incoming(self, factor: int) -> dict[str, Potential]:
        """Return the messages that one factor receives, by variable name.

        Args:
            factor: Position in the graph.
        """
        return {v.name: m for v, m in self._messages.incoming(factor).items()}

    def expected_counts(self, factor: int) -> FloatArray:
        """Return the gradient of log Z in the parameters of one factor, float64[P].

        Needs beliefs for all variables, that is no `queries`.

        Args:
            factor: Position in the graph.
        """
        return self._messages.expected_counts(factor)


def infer(
    graph: FactorGraph,
    family: MessageFamily | None = None,
    semiring: Semiring = "sum",
    *,
    schedule: Schedule | None = None,
    damping: float = 0.0,
    max_updates: int = 10_000,
    tolerance: float = 1e-9,
    rng: np.random.Generator | None = None,
    queries: Iterable[str] | None = None,
) -> Result:
    """Return beliefs and log Z of a factor graph.

    Without a schedule, a forest gets two passes (exact up to the family) and a graph with loops
    residual scheduling. Loops stop when no message's inputs have changed by more than `tolerance`
    since it was computed.

    Args:
        graph: Factors and evidence.
        family: What string messages look like; exact by default.
        semiring: "sum" for marginals, "max" for max-marginals.
        schedule: Iterate with this schedule, forest or not.
        damping: Share of the old message kept in each update on loops, 0 to below 1.
        max_updates: Bound on messages computed on loops.
        tolerance: Largest change of a log-weight that counts as none (nats).
        rng: For families that sample.
        queries: Names of the variables whose beliefs are needed; on a forest, messages that do not
            lead to them are skipped. All free variables by default.

    Raises:
        ValueError: `damping` is not in [0, 1).
        KeyError: A query names no variable.
        MachineTooLargeError: A message or product outgrew the family's bound.

    Cost: On a forest one message per edge and direction; each asks a factor once.
    Source: Kschischang, Frey and Loeliger (2001) for the passes; Yedidia, Freeman and Weiss (2005)
        for the Bethe estimate.
    """
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping is {damping}: it must be at least 0 and below 1")
    messages = _Messages(graph, family or Exact(), semiring, rng or np.random.default_rng(0))
    wanted = _wanted(graph, queries)
    try:
        if schedule is None and graph.is_forest:
            messages.pass_twice(wanted)
            converged = True
        else:
            converged = messages.iterate(schedule or residual, damping, max_updates, tolerance)
        beliefs = {graph.variables[v].name: messages.belief(v) for v in wanted}
        status = _status(beliefs, converged)
    except DivergentSumError:
        beliefs, status = {}, Status.DIVERGENT_SUM
    return Result(status, beliefs, messages.updates, messages)


def _wanted(graph: FactorGraph, queries: Iterable[str] | None) -> list[int]:
    if queries is None:
        return list(range(len(graph.variables)))
    return [graph.positions[graph.variable(name)] for name in queries]


def _status(beliefs: Mapping[str, Belief], converged: bool) -> Status:
    totals = [belief.log_total for belief in beliefs.values()]
    if any(math.isnan(total) or total == math.inf for total in totals):
        return Status.NONFINITE
    if any(total == -math.inf for total in totals):
        return Status.EMPTY_BELIEF
    return Status.CONVERGED if converged else Status.MAX_STEPS


class _Messages:
    """The messages of one run: from factors as sent and as projected, products on demand."""

    def __init__(
        self,
        graph: FactorGraph,
        family: MessageFamily,
        semiring: Semiring,
        rng: np.random.Generator,
    ) -> None:
        self.graph = graph
        self.family = family
        self.semiring = semiring
        self.rng = rng
        self.updates = 0
        self.on_forest = False
        self._roots: list[int] = []
        self._sent: dict[int, Potential] = {}
        self._proposals: dict[int, Potential] = {}
        self._inboxes: dict[int, dict[int, Potential]] = {}
        self._outboxes: dict[int, dict[int, Potential]] = {}
        self._evidence = {
            graph.variable(name): point(graph.variable(name), value)
            for name, value in graph.evidence.items()
        }

    def pass_twice(self, wanted: list[int]) -> None:
        """Compute the messages that the wanted beliefs of a forest need."""
        self.on_forest = True
        free = set(self.graph.free)
        order, self._roots = two_pass(self.graph, [v for v in wanted if v in free])
        for edge in order:
            self.set(edge, self.from_factor(edge))

    def iterate(
        self, schedule: Schedule, damping: float, max_updates: int, tolerance: float
    ) -> bool:
        """Update messages until none would change, or return False.

        An edge's priority is the largest change of its factor's other inputs since its last
        update: 1 before the first, infinite once a neighbour has spoken for the first time.
        Messages of factors with one free variable are computed once, before the loop.
        """
        edges, edges_of_factor = self.graph.edges, self.graph.edges_of_factor
        constant = [e for e, (factor, _) in enumerate(edges) if len(edges_of_factor[factor]) == 1]
        priority_e = np.ones(len(edges))
        priority_e[constant] = 0.0
        for edge in constant:
            self._replace(edge, self.from_factor(edge), 0.0, priority_e)
        steps = 0
        while priority_e.max(initial=0.0) > tolerance:
            if self.updates >= max_updates:
                return False
            batch = [e for e in schedule(priority_e, steps) if priority_e[e] > tolerance]
            steps += 1
            computed = [(edge, self.from_factor(edge)) for edge in batch]
            priority_e[batch] = 0.0
            for edge, message in computed:
                self._replace(edge, message, damping, priority_e)
        return True

    def _replace(
        self, edge: int, message: Potential, damping: float, priority_e: FloatArray
    ) -> None:
        """Set one message, damped, and raise the priority of the edges that depend on it."""
        variable = self.graph.edges[edge].variable
        message, old, change = normalised(message), self._sent.get(edge), math.inf
        if old is not None:
            message = damped(message, old, damping)
            change = difference(message, old)
            priority_e[edge] = max(priority_e[edge], change * damping / (1.0 - damping))
        self.set(edge, message)
        for other in self.graph.edges_of_variable[variable]:
            if other != edge:
                for dependent in self.graph.edges_of_factor[self.graph.edges[other].factor]:
                    if dependent != other:
                        priority_e[dependent] = max(priority_e[dependent], change)

    def set(self, edge: int, message: Potential) -> None:
        """Store what a factor sent; products that depend on it are forgotten."""
        variable = self.graph.edges[edge].variable
        self._sent[edge] = message
        self._inboxes.pop(variable, None)
        self._outboxes.pop(variable, None)
        self._proposals[edge] = self._proposal(variable, message)

    def from_factor(self, edge: int) -> Potential:
        """Return the message along an edge, computed from the current messages to its factor."""
        factor, variable = self.graph.edges[edge]
        self.updates += 1
        return self.graph.factors[factor].message_to(
            self.graph.variables[variable], self._incoming(factor, except_edge=edge), self.semiring
        )

    def incoming(self, factor: int) -> dict[Variable, Potential]:
        """Return the messages to a factor from all its variables."""
        return self._incoming(factor, except_edge=-1)

    def _incoming(self, factor: int, except_edge: int) -> dict[Variable, Potential]:
        incoming: dict[Variable, Potential] = {}
        for variable in self.graph.factors[factor].variables:
            if variable in self._evidence:
                incoming[variable] = self._evidence[variable]
        for edge in self.graph.edges_of_factor[factor]:
            if edge != except_edge:
                variable = self.graph.variables[self.graph.edges[edge].variable]
                incoming[variable] = self.to_factor(edge)
        return incoming

    def to_factor(self, edge: int) -> Potential:
        """Return the product of the messages to a variable from its other factors."""
        variable = self.graph.edges[edge].variable
        outbox = self._outboxes.setdefault(variable, {})
        if edge not in outbox:
            outbox.update(self._products(variable, edge))
        return outbox[edge]

    def _products(self, variable: int, edge: int) -> dict[int, Potential]:
        """Return the product of all messages to a variable but one edge's, by edge.

        Tables and lists yield all such products in one pass; machines only the one asked for.
        """
        inbox = self._inbox(variable)
        if edge in inbox and len(inbox) > 1 and _are_lists(inbox.values()):
            return dict(zip(inbox, cavities(list(inbox.values())), strict=True))
        others = [message for other, message in inbox.items() if other != edge]
        return {edge: self._product(variable, others)}

    def _product(self, variable: int, messages: list[Potential]) -> Potential:
        if not messages:
            return self.family.uniform(self.graph.variables[variable])
        return product(messages, self.family.max_arcs)

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
        shortened = [edge for edge, proposal in inbox.items() if self._is_shortened(edge, proposal)]
        final = dict(inbox)
        for edge in shortened:
            others = [proposal for other, proposal in inbox.items() if other != edge]
            if others or not _lists_anything(inbox[edge]):
                whose = self.graph.variables[variable]
                context = self.family.context(whose, others)
                final[edge] = self.family.project(whose, self._sent[edge], context, self.rng)
        return final

    def _is_shortened(self, edge: int, proposal: Potential) -> bool:
        """Return whether a proposal leaves out strings that the message has weights for."""
        sent = self._sent[edge]
        if isinstance(sent, StringTable) and isinstance(proposal, StringTable):
            return len(proposal.strings) < len(sent.strings)
        return isinstance(proposal, StringTable)

    def _proposal(self, variable: int, message: Potential) -> Potential:
        """Return a message's projection before others are known: nothing, where it has no sum."""
        whose = self.graph.variables[variable]
        uniform = self.family.uniform(whose)
        try:
            return self.family.project(whose, message, uniform, self.rng)
        except DivergentSumError:
            return uniform

    def belief(self, variable: int) -> Belief:
        """Return the product of all messages to a variable, or its observed value."""
        whose = self.graph.variables[variable]
        if whose in self._evidence:
            return Belief(whose, self._evidence[whose], self.semiring)
        messages = list(self._inbox(variable).values())
        return Belief(whose, self._product(variable, messages), self.semiring)

    def expected_counts(self, factor: int) -> FloatArray:
        """Return the gradient of log Z in a factor's parameters."""
        return self.graph.factors[factor].expected_counts(self.incoming(factor))

    def log_partition(self) -> float:
        """Return log Z, completing the first pass of a forest where queries left it out."""
        constants = self._log_score_of_observed()
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

    def _log_score_of_observed(self) -> float:
        """Return the log-score of the factors all of whose variables are observed."""
        evidence = {self.graph.variable(n): value for n, value in self.graph.evidence.items()}
        return math.fsum(
            factor.log_score(evidence)
            for factor, edges in zip(self.graph.factors, self.graph.edges_of_factor, strict=True)
            if not edges
        )

    def _bethe(self) -> float:
        """Return sum over factors of log Z_f - sum over variables of (degree - 1) log Z_v.

        Z_f comes from one outgoing message and the incoming message it meets. Z_v is the total of
        the product of the messages to v, which is also the edge term at each of its factors.
        """
        terms = []
        for edges in self.graph.edges_of_factor:
            if edges:
                outgoing, meeting = self.from_factor(edges[0]), self.to_factor(edges[0])
                terms.append(log_inner(outgoing, meeting, self.semiring))
        for variable in self.graph.free:
            degree = len(self.graph.edges_of_variable[variable])
            if degree > 1:
                total = log_total(self.belief(variable).potential, self.semiring)
                terms.append((1 - degree) * total)
        return math.fsum(terms)


def _lists_anything(message: Potential) -> bool:
    return not isinstance(message, StringTable) or bool(message.strings)


def _are_lists(messages: Iterable[Potential]) -> bool:
    return all(isinstance(message, np.ndarray | StringTable) for message in messages)
