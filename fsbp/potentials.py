"""Operations on potentials: products, mixtures, totals and differences.

All of them take potentials over one variable. Products of machines are bounded by `max_arcs`;
products and mixtures of string tables are dictionary look-ups, since programs do millions of them.

Public names: `point`, `product`, `cavities`, `mixture`, `log_total`, `log_inner`, `normalised`,
`damped`, `coarsened`, `difference`, `MAX_ARCS`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import cast

import numpy as np
import pynini

from fsbp import acceptors
from fsbp.arrays import FloatArray, IntArray, log_sum_exp
from fsbp.floors import floored_total
from fsbp.ngram_potential import NgramPotential, on_common_refinement, sum_of_ngrams
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.pooled import mixture_of_tables
from fsbp.powered import Powered
from fsbp.threshold import best_of_product
from fsbp.variables import (
    Acceptor,
    Potential,
    Scored,
    StringPotential,
    StringTable,
    Variable,
)

MAX_ARCS = 5_000_000
COMPARED_STRINGS = 16


def point(variable: Variable, value: str) -> Potential:
    """Return the potential that allows one value only, with log-weight 0.

    Raises:
        KeyError: A finite variable has no such value.
    """
    if variable.is_string:
        return StringTable((value,), np.zeros(1))
    log_table = np.full(len(variable.values), -np.inf)
    log_table[variable.positions[value]] = 0.0
    return log_table


def product(potentials: Sequence[Potential], max_arcs: int = MAX_ARCS) -> Potential:
    """Return the pointwise product of one or more potentials: log-weights add.

    Tables all round give a table over the union of their lists; each scores every string, and the
    floors add. Where a table has floor -inf, only its strings survive, and the other potentials
    score them. N-gram potentials all round add their weights. Otherwise machines are intersected.

    Args:
        potentials: At least one, all over the same variable.
        max_arcs: Bound on any machine built.

    Raises:
        MachineTooLargeError: An intersection would have more than `max_arcs` arcs.
    """
    if len(potentials) == 1:
        return potentials[0]
    if isinstance(potentials[0], np.ndarray):
        return sum(cast("Sequence[FloatArray]", potentials[1:]), start=potentials[0])
    strings = cast("Sequence[StringPotential]", potentials)
    tables = [p for p in strings if isinstance(p, StringTable)]
    listed = _candidates(tables, all_tables=len(tables) == len(strings))
    if listed is not None:
        weights = sum((p.log_weights(listed) for p in strings), start=np.zeros(len(listed)))
        floor = -math.inf
        if len(tables) == len(strings):
            floor = sum(table.floor for table in tables)
        return _without_forbidden(listed, weights, floor)
    if all(isinstance(p, NgramPotential) for p in strings):
        return sum_of_ngrams(cast("Sequence[NgramPotential]", strings))
    if not any(_is_loose(p) for p in strings):
        return _intersected(strings, max_arcs)
    return _scored_product(strings, max_arcs)


def cavities(potentials: Sequence[Potential], max_arcs: int = MAX_ARCS) -> list[Potential]:
    """Return, for each of two or more potentials, the product of all the others.

    For tables this takes one pass: every product lists the strings of all tables, its own left-out
    one included, so a candidate proposed by any neighbour is scored by each.

    Cost: O(d x N) for d tables with N distinct strings among them; d products for machines.
    """
    if all(isinstance(p, np.ndarray) for p in potentials):
        return list(_sums_of_others(np.stack(cast("Sequence[FloatArray]", potentials))))
    if all(isinstance(p, StringTable) for p in potentials):
        tables = cast("Sequence[StringTable]", potentials)
        listed = tuple(dict.fromkeys(chain.from_iterable(t.strings for t in tables)))
        rows = [np.append(t.log_weights(listed), t.floor) for t in tables]
        others_dn = _sums_of_others(np.stack(rows))
        return [_without_forbidden(listed, row[:-1], float(row[-1])) for row in others_dn]
    return [
        product([*potentials[:left_out], *potentials[left_out + 1 :]], max_arcs)
        for left_out in range(len(potentials))
    ]


def mixture(
    potentials: Sequence[Potential],
    log_weights: Sequence[float],
    semiring: Semiring,
    max_arcs: int = MAX_ARCS,
) -> Potential:
    """Return log sum_b exp(w_b + potential_b(x)), or the maximum over b.

    Args:
        potentials: At least one, all over the same variable.
        log_weights: One per potential, above -inf.
        semiring: "sum" or "max".
        max_arcs: Bound on the machine built.

    Raises:
        MachineTooLargeError: The union of the machines has more than `max_arcs` arcs.

    Cost: Linear in the number of listed strings, for tables.
    """
    if isinstance(potentials[0], np.ndarray):
        stacked = np.stack(cast("Sequence[FloatArray]", potentials))
        stacked = stacked + np.asarray(log_weights)[:, None]
        combined: FloatArray = stacked.max(0) if semiring == "max" else log_sum_exp(stacked, 0)
        return combined
    weighted = zip(cast("Sequence[StringPotential]", potentials), log_weights, strict=True)
    strings = [potential.shifted(log_weight) for potential, log_weight in weighted]
    if len(strings) == 1:
        return strings[0]
    if all(isinstance(p, StringTable) for p in strings):
        return mixture_of_tables(cast("Sequence[StringTable]", strings), semiring)
    combine = np.max if semiring == "max" else log_sum_exp

    def score(texts: Sequence[str]) -> FloatArray:
        scores: FloatArray = combine(np.stack([p.log_weights(texts) for p in strings]), axis=0)
        return scores

    tight = semiring == "sum" and not any(_is_loose(p) for p in strings)
    return Scored(score, lambda: _union(strings, max_arcs), tight)


def log_total(potential: Potential, semiring: Semiring = "sum") -> float:
    """Return the log of the sum, or the maximum, of a potential's weights (nats).

    Raises:
        DivergentSumError: A machine's weights have no finite sum.
    """
    if isinstance(potential, StringPotential):
        return potential.log_total(semiring)
    return float(potential.max()) if semiring == "max" else float(log_sum_exp(potential))


def log_inner(a: Potential, b: Potential, semiring: Semiring = "sum") -> float:
    """Return log sum_x exp(a(x) + b(x)), or the maximum over x (nats).

    A string table that lists anything stands for its list here, whatever its floor, but has the
    floor too in the context of an n-gram model (see `fsbp.floors`) where that has a finite sum.

    Raises:
        MachineTooLargeError: A sum over all strings is asked for, as an n-gram model allows, of a
            potential that no machine carries.
    """
    if isinstance(a, StringPotential) and isinstance(b, StringPotential):
        tables = isinstance(a, StringTable), isinstance(b, StringTable)
        for table, other in ((a, b), (b, a)):
            if tables != (True, True) and isinstance(table, StringTable) and table.strings:
                if isinstance(other, NgramPotential) and table.floor > -math.inf:
                    with suppress(DivergentSumError):
                        return floored_total(table, other, semiring)
                scores = other.log_weights(table.strings) + table.log_weights_n
                return log_total(scores, semiring)
        dense = isinstance(a, NgramPotential) or isinstance(b, NgramPotential)
        if semiring == "sum" and dense and (_is_loose(a) or _is_loose(b)):
            raise acceptors.MachineTooLargeError("a sum over all strings needs a machine")
    return log_total(product([a, b]), semiring)


def normalised(potential: Potential) -> Potential:
    """Return a potential whose best entry has log-weight 0; machines are returned as they are.

    An n-gram potential gets the total 1; one without a finite sum, a best end of log-weight 0.
    """
    best = -math.inf
    if isinstance(potential, NgramPotential):
        best = float(potential.log_weight_hs[:, -1].max())
        if potential.is_summable:
            best = potential.log_total()
    if isinstance(potential, np.ndarray | StringTable):
        best = log_total(potential, "max")
    if not math.isfinite(best):
        return potential
    if isinstance(potential, StringPotential):
        return potential.shifted(-best)
    shifted: FloatArray = potential - best
    return shifted


def damped(new: Potential, old: Potential, damping: float) -> Potential:
    """Return (1 - damping) x new + damping x old, in log-weights; machines stay undamped.

    Of n-gram potentials, only what both allow is mixed; the rest is as in the new one.

    Args:
        new: The message just computed.
        old: The message it replaces.
        damping: Between 0 (new alone) and 1 (excluded).
    """
    if damping == 0.0:
        return new
    if isinstance(new, np.ndarray) and isinstance(old, np.ndarray):
        mixed: FloatArray = (1 - damping) * new + damping * old
        return mixed
    if isinstance(new, NgramPotential) and isinstance(old, NgramPotential):
        now, then = on_common_refinement([new, old])
        both_hs = np.isfinite(now.log_weight_hs) & np.isfinite(then.log_weight_hs)
        step_hs = np.subtract(
            then.log_weight_hs, now.log_weight_hs, where=both_hs, out=np.zeros(both_hs.shape)
        )
        return replace(now, log_weight_hs=now.log_weight_hs + damping * step_hs)
    if isinstance(new, StringTable) and isinstance(old, StringTable) and old.strings:
        listed = tuple(dict.fromkeys(new.strings + old.strings))
        weights = (1 - damping) * new.log_weights(listed) + damping * old.log_weights(listed)
        floor = (1 - damping) * new.floor + damping * old.floor
        return _without_forbidden(listed, weights, floor)
    return new


def coarsened(log_table: FloatArray, context: FloatArray, block_v: IntArray) -> FloatArray:
    """Return a table that is constant within blocks of values and keeps their probabilities.

    coarse(block) = log(sum over the block of exp(table + context) / sum of exp(context)).

    Args:
        log_table: float64[V], nats.
        context: float64[V], nats; blocks that it forbids are weighed evenly.
        block_v: The block of each value.
    """
    coarse = np.empty_like(log_table)
    for block in np.unique(block_v):
        inside = block_v == block
        weight = context[inside]
        if not np.any(weight > -np.inf):
            weight = np.zeros(len(weight))
        coarse[inside] = log_sum_exp(log_table[inside] + weight) - log_sum_exp(weight)
    return coarse


def difference(a: Potential, b: Potential) -> float:
    """Return the largest difference of log-weight between two potentials (nats).

    Tables are compared on all strings listed in either, machines on the best strings of both, and
    two n-gram potentials weight by weight.
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return _largest_gap(a, b)
    if isinstance(a, NgramPotential) and isinstance(b, NgramPotential):
        now, then = on_common_refinement([a, b])
        return _largest_gap(now.log_weight_hs, then.log_weight_hs)
    first, second = cast(StringPotential, a), cast(StringPotential, b)
    listed: dict[str, None] = {}
    for potential in (first, second):
        table = potential
        if not isinstance(table, StringTable):
            table = potential.k_best(COMPARED_STRINGS)
        listed.update(dict.fromkeys(table.strings))
    strings = tuple(listed)
    return _largest_gap(first.log_weights(strings), second.log_weights(strings))


