"""Tries that accept every string, with weights of their own for a few.

Public names: `floored_trie`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fsbp.arrays import ArcArrays, FloatArray


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
    children: list[dict[int, int]] = [{}, {label: 1 for label in range(1, num_symbols + 1)}]
    final = [floor, floor]
    for labels, log_weight in zip(label_strings, log_weights_n, strict=True):
        state = 0
        for label in labels:
            if label not in children[state]:
                children[state][label] = len(children)
                children.append({})
                final.append(floor)
            state = children[state][label]
        final[state] = float(log_weight)
    target_sl = np.ones((len(children), num_symbols), dtype=np.int32)
    for state, successors in enumerate(children):
        for label, target in successors.items():
            target_sl[state, label - 1] = target
    label_sl = np.broadcast_to(np.arange(1, num_symbols + 1, dtype=np.int32), target_sl.shape)
    source_sl = np.broadcast_to(np.arange(len(children), dtype=np.int32)[:, None], target_sl.shape)
    label_a = label_sl.ravel()
    return ArcArrays(
        0, np.array(final), source_sl.ravel(), label_a, label_a, target_sl.ravel(),
        np.zeros(target_sl.size),
    )  # fmt: skip
