"""Probabilities of the next contextual edit.

Most contexts look at the source and the last edit only; what they have to say is added up once for
each place in a source.

Public names: `Weights`, `normalise`, `read_scores`, `edit_log_probabilities`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fsbp.arrays import IntArray, compiled
from fsbp.edit_contexts import (
    COPY,
    DELETE,
    END,
    NUM_CONTEXTS,
    NUM_READ,
    WRITE,
    Hashes,
    Rows,
    read_contexts,
    weight_row,
    written_contexts,
)

Weights = npt.NDArray[np.float32]


@compiled
def normalise(score_e: Weights, may_read: bool, may_delete: bool) -> None:
    """Turn the scores of all edits into their log-probabilities.

    Args:
        score_e: float32[E], overwritten.
        may_read: Whether a symbol is left to read; where there is, the string cannot end.
        may_delete: Whether the next symbol may be deleted.
    """
    if may_read:
        score_e[END] = -np.inf
    else:
        score_e[COPY] = -np.inf
    if not may_delete:
        score_e[DELETE] = -np.inf
    best = score_e.max()
    total = np.float32(0.0)
    for e in range(len(score_e)):
        total += np.exp(score_e[e] - best)
    shift = best + np.log(total)
    for e in range(len(score_e)):
        score_e[e] -= shift


@compiled
def read_scores(x: IntArray, group_g: Rows, weight_re: Weights) -> Weights:
    """Return float32[n + 1, WRITE + 1, E], what the source says of each edit at each place.

    Args:
        x: int32[n], code points of the source.
        group_g: int64[G], hashes of the groups.
        weight_re: float32[R, E].
    """
    hash_c = np.empty(NUM_CONTEXTS, np.uint64)
    score_ile = np.zeros((len(x) + 1, WRITE + 1, weight_re.shape[1]), np.float32)
    for i in range(len(x) + 1):
        for last in (COPY, DELETE, WRITE):
            read_contexts(x, i, last, hash_c)
            _add_weights(hash_c[:NUM_READ], group_g, weight_re, score_ile[i, last])
    return score_ile


@compiled
def edit_log_probabilities(
    x: IntArray,
    i: int,
    y: IntArray,
    j: int,
    last: int,
    vowel: int,
    group_g: Rows,
    weight_re: Weights,
    read_e: Weights,
    log_prob_e: Weights,
) -> None:
    """Set `log_prob_e` to the log-probabilities of all edits at a place.

    Args:
        x: int32[n], code points of the source.
        i: How many of them have been read.
        y: Code points written, at least the first j.
        j: How many symbols have been written.
        last: The last edit: `COPY`, `DELETE` or `WRITE`; `COPY` at the beginning.
        vowel: The last vowel written, or -1.
        group_g: int64[G], hashes of the groups.
        weight_re: float32[R, E].
        read_e: float32[E], what `read_scores` returns for this source at i after the last edit.
        log_prob_e: float32[E], overwritten.
    """
    hash_c = np.empty(NUM_CONTEXTS, np.uint64)
    log_prob_e[:] = read_e
    written_contexts(x, i, y, j, last, vowel, hash_c)
    _add_weights(hash_c[NUM_READ:], group_g, weight_re, log_prob_e)
    normalise(log_prob_e, i < len(x), i < len(x) and last != WRITE)


@compiled
def _add_weights(hash_c: Hashes, group_g: Rows, weight_re: Weights, score_e: Weights) -> None:
    for context in hash_c:
        for group in group_g:
            row = weight_row(context, group, len(weight_re))
            for e in range(len(score_e)):
                score_e[e] += weight_re[row, e]
