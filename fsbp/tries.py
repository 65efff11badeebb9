"""Lists of label strings as arrays: end to end, or their prefixes as a trie.

Public names: `flat_labels`, `Trie`, `trie`, `floored_trie`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from fsbp.arrays import ArcArrays, FloatArray, IntArray


def flat_labels(label_strings: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Return the labels of N strings end to end, and int32[N + 1] where each begins."""
    label_t = np.array(list(chain.from_iterable(label_strings)), dtype=np.int32)
    return label_t, np.array([0, *accumulate(map(len, label_strings))], dtype=np.int32)


class Trie(NamedTuple):
    """The distinct prefixes of N strings; every node comes after its parent, the root first.

    Args:
        parent_v: int32[V], the prefix without its last symbol; -1 at the root.
        label_v: int32[V], the last symbol; 0 at the root.
        node_n: int32[N], each string's node.
    """

    parent_v: IntArray
    label_v: IntArray
    node_n: IntArray


def trie(label_strings: Sequence[Sequence[int]]) -> Trie:
    """Return the prefixes of N sequences of labels.

    Cost: O(total length).
    """
    node_of: dict[tuple[int, int], int] = {(-1, 0): 0}
    node_n = []
    for labels in label_strings:
        node = 0
        for label in labels:
            node = node_of.setdefault((node, label), len(node_of))
        node_n.append(node)
    parent_v, label_v = np.array(list(node_of), dtype=np.int32).T
    return Trie(parent_v.copy(), label_v.copy(), np.array(node_n, dtype=np.int32))


def floored_trie(
    label_strings: Sequence[Sequence[int]],
    log_weights_n: FloatArray,
    floor: float,
    num_symbols: int,
) -> ArcArrays:
    """Return a deterministic acceptor of all strings: listed ones have their own weights.

    State 0 is the root of a trie and state 1 accepts whatever has left it.

    Args:
        label_strings: N distinct sequences of labels, 1 to `num_symbols`.
        log_weights_n: float64[N], nats.
        floor: Log-weight of every string not listed (nats).
        num_symbols: Size of the alphabet.

    Cost: O(total length x num_symbols).
    """
    prefixes = trie(label_strings)
    state_v = np.arange(len(prefixes.parent_v))
    state_v[1:] += 1
    target_sl = np.ones((len(state_v) + 1, num_symbols), dtype=np.int32)
    target_sl[state_v[prefixes.parent_v[1:]], prefixes.label_v[1:] - 1] = state_v[1:]
    final_s = np.full(len(target_sl), floor)
    final_s[state_v[prefixes.node_n]] = log_weights_n
    label_sl = np.broadcast_to(np.arange(1, num_symbols + 1, dtype=np.int32), target_sl.shape)
    source_sl = np.broadcast_to(np.arange(len(target_sl), dtype=np.int32)[:, None], target_sl.shape)
    label_a = label_sl.ravel()
    return ArcArrays(
        0, final_s, source_sl.ravel(), label_a, label_a, target_sl.ravel(),
        np.zeros(target_sl.size),
    )  # fmt: skip
