"""Sums over all sequences of contextual edits from one string to others.

Public names: `log_probabilities`.
"""

from __future__ import annotations

import numpy as np

from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.edit_contexts import COPY, DELETE, END, NUM_CONTEXTS, WRITE, Rows, last_vowel
from fsbp.edit_scores import Weights, edit_log_probabilities

LEAST_LOG = -16.0
"""Sequences that are less likely than this (nats) are not followed."""


@compiled
def log_probabilities(
    x: IntArray,
    y_all: IntArray,
    start_n: Rows,
    group_g: Rows,
    written_w: IntArray,
    vowel_v: IntArray,
    weight_re: Weights,
    read_ile: Weights,
) -> FloatArray:
    """Return float64[N], log P(y | x) for targets in alphabetical order.

    `log_sum[j, i, last]` is that of all edits that read i symbols, write the first j and end so;
    a target takes over what it shares with the one before.

    Args:
        x: int32[n], the source.
        y_all: int32, all targets end to end.
        start_n: int64[N + 1], where each begins.
        group_g: int64[G], hashes of the groups.
        written_w: int32[W], symbols that edits write, sorted.
        vowel_v: int32[V], vowels, sorted.
        weight_re: float32[R, 3 + W].
        read_ile: What `read_scores` returns for the source.
    """
    n, num_targets = len(x), len(start_n) - 1
    longest = 0
    for target in range(num_targets):
        longest = max(longest, start_n[target + 1] - start_n[target])
    hash_c = np.empty(NUM_CONTEXTS, np.uint64)
    log_prob_e = np.empty(weight_re.shape[1], np.float32)
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
                    edit_log_probabilities(
                        x, i, y, j, last, vowel, group_g, weight_re, read_ile, hash_c, log_prob_e
                    )
                    if i < n and last != WRITE:
                        _add(log_sum[j, i + 1], DELETE, reached + log_prob_e[DELETE])
                    if i < n and j < len(y) and x[i] == y[j]:
                        _add(log_sum[j + 1, i + 1], COPY, reached + log_prob_e[COPY])
                    if i == n and j == len(y):
                        _add(log_prob_n, target, reached + log_prob_e[END])
                    if write >= 0:
                        _add(log_sum[j + 1, i], WRITE, reached + log_prob_e[write])
    return log_prob_n


@compiled
def _add(log_sum: FloatArray, position: int, log_weight: float) -> None:
    log_sum[position] = np.logaddexp(log_sum[position], log_weight)


@compiled
def _edit_that_writes(symbol: int, written_w: IntArray) -> int:
    """Return the edit that writes a symbol, or -1 where none does."""
    position = np.searchsorted(written_w, symbol)
    if position < len(written_w) and written_w[position] == symbol:
        return WRITE + int(position)
    return -1
