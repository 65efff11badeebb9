"""How well one cell's form predicts another's, measured cheaply for all pairs of cells.

Public names: `shares_of_commonest_change`, `discounted_share`.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from fsbp.arrays import FloatArray, IntArray, compiled

SAMPLE = 64
"""Lexemes looked at per pair of cells."""

Numbers = TypeVar("Numbers", float, FloatArray)


def discounted_share(share: Numbers, count: Numbers) -> Numbers:
    """Return share x count / (count + 1): what few lexemes show counts for less.

    Args:
        share: Of the commonest change, 0 to 1.
        count: Lexemes that tell, 0 or more.
    """
    return share * count / (count + 1.0)


@compiled
def shares_of_commonest_change(
    source_l: IntArray, form_cl: IntArray, symbol_fs: IntArray, length_f: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return how often the commonest change explains each cell, and the lexemes that tell.

    A change is what is left of two forms once the longer of their common prefix and common suffix
    is taken off. At most the first `SAMPLE` lexemes with both cells filled are compared.

    Args:
        source_l: int32[lexemes], form of the source cell by number, -1 where it is a hole.
        form_cl: int32[cells, lexemes], forms of all cells.
        symbol_fs: int32[forms, symbols], code points, padded.
        length_f: int32[forms], lengths.

    Returns:
        float64[cells], 0 to 1; int32[cells], lexemes with both cells filled.

    Cost: O(cells x (lexemes + SAMPLE squared)).
    """
    num_cells, num_lexemes = form_cl.shape
    share_c = np.zeros(num_cells)
    count_c = np.zeros(num_cells, np.int32)
    change_n = np.zeros(SAMPLE, np.int64)
    for cell in range(num_cells):
        compared = 0
        for lexeme in range(num_lexemes):
            x, y = source_l[lexeme], form_cl[cell, lexeme]
            if x < 0 or y < 0:
                continue
            count_c[cell] += 1
            if compared < SAMPLE:
                change_n[compared] = _change(symbol_fs[x], length_f[x], symbol_fs[y], length_f[y])
                compared += 1
        best = 0
        for n in range(compared):
            same = 0
            for m in range(compared):
                if change_n[m] == change_n[n]:
                    same += 1
            best = max(best, same)
        if compared:
            share_c[cell] = best / compared
    return share_c, count_c


@compiled
def _change(x_s: IntArray, x_length: int, y_s: IntArray, y_length: int) -> int:
    """Return a hash of the change between two forms."""
    most = min(x_length, y_length)
    prefix = 0
    while prefix < most and x_s[prefix] == y_s[prefix]:
        prefix += 1
    suffix = 0
    while suffix < most and x_s[x_length - 1 - suffix] == y_s[y_length - 1 - suffix]:
        suffix += 1
    hashed = 17
    if prefix >= suffix:
        for n in range(prefix, x_length):
            hashed = hashed * 1000003 + x_s[n]
        hashed = hashed * 1000003 + 1
        for n in range(prefix, y_length):
            hashed = hashed * 1000003 + y_s[n]
    else:
        for n in range(x_length - suffix):
            hashed = hashed * 1000003 + x_s[n]
        hashed = hashed * 1000003 + 2
        for n in range(y_length - suffix):
            hashed = hashed * 1000003 + y_s[n]
    return hashed
