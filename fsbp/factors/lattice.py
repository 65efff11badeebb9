"""Scores of string pairs under a transducer, without composing machines.

For two known strings every path of a transducer lies on a lattice of (position in the input,
position in the output, state). Compiled loops sum over it; arcs are found by binary search on
(state, input label, output label), so only arcs that fit both strings are met.

Public names: `PairLattice`, `pair_lattice`, `pair_log_weights`, `expected_pair_counts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fsbp.arrays import ArcArrays, FloatArray, IntArray, compiled
from fsbp.reading import log_add
from fsbp.tries import flat_labels

KeyArray: TypeAlias = npt.NDArray[np.int64]

MOVES = ((1, 1), (1, 0), (0, 1))


class PairLattice(NamedTuple):
    """A transducer's arcs, sorted for look-up.

    Args:
        start: Start state.
        final_s: float64[S], nats.
        base: Labels run from 0 to base - 1.
        key_a: int64[A], increasing: (source x base + input label) x base + output label.
        target_a: int32[A], in the order of `key_a`.
        log_weight_a: float64[A], in the order of `key_a`, nats.
        arc_a: int32[A], each arc's position in the transducer.
    """

    start: int
    final_s: FloatArray
    base: int
    key_a: KeyArray
    target_a: IntArray
    log_weight_a: FloatArray
    arc_a: IntArray


def pair_lattice(transducer: ArcArrays) -> PairLattice:
    """Return the look-up form of a transducer without empty arcs.

    Args:
        transducer: No arc may have epsilon on both sides.

    Raises:
        ValueError: An arc has epsilon on both sides.

    Cost: O(A log A).
    """
    if np.any((transducer.ilabel_a == 0) & (transducer.olabel_a == 0)):
        raise ValueError("the transducer has arcs with epsilon on both sides: remove them first")
    labels = (transducer.ilabel_a, transducer.olabel_a)
    base = 1 + max(int(side.max(initial=0)) for side in labels)
    key_a = transducer.source_a.astype(np.int64) * base + transducer.ilabel_a
    key_a = key_a * base + transducer.olabel_a
    order = np.argsort(key_a, kind="stable")
    return PairLattice(
        transducer.start,
        transducer.final_s,
        base,
        key_a[order],
        transducer.target_a[order],
        transducer.log_weight_a[order],
        order.astype(np.int32),
    )


def pair_log_weights(
    lattice: PairLattice, inputs: Sequence[Sequence[int]], outputs: Sequence[Sequence[int]]
) -> FloatArray:
    """Return float64[N, M], the log-weight of each input with each output, summed over paths.

    Args:
        lattice: Of the transducer.
        inputs: N label sequences; labels the transducer lacks are refused, not an error.
        outputs: M label sequences.

    Cost: O(sum over pairs of |x| |y| x states reached x log A).
    """
    return _pair_log_weights(lattice, *flat_labels(inputs), *flat_labels(outputs))


def expected_pair_counts(
    lattice: PairLattice,
    inputs: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
    weight_nm: FloatArray,
) -> FloatArray:
    """Return float64[A], expected uses of each arc, averaged over pairs.

    count(a) = sum over pairs of weight(x, y) x E[uses of a | x, y].

    Args:
        lattice: Of the transducer.
        inputs: N label sequences.
        outputs: M label sequences.
        weight_nm: float64[N, M], not logs; pairs of weight 0 are skipped.

    Cost: Three times that of `pair_log_weights`.
    """
    return _expected_pair_counts(lattice, *flat_labels(inputs), *flat_labels(outputs), weight_nm)


@compiled
def _arc_range(lattice: PairLattice, state: int, ilabel: int, olabel: int) -> tuple[int, int]:
    """Return the range of arcs with these labels that leave the state."""
    if ilabel >= lattice.base or olabel >= lattice.base:
        return 0, 0
    key = (np.int64(state) * lattice.base + ilabel) * lattice.base + olabel
    begin = int(np.searchsorted(lattice.key_a, key))
    end = begin
    while end < len(lattice.key_a) and lattice.key_a[end] == key:
        end += 1
    return begin, end


@compiled
def _forward(lattice: PairLattice, x: IntArray, y: IntArray) -> FloatArray:
    """Return alpha[i, j, s], the weight of all paths that have read x[:i] and written y[:j]."""
    alpha = np.full((len(x) + 1, len(y) + 1, len(lattice.final_s)), -np.inf)
    alpha[0, 0, lattice.start] = 0.0
    for i in range(len(x) + 1):
        for j in range(len(y) + 1):
            for s in range(len(lattice.final_s)):
                here = alpha[i, j, s]
                if here == -np.inf:
                    continue
                for di, dj in MOVES:
                    if i + di > len(x) or j + dj > len(y):
                        continue
                    ilabel = x[i] if di else 0
                    olabel = y[j] if dj else 0
                    begin, end = _arc_range(lattice, s, ilabel, olabel)
                    for a in range(begin, end):
                        t = lattice.target_a[a]
                        alpha[i + di, j + dj, t] = log_add(
                            alpha[i + di, j + dj, t], here + lattice.log_weight_a[a], False
                        )
    return alpha


@compiled
def _add_counts(
    lattice: PairLattice, x: IntArray, y: IntArray, weight: float, count_a: FloatArray
) -> None:
    """Add weight x E[uses of each arc | x, y] to the counts."""
    alpha = _forward(lattice, x, y)
    beta = np.full(alpha.shape, -np.inf)
    beta[len(x), len(y)] = lattice.final_s
    total = -np.inf
    for s in range(len(lattice.final_s)):
        total = log_add(total, alpha[len(x), len(y), s] + lattice.final_s[s], False)
    if total == -np.inf:
        return
    for i in range(len(x), -1, -1):
        for j in range(len(y), -1, -1):
            for s in range(len(lattice.final_s)):
                here = alpha[i, j, s]
                if here == -np.inf:
                    continue
                for di, dj in MOVES:
                    if i + di > len(x) or j + dj > len(y):
                        continue
                    ilabel = x[i] if di else 0
                    olabel = y[j] if dj else 0
                    begin, end = _arc_range(lattice, s, ilabel, olabel)
                    for a in range(begin, end):
                        after = beta[i + di, j + dj, lattice.target_a[a]] + lattice.log_weight_a[a]
                        beta[i, j, s] = log_add(beta[i, j, s], after, False)
                        count_a[lattice.arc_a[a]] += weight * np.exp(here + after - total)


@compiled
def _pair_log_weights(
    lattice: PairLattice, x_flat: IntArray, x_first: IntArray, y_flat: IntArray, y_first: IntArray
) -> FloatArray:
    result = np.full((len(x_first) - 1, len(y_first) - 1), -np.inf)
    for n in range(len(x_first) - 1):
        x = x_flat[x_first[n] : x_first[n + 1]]
        for m in range(len(y_first) - 1):
            y = y_flat[y_first[m] : y_first[m + 1]]
            alpha = _forward(lattice, x, y)
            for s in range(len(lattice.final_s)):
                ending = alpha[len(x), len(y), s] + lattice.final_s[s]
                result[n, m] = log_add(result[n, m], ending, False)
    return result


@compiled
def _expected_pair_counts(
    lattice: PairLattice,
    x_flat: IntArray,
    x_first: IntArray,
    y_flat: IntArray,
    y_first: IntArray,
    weight_nm: FloatArray,
) -> FloatArray:
    count_a = np.zeros(len(lattice.key_a))
    for n in range(len(x_first) - 1):
        x = x_flat[x_first[n] : x_first[n + 1]]
        for m in range(len(y_first) - 1):
            if weight_nm[n, m] > 0.0:
                y = y_flat[y_first[m] : y_first[m + 1]]
                _add_counts(lattice, x, y, weight_nm[n, m], count_a)
    return count_a
