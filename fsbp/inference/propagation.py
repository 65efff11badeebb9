"""Belief propagation: sum-product and max-product, exact on forests, iterated on loops.

Messages from variables to factors are products, made when a factor asks; messages from factors are
projected into the message family at the variable, against what the variable's other factors say.

Public names: `infer`, `run`, `Result`, `Status`.
"""

from __future__ import annotations

import enum
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import FloatArray
from fsbp.graph import FactorGraph
from fsbp.inference.beliefs import Belief
from fsbp.inference.free_energy import (
    MAX_STRINGS,
    EmptyBeliefError,
    FreeEnergy,
    Pseudomarginals,
    TracePoint,
    free_energy,
)
from fsbp.inference.mailbox import Mailbox
from fsbp.inference.schedules import Schedule, residual
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.variables import Potential

LOG = logging.getLogger(__name__)


class Status(enum.Enum):
    """How propagation ended; the value says what to do next."""

    CONVERGED = "the messages no longer change: beliefs and log Z are ready to use"
    MAX_STEPS = "the messages still change: raise max_updates, or set damping to 0.5"
    EMPTY_BELIEF = (
        "a variable has no value that all its factors allow, or a factor forbids what is observed: "
        "check the evidence, or use a message family with a finite backoff"
    )
    DIVERGENT_SUM = (
        "a sum over strings is infinite: cap the length in a unary acceptor, or lower the weights "
        "of insertions"
    )
    TOO_LARGE = (
        "a belief outgrew its bounds, and so did its best strings: raise the factors' max_arcs, or "
        "use a k-best message family"
    )
    NONFINITE = "a message is not a number: look for +inf among the factors' log-weights"


