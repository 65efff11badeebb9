"""What some tables show: cells, tags, similarities, and the lemma as one more cell."""

from __future__ import annotations

import numpy as np
import pytest

from paradigms.evidence import LEMMA, Evidence, forms_of, tags_of
from paradigms.lexemes import Lexeme

TAG = Lexeme("Tag", "Tag", {"N;NOM;SG": ("Tag",), "N;NOM;PL": ("Tage",), "N;GEN;SG": ()})
BAU = Lexeme("Bau", "Bau", {"N;NOM;SG": ("Bau",), "N;NOM;PL": ("Bauten", "Baue")})
NO_LEMMA = Lexeme("7", None, {"V;PST": ("ging",), "V;PRS": ()})


@pytest.mark.parametrize(
    ("cell", "tags"),
    [
        ("N;NOM;PL", {"N", "NOM", "PL"}),
        ("1.sg.prs", {"1", "sg", "prs"}),
        ("past_participle", {"past", "participle"}),
        ("Präsens, 1. Person", {"Präsens", "1", "Person"}),
        ("V|IND+PST:2", {"V", "IND", "PST", "2"}),
        ("SG", {"SG"}),
        ("", {""}),
        (";;", {";;"}),
    ],
)
def test_tags(cell: str, tags: set[str]) -> None:
    assert tags_of(cell) == tags


def test_the_lemma_is_a_cell_where_it_is_a_form() -> None:
    assert forms_of(BAU) == {LEMMA: ("Bau",), "N;NOM;SG": ("Bau",), "N;NOM;PL": ("Bauten", "Baue")}
    assert forms_of(NO_LEMMA) == {"V;PST": ("ging",)}
    assert Evidence.from_lexemes([TAG]).cells == (LEMMA, "N;GEN;SG", "N;NOM;PL", "N;NOM;SG")
    assert Evidence.from_lexemes([NO_LEMMA]).cells == ("V;PRS", "V;PST")


def test_holes_are_no_evidence() -> None:
    evidence = Evidence.from_lexemes([TAG, NO_LEMMA, BAU])
    assert evidence.lexemes_with["N;GEN;SG"] == frozenset()
    assert evidence.lexemes_with["N;NOM;PL"] == {0, 2}
    assert evidence.lexemes_with[LEMMA] == {0, 2}
    assert sorted(evidence.forms) == sorted(
        ["Tag", "Tag", "Tage", "ging", "Bau", "Bau", "Bauten", "Baue"]
    )
    assert set(evidence.alphabet.symbols) == set("TagteBaunig")


def test_joined_evidence_is_that_of_all_lexemes() -> None:
    joined = Evidence.from_lexemes([NO_LEMMA]).joined(Evidence.from_lexemes([TAG, BAU]))
    together = Evidence.from_lexemes([NO_LEMMA, TAG, BAU])
    assert joined.cells == together.cells
    assert joined.lexemes == together.lexemes


def test_nothing_at_all() -> None:
    evidence = Evidence.from_lexemes([])
    assert (evidence.cells, evidence.lexemes, evidence.forms) == ((), (), [])
    assert len(evidence.alphabet) == 0


def test_similarity_is_that_of_the_tag_sets() -> None:
    evidence = Evidence.from_lexemes([TAG, BAU, NO_LEMMA])
    for i, first in enumerate(evidence.cells):
        for j, second in enumerate(evidence.cells):
            a, b = tags_of(first), tags_of(second)
            expected = len(a & b) / len(a | b)
            assert evidence.similarity_cc[i, j] == pytest.approx(expected)
    lemma = evidence.position_of[LEMMA]
    assert evidence.similarity_cc[lemma].sum() == 1.0


def test_reliability_of_a_cell() -> None:
    lexemes = [
        Lexeme(str(n), None, {"SG": (sg,), "PL": (pl,) if pl else (), "DU": ()})
        for n, (sg, pl) in enumerate(
            [("Tag", "Tage"), ("Weg", "Wege"), ("Frau", "Frauen"), ("Haus", "")]
        )
    ]
    evidence = Evidence.from_lexemes(lexemes)
    share_c, count_c = evidence.reliability("SG")
    named = dict(zip(evidence.cells, zip(share_c, count_c, strict=True), strict=True))
    assert named == {"SG": (1.0, 4), "PL": (pytest.approx(2 / 3), 3), "DU": (0.0, 0)}
    assert evidence.reliability("DU")[1].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(evidence.reliability("SG")[0], share_c)


def test_costs_come_from_the_forms() -> None:
    lexemes = [Lexeme("1", None, {"A": ("banana", "mama"), "B": ("salat", "kanal", "gala")})]
    assert Evidence.from_lexemes(lexemes).costs.vowels == {"a"}
