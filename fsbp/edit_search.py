"""The likeliest targets of contextual edits, by beam search.

Public names: `likeliest_targets`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fsbp.arrays import IntArray, compiled
from fsbp.edit_contexts import COPY, DELETE, END, NUM_CONTEXTS, WRITE, Rows, last_vowel
from fsbp.edit_scores import Weights, edit_log_probabilities

LEAST_LOG = -12.0
"""Hypotheses that are less likely than this (nats) are given up."""
SPARE = 24
"""How many symbols a target may have besides two for each symbol of the source."""


def likeliest_targets(
    x: IntArray,
    group_g: Rows,
    written_w: IntArray,
    vowel_v: IntArray,
    weight_re: Weights,
    read_ile: Weights,
    width: int,
) -> list[npt.NDArray[np.int32]]:
    """Return the code points of at most `width` targets, likeliest sequence of edits first.

    Args:
        x: int32[n], the source.
        group_g: int64[G], hashes of the groups.
        written_w: int32[W], symbols that edits write, sorted.
        vowel_v: int32[V], vowels, sorted.
        weight_re: float32[R, 3 + W].
        read_ile: What `read_scores` returns for the source.
        width: Hypotheses kept at each step.
    """
    target_kl, length_k = _beam(x, group_g, written_w, vowel_v, weight_re, read_ile, width)
    return [target[:length] for target, length in zip(target_kl, length_k.tolist(), strict=True)]


@compiled
def _beam(
    x: IntArray,
    group_g: Rows,
    written_w: IntArray,
    vowel_v: IntArray,
    weight_re: Weights,
    read_ile: Weights,
    width: int,
) -> tuple[IntArray, Rows]:
    """Return int32[K, L] targets and int64[K] lengths; every step adds one edit to all."""
    n, num_edits = len(x), weight_re.shape[1]
    longest = 2 * n + SPARE
    hash_c = np.empty(NUM_CONTEXTS, np.uint64)
    log_prob_e = np.empty(num_edits, np.float32)
    written_hl = np.zeros((width, longest), np.int32)
    read_h, length_h = np.zeros(width, np.int64), np.zeros(width, np.int64)
    last_h, vowel_h = np.zeros(width, np.int64), np.full(width, -1, np.int64)
    log_prob_h = np.zeros(width)
    done_kl, length_k = np.zeros((width, longest), np.int32), np.zeros(width, np.int64)
    log_prob_k = np.full(width, -np.inf)
    alive = 1
    while alive:
        score_x = np.full(alive * num_edits, -np.inf)
        for h in range(alive):
            i, j, last = read_h[h], length_h[h], last_h[h]
            edit_log_probabilities(
                x, i, written_hl[h], j, last, vowel_h[h], group_g, weight_re, read_ile, hash_c,
                log_prob_e,
            )  # fmt: skip
            most = num_edits if j < longest else WRITE
            score_x[h * num_edits : h * num_edits + most] = log_prob_h[h] + log_prob_e[:most]
            if j == longest:
                score_x[h * num_edits + COPY] = -np.inf
        chosen_h = np.argsort(-score_x, kind="mergesort")[:width]
        old_hl, old_read_h, old_length_h = written_hl.copy(), read_h.copy(), length_h.copy()
        old_vowel_h = vowel_h.copy()
        alive = 0
        for choice in chosen_h:
            score = score_x[choice]
            if score < max(LEAST_LOG, log_prob_k.min()):
                break
            h, edit = choice // num_edits, choice % num_edits
            if edit == END:
                worst = np.argmin(log_prob_k)
                done_kl[worst], length_k[worst] = old_hl[h], old_length_h[h]
                log_prob_k[worst] = score
                continue
            written_hl[alive], length_h[alive] = old_hl[h], old_length_h[h]
            read_h[alive] = old_read_h[h] + (edit <= DELETE)
            vowel_h[alive], last_h[alive] = old_vowel_h[h], min(edit, WRITE)
            log_prob_h[alive] = score
            if edit != DELETE:
                symbol = x[old_read_h[h]] if edit == COPY else written_w[edit - WRITE]
                written_hl[alive, length_h[alive]] = symbol
                length_h[alive] += 1
                vowel_h[alive] = last_vowel(vowel_h[alive], symbol, vowel_v)
            alive += 1
    order_k = np.argsort(-log_prob_k, kind="mergesort")
    order_k = order_k[: np.sum(log_prob_k > -np.inf)]
    return done_kl[order_k], length_k[order_k]
