"""What some tables show: cells, tags, similarities, and the lemma as one more cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paradigms.evidence import LEMMA, STEM, Evidence, Guess, forms_of, tags_of
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


def test_what_was_learned_from_is_known_by_its_forms() -> None:
    evidence = Evidence.from_lexemes([TAG, BAU, Lexeme("Bau 2", "Bau", {"N;GEN;SG": ("Baus",)})])
    known: list[tuple[dict[str, str], bool]] = [
        ({LEMMA: "Tag", "N;NOM;SG": "Tag", "N;NOM;PL": "Tage"}, True),
        ({LEMMA: "Tag", "N;NOM;PL": "Tage"}, True),
        ({"N;NOM;PL": "Tage", "N;NOM;SG": "Tag", STEM: "ag"}, True),
        ({LEMMA: "Bau", "N;NOM;PL": "Bauten"}, True),
        ({LEMMA: "Bau", "N;NOM;PL": "Baue"}, False),  # the first alternative is the evidence
        ({LEMMA: "Bau", "N;NOM;PL": "Bauten", "N;GEN;SG": "Baus"}, False),  # of two lexemes
        ({LEMMA: "Tag", "N;NOM;PL": "Tagen"}, False),
        ({LEMMA: "Tag", "N;GEN;SG": "Tags"}, False),
        ({"N;NOM;PL": "Tage"}, False),  # one form alone teaches nothing about its lexeme
        ({"N;NOM;PL": "Tage", STEM: "Tag"}, False),
        ({"X": "Tag", "Y": "Tag"}, False),
        ({}, False),
    ]
    for given, expected in known:
        assert evidence.learned_from(given) is expected, given


def test_cells_shown_alone() -> None:
    tables: list[dict[str, tuple[str, ...]]] = [
        {"A": ("x",), "B": ()}, {"A": ("y",), "C": ("z",)}, {"B": ("x",)}, {"D": ()}
    ]  # fmt: skip
    evidence = Evidence.from_lexemes([Lexeme(str(n), None, t) for n, t in enumerate(tables)])
    assert evidence.shown_alone == {"B"}
    assert Evidence.from_lexemes([TAG]).shown_alone == frozenset()
    assert Evidence.from_lexemes([replace(TAG, cells={})]).shown_alone == {LEMMA}


def test_costs_come_from_the_forms() -> None:
    lexemes = [Lexeme("1", None, {"A": ("banana", "mama"), "B": ("salat", "kanal", "gala")})]
    assert Evidence.from_lexemes(lexemes).costs.vowels == {"a"}


# Guesses

PAIRS = [("Tag", "Tage"), ("Weg", "Wege"), ("", "Frauen"), ("Haus", ""), ("", "Stege")]
GUESSES: list[dict[str, tuple[Guess, ...]]] = [
    {},
    {},
    {"SG": (Guess("Frau", 0.6), Guess("Fraue", 0.4))},
    {"PL": (Guess("Hause", 0.9),)},
    {"SG": ()},
]


def numbers() -> Evidence:
    """Return the evidence of singulars and plurals, some of which are holes."""
    return Evidence.from_lexemes(
        [
            Lexeme(str(n), None, {"SG": (sg,) if sg else (), "PL": (pl,) if pl else ()})
            for n, (sg, pl) in enumerate(PAIRS)
        ]
    )


def test_guesses_stand_beside_what_is_given() -> None:
    evidence, guessed = numbers(), numbers().guessing(GUESSES)
    assert guessed.guessed(2, "SG") == (Guess("Frau", 0.6), Guess("Fraue", 0.4))
    assert guessed.guessed(2, "PL") == guessed.guessed(0, "SG") == evidence.guessed(2, "SG") == ()
    assert guessed.lexemes == evidence.lexemes
    assert guessed.cells == evidence.cells
    assert guessed.forms == evidence.forms
    assert guessed.lexemes_with == evidence.lexemes_with
    assert guessed.guessing([{}] * len(PAIRS)).guessed(2, "SG") == (), "other ones replace them"


def test_a_guess_tells_how_reliable_its_cell_is_as_a_source() -> None:
    """Given Tag, Weg: two changes agree; the guess of Frau makes it two of three."""
    at = {cell: n for n, cell in enumerate(numbers().cells)}
    share_c, count_c = numbers().reliability("SG")
    assert (share_c[at["PL"]], count_c[at["PL"]]) == (1.0, 2)
    share_c, count_c = numbers().guessing(GUESSES).reliability("SG")
    assert (share_c[at["PL"]], count_c[at["PL"]]) == (pytest.approx(2 / 3), 3)
    assert count_c[at["SG"]] == 3, "what is guessed is no target, not even its own"
    share_c, count_c = numbers().guessing(GUESSES).reliability("PL")
    assert (share_c[at["SG"]], count_c[at["SG"]]) == (1.0, 3)


def test_a_given_form_outdoes_a_guess() -> None:
    guessed = numbers().guessing([{"SG": (Guess("xyz", 1.0),)}, {}, {}, {}, {}])
    for cell in ("SG", "PL"):
        for found, expected in zip(
            guessed.reliability(cell), numbers().reliability(cell), strict=True
        ):
            np.testing.assert_array_equal(found, expected)


def test_stems_are_a_cell_of_guesses() -> None:
    guessed = numbers().guessing([{}, {}, {STEM: (Guess("Frau", 1.0),)}, {}, {}])
    assert guessed.cells == (STEM, "PL", "SG")
    assert guessed.lexemes_with[STEM] == frozenset()
    assert guessed.reliability(STEM)[1].tolist() == [0, 1, 0]
    assert guessed.similarity_cc[0].tolist() == [1.0, 0.0, 0.0]
    assert guessed.guessing([{}] * len(PAIRS)).cells == ("PL", "SG")
    lemmas = guessed.joined(Evidence.from_lexemes([TAG]))
    assert lemmas.cells[:2] == (STEM, LEMMA)


def test_joined_evidence_keeps_the_guesses_of_both() -> None:
    other = Evidence.from_lexemes([TAG])
    more = other.guessing([{"N;GEN;SG": (Guess("Tags", 0.5),)}])
    guessed = numbers().guessing(GUESSES)
    assert guessed.joined(other).guesses == (*GUESSES, {})
    assert other.joined(guessed).guesses == ({}, *GUESSES)
    assert guessed.joined(more).guesses == (*GUESSES, *more.guesses)
    assert numbers().joined(other).guesses == ()
    for joined in (guessed.joined(more), more.joined(guessed)):
        at = {cell: n for n, cell in enumerate(joined.cells)}
        assert joined.reliability("SG")[1][at["PL"]] == 3
        assert joined.reliability("N;GEN;SG")[1][at["N;NOM;PL"]] == 1
