"""What a contextual edit model knows of its place in a string when it chooses the next edit.

A place is what has been read and what has been written so far, what the last edit was, and the last
vowel written. Each of a few contexts looks at some of that; combined with each of a few groups,
such as the cell that is asked for, it picks a row of the model's weights by its hash.

Public names: `COPY`, `DELETE`, `END`, `WRITE`, `NUM_READ`, `NUM_CONTEXTS`, `NO_SYMBOL`, `Hashes`,
`Rows`, `read_contexts`, `written_contexts`, `weight_row`, `last_vowel`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fsbp.arrays import IntArray, compiled

COPY, DELETE, END, WRITE = 0, 1, 2, 3
"""Edits by number; `WRITE` and all above it write a symbol, by its number."""
NUM_READ, NUM_CONTEXTS = 14, 20
"""Contexts that do not depend on what has been written come first."""
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
    """Return 64 well mixed bits of a context's number and of four numbers from -8 to 2^40."""
    start = np.uint64(number + 1) << np.uint64(40)
    return _mixed(_mixed(_mixed(_mixed(start, a), b), c), d)


@compiled
def _symbol(text: IntArray, position: int) -> int:
    return text[position] if 0 <= position < len(text) else NO_SYMBOL


@compiled
def read_contexts(x: IntArray, i: int, last: int, hash_c: Hashes) -> None:
    """Set the first `NUM_READ` of `hash_c` to what depends on the source and the last edit.

    Args:
        x: int32[n], code points of the source.
        i: How many of them have been read.
        last: The last edit: `COPY`, `DELETE` or `WRITE`; `COPY` at the beginning.
        hash_c: uint64[NUM_CONTEXTS].
    """
    n = len(x)
    x0, x1, x2 = _symbol(x, i), _symbol(x, i + 1), _symbol(x, i + 2)
    p1, p2, p3 = _symbol(x, i - 1), _symbol(x, i - 2), _symbol(x, i - 3)
    e1, e2, e3 = _symbol(x, n - 1), _symbol(x, n - 2), _symbol(x, n - 3)
    left = min(n - i, FARTHEST)
    place = 16 * left + 4 * min(i, FARTHEST_FROM_START) + last
    hash_c[0] = _hash(0, last, 0, 0, 0)
    hash_c[1] = _hash(1, last, x0, 0, 0)
    hash_c[2] = _hash(2, last, x0, x1, 0)
    hash_c[3] = _hash(3, last, x0, x1, x2)
    hash_c[4] = _hash(4, last, p1, x0, 0)
    hash_c[5] = _hash(5, last, p2, p1, x0)
    hash_c[6] = _hash(6, 4 * p3 + last, p2, p1, x0)
    hash_c[7] = _hash(7, last, p1, x0, x1)
    hash_c[8] = _hash(8, left, last, 0, 0)
    hash_c[9] = _hash(9, left, last, x0, 0)
    hash_c[10] = _hash(10, place, 0, 0, 0)
    hash_c[11] = _hash(11, place, e1, 0, 0)
    hash_c[12] = _hash(12, place, e1, e2, 0)
    hash_c[13] = _hash(13, place, e1, e2, e3)


@compiled
def written_contexts(
    x: IntArray, i: int, y: IntArray, j: int, last: int, vowel: int, hash_c: Hashes
) -> None:
    """Set the rest of `hash_c` to what depends on what has been written.

    Args:
        x: int32[n], code points of the source.
        i: How many of them have been read.
        y: Code points written, at least the first j.
        j: How many symbols have been written.
        last: As for `read_contexts`.
        vowel: The last vowel written, or -1.
        hash_c: uint64[NUM_CONTEXTS].
    """
    x0, x1 = _symbol(x, i), _symbol(x, i + 1)
    y1 = y[j - 1] if j >= 1 else NO_SYMBOL
    y2 = y[j - 2] if j >= 2 else NO_SYMBOL
    y3 = y[j - 3] if j >= 3 else NO_SYMBOL
    hash_c[14] = _hash(14, last, y1, 0, 0)
    hash_c[15] = _hash(15, last, y1, y2, 0)
    hash_c[16] = _hash(16, last, y1, y2, y3)
    hash_c[17] = _hash(17, last, y1, x0, 0)
    hash_c[18] = _hash(18, y1, y2, x0, x1)
    hash_c[19] = _hash(19, min(len(x) - i, FARTHEST), vowel, y1, 0)


@compiled
def weight_row(context: np.uint64, group: int, num_rows: int) -> int:
    """Return the row of weights for a context and a group, both hashes; rows are a power of two."""
    bits = (context ^ np.uint64(group)) * np.uint64(0xC2B2AE3D27D4EB4F)
    bits ^= bits >> np.uint64(31)
    return int(bits & np.uint64(num_rows - 1))


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
