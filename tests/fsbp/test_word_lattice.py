from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.edit_channel import EditChannel
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.edit import EditFactor
from fsbp.inference.enumeration import enumerate_strings
from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import expected_ngram_counts, history_automaton
from fsbp.potentials import point, product
from fsbp.variables import Acceptor, Variable
from fsbp.word_lattice import LatticeCounts, word_lattice

ALPHABET = Alphabet(("a", "b", "c"))
EXTRA = 2
WORDS = ("", "b", "ca", "aab")


def random_channel(rng: np.random.Generator) -> EditChannel:
    return EditChannel(ALPHABET, rng.normal(size=(3, 3, 4)) - 1.0, EXTRA)


def random_ngrams(rng: np.random.Generator) -> NgramPotential:
    grams = [tuple(rng.integers(1, 4, size=2).tolist()) for _ in range(3)]
    automaton = history_automaton([*grams, (0, *grams[0][:1])], 3)
    shape = (len(automaton.histories), 4)
    return NgramPotential(automaton, ALPHABET, rng.normal(size=shape) - 1.5)


def lattice(
    channel: EditChannel, word: str, stem: NgramPotential, suffix: NgramPotential
) -> LatticeCounts:
    return word_lattice(
        channel.tables(word), stem.automaton.next_ha, stem.log_weight_hs, stem.automaton.start,
        suffix.automaton.next_ha, suffix.log_weight_hs, suffix.automaton.start, True,
    )  # fmt: skip


def walked_counts(potential: NgramPotential, text: str) -> np.ndarray:
    counts_hs = np.zeros_like(potential.log_weight_hs)
    history = potential.automaton.start
    for label in ALPHABET.labels(text):
        counts_hs[history, label - 1] += 1
        history = potential.automaton.next_ha[history, label - 1]
    counts_hs[history, -1] += 1
    return counts_hs


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), word=st.sampled_from(WORDS))
def test_equals_enumeration(seed: int, word: str) -> None:
    rng = np.random.default_rng(seed)
    channel, stem, suffix = random_channel(rng), random_ngrams(rng), random_ngrams(rng)
    found = lattice(channel, word, stem, suffix)
    strings = enumerate_strings(ALPHABET, len(word) + EXTRA)
    stem_of = dict(zip(strings, stem.log_weights(strings), strict=True))
    suffix_of = dict(zip(strings, suffix.log_weights(strings), strict=True))
    channel_of = {text: channel.log_prob(text, word) for text in strings}
    splits = [(text[:cut], text[cut:]) for text in strings for cut in range(len(text) + 1)]
    weights = np.array([stem_of[s] + suffix_of[u] + channel_of[s + u] for s, u in splits])
    log_total = np.logaddexp.reduce(weights)
    assert found.log_total == pytest.approx(log_total, rel=1e-12, abs=1e-12)
    stem_hs, suffix_hs = np.zeros_like(found.stem_hs), np.zeros_like(found.suffix_hs)
    for (s, u), probability in zip(splits, np.exp(weights - log_total), strict=True):
        stem_hs += probability * walked_counts(stem, s)
        suffix_hs += probability * walked_counts(suffix, u)
    np.testing.assert_allclose(found.stem_hs, stem_hs, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.suffix_hs, suffix_hs, rtol=1e-9, atol=1e-12)


def test_operation_counts_are_the_gradient() -> None:
    rng = np.random.default_rng(3)
    channel, stem, suffix = random_channel(rng), random_ngrams(rng), random_ngrams(rng)
    counts_pno = lattice(channel, "bca", stem, suffix).operations_pno
    step = 1e-5
    for cell in np.ndindex(3, 3, 4):
        totals = []
        for sign in (1, -1):
            log_prob_pno = channel.log_prob_pno.copy()
            log_prob_pno[cell] += sign * step
            moved = replace(channel, log_prob_pno=log_prob_pno)
            totals.append(lattice(moved, "bca", stem, suffix).log_total)
        assert counts_pno[cell] == pytest.approx((totals[0] - totals[1]) / (2 * step), abs=1e-8)


def test_equals_the_route_through_machines() -> None:
    rng = np.random.default_rng(8)
    channel = replace(random_channel(rng), max_extra=3)
    stem, suffix = random_ngrams(rng), random_ngrams(rng)
    stem_v, suffix_v, whole, surface = (Variable(name, ALPHABET) for name in "SUXY")
    word = "ba"
    reading = EditFactor(whole, surface, channel).message_to(
        whole, {surface: point(surface, word)}, "sum"
    )
    capped = product([reading, Acceptor(universe_acceptor(3, len(word) + 3), ALPHABET)])
    to_stem = ConcatenationFactor((stem_v, suffix_v), whole).message_to(
        stem_v, {suffix_v: suffix, whole: capped}, "sum"
    )
    belief = product([to_stem, stem])
    assert isinstance(belief, Acceptor)
    found = lattice(channel, word, stem, suffix)
    assert found.log_total == pytest.approx(belief.log_total(), rel=1e-9)
    expected_hs = expected_ngram_counts(belief.fst, stem.automaton, 1_000_000)
    np.testing.assert_allclose(found.stem_hs, expected_hs, rtol=1e-8, atol=1e-10)


def test_large_weights_neither_overflow_nor_vanish() -> None:
    rng = np.random.default_rng(5)
    channel, stem, suffix = random_channel(rng), random_ngrams(rng), random_ngrams(rng)
    plain = lattice(channel, "bca", stem, suffix)
    raised_s = np.array([150.0, 150.0, 150.0, 0.0])
    found = lattice(
        channel,
        "bca",
        replace(stem, log_weight_hs=stem.log_weight_hs + raised_s),
        replace(suffix, log_weight_hs=suffix.log_weight_hs + raised_s),
    )
    assert np.isfinite(found.log_total)
    assert found.log_total > plain.log_total + 4 * 150.0
    np.testing.assert_allclose(found.stem_hs[:, -1].sum(), 1.0)


def test_nothing_fits() -> None:
    channel = EditChannel.uniform(ALPHABET, 0.1, 0.1, 0.1)
    automaton = history_automaton([], 3)
    nothing = NgramPotential(automaton, ALPHABET, np.full((len(automaton.histories), 4), -np.inf))
    with np.errstate(invalid="ignore"):
        found = lattice(channel, "a", nothing, replace(nothing, log_weight_hs=np.zeros((2, 4))))
    assert found.log_total == -np.inf
    assert found.stem_hs.sum() == 0.0