def _largest_gap(a: FloatArray, b: FloatArray) -> float:
    differing = a != b
    return float(np.abs(a[differing] - b[differing]).max(initial=0.0))


def _candidates(tables: Sequence[StringTable], all_tables: bool) -> tuple[str, ...] | None:
    """Return the strings a product may list, or None when it is a machine."""
    closed = [table for table in tables if table.floor == -math.inf]
    if closed:
        smallest = min(closed, key=lambda table: len(table.strings))
        return smallest.strings
    if all_tables:
        return tuple(dict.fromkeys(chain.from_iterable(table.strings for table in tables)))
    return None


def _without_forbidden(strings: tuple[str, ...], weights: FloatArray, floor: float) -> StringTable:
    allowed = weights > -np.inf
    if floor > -math.inf or allowed.all():
        return StringTable(strings, weights, floor)
    return StringTable(strings, weights, floor).subset(np.flatnonzero(allowed).tolist())


def _sums_of_others(rows_dn: FloatArray) -> FloatArray:
    """Return, in row d, the sum of all rows but d (no subtraction: rows hold -inf)."""
    before_dn, after_dn = np.zeros_like(rows_dn), np.zeros_like(rows_dn)
    np.cumsum(rows_dn[:-1], axis=0, out=before_dn[1:])
    np.cumsum(rows_dn[:0:-1], axis=0, out=after_dn[-2::-1])
    return before_dn + after_dn


