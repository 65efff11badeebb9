"""Contextual edits one sequence at a time: what sums and searches are compared with."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from fsbp.contextual_edits import SHARED, ContextualEdits
from fsbp.edit_contexts import (
    COPY,
    DELETE,
    END,
    NUM_CONTEXTS,
    WRITE,
    read_contexts,
    weight_row,
    written_contexts,
)
from fsbp.edit_sums import LEAST_LOG

SYMBOLS = "ab\u0301𝄞z"
"""A vowel, a consonant, a combining mark, an astral symbol, and one that no edit writes."""
STRINGS = st.text(alphabet=SYMBOLS, max_size=4)
GROUPS = st.sampled_from([(), ("x",), ("x", "ÿ")])
SEEDS = st.integers(0, 2**32 - 1)


def codes(text: str) -> np.ndarray:
    return np.array([ord(symbol) for symbol in text], dtype=np.int32)


def group_hashes(groups: Sequence[str]) -> np.ndarray:
    """Return int64[1 + groups]: all pairs first."""
    return np.array([SHARED, *(zlib.crc32(group.encode()) + 1 for group in groups)])


def random_model(
    seed: int,
    written: str = "ab\u0301𝄞",
    vowels: str = "a\u0301",
    spread: float = 0.25,
    rows: int = 128,
) -> ContextualEdits:
    """Return a model of random weights that would rather copy or delete than write."""
    weight_re = np.random.default_rng(seed).normal(0.0, spread, (rows, WRITE + len(written)))
    weight_re[:, WRITE:] -= 2.0 / NUM_CONTEXTS
    return ContextualEdits(codes("".join(sorted(written))), codes(vowels), weight_re.astype("f4"))


def rows_at(
    x: np.ndarray, i: int, y: np.ndarray, j: int, last: int, vowel: int, group_g: np.ndarray,
    num_rows: int,
) -> np.ndarray:  # fmt: skip
    """Return the rows of weights that speak at a place, int64[NUM_CONTEXTS x groups]."""
    hash_c = np.empty(NUM_CONTEXTS, dtype=np.uint64)
    read_contexts(x, i, last, hash_c)
    written_contexts(x, i, y, j, last, vowel, hash_c)
    return np.array([weight_row(h, group, num_rows) for h in hash_c for group in group_g.tolist()])


def log_softmax(logit_e: np.ndarray, left: bool, last: int) -> np.ndarray:
    """Return the log-probabilities of the edits that are possible, from the text: float64[E]."""
    masked_e = logit_e.astype(np.float64)
    masked_e[END if left else COPY] = -np.inf
    if not left or last == WRITE:
        masked_e[DELETE] = -np.inf
    return masked_e - np.logaddexp.reduce(masked_e)


class Sums(NamedTuple):
    """Probabilities of edit sequences: of all, of those whose every part is likely, of the best."""

    total: float
    sure: float
    best: float


def enumerated(model: ContextualEdits, x: str, y: str, groups: Sequence[str]) -> Sums:
    """Sum over the sequences of edits one by one."""
    x_codes, y_codes, group_g = codes(x), codes(y), group_hashes(groups)
    edit_of = {chr(code): WRITE + w for w, code in enumerate(model.written_w.tolist())}
    vowels = set(model.vowel_v.tolist())
    known: dict[tuple[int, int, int], np.ndarray] = {}

    def probabilities(i: int, j: int, last: int) -> np.ndarray:
        if (i, j, last) not in known:
            vowel = next((v for v in y_codes[:j][::-1].tolist() if v in vowels), -1)
            rows = rows_at(x_codes, i, y_codes, j, last, vowel, group_g, len(model.weight_re))
            logit_e = model.weight_re.astype(np.float64)[rows].sum(axis=0)
            known[i, j, last] = np.exp(log_softmax(logit_e, i < len(x), last))
        return known[i, j, last]

    def summed(i: int, j: int, last: int, reached: float) -> Sums:
        prob_e = probabilities(i, j, last)
        steps = []
        if i < len(x) and last != WRITE:
            steps.append((i + 1, j, DELETE, prob_e[DELETE]))
        if i < len(x) and j < len(y) and x[i] == y[j]:
            steps.append((i + 1, j + 1, COPY, prob_e[COPY]))
        if j < len(y) and y[j] in edit_of:
            steps.append((i, j + 1, WRITE, prob_e[edit_of[y[j]]]))
        sums = [Sums(0.0, 0.0, 0.0)]
        if i == len(x) and j == len(y):
            ended = reached * prob_e[END]
            sums.append(Sums(ended, ended, ended))
        for then_i, then_j, edit, probability in steps:
            after = summed(then_i, then_j, edit, reached * probability)
            likely = math.log(reached * probability) >= LEAST_LOG + 1e-4
            sums.append(after if likely else after._replace(sure=0.0))
        totals, sures, bests = zip(*sums, strict=True)
        return Sums(sum(totals), sum(sures), max(bests))

    return summed(0, 0, COPY, 1.0)
