"""Scores of an edit factor in batches, and its messages, against composition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.alphabet import Alphabet
from fsbp.edit_channel import EditChannel
from fsbp.factors.edit import EditFactor
from fsbp.variables import StringPotential, StringTable, Variable

ALPHABET = Alphabet(("a", "b", "c"))
SOURCE, TARGET = Variable("source", ALPHABET), Variable("target", ALPHABET)
TEXTS = st.lists(st.text("abcñ", max_size=5), max_size=6, unique=True)


def random_factor(seed: int, alphabet: Alphabet = ALPHABET) -> EditFactor:
    log_prob_pno = np.random.default_rng(seed).normal(size=(3, 3, 4)) - 1.0
    log_prob_pno[0, 1, 1] = -np.inf
    return EditFactor(SOURCE, TARGET, EditChannel(alphabet, log_prob_pno))


@settings(max_examples=60, deadline=None)
@given(sources=TEXTS, targets=TEXTS, seed=st.integers(0, 2**32 - 1))
def test_batches_equal_composition(sources: list[str], targets: list[str], seed: int) -> None:
    """In any order, symbols outside the alphabet included."""
    factor = random_factor(seed)
    found = factor.log_scores([sources, targets])
    assert found.shape == (len(sources), len(targets))
    for row, source in zip(found, sources, strict=True):
        point = StringTable((source,), np.zeros(1)).to_acceptor(ALPHABET)
        message = factor.message_to(TARGET, {SOURCE: point}, "sum")
        assert isinstance(message, StringPotential)
        np.testing.assert_allclose(row, message.log_weights(targets), rtol=1e-9, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(sources=TEXTS, targets=TEXTS, seed=st.integers(0, 2**32 - 1))
def test_batches_equal_the_plain_recursion(
    sources: list[str], targets: list[str], seed: int
) -> None:
    factor = random_factor(seed, ALPHABET.extended(["ñ"]))
    plain = replace(factor.channel, max_extra=10)
    expected = [[plain.log_prob(x, y) for y in targets] for x in sources]
    found = factor.log_scores([sources, targets])
    np.testing.assert_allclose(found.ravel(), np.ravel(expected), rtol=1e-9, atol=1e-9)


def test_long_strings_neither_overflow_nor_vanish() -> None:
    channel = EditChannel.uniform(ALPHABET, 1e-4, 1e-4, 1e-4)
    factor = EditFactor(SOURCE, TARGET, channel)
    ((to_nothing, to_other),) = factor.log_scores([["abc" * 60], ["", "c" * 180]])
    assert to_nothing < 180 * np.log(1e-4) + 1.0
    assert np.isfinite(to_other)


def test_an_alphabet_of_one_symbol() -> None:
    factor = random_factor(0, Alphabet(("a",)))
    texts = ["", "a", "aaa"]
    for source in texts:
        point = StringTable((source,), np.zeros(1)).to_acceptor(factor.alphabet)
        message = factor.message_to(TARGET, {SOURCE: point}, "sum")
        assert isinstance(message, StringPotential)
        np.testing.assert_allclose(
            factor.log_scores([[source], texts])[0], message.log_weights(texts), rtol=1e-9
        )
