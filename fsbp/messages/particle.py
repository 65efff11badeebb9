"""Messages as weighted samples of strings.

Factors' messages stay exact; what a variable sends to a factor is a few particles, drawn where the
product of its other messages is large. So no machines are ever intersected, importance weights
enter once per message, and one family runs from a single particle, as in Gibbs sampling, to so
many that a message is the whole distribution, as in belief propagation.

Public names: `Particle`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from fsbp import acceptors
from fsbp.alphabet import Alphabet
from fsbp.arrays import FloatArray
from fsbp.messages.base import MessageFamily
from fsbp.potentials import MAX_ARCS, product
from fsbp.proposals import Proposal
from fsbp.variables import Acceptor, Potential, StringPotential, StringTable, Variable


@dataclass(frozen=True)
class Particle(MessageFamily):
    """Products of messages, thinned to `particles` weighted strings.

    For any function f, the sum over particles of weight x f is an unbiased estimate of the sum
    over all strings of product x f; so on a forest the estimate of Z is unbiased too, and its error
    falls like one over the square root of the number of particles. A product of lists no longer
    than that is exact. Finite variables' messages are left alone. For the semiring "sum" only:
    weights that estimate sums say nothing of maxima.

    Estimates with few particles are skewed: most runs fall short of Z and a few go far beyond it,
    so that the mean over runs settles slowly, and log Z is too low on average.

    Args:
        particles: Strings in a product, at least 1.
        draws: Strings proposed for each one kept, by all messages that have a finite sum; every
            message scores every proposal.
        max_arcs: Bound on every machine that a product of messages builds.

    Raises:
        ValueError: A number is below 1.

    Source: Ihler and McAllester (2009), "Particle belief propagation", section 4.
    """

    particles: int = 100
    draws: int = 4
    max_arcs: int = MAX_ARCS
    samples: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.particles < 1 or self.draws < 1:
            raise ValueError("a particle message needs at least one particle and one draw for each")

    def every_string(self, alphabet: Alphabet) -> Acceptor:
        """Return the machine of one state that accepts all strings."""
        return Acceptor(acceptors.universe_acceptor(len(alphabet), None), alphabet)

    def project(
        self, variable: Variable, potential: Potential, context: Potential, rng: np.random.Generator
    ) -> Potential:
        """Return the potential: only products are thinned."""
        return potential

    def product(
        self, variable: Variable, messages: Sequence[Potential], rng: np.random.Generator
    ) -> Potential:
        """Return particles that stand for the product of some messages.

        Where one message is a list without a floor, or all are lists, the strings listed are
        thinned; otherwise they are drawn from the messages that have a finite sum.

        Args:
            variable: Whose values the messages weigh.
            messages: Any number; no message at all is a uniform one, which is not thinned.
            rng: Source of randomness, advanced.

        Raises:
            DivergentSumError: No message is a list or has a finite sum.

        Cost: One score of each message for each of `particles` x `draws` strings.
        """
        if not messages or not variable.is_string:
            return super().product(variable, messages, rng)
        potentials = cast("Sequence[StringPotential]", messages)
        lists = [p for p in potentials if isinstance(p, StringTable)]
        if len(lists) == len(potentials) or any(table.floor == -math.inf for table in lists):
            table = product(messages, self.max_arcs)
        else:
            table = _drawn(potentials, self.particles * self.draws, rng)
        return thinned(cast(StringTable, table), self.particles, rng)


def thinned(table: StringTable, size: int, rng: np.random.Generator) -> StringTable:
    """Return at most `size` of a table's strings, with weights that estimate all of them.

    A string of weight w is kept with probability min(1, c w) at weight max(w, 1/c), where c makes
    the expected number of strings kept equal to `size`. The total stays what it was. A table that
    is short enough is returned as it is.

    Args:
        table: With finite weights; its floor is dropped when strings are.
        size: At least 1.
        rng: Source of randomness, advanced: one number decides all.

    Cost: O(N log N) for N strings.
    Source: Fearnhead and Clifford (2003), section 3.1: of all unbiased ways, the one of least
        expected squared error.
    """
    if len(table.strings) <= size or table.log_total("max") == -math.inf:
        return table
    order = np.argsort(-table.log_weights_n, kind="stable")
    log_weight_n = table.log_weights_n[order]
    weight_n = np.exp(log_weight_n - log_weight_n[0])
    if weight_n[size] == 0.0:
        return replace(table.k_best(int(np.count_nonzero(weight_n))), floor=-math.inf)
    rest_n = np.cumsum(weight_n[::-1])[::-1]
    above_n = np.arange(size)
    sure = int(np.argmax(weight_n[:size] * (size - above_n) <= rest_n[:size]))
    share_n = weight_n[sure:] * ((size - sure) / rest_n[sure])
    ticks_n = np.floor(np.cumsum(share_n) + rng.random())
    drawn_n = sure + np.flatnonzero(np.diff(ticks_n, prepend=0.0))
    log_share = log_weight_n[0] + math.log(rest_n[sure] / (size - sure))
    kept_n = np.concatenate([np.arange(sure), drawn_n])
    weights = np.concatenate([log_weight_n[:sure], np.full(len(drawn_n), log_share)])
    return StringTable(tuple(table.strings[n] for n in order[kept_n]), weights)


def _drawn(
    messages: Sequence[StringPotential], draws: int, rng: np.random.Generator
) -> StringTable:
    """Return strings proposed by the messages, weighted to stand for the product of all.

    Half of the draws say which strings are listed with their own weight; the other half estimate
    the weight of all others. Strings that are drawn again and again thus add no noise.

    Source: Veach and Guibas (1995), the balance heuristic, for proposals from several messages.
    """
    proposal = Proposal.from_potentials(messages)
    listed = proposal.sample(draws // 2, rng)
    count_of = proposal.sample(draws - draws // 2, rng)
    others = [text for text in count_of if text not in listed]
    strings = (*listed, *others)
    log_weight_n: FloatArray = np.sum([m.log_weights(strings) for m in messages], axis=0)
    if others:
        share_n = np.array([count_of[text] for text in others]) / count_of.total()
        log_weight_n[len(listed) :] += np.log(share_n) - proposal.log_probs(others)
    table = StringTable(strings, log_weight_n)
    return table.subset(np.flatnonzero(log_weight_n > -np.inf).tolist())
