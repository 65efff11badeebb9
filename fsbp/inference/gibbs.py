"""Gibbs sampling over string and finite variables.

A full conditional is the product of the messages that a variable's factors send when its
neighbours send their current values. With one value per variable this is Gibbs sampling; with
several, each factor averages over its neighbours' values, and one sweep renews all of them.
Variables that a deterministic factor holds in place are drawn together.

Public names: `gibbs`, `Samples`.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import cast

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import FloatArray
from fsbp.graph import FactorGraph
from fsbp.inference.beliefs import Belief
from fsbp.inference.blocks import linked_blocks
from fsbp.inference.joint import BlockSampler, impossible, weighed
from fsbp.inference.propagation import infer
from fsbp.messages.kbest import KBest
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.potentials import product
from fsbp.proposals import Proposal, normalised_part
from fsbp.variables import Potential, StringPotential, StringTable, Variable

LOG = logging.getLogger(__name__)

MAX_CACHED = 10_000
RENEWALS = 4


@dataclass(frozen=True, eq=False)
class Samples:
    """The values that sampling visited.

    Args:
        graph: That was sampled.
        values: For each free variable, one tuple of its particles per sweep.
        frozen: Free variables that kept one value throughout, though others may be possible.
    """

    graph: FactorGraph
    values: Mapping[str, Sequence[tuple[str, ...]]]
    frozen: frozenset[str] = frozenset()

    def belief(self, name: str) -> Belief:
        """Return the distribution of a free variable's values over all sweeps and particles.

        Raises:
            KeyError: No free variable has the name.
        """
        counts = Counter(value for particles in self.values[name] for value in particles)
        variable = self.graph.variable(name)
        return Belief(variable, weighed(variable, tuple(counts.elements())))

    def probability(self, name: str, value: str) -> tuple[float, float]:
        """Return the share of a value at a free variable, and the share's standard error.

        Successive sweeps resemble each other, so the error is that of the means of batches of
        sweeps, about as many batches as there are sweeps in each. It is NaN after a single sweep,
        and for a frozen variable, about which nothing is known. It is 0 for a value never visited
        at a variable that moves.

        Raises:
            KeyError: No free variable has the name.

        Source: Flegal and Jones (2010), batch means.
        """
        share_s = np.array([np.mean([v == value for v in p]) for p in self.values[name]])
        if name in self.frozen:
            return float(share_s.mean()), math.nan
        size = math.isqrt(len(share_s))
        batches = len(share_s) // size
        mean_b = share_s[: batches * size].reshape(batches, size).mean(axis=1)
        error = float(mean_b.std(ddof=1) / math.sqrt(batches)) if batches > 1 else math.nan
        return float(share_s.mean()), error


def gibbs(
    graph: FactorGraph,
    *,
    sweeps: int = 1000,
    burn_in: int = 100,
    particles: int = 1,
    draws: int = 32,
    together: Sequence[Sequence[str]] = (),
    max_arcs: int = 1_000_000,
    initial: Mapping[str, str] | None = None,
    rng: np.random.Generator | None = None,
) -> Samples:
    """Return values of all free variables drawn in turn, sweep after sweep.

    With one particle the values' joint distribution converges to the graph's, provided that moves
    lead everywhere. With more, messages are averages over particles: noise falls, and the limit is
    no longer exact where free variables are neighbours. Runs with other random numbers are
    independent samplers; where strong factors link variables, values move rarely, and only such
    runs tell whether one has seen enough.

    Lists and finite variables are drawn from their full conditional itself. For machines, whose
    products may be large, `draws` proposals compete with the current value.

    Variables of a deterministic factor, as a concatenation is, cannot move alone. All that such
    factors link are drawn together, from their joint distribution given the others: messages sum
    them out one after another, and each is drawn given those before. Where cycles run through them
    or a message outgrows its bound, `draws` joint proposals compete with the current values. A
    variable that kept one value in all recorded sweeps, though more may be possible, is reported
    as frozen, with a warning in the log.

    Args:
        graph: Factors and evidence.
        sweeps: Recorded sweeps, at least 1.
        burn_in: Sweeps before them.
        particles: Values kept for each variable, at least 1.
        draws: Proposals for each particle of a variable without a list, or of a block whose
            messages do not say all; at least 1.
        together: Groups of names of further variables to draw together, because factors that are
            nearly deterministic link them.
        max_arcs: Bound on the machines by which such variables are summed out.
        initial: A first value for each free variable that should not start from its best k-best
            max-marginal; together they must be possible.
        rng: Source of randomness.

    Raises:
        ValueError: A number is out of range, a first value is missing, or a variable has no value
            that agrees with its neighbours' current ones.
        KeyError: `together` names no variable.
        DivergentSumError: None of the messages to a string variable has a finite sum.

    Cost: A message per edge and sweep, unless its inputs were met before; for a machine also
        `draws` samples, and their scores by every message; `draws` times all of that for a block
        whose messages do not say all.
    Source: Geman and Geman (1984); Jensen, Kjaerulff and Kong (1995) for blocks; Andrieu, Lee and
        Vihola (2018) for proposals that compete.
    """
    if min(sweeps, particles, draws) < 1 or burn_in < 0:
        raise ValueError("sweeps, particles and draws must be at least 1, burn_in at least 0")
    rng = rng or np.random.default_rng(0)
    linked = linked_blocks(graph, together)
    blocks = [BlockSampler(graph, block, draws, max_arcs, rng) for block in linked]
    sampler = _Sampler(graph, _first_values(graph, initial or {}, particles), blocks, draws, rng)
    visited: dict[int, list[tuple[str, ...]]] = {variable: [] for variable in graph.free}
    for sweep in range(burn_in + sweeps):
        values = sampler.sweep()
        if sweep >= burn_in:
            for variable in graph.free:
                visited[variable].append(values[variable])
    still = [v for v in graph.free if sweeps > 1 and len({*chain(*visited[v])}) == 1]
    return Samples(
        graph,
        {graph.variables[v].name: particles_s for v, particles_s in visited.items()},
        _frozen(graph, [graph.variables[v].name for v in still], sweeps),
    )


@dataclass(frozen=True, eq=False)
class _Message:
    """A message, and the distribution it proposes strings from, computed when first needed."""

    potential: Potential

    @cached_property
    def part(self) -> StringPotential | None:
        return normalised_part(cast(StringPotential, self.potential))


class _Sampler:
    """The state of a run: the particles of each variable, and messages computed before."""

    def __init__(
        self,
        graph: FactorGraph,
        values: list[tuple[str, ...]],
        blocks: Sequence[BlockSampler],
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        self._graph = graph
        self._values = values
        self._blocks = list(blocks)
        self._draws = draws
        self._rng = rng
        self._sent: dict[tuple[object, ...], _Message] = {}

    def sweep(self) -> Sequence[tuple[str, ...]]:
        """Renew all particles, and return them by the position of their variable."""
        for block in self._blocks_in_turn():
            try:
                block.renew(self._values)
            except (DivergentSumError, MachineTooLargeError) as error:
                names = ", ".join(self._graph.variables[v].name for v in block.variables)
                LOG.warning("%s are drawn one by one, not together: %s", names, error)
                self._blocks.remove(block)
        renewed = {v for block in self._blocks if block.is_exact for v in block.variables}
        for variable in self._graph.free:
            if variable not in renewed:
                self._renew(variable)
        return self._values

    def _blocks_in_turn(self) -> list[BlockSampler]:
        """Return the blocks to renew, beginning where the last sweep stopped.

        Overlapping blocks may together be much larger than the graph: a sweep stops after
        `RENEWALS` times its size.
        """
        room = RENEWALS * len(self._graph.free)
        chosen: list[BlockSampler] = []
        while room > 0 and len(chosen) < len(self._blocks):
            chosen.append(self._blocks[len(chosen)])
            room -= len(chosen[-1].variables)
        self._blocks = self._blocks[len(chosen) :] + chosen
        return chosen

    def _renew(self, variable: int) -> None:
        """Draw new particles of a variable, which replace the old ones."""
        edges = self._graph.edges_of_variable[variable]
        messages = [self._message(self._graph.edges[edge].factor, variable) for edge in edges]
        self._values[variable] = self._drawn(variable, messages)

    def _message(self, factor: int, variable: int) -> _Message:
        """Return the factor's message, given its other variables' particles."""
        graph = self._graph
        others = [v for v in graph.factors[factor].variables if v != graph.variables[variable]]
        values = [self._values[graph.positions[other]] for other in others]
        key = (factor, variable, *values)
        if key not in self._sent:
            if len(self._sent) >= MAX_CACHED:
                self._sent.clear()
            incoming = {v: weighed(v, own) for v, own in zip(others, values, strict=True)}
            target = graph.variables[variable]
            self._sent[key] = _Message(graph.factors[factor].message_to(target, incoming, "sum"))
        return self._sent[key]

    def _drawn(self, variable: int, messages: list[_Message]) -> tuple[str, ...]:
        whose, current = self._graph.variables[variable], self._values[variable]
        potentials = [message.potential for message in messages]
        if not whose.is_string:
            table = StringTable(whose.values, cast(FloatArray, product(potentials)))
            return self._from_list(whose, table, len(current))
        lists = [p for p in potentials if isinstance(p, StringTable)]
        if len(lists) == len(potentials) or any(table.floor == -math.inf for table in lists):
            return self._from_list(whose, cast(StringTable, product(potentials)), len(current))
        if len(potentials) == 1:
            return tuple(cast(StringPotential, potentials[0]).sample(len(current), self._rng))
        return self._from_proposals(whose, messages, current)

    def _from_list(self, variable: Variable, table: StringTable, count: int) -> tuple[str, ...]:
        if table.log_total("max") == -math.inf:
            raise impossible(variable)
        return tuple(table.sample(count, self._rng))

    def _from_proposals(
        self, variable: Variable, messages: list[_Message], current: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return one value for each current one, drawn from it and proposals of its own.

        Each competes with weight product(x) / proposal(x), which leaves the product's distribution
        unchanged.
        """
        potentials = cast("list[StringPotential]", [message.potential for message in messages])
        proposal = Proposal.from_parts([message.part for message in messages])
        counts = [proposal.sample(self._draws, self._rng) + Counter([v]) for v in current]
        strings = tuple(dict.fromkeys(text for count_of in counts for text in count_of))
        ratio_n = np.sum([p.log_weights(strings) for p in potentials], axis=0)
        possible_n = proposal.log_probs(strings)
        ratio_n[possible_n > -np.inf] -= possible_n[possible_n > -np.inf]
        ratio_n[possible_n == -np.inf] = -np.inf
        log_ratio_of = dict(zip(strings, ratio_n.tolist(), strict=True))
        drawn: list[str] = []
        for count_of in counts:
            texts = tuple(count_of)
            weights = [log_ratio_of[text] + math.log(count_of[text]) for text in texts]
            drawn += self._from_list(variable, StringTable(texts, np.array(weights)), 1)
        return tuple(drawn)


