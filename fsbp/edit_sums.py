"""Sums over all sequences of contextual edits from one string to others.

Public names: `log_probabilities`.
"""

from __future__ import annotations

import numpy as np

from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.edit_contexts import COPY, DELETE, END, WRITE, Rows, last_vowel
from fsbp.edit_places import Places, known_place, new_place

LEAST_LOG = -16.0
"""Sequences that are less likely than this (nats) are not followed."""


@compiled
def log_probabilities(places: Places, y_all: IntArray, start_n: Rows) -> FloatArray:
    """Return float64[N], log P(y | x) for targets in alphabetical order.

    `log_sum[j, i, last]` is that of all edits that read i symbols, write the first j and end so;
    a target takes over what it shares with the one before.

    Args:
        places: Of the source.
        y_all: int32, all targets end to end.
        start_n: int64[N + 1], where each begins.
    """
    x, written_w, vowel_v = places.x, places.written_w, places.vowel_v
    newest_il, known_pk, log_prob_pe = places.newest_il, places.known_pk, places.log_prob_pe
    n, num_targets = len(x), len(start_n) - 1
    longest = 0
    for target in range(num_targets):
        longest = max(longest, start_n[target + 1] - start_n[target])
    log_sum = np.full((longest + 2, n + 1, 4), -np.inf)
    log_sum[0, 0, COPY] = 0.0
    log_prob_n = np.full(num_targets, -np.inf)
    before = y_all[:0]
    for target in range(num_targets):
        y = y_all[start_n[target] : start_n[target + 1]]
        shared = 0
        while shared < min(len(y), len(before)) and y[shared] == before[shared]:
            shared += 1
        before = y
        log_sum[shared + 1 :] = -np.inf
        log_sum[shared, :, DELETE] = -np.inf
        vowel = -1
        for j in range(len(y) + 1):
            if j > 0:
                vowel = last_vowel(vowel, y[j - 1], vowel_v)
            if j < shared:
                continue
            write = _edit_that_writes(y[j], written_w) if j < len(y) else -1
            for i in range(n + 1):
                for last in (COPY, DELETE, WRITE):
                    reached = log_sum[j, i, last]
                    if reached < LEAST_LOG:
                        continue
                    may_delete = i < n and last != WRITE
                    may_copy = i < n and j < len(y) and x[i] == y[j]
                    may_end = i == n and j == len(y)
                    if not (may_delete or may_copy or may_end or write >= 0):
                        continue
                    place = known_place(newest_il, known_pk, i, y, j, last, vowel)
                    if place < 0:
                        place = new_place(places, i, y, j, last, vowel)
                    if may_delete:
                        _add(log_sum[j, i + 1], DELETE, reached + log_prob_pe[place, DELETE])
                    if may_copy:
                        _add(log_sum[j + 1, i + 1], COPY, reached + log_prob_pe[place, COPY])
                    if may_end:
                        _add(log_prob_n, target, reached + log_prob_pe[place, END])
                    if write >= 0:
                        _add(log_sum[j + 1, i], WRITE, reached + log_prob_pe[place, write])
    return log_prob_n


@compiled
def _add(log_sum: FloatArray, position: int, log_weight: float) -> None:
    if log_sum[position] == -np.inf:
        log_sum[position] = log_weight
    else:
        log_sum[position] = np.logaddexp(log_sum[position], log_weight)


@compiled
def _edit_that_writes(symbol: int, written_w: IntArray) -> int:
    """Return the edit that writes a symbol, or -1 where none does."""
    position = np.searchsorted(written_w, symbol)
    if position < len(written_w) and written_w[position] == symbol:
        return WRITE + int(position)
    return -1
