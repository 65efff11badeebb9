"""What a contextual edit model knows of its place in a string when it chooses the next edit.

A place is what has been read and what has been written so far, what the last edit was, and the last
vowel written. Each of a few contexts looks at some of that; combined with each of a few groups,
such as the cell that is asked for, it picks a row of the model's weights by its hash.

Public names: `COPY`, `DELETE`, `END`, `WRITE`, `NUM_CONTEXTS`, `weight_rows`, `last_vowel`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fsbp.arrays import IntArray, compiled

COPY, DELETE, END, WRITE = 0, 1, 2, 3
"""Edits by number; `WRITE` and all above it write a symbol, by its number."""
NUM_CONTEXTS = 20
NO_SYMBOL = -1
FARTHEST = 5
"""Distances from the end are told apart up to this one."""
FARTHEST_FROM_START = 3

Rows = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]


@compiled
def _mixed(bits: np.uint64, value: int) -> np.uint64:
    bits = (bits ^ np.uint64(value + 8)) * np.uint64(0x9E3779B97F4A7C15)
    return bits ^ (bits >> np.uint64(29))


@compiled
def _hash(number: int, a: int, b: int, c: int, d: int) -> np.uint64:
    """Return 64 well mixed bits of five numbers from -8 on."""
    return _mixed(_mixed(_mixed(_mixed(np.uint64(number + 1), a), b), c), d)


@compiled
def _symbol(text: IntArray, position: int) -> int:
    return text[position] if 0 <= position < len(text) else NO_SYMBOL


@compiled
def _context_hashes(
    x: IntArray, i: int, y: IntArray, j: int, last: int, vowel: int, hash_c: Hashes
) -> None:
    """Set `hash_c` to the contexts of a place: i symbols of x are read, j of y are written."""
    n = len(x)
    x0, x1, x2 = _symbol(x, i), _symbol(x, i + 1), _symbol(x, i + 2)
    p1, p2, p3 = _symbol(x, i - 1), _symbol(x, i - 2), _symbol(x, i - 3)
    y1 = y[j - 1] if j >= 1 else NO_SYMBOL
    y2 = y[j - 2] if j >= 2 else NO_SYMBOL
    y3 = y[j - 3] if j >= 3 else NO_SYMBOL
    e1, e2, e3 = _symbol(x, n - 1), _symbol(x, n - 2), _symbol(x, n - 3)
    place = 16 * min(n - i, FARTHEST) + 4 * min(i, FARTHEST_FROM_START) + last
    left = min(n - i, FARTHEST)
    hash_c[0] = _hash(0, last, 0, 0, 0)
    hash_c[1] = _hash(1, last, x0, 0, 0)
    hash_c[2] = _hash(2, last, x0, x1, 0)
    hash_c[3] = _hash(3, last, x0, x1, x2)
    hash_c[4] = _hash(4, last, p1, x0, 0)
    hash_c[5] = _hash(5, last, p2, p1, x0)
    hash_c[6] = _hash(6, 4 * p3 + last, p2, p1, x0)
    hash_c[7] = _hash(7, last, p1, x0, x1)
    hash_c[8] = _hash(8, last, y1, 0, 0)
    hash_c[9] = _hash(9, last, y1, y2, 0)
    hash_c[10] = _hash(10, last, y1, y2, y3)
    hash_c[11] = _hash(11, last, y1, x0, 0)
    hash_c[12] = _hash(12, y1, y2, x0, x1)
    hash_c[13] = _hash(13, left, vowel, y1, 0)
    hash_c[14] = _hash(14, left, last, 0, 0)
    hash_c[15] = _hash(15, left, last, x0, 0)
    hash_c[16] = _hash(16, place, 0, 0, 0)
    hash_c[17] = _hash(17, place, e1, 0, 0)
    hash_c[18] = _hash(18, place, e1, e2, 0)
    hash_c[19] = _hash(19, place, e1, e2, e3)


@compiled
def weight_rows(
    x: IntArray,
    i: int,
    y: IntArray,
    j: int,
    last: int,
    vowel: int,
    group_g: Rows,
    hash_c: Hashes,
    row_r: Rows,
    num_rows: int,
) -> None:
    """Set `row_r` to the rows of weights that speak at a place, one per context and group.

    Args:
        x: int32[n], code points of the source.
        i: How many of them have been read.
        y: Code points written, at least the first j.
        j: How many symbols have been written.
        last: The last edit: `COPY`, `DELETE` or `WRITE`; `COPY` at the beginning.
        vowel: The last vowel written, or -1.
        group_g: int64[G], hashes of the groups.
        hash_c: uint64[NUM_CONTEXTS], overwritten.
        row_r: int64[NUM_CONTEXTS x G], the result.
        num_rows: A power of two.
    """
    _context_hashes(x, i, y, j, last, vowel, hash_c)
    row = 0
    for context in hash_c:
        for group in group_g:
            bits = (context ^ np.uint64(group)) * np.uint64(0xC2B2AE3D27D4EB4F)
            bits ^= bits >> np.uint64(31)
            row_r[row] = np.int64(bits & np.uint64(num_rows - 1))
            row += 1


@compiled
def last_vowel(vowel: int, symbol: int, vowel_v: IntArray) -> int:
    """Return the last vowel once a symbol has been written.

    Args:
        vowel: The last one before.
        symbol: The symbol written.
        vowel_v: int32[V], the language's vowels, sorted.
    """
    position = np.searchsorted(vowel_v, symbol)
    return symbol if position < len(vowel_v) and vowel_v[position] == symbol else vowel
