"""The places that one source leads to, with the probabilities of the edits at each.

Searches and sums come to the same places again and again: what is found at one is remembered.

Public names: `Places`, `places_of`, `known_place`, `new_place`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fsbp.arrays import IntArray, compiled
from fsbp.edit_contexts import NO_SYMBOL, WRITE, Rows
from fsbp.edit_scores import Weights, edit_log_probabilities, read_scores

MAX_REMEMBERED = 1 << 14
"""Log-probabilities remembered for each source."""
MAX_PLACES = 1 << 10
SYMBOL_BITS = 21
"""What a code point, or one more than it, takes."""


class Places(NamedTuple):
    """A source for some groups, the weights of its edits, and the places it has led to so far.

    Places are found by what has been read and by the last edit, and then one after the other. Loops
    had better take the arrays out of the tuple first: every look into it counts references.

    Args:
        x: int32[n], code points of the source.
        group_g: int64[G], hashes of the groups.
        written_w: int32[W], symbols that edits write, sorted.
        vowel_v: int32[V], vowels, sorted.
        weight_re: float32[R, E].
        read_ile: What `read_scores` returns for this source.
        newest_il: int32[n + 1, WRITE + 1], the place last remembered; -1 for none.
        known_pk: int64[P, 3]: the place remembered before it there, the last three symbols written
            as one number, and the last vowel written.
        log_prob_pe: float32[P + 1, E]; the last row is for what is not remembered.
        num_known: int64[1], places remembered.
    """

    x: IntArray
    group_g: Rows
    written_w: IntArray
    vowel_v: IntArray
    weight_re: Weights
    read_ile: Weights
    newest_il: IntArray
    known_pk: Rows
    log_prob_pe: Weights
    num_known: npt.NDArray[np.int64]


def places_of(
    x: IntArray, group_g: Rows, written_w: IntArray, vowel_v: IntArray, weight_re: Weights
) -> Places:
    """Return a source with no places yet; at most `MAX_REMEMBERED` log-probabilities will be kept.

    Args:
        x: int32[n], code points of the source.
        group_g: int64[G], hashes of the groups.
        written_w: int32[W], symbols that edits write, sorted.
        vowel_v: int32[V], vowels, sorted.
        weight_re: float32[R, 3 + W].

    Cost: That of `read_scores`, and 64 kB.
    """
    num_edits = weight_re.shape[1]
    most = min(MAX_PLACES, MAX_REMEMBERED // num_edits)
    return Places(
        x, group_g, written_w, vowel_v, weight_re,
        read_ile=read_scores(x, group_g, weight_re),
        newest_il=np.full((len(x) + 1, WRITE + 1), -1, np.int32),
        known_pk=np.empty((most, 3), np.int64),
        log_prob_pe=np.empty((most + 1, num_edits), np.float32),
        num_known=np.zeros(1, np.int64),
    )  # fmt: skip


@compiled
def known_place(
    newest_il: IntArray, known_pk: Rows, i: int, y: IntArray, j: int, last: int, vowel: int
) -> int:
    """Return the row of `log_prob_pe` that holds a place, or -1; arguments as for `new_place`."""
    written = _last_written(y, j)
    place = newest_il[i, last]
    while place >= 0 and (known_pk[place, 1] != written or known_pk[place, 2] != vowel):
        place = known_pk[place, 0]
    return int(place)


@compiled
def new_place(places: Places, i: int, y: IntArray, j: int, last: int, vowel: int) -> int:
    """Return the row of `log_prob_pe` that holds a place not known yet, until the next one comes.

    Args:
        places: Of the source; they remember this one while there is room.
        i: How many symbols have been read.
        y: Code points written, at least the first j.
        j: How many symbols have been written.
        last: The last edit: `COPY`, `DELETE` or `WRITE`; `COPY` at the beginning.
        vowel: The last vowel written, or -1.
    """
    place = places.num_known[0]
    edit_log_probabilities(
        places.x, i, y, j, last, vowel, places.group_g, places.weight_re, places.read_ile[i, last],
        places.log_prob_pe[place],
    )  # fmt: skip
    if place < len(places.known_pk):
        known_k = places.known_pk[place]
        known_k[0], known_k[1], known_k[2] = places.newest_il[i, last], _last_written(y, j), vowel
        places.newest_il[i, last] = place
        places.num_known[0] += 1
    return int(place)


@compiled
def _last_written(y: IntArray, j: int) -> int:
    """Return the last three of the first j symbols as one number, the same for no others."""
    number = 0
    for position in range(j - 3, j):
        symbol = y[position] if position >= 0 else NO_SYMBOL
        number = (number << SYMBOL_BITS) | (symbol + 1)
    return number
