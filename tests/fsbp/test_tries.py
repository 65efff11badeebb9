"""Strings as arrays, and their prefixes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fsbp.reading import reader, string_log_weights
from fsbp.tries import flat_labels, floored_trie, trie

LABELS = st.lists(st.lists(st.integers(1, 3), max_size=4).map(tuple), max_size=6, unique=True)


@given(strings=LABELS)
def test_a_trie_has_every_prefix_once(strings: list[tuple[int, ...]]) -> None:
    parent_v, label_v, node_n = trie(strings)
    spelled: list[tuple[int, ...]] = [()]
    for parent, label in zip(parent_v[1:], label_v[1:], strict=True):
        spelled.append((*spelled[parent], int(label)))
    prefixes = {text[:end] for text in strings for end in range(len(text) + 1)} | {()}
    assert len(spelled) == len(prefixes)
    assert set(spelled) == prefixes
    assert [spelled[node] for node in node_n] == strings


@given(strings=LABELS)
def test_strings_end_to_end(strings: list[tuple[int, ...]]) -> None:
    label_t, first_n = flat_labels(strings)
    cut = [tuple(label_t[first_n[n] : first_n[n + 1]].tolist()) for n in range(len(strings))]
    assert cut == strings
    assert len(label_t) == first_n[-1]


@given(strings=LABELS)
def test_a_floored_trie_accepts_every_string(strings: list[tuple[int, ...]]) -> None:
    weights = np.arange(len(strings)) + 1.0
    machine = reader(floored_trie(strings, weights, -2.0, 3))
    others = [text for text in ((), (1,), (3, 2), (1, 2, 3, 1, 2)) if text not in strings]
    np.testing.assert_allclose(
        string_log_weights(machine, [*strings, *others]), [*weights, *(-2.0 for _ in others)]
    )
