"""Candidates of one lexeme: never none, never blank, and the same in any number of processes."""

from __future__ import annotations

import pytest

from paradigms.completer import Completer, completions_of
from paradigms.evidence import Evidence
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
