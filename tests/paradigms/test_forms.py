"""The n-gram acceptor of a language's forms."""

from __future__ import annotations

import numpy as np
import pytest

from fsbp.ngrams import ngram_acceptor
from fsbp.pathsum import log_total, string_log_weights
from paradigms import forms
from paradigms.evidence import Evidence
from paradigms.forms import MAX_ORDER, form_acceptor
from paradigms.lexemes import Lexeme

WORDS = ("kala", "kalan", "talo", "talon")
ASKED = ("kala", "lako", "nnnn", "")


def evidence_of(*words: str) -> Evidence:
    return Evidence.from_lexemes([Lexeme(word, None, {"SG": (word,)}) for word in words])


def test_it_is_normalised_and_knows_its_forms() -> None:
    acceptor = form_acceptor(evidence_of(*WORDS))
    assert log_total(acceptor.fst) == pytest.approx(0.0, abs=1e-9)
    kala, other, noise, empty = acceptor.log_weights(ASKED)
    assert kala > other > noise
    assert np.isfinite(empty)
    assert acceptor.log_weights(["жala"])[0] == -np.inf


def test_it_is_the_ngram_acceptor_of_the_distinct_forms() -> None:
    evidence = evidence_of(*WORDS, *WORDS[:2])
    labels = [evidence.alphabet.labels(text) for text in WORDS]
    expected = ngram_acceptor(labels, len(evidence.alphabet), MAX_ORDER)
    asked = [evidence.alphabet.labels(text) for text in ASKED]
    np.testing.assert_allclose(
        form_acceptor(evidence).log_weights(ASKED), string_log_weights(expected, asked)
    )


@pytest.mark.parametrize("order", range(1, MAX_ORDER + 1))
def test_the_order_falls_where_arcs_would_be_too_many(
    monkeypatch: pytest.MonkeyPatch, order: int
) -> None:
    evidence = evidence_of(*WORDS)
    labels = [evidence.alphabet.labels(text) for text in WORDS]
    lower = ngram_acceptor(labels, len(evidence.alphabet), order)
    arcs = sum(lower.num_arcs(state) for state in lower.states())
    monkeypatch.setattr(forms, "MAX_ARCS", arcs + lower.num_states())
    asked = [evidence.alphabet.labels(text) for text in ASKED]
    np.testing.assert_allclose(
        form_acceptor(evidence).log_weights(ASKED), string_log_weights(lower, asked)
    )


def test_order_one_is_never_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "MAX_ARCS", 0)
    swapped = form_acceptor(evidence_of(*WORDS)).log_weights(["kala", "alak"])
    assert swapped[0] == pytest.approx(swapped[1]), "symbols without context"


def test_one_empty_form_is_enough() -> None:
    lexeme = Lexeme("x", None, {"SG": ("",)})
    acceptor = form_acceptor(Evidence.from_lexemes([lexeme]))
    assert acceptor.log_weights([""])[0] == pytest.approx(0.0)
