"""Belief propagation: sum-product and max-product, exact on forests, iterated on loops.

Messages from variables to factors are products, made when a factor asks; messages from factors are
projected into the message family at the variable, against what the variable's other factors say.

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
from fsbp.inference.mailbox import Mailbox
from fsbp.inference.schedules import Schedule, residual
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.variables import Potential


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
    _mailbox: Mailbox

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
        return self._mailbox.log_partition()

    def incoming(self, factor: int) -> dict[str, Potential]:
        """Return the messages that one factor receives, by variable name.

        Args:
            factor: Position in the graph.
        """
        return {v.name: m for v, m in self._mailbox.incoming(factor).items()}

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
    mailbox = Mailbox(graph, family or Exact(), semiring, rng or np.random.default_rng(0))
    wanted = _wanted(graph, queries)
    try:
        if schedule is None and graph.is_forest:
            mailbox.pass_twice(wanted)
            converged = True
        else:
            converged = mailbox.iterate(schedule or residual, damping, max_updates, tolerance)
        beliefs = {graph.variables[v].name: mailbox.belief(v) for v in wanted}
        status = _status(beliefs, converged)
    except DivergentSumError:
        beliefs, status = {}, Status.DIVERGENT_SUM
    return Result(status, beliefs, mailbox.updates, mailbox)


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
