"""Learning the weights of contextual edits by stochastic gradient steps.

Public names: `trained_weights`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fsbp.arrays import IntArray, compiled
from fsbp.edit_contexts import (
    COPY,
    DELETE,
    NUM_CONTEXTS,
    WRITE,
    Rows,
    last_vowel,
    read_contexts,
    weight_row,
    written_contexts,
)
from fsbp.edit_scores import Weights, normalise

TOLERATED = np.float32(1e-2)
"""An edit whose probability is no farther than this from what it should be teaches nothing, so that
weights do not grow for the sake of what the model knows already."""
FIRST_SQUARE = np.float32(1e-2)
"""What the sums of squared gradients start from: weights move carefully at first."""


def trained_weights(
    sources: Sequence[IntArray],
    targets: Sequence[IntArray],
    edits: Sequence[IntArray],
    groups: Sequence[Rows],
    vowel_v: IntArray,
    weight_re: Weights,
    order_pn: npt.NDArray[np.int64],
    rate: float,
) -> Weights:
    """Return the weights after some passes over N examples, by AdaGrad on the log-likelihood.

    Args:
        sources: Code points, int32 each.
        targets: Code points, int32 each.
        edits: The edits that rewrite each source into its target; the last one is `END`.
        groups: Hashes of the groups of each example.
        vowel_v: int32[V], sorted.
        weight_re: float32[R, E], to start from; overwritten.
        order_pn: int64[P, N], the examples in the order of each pass.
        rate: Of the steps.

    Source: Duchi, Hazan and Singer (2011), "Adaptive subgradient methods".
    """
    square_re = np.full_like(weight_re, FIRST_SQUARE)
    row_r = np.empty(NUM_CONTEXTS * max(map(len, groups)), dtype=np.int64)
    for order in order_pn.tolist():
        for n in order:
            _learn(
                sources[n], targets[n], edits[n], groups[n], vowel_v, weight_re, square_re,
                row_r, rate,
            )  # fmt: skip
    return weight_re


@compiled
def _learn(
    x: IntArray,
    y: IntArray,
    edit_s: IntArray,
    group_g: Rows,
    vowel_v: IntArray,
    weight_re: Weights,
    square_re: Weights,
    row_r: Rows,
    rate: float,
) -> None:
    """Step along the gradient of each edit of one example in turn."""
    row_r = row_r[: NUM_CONTEXTS * len(group_g)]
    hash_c = np.empty(NUM_CONTEXTS, np.uint64)
    gradient_e = np.empty(weight_re.shape[1], np.float32)
    i, j, last, vowel = 0, 0, COPY, -1
    for edit in edit_s:
        read_contexts(x, i, last, hash_c)
        written_contexts(x, i, y, j, last, vowel, hash_c)
        gradient_e[:] = np.float32(0.0)
        count = 0
        for context in hash_c:
            for group in group_g:
                row = weight_row(context, group, len(weight_re))
                row_r[count] = row
                count += 1
                for e in range(len(gradient_e)):
                    gradient_e[e] += weight_re[row, e]
        normalise(gradient_e, i < len(x), i < len(x) and last != WRITE)
        for e in range(len(gradient_e)):
            gradient_e[e] = np.exp(gradient_e[e])
        gradient_e[edit] -= np.float32(1.0)
        if gradient_e[edit] < -TOLERATED:
            for e in range(len(gradient_e)):
                step = gradient_e[e]
                if abs(step) > TOLERATED:
                    for row in row_r:
                        square_re[row, e] += step * step
                        weight_re[row, e] -= np.float32(rate) * step / np.sqrt(square_re[row, e])
        last = min(edit, WRITE)
        i += edit == COPY or edit == DELETE
        if edit == COPY or edit >= WRITE:
            vowel = last_vowel(vowel, y[j], vowel_v)
            j += 1
