"""String tables with a floor, in the context of an n-gram model.

A floor alone has no finite sum. In a context that has one, strings that are not listed have the
floor. In a context that stands for such tables only, sums run over what any of them lists, as they
do for tables: the context says which tables they are.

Public names: `Weighed`, `weighed_table`, `weighed_ngram_counts`, `floored_total`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from fsbp.acceptors import intersection, table_acceptor
from fsbp.arrays import FloatArray
from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import NoMassError
from fsbp.pathsum import Semiring
from fsbp.variables import Acceptor, StringTable

MAX_ARCS = 5_000_000


@dataclass(frozen=True, eq=False)
class Weighed:
    """The sum of a machine and of one weight for every string; or all there is to know, at once.

    Args:
        machine: Over the alphabet.
        floor: Added to the weight of every string, -inf for the machine alone (nats).
        with_context: Whether the machine is the product with its context already.
    """

    machine: Acceptor
    floor: float = -math.inf
    with_context: bool = False


def weighed_table(table: StringTable, context: NgramPotential) -> Weighed:
    """Return a table in two parts: what listed strings have above the floor, and the floor.

    Where a listed string is below the floor, there is no second part, and the machine has it. Where
    the context stands for tables only, the machine is the product of all of them.

    Args:
        table: With a floor above -inf.
        context: Its alphabet holds the symbols of the listed strings.

    Cost: O(total length), times the number of symbols where a listed string is below the floor.
    """
    if context.is_free:
        return Weighed(_listed(table, context).to_acceptor(context.alphabet), with_context=True)
    if np.any(table.log_weights_n < table.floor):
        return Weighed(table.to_acceptor(context.alphabet))
    labels = [context.alphabet.labels(text) for text in table.strings]
    with np.errstate(divide="ignore"):
        above_n = table.log_weights_n + np.log(-np.expm1(table.floor - table.log_weights_n))
    return Weighed(Acceptor(table_acceptor(labels, above_n), context.alphabet), table.floor)


def weighed_ngram_counts(
    potential: Weighed,
    context: NgramPotential,
    counts_of_machine: Callable[[Acceptor, NgramPotential], tuple[FloatArray, float]],
) -> tuple[FloatArray, float]:
    """Return expected n-gram counts of a potential times an n-gram model, and their log total.

    The context knows what it expects of every string, so only what is listed takes a machine.

    Args:
        potential: Over the alphabet of the context.
        context: The n-gram model.
        counts_of_machine: Returns the same of a machine, or raises `NoMassError`.

    Returns:
        float64[H, K + 1] and nats, as `tilted_ngram_counts`.

    Raises:
        DivergentSumError: The floor times the context has no finite sum.
        NoMassError: The product accepts nothing.

    Cost: That of `counts_of_machine`, and of `NgramPotential.expected_counts_hs`.
    """
    if potential.with_context:
        flat = replace(context, log_weight_hs=np.zeros_like(context.log_weight_hs))
        return counts_of_machine(potential.machine, flat)
    if potential.floor == -math.inf:
        return counts_of_machine(potential.machine, context)
    floor_total = context.log_total() + potential.floor
    try:
        counts_hs, listed_total = counts_of_machine(potential.machine, context)
    except NoMassError:
        return context.expected_counts_hs(), floor_total
    total = float(np.logaddexp(listed_total, floor_total))
    counts_hs = counts_hs * math.exp(listed_total - total)
    counts_hs += context.expected_counts_hs() * math.exp(floor_total - total)
    return counts_hs, total


def floored_total(table: StringTable, context: NgramPotential, semiring: Semiring) -> float:
    """Return the log of the sum, or the maximum, of a table with a floor times an n-gram model.

    Args:
        table: With a floor above -inf.
        context: The n-gram model.
        semiring: "sum" or "max".

    Raises:
        DivergentSumError: The floor times the context has no finite sum.
        MachineTooLargeError: Their product has more than 5,000,000 arcs.

    Cost: O(total length x number of symbols), and that of the product of machines.
    """
    if context.is_free:
        return _listed(table, context).log_total(semiring)
    machine = table.to_acceptor(context.alphabet)
    both = intersection(machine.fst, context.to_acceptor(machine.alphabet).fst, MAX_ARCS)
    return Acceptor(both, machine.alphabet).log_total(semiring)


def _listed(table: StringTable, context: NgramPotential) -> StringTable:
    """Return the product of a table with those that a context stands for, over all they list."""
    tables = (table, *context.tables)
    strings = tuple(dict.fromkeys(chain.from_iterable(each.strings for each in tables)))
    weights_n: FloatArray = np.sum([each.log_weights(strings) for each in tables], axis=0)
    return StringTable(strings, weights_n)
