from __future__ import annotations

import numpy as np
import pytest

from fsbp.alphabet import Alphabet
from fsbp.edit_channel import EditChannel
from fsbp.inference.enumeration import enumerate_strings
from fsbp.ngrams import history_automaton
from fsbp.tries import flat_labels
from fsbp.word_lists import (
    likeliest_strings,
    pair_weights,
    prefix_weights,
    proposed_strings,
    suffix_weights,
    unlisted_endings,
)

ALPHABET = Alphabet(("a", "b", "c"))
WORD = "bca"
PROB_S = np.array([0.3, 0.2, 0.1, 0.4])


def channel() -> EditChannel:
    return EditChannel(ALPHABET, np.random.default_rng(2).normal(size=(3, 3, 4)) - 1.0, 3)


def log_prior(text: str) -> float:
    return float(np.log(PROB_S[[label - 1 for label in ALPHABET.labels(text)]]).sum())


def test_pairs_are_the_channel() -> None:
    strings = enumerate_strings(ALPHABET, 2)
    flat = flat_labels([ALPHABET.labels(text) for text in strings])
    pair_nm = pair_weights(channel().tables(WORD), *flat, *flat)
    for n, stem in enumerate(strings):
        for m, suffix in enumerate(strings):
            expected = channel().log_prob(stem + suffix, WORD)
            assert np.log(pair_nm[n, m]) == pytest.approx(expected, abs=1e-12)


def test_proposals_are_the_best() -> None:
    tables = channel().tables(WORD)
    rng = np.random.default_rng(6)
    first_j, last_j = rng.random(len(WORD) + 1), rng.random(len(WORD) + 1)
    found = proposed_strings(tables, first_j, last_j, PROB_S, 4, 15)
    weights = {}
    for text in enumerate_strings(ALPHABET, 4):
        weight_j = first_j
        for label in ALPHABET.labels(text):
            column = tables.column_a[label - 1]
            waiting_j = EditChannel._inserted(weight_j, tables.insert_jc[:, column])
            weight_j = waiting_j * tables.delete_jc[:, column]
            weight_j[1:] += (waiting_j * tables.write_jc[:, column])[:-1]
        weights[ALPHABET.labels(text)] = np.exp(log_prior(text)) * float(weight_j @ last_j)
    assert found == sorted(weights, key=weights.__getitem__, reverse=True)[:15]


def test_unlisted_endings_sum_over_strings() -> None:
    tables = channel().tables(WORD)
    strings = enumerate_strings(ALPHABET, 3)
    rows = suffix_weights(tables, *flat_labels([ALPHABET.labels(text) for text in strings]))
    prior = np.exp([log_prior(text) for text in strings]) * PROB_S[-1]
    np.testing.assert_allclose(unlisted_endings(tables, PROB_S, 3), prior @ rows)


def test_prefix_weights_of_nothing() -> None:
    rows = prefix_weights(channel().tables(WORD), *flat_labels([()]))
    np.testing.assert_array_equal(rows, [[1.0, 0.0, 0.0, 0.0]])


def test_likeliest_strings_are_the_best() -> None:
    rng = np.random.default_rng(1)
    automaton = history_automaton([(0, 1), (1, 2), (3,)], 3)
    log_prob_hs = np.log(rng.dirichlet(np.ones(4), size=len(automaton.histories)))
    found = likeliest_strings(automaton.next_ha, log_prob_hs, automaton.start, 5, 12)
    weights = {}
    for text in enumerate_strings(ALPHABET, 5):
        history, weight = automaton.start, 0.0
        for label in ALPHABET.labels(text):
            weight += log_prob_hs[history, label - 1]
            history = automaton.next_ha[history, label - 1]
        weights[ALPHABET.labels(text)] = weight + log_prob_hs[history, -1]
    assert found == sorted(weights, key=weights.__getitem__, reverse=True)[:12]