def _first_values(
    graph: FactorGraph, initial: Mapping[str, str], particles: int
) -> list[tuple[str, ...]]:
    """Return the first particles of each variable, all alike; an observed one has one particle."""
    given = {**initial, **graph.evidence}
    missing = [v.name for v in graph.variables if v.name not in given]
    beliefs = _best_beliefs(graph, missing) if missing else {}
    values = []
    for variable in graph.variables:
        if variable.name not in given:
            belief = beliefs.get(variable.name)
            best = belief.kbest(1) if belief else []
            if not best:
                raise ValueError(f"no first value for {variable.name!r} is known: give an initial")
            given[variable.name] = best[0][0]
        observed = variable.name in graph.evidence
        values.append((given[variable.name],) * (1 if observed else particles))
    return values


def _best_beliefs(graph: FactorGraph, names: Sequence[str]) -> Mapping[str, Belief]:
    """Return max-marginals, or marginals where a maximum is beyond reach, by name; perhaps none."""
    semirings: tuple[Semiring, ...] = ("max", "sum")
    for semiring in semirings:
        try:
            return infer(graph, KBest(), semiring, queries=names).beliefs
        except MachineTooLargeError:
            continue
    return {}


def _frozen(graph: FactorGraph, still: Sequence[str], sweeps: int) -> frozenset[str]:
    """Return which of the variables that did not move have more than one possible value.

    Where that is not known, they are among them.
    """
    if not still:
        return frozenset()
    try:
        beliefs = infer(graph, KBest(backoff=math.inf), "sum", queries=still).beliefs
    except MachineTooLargeError:
        beliefs = {}
    frozen = []
    for name in still:
        values = beliefs[name].kbest(2) if name in beliefs else []
        if len([value for value, probability in values if probability > 0]) != 1:
            frozen.append(name)
    if frozen:
        LOG.warning(
            "%s: one value in all %d sweeps, though others may be possible, so standard errors are "
            "NaN; run longer, or name what should move jointly in `together`",
            ", ".join(frozen),
            sweeps,
        )
    return frozenset(frozen)