def _is_loose(potential: StringPotential) -> bool:
    """Return whether a potential is carried by no machine, only bounded by one."""
    return isinstance(potential, Powered) or (isinstance(potential, Scored) and not potential.tight)


def _over_one_alphabet(potentials: Sequence[StringPotential]) -> list[Acceptor]:
    """Return the potentials, or their bounds, as machines over a common alphabet.

    At least one of them must own an alphabet, which a table does not.
    """
    bounds = [_bound(potential) for potential in potentials]
    owners = (bound for bound in bounds if isinstance(bound, Acceptor | NgramPotential))
    alphabet = next(owners).alphabet
    for bound in bounds:
        if isinstance(bound, Acceptor | NgramPotential):
            alphabet = alphabet.extended(bound.alphabet.symbols)
        elif isinstance(bound, StringTable):
            alphabet = alphabet.extended(bound.strings)
    return [bound.to_acceptor(alphabet) for bound in bounds]


def _bound(potential: StringPotential) -> StringPotential:
    """Return a table as it is, and any other potential, or its bound, as a machine."""
    if isinstance(potential, Scored | Powered):
        return potential.bounding_acceptor
    if isinstance(potential, NgramPotential):
        return potential.to_acceptor(potential.alphabet)
    return potential


def _intersected(potentials: Sequence[StringPotential], max_arcs: int) -> Acceptor:
    """Return the intersection, smallest machines first."""
    over_one = _over_one_alphabet(potentials)
    smallest, *others = sorted(over_one, key=lambda machine: machine.fst.num_states())
    fst = smallest.fst
    for machine in others:
        fst = acceptors.intersection(fst, machine.fst, max_arcs)
    return Acceptor(fst, smallest.alphabet)


def _union(potentials: Sequence[StringPotential], max_arcs: int) -> Acceptor:
    over_one = _over_one_alphabet(potentials)
    num_arcs = sum(machine.arrays.num_arcs for machine in over_one)
    if num_arcs > max_arcs:
        raise acceptors.MachineTooLargeError(
            f"a mixture of {len(over_one)} machines has {num_arcs} arcs, more than {max_arcs}: "
            "use a k-best message family"
        )
    fst = pynini.union(*(machine.fst for machine in over_one))
    return Acceptor(fst, over_one[0].alphabet)


def _scored_product(potentials: Sequence[StringPotential], max_arcs: int) -> Scored:
    def score(strings: Sequence[str]) -> FloatArray:
        scores: FloatArray = np.sum([p.log_weights(strings) for p in potentials], axis=0)
        return scores

    def search(k: int) -> StringTable:
        found = best_of_product(potentials, k)
        return read.k_best(k) if found is None else found

    read = Scored(score, lambda: _intersected(potentials, max_arcs), tight=False)
    has_search = any(isinstance(p, Scored) and p.search is not None for p in potentials)
    return replace(read, search=search) if has_search else read
