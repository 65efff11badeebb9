"""Deterministic annealing: from sum-product to max-product, by lowering a temperature.

Public names: `anneal`, `tempered_graph`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fsbp.factors.tempered import tempered
from fsbp.graph import FactorGraph
from fsbp.inference.free_energy import TracePoint
from fsbp.inference.mailbox import Mailbox
from fsbp.inference.propagation import Result, run
from fsbp.inference.schedules import Schedule
from fsbp.messages.base import MessageFamily
from fsbp.messages.kbest import KBest

TEMPERATURES = (1.0, 0.5, 0.25, 0.125)


def tempered_graph(graph: FactorGraph, temperature: float) -> FactorGraph:
    """Return the graph of p(x)^(1 / temperature): every log-score divided by the temperature.

    Args:
        graph: Factors and evidence.
        temperature: Above 0, up to 1.
    """
    factors = tuple(tempered(factor, temperature) for factor in graph.factors)
    return FactorGraph(factors, graph.evidence)


def anneal(
    graph: FactorGraph,
    family: MessageFamily | None = None,
    temperatures: Sequence[float] = TEMPERATURES,
    *,
    schedule: Schedule | None = None,
    damping: float = 0.0,
    max_updates: int = 10_000,
    tolerance: float = 1e-9,
    rng: np.random.Generator | None = None,
    trace: bool = False,
) -> Result:
    """Return max-marginals, reached from the marginals by way of ever sharper distributions.

    Sum-product runs on the tempered graph at each temperature T, from the messages of the one
    before to the power that makes up for the change; the last run is max-product, the limit T = 0,
    from the last messages to the power T. On forests that is max-product; on loops it begins where
    sum-product, which settles more often, has led. Where even the last run does not settle, the
    status says so.

    Args:
        graph: Factors and evidence.
        family: Of messages; `KBest()` by default. It should send lists of strings: no machine
            carries powers of sums over paths, so exact messages need a unary factor at every string
            variable that limits it to at most 10,000 strings. `Ngram` projects the best strings of
            such powers, and ends in `Status.DIVERGENT_SUM` where a message has no finite sum yet.
        temperatures: Above 0, up to 1, in the order in which to use them.
        schedule: As for `infer`.
        damping: As for `infer`.
        max_updates: For each run.
        tolerance: As for `infer`.
        rng: For families that sample.
        trace: Record the free energy E - T x H after every sweep, at the temperature of each.

    Returns:
        The result of max-product, with the updates of all runs.

    Raises:
        ValueError: As `infer`, or a temperature is out of range.

    Cost: One run of propagation per temperature, and one more.
    Source: Rose (1998), "Deterministic annealing for clustering, compression, classification,
        regression, and related optimization problems", for the idea.
    """
    family, rng = family or KBest(), rng or np.random.default_rng(0)
    updates, points = 0, list[TracePoint]()
    before, reached = None, 1.0
    for temperature in (*temperatures, None):
        if temperature is None:
            mailbox = Mailbox(graph, family, "max", rng)
        else:
            mailbox = Mailbox(tempered_graph(graph, temperature), family, "sum", rng)
        if before is not None:
            mailbox.start_from(before, reached if temperature is None else reached / temperature)
        result = run(
            mailbox,
            schedule=schedule,
            damping=damping,
            max_updates=max_updates,
            tolerance=tolerance,
            trace=trace and temperature is not None,
        )
        if temperature is not None:
            points += [_at(temperature, updates, point) for point in result.trace]
            reached = temperature
        before = mailbox
        updates += result.updates
    return replace(result, updates=updates, trace=tuple(points))


def _at(temperature: float, updates: int, point: TracePoint) -> TracePoint:
    """Return a point of a run on a tempered graph in the units of the graph itself."""
    found = point.free_energy
    return TracePoint(
        updates + point.updates,
        replace(found, energy=temperature * found.energy, temperature=temperature),
    )
