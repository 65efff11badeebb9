"""Candidates of one lexeme: never none, never blank, and the same in any number of processes."""

from __future__ import annotations

import pytest

from paradigms.completer import Completer, completions_of
from paradigms.evidence import STEM, Evidence, Guess
from paradigms.forms import form_acceptor
from paradigms.lexemes import Lexeme
from paradigms.weights import Weights


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
