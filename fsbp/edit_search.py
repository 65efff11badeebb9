"""The likeliest targets of contextual edits, by beam search.

Public names: `likeliest_targets`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.edit_contexts import COPY, DELETE, END, WRITE, Rows, last_vowel
from fsbp.edit_places import Places, known_place, new_place

LEAST_LOG = -12.0
"""Hypotheses that are less likely than this (nats) are given up."""
SPARE = 24
"""How many symbols a target may have besides two for each symbol of the source."""


def likeliest_targets(places: Places, width: int) -> list[npt.NDArray[np.int32]]:
    """Return the code points of at most `width` targets, likeliest sequence of edits first.

    Args:
        places: Of the source.
        width: Hypotheses kept at each step.
    """
    target_kl, length_k = _beam(places, width)
    return [target[:length] for target, length in zip(target_kl, length_k.tolist(), strict=True)]


@compiled
def _beam(places: Places, width: int) -> tuple[IntArray, Rows]:
    """Return int32[K, L] targets and int64[K] lengths; every step adds one edit to all."""
    x, written_w, num_edits = places.x, places.written_w, places.weight_re.shape[1]
    newest_il, known_pk, log_prob_pe = places.newest_il, places.known_pk, places.log_prob_pe
    longest = 2 * len(x) + SPARE
    written_hl = np.zeros((width, longest), np.int32)
    read_h, length_h = np.zeros(width, np.int64), np.zeros(width, np.int64)
    last_h, vowel_h = np.zeros(width, np.int64), np.full(width, -1, np.int64)
    log_prob_h = np.zeros(width)
    done_kl, length_k = np.zeros((width, longest), np.int32), np.zeros(width, np.int64)
    log_prob_k = np.full(width, -np.inf)
    choice_c, score_c = np.empty(width, np.int64), np.empty(width)
    alive = 1
    while alive:
        chosen, least = 0, max(LEAST_LOG, log_prob_k.min())
        for h in range(alive):
            j = length_h[h]
            i, y, last, vowel = read_h[h], written_hl[h], last_h[h], vowel_h[h]
            place = known_place(newest_il, known_pk, i, y, j, last, vowel)
            if place < 0:
                place = new_place(places, i, y, j, last, vowel)
            for e in range(num_edits if j < longest else WRITE):
                score = log_prob_h[h] + log_prob_pe[place, e]
                if score >= least and (j < longest or e != COPY):
                    chosen = _insert(h * num_edits + e, score, choice_c, score_c, chosen)
        old_hl, old_read_h, old_length_h = written_hl.copy(), read_h.copy(), length_h.copy()
        old_vowel_h = vowel_h.copy()
        alive = 0
        for c in range(chosen):
            choice, score = choice_c[c], score_c[c]
            if score < log_prob_k.min():
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
                vowel_h[alive] = last_vowel(vowel_h[alive], symbol, places.vowel_v)
            alive += 1
    order_k = np.argsort(-log_prob_k, kind="mergesort")
    order_k = order_k[: np.sum(log_prob_k > -np.inf)]
    return done_kl[order_k], length_k[order_k]


@compiled
def _insert(choice: int, score: float, choice_c: Rows, score_c: FloatArray, chosen: int) -> int:
    """Put a choice among the best ones so far, after those as good; return how many there are."""
    at = chosen
    while at > 0 and score > score_c[at - 1]:
        at -= 1
        if at + 1 < len(score_c):
            choice_c[at + 1], score_c[at + 1] = choice_c[at], score_c[at]
    if at < len(score_c):
        choice_c[at], score_c[at] = choice, score
    return min(chosen + 1, len(score_c))
