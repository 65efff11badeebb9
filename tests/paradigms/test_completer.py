"""Candidates of one lexeme: never none, never blank, and the same in any number of processes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fsbp.factors.evidence import MAX_STRINGS
from fsbp.factors.rewrite import FLOOR
from paradigms.completer import Completer, completions_of
from paradigms.evidence import STEM, Evidence, Guess
from paradigms.forms import form_acceptor
from paradigms.lexemes import Lexeme
from paradigms.messages import MessageUse
from paradigms.sources import sources_of_holes
from paradigms.weights import Weights, novelty_features


def completer_of(*lexemes: Lexeme) -> Completer:
    evidence = Evidence.from_lexemes(lexemes)
    return Completer(evidence, Weights.shipped(), form_acceptor(evidence))


def lexeme(key: str, **forms: str) -> Lexeme:
    return Lexeme(key, None, {cell: (form,) if form else () for cell, form in forms.items()})


def test_no_candidate_is_blank() -> None:
    known = [lexeme(stem, PL=f"{stem}s", SG=stem) for stem in "abcd"]
    completer = completer_of(*known)
    found = completer.candidates(lexeme("x", PL="s", SG=""))["SG"]
    assert found
    assert all(candidate.form.strip() for candidate in found)


def test_a_hole_to_which_no_rule_leads_is_drawn_from_the_forms() -> None:
    known = [lexeme(f"{x}{y}", A=x + y + x) for x in "abcdefgh" for y in "abcdefgh"]
    completer = completer_of(*known, lexeme("suppletive", A="zzzzzz", B="qqqq"))
    found = completer.candidates(lexeme("x", A="", B=""))
    alone = completer.candidates(lexeme("x", B=""))
    assert found["A"]
    assert found["B"] == alone["B"]
    assert 0.0 < sum(candidate.probability for candidate in found["B"]) < 1.0


@pytest.mark.parametrize("jobs", [0, -1])
def test_at_least_one_job(jobs: int) -> None:
    with pytest.raises(ValueError, match="expected 1 or more"):
        completions_of(completer_of(lexeme("x", A="a")), [], jobs)


# Nothing given

ENDS = dict(zip("ABCDEFGH", ("", "s", "e", "en", "em", "t", "st", "te"), strict=True))


def drawing_completer(messages: MessageUse = "kbest") -> Completer:
    evidence = Evidence.from_lexemes(
        [
            lexeme(stem, **{cell: stem + end for cell, end in ENDS.items()})
            for stem in ("tal", "wug", "kis", "mod", "ruf")
        ]
    )
    return Completer(evidence, Weights.shipped(), form_acceptor(evidence), messages=messages)


def nothing(cells: str) -> Lexeme:
    return lexeme("?", **dict.fromkeys(cells, ""))


@pytest.mark.parametrize("messages", ["kbest", "ngram", "exact"])
def test_where_nothing_is_given_other_holes_make_nothing_likelier(messages: MessageUse) -> None:
    completer = drawing_completer(messages)
    alone = completer.candidates(nothing("H"))["H"]
    form = completer.language.forms.k_best(1)
    assert alone[0].form == form.strings[0]
    assert alone[0].probability == pytest.approx(np.exp(form.log_weights_n[0]))
    for cells in ("GH", "EFGH", "".join(ENDS)):
        found = completer.candidates(nothing(cells))
        assert found["H"] == alone
        assert found["G"] == completer.candidates(nothing("GH"))["G"]
        assert all(each[0].probability < 1.1 * alone[0].probability for each in found.values())


def test_where_nothing_is_given_a_hole_follows_from_each_form_drawn() -> None:
    """P(y) = sum over x of P(x) w(y | x) / (sum over y of w(y | x), plus novelty)."""
    completer = drawing_completer("exact")
    language = completer.language
    source = sources_of_holes({"H": ""}, ["G"], language)[0][0]
    exponent = language.weights.log_linear(source.feature_of)
    features = novelty_features(
        [source.feature_of], learned_from=False, has_lemma=False, shown_alone=False
    )
    novelty = np.exp(language.weights.log_linear(features))
    expected: Counter[str] = Counter()
    for x, log_p in language.forms.k_best(MAX_STRINGS).weight_of.items():
        share_of = source.model.distribution(x) if x else {}
        if share_of:
            evidence_y = np.log1p(np.array(list(share_of.values())) / FLOOR)
            weight_y = np.exp(exponent * evidence_y + language.opinion.log_weights(list(share_of)))
            p_y = np.exp(log_p) * weight_y / (weight_y.sum() + novelty)
            expected.update(dict(zip(share_of, p_y.tolist(), strict=True)))
    found = completer.candidates(nothing("GH"))["G"]
    best = sorted(expected.values(), reverse=True)[: len(found)]
    assert [candidate.probability for candidate in found] == pytest.approx(best)
    assert all(c.probability == pytest.approx(expected[c.form]) for c in found)


# Stems


def stem_completer(lemma_only: bool = False) -> Completer:
    """Return the completer of a language in which no lexeme shows two cells."""
    shown = {"kat": "kata", "sir": "sira", "mol": "molim", "pel": "pelim"}
    lexemes = [
        lexeme(stem, **{"A" if form[-1] == "a" else "B": form}) for stem, form in shown.items()
    ]
    evidence = Evidence.from_lexemes(lexemes).guessing(
        [{STEM: (Guess(stem, 1.0),)} for stem in shown]
    )
    return Completer(evidence, Weights.shipped(), form_acceptor(evidence), lemma_only)


def test_stems_help_where_nothing_else_does() -> None:
    completer = stem_completer()
    with_stem = completer.candidates(lexeme("tol", A="tola", B=""), [Guess("tol", 1.0)])
    without = completer.candidates(lexeme("tol", A="tola", B=""))
    assert with_stem["B"][0].form == "tolim"
    assert "tolim" not in {candidate.form for candidate in without["B"]}
    assert completer.candidates(lexeme("tol", A="tola", B="tolim"), [Guess("tol", 1.0)]) == {}


def test_the_stem_is_not_heard_where_only_the_lemma_is() -> None:
    """It comes from other cells too."""
    completer, tol = stem_completer(lemma_only=True), lexeme("tol", A="tola", B="")
    assert completer.candidates(tol, [Guess("tol", 1.0)]) == completer.candidates(tol)


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_lexeme_has_stems_of_its_own(jobs: int) -> None:
    lexemes = [
        lexeme("tol", A="tola", B=""),
        lexeme("nud", A="nuda", B=""),
        lexeme("x", A="", B=""),
    ]
    stems = [(Guess("tol", 1.0),), (Guess("nud", 1.0),), ()]
    done: list[int] = []
    found = completions_of(stem_completer(), lexemes, jobs, done.append, stems)
    assert [each["B"][0].form for each in found[:2]] == ["tolim", "nudim"]
    assert found[2] == stem_completer().candidates(lexemes[2])
    assert sum(done) == len(lexemes)
    assert completions_of(stem_completer(), lexemes, stems=[()] * 3) == completions_of(
        stem_completer(), lexemes
    )


def test_stems_for_other_lexemes_are_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        completions_of(stem_completer(), [lexeme("tol", A="tola", B="")], stems=[(), ()])