@dataclass(frozen=True, eq=False)
class Result:
    """What propagation found.

    Args:
        status: How it ended.
        beliefs: By name of the variable, for the queried variables.
        updates: Factor-to-variable messages computed.
        trace: The free energy after every sweep, where it was asked for.
    """

    status: Status
    beliefs: Mapping[str, Belief]
    updates: int
    _mailbox: Mailbox
    trace: tuple[TracePoint, ...] = ()

    @cached_property
    def log_partition(self) -> float:
        """Log Z (nats): exact on forests with exact messages, the Bethe estimate on loops.

        Under max-product on a forest it is the log-score of the best assignment. Computed when
        first asked for, over all factors, observed ones included. -inf after EMPTY_BELIEF, NaN
        after DIVERGENT_SUM and TOO_LARGE.

        Cost: On a forest, the first pass of the components without a query; on loops, one message
            and two products per factor.
        """
        if self.status in (Status.DIVERGENT_SUM, Status.TOO_LARGE):
            return math.nan
        if self.status is Status.EMPTY_BELIEF:
            return -math.inf
        return self._mailbox.log_partition()

    def incoming(self, factor: int) -> dict[str, Potential]:
        """Return the messages that one factor receives, by variable name.

        Args:
            factor: Position in the graph.
        """
        return {v.name: m for v, m in self._mailbox.incoming(factor).items()}

    def pseudomarginals(self, max_strings: int = MAX_STRINGS) -> Pseudomarginals:
        """Return the beliefs about all variables and all factors, over listed values.

        Needs beliefs for all variables, that is no `queries`, and sums.

        Args:
            max_strings: Values listed of each string variable: its best.

        Raises:
            ValueError: A belief is empty or has too many values, or the run was max-product.
        """
        if self._mailbox.semiring == "max":
            raise ValueError("max-marginals are no distributions: use sum-product")
        return self._mailbox.pseudomarginals(max_strings)

    def free_energy(self, max_strings: int = MAX_STRINGS) -> FreeEnergy:
        """Return the Bethe free energy of the beliefs: -log Z where they have converged.

        Args:
            max_strings: Values listed of each string variable; `covered` says what they hold.

        Raises:
            ValueError: As `pseudomarginals`.
        """
        return free_energy(self._mailbox.graph, self.pseudomarginals(max_strings))

    def expected_counts(self, factor: int) -> FloatArray:
        """Return the gradient of log Z in the parameters of one factor, float64[P].

        Needs beliefs for all variables, that is no `queries`.

        Args:
            factor: Position in the graph.
        """
        return self._mailbox.expected_counts(factor)


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
    trace: bool = False,
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
        max_updates: Bound on messages computed on loops, 0 or more.
        tolerance: Largest change of a log-weight that counts as none (nats).
        rng: For families that sample.
        queries: Names of the variables whose beliefs are needed; on a forest, messages that do not
            lead to them are skipped. All free variables by default.
        trace: Record the free energy after every sweep, that is every time that as many messages
            have been computed as there are edges in need of updates, and at the end. Sweeps before
            every variable has a value are left out.

    Raises:
        ValueError: `damping` is not in [0, 1), `max_updates` or `tolerance` is negative, or the
            semiring is "max" and a trace is wanted, or the family samples.
        KeyError: A query names no variable.
        MachineTooLargeError: A message or product outgrew its bound, and the family's `overflow`
            is 0.

    Cost: On a forest one message per edge and direction; each asks a factor once.
    Source: Kschischang, Frey and Loeliger (2001) for the passes; Yedidia, Freeman and Weiss (2005)
        for the Bethe estimate.
    """
    mailbox = Mailbox(graph, family or Exact(), semiring, rng or np.random.default_rng(0))
    return run(
        mailbox,
        schedule=schedule,
        damping=damping,
        max_updates=max_updates,
        tolerance=tolerance,
        queries=queries,
        trace=trace,
    )


def run(
    mailbox: Mailbox,
    *,
    schedule: Schedule | None,
    damping: float,
    max_updates: int,
    tolerance: float,
    queries: Iterable[str] | None = None,
    trace: bool = False,
) -> Result:
    """Return beliefs and log Z, from whatever messages a mailbox holds; arguments as for `infer`.

    Raises:
        ValueError: As `infer`.
        KeyError: A query names no variable.
        MachineTooLargeError: A message or product outgrew its bound, and the family's `overflow`
            is 0.
    """
    graph = mailbox.graph
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping is {damping}: it must be at least 0 and below 1")
    if max_updates < 0 or not tolerance >= 0.0:
        raise ValueError(f"max_updates {max_updates}, tolerance {tolerance}: neither is below 0")
    if mailbox.family.samples and mailbox.semiring == "max":
        raise ValueError("samples estimate sums, not maxima: use another message family for max")
    if trace and mailbox.semiring == "max":
        raise ValueError("only sum-product has a free energy to trace")
    points: list[TracePoint] = []
    after_sweep = partial(_record, mailbox, points) if trace else _nothing
    wanted = _wanted(graph, queries)
    try:
        if schedule is None and graph.is_forest and not mailbox.family.iterates:
            mailbox.pass_twice(wanted)
            converged = True
        else:
            converged = mailbox.iterate(
                schedule or residual, damping, max_updates, tolerance, after_sweep
            )
        beliefs = {graph.variables[v].name: mailbox.belief(v) for v in wanted}
        totals = [belief.log_total for belief in beliefs.values()]
        status = _status([mailbox.log_score_of_observed, *totals], converged)
        if status is Status.CONVERGED and mailbox.unsummable:
            status = Status.DIVERGENT_SUM
    except DivergentSumError:
        beliefs, status = {}, Status.DIVERGENT_SUM
    except MachineTooLargeError as error:
        if mailbox.family.overflow == 0:
            raise
        LOG.warning("a belief outgrew its bounds: %s", error)
        beliefs, status = {}, Status.TOO_LARGE
    if not points or points[-1].updates < mailbox.updates:
        after_sweep()
    return Result(status, beliefs, mailbox.updates, mailbox, tuple(points))


def _nothing() -> None:
    """Do nothing after a sweep."""


def _record(mailbox: Mailbox, points: list[TracePoint]) -> None:
    """Append the present free energy, if every variable has a value."""
    try:
        beliefs = mailbox.pseudomarginals(MAX_STRINGS)
    except (EmptyBeliefError, DivergentSumError, MachineTooLargeError):
        return
    points.append(TracePoint(mailbox.updates, free_energy(mailbox.graph, beliefs)))


def _wanted(graph: FactorGraph, queries: Iterable[str] | None) -> list[int]:
    if queries is None:
        return list(range(len(graph.variables)))
    return [graph.positions[graph.variable(name)] for name in queries]


def _status(totals: Sequence[float], converged: bool) -> Status:
    if any(math.isnan(total) or total == math.inf for total in totals):
        return Status.NONFINITE
    if any(total == -math.inf for total in totals):
        return Status.EMPTY_BELIEF
    return Status.CONVERGED if converged else Status.MAX_STEPS
