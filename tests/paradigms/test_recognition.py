"""Lexemes that are learned already count once."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from paradigms.completer import Completer
from paradigms.evidence import Evidence, Guess
from paradigms.lexemes import Lexeme
from paradigms.model import ParadigmModel
from paradigms.recognition import united
from tests.paradigms.nouns import HOLES, NOUNS, noun


def lexeme(key: str, lemma: str | None = None, **forms: str) -> Lexeme:
    return Lexeme(key, lemma, {cell: (form,) if form else () for cell, form in forms.items()})


def forms(evidence: Evidence) -> list[dict[str, str]]:
    return [
        {cell.strip("\0"): "/".join(form) for cell, form in each.items()}
        for each in evidence.lexemes
    ]


def both(learned: list[Lexeme], table: list[Lexeme]) -> list[dict[str, str]]:
    return forms(united(Evidence.from_lexemes(learned), Evidence.from_lexemes(table)))


TAG = lexeme("1", A="tag", B="tage", C="tags")
WEG = lexeme("2", A="weg", B="wege", C="wegs")


def test_what_shows_nothing_new_adds_nothing() -> None:
    for again in (TAG, lexeme("x", A="tag", B="", C="tags"), lexeme("y", B="tage")):
        assert both([TAG, WEG], [again]) == forms(Evidence.from_lexemes([WEG, TAG]))


def test_what_shows_more_adds_what_is_new() -> None:
    more = lexeme("1", A="tag", B="tage", C="tags", D="tagen")
    assert both([TAG, WEG], [more]) == forms(Evidence.from_lexemes([WEG, more]))


@pytest.mark.parametrize(
    "other",
    [
        lexeme("1", A="tag", B="täge", C="tags"),
        lexeme("1", A="tag", D="tagen"),
        lexeme("1", A="", B=""),
        Lexeme("1", None, {"A": ("tag", "tach")}),
        lexeme("1", "tag", A="tag", B="tage", D="x"),
    ],
)
def test_others_are_new_whatever_they_are_called(other: Lexeme) -> None:
    assert both([TAG], [other]) == forms(Evidence.from_lexemes([TAG, other]))


def test_the_lemma_is_one_of_the_forms() -> None:
    for lemma, count in (("tag", 1), ("tak", 2), (None, 1)):
        learned = [lexeme("1", "tag", A="tag", B="tage")]
        assert len(both(learned, [lexeme("1", lemma, A="tag", B="tage")])) == count


def test_as_many_stay_as_there_are() -> None:
    """Two lexemes with the same forms are two; equal ones find each other before others do."""
    assert len(both([TAG, TAG, WEG], [TAG])) == 3
    assert len(both([TAG, WEG], [TAG, TAG])) == 3
    one, two, three = (
        lexeme("1", A="tag"),
        lexeme("2", A="tag", B="tage"),
        lexeme("3", A="tag", B="tage", C="tags"),
    )
    table = [one, two, three]
    for order in ([one, two, three], [three, two, one], [two, three, one]):
        assert both(order, table) == forms(Evidence.from_lexemes(table))
    assert both([three], [one, two]) == forms(Evidence.from_lexemes([one, three]))


def test_the_order_of_what_was_learned_says_nothing() -> None:
    rng = random.Random(0)
    stems = ["tag", "weg", "steg", "tag", "weg"]
    learned = [
        lexeme(stem, **{cell: stem + cell for cell in "abcd" if rng.random() < 0.6})
        for stem in stems * 4
    ]
    table = [lexeme(stem, **{cell: stem + cell for cell in "abc"}) for stem in stems]
    expected = sorted(map(str, both(learned, table)))
    for _ in range(5):
        rng.shuffle(learned)
        assert sorted(map(str, both(learned, table))) == expected


def test_guesses_go_with_their_lexeme() -> None:
    guess = (Guess("x", 0.5),)
    known = Evidence.from_lexemes([TAG, WEG]).guessing([{"D": guess}, {"E": guess}])
    found = united(known, Evidence.from_lexemes([lexeme("new", A="bad"), TAG]))
    assert forms(found) == forms(Evidence.from_lexemes([WEG, lexeme("new", A="bad"), TAG]))
    assert found.guesses == ({"E": guess}, {}, {"D": guess})
    given = lexeme("1", A="tag", B="tage", C="tags", D="tagen")
    found = united(known, Evidence.from_lexemes([given]))
    assert found.guesses == ({"E": guess}, {}), "what is given is no guess"


# Models


def test_a_table_learned_already_is_swept_over_once_more_and_counted_once() -> None:
    table = [*NOUNS, *HOLES]
    adapted = ParadigmModel(sweeps=1).fit(table)
    assert forms(adapted.completer(table).evidence) == forms(Evidence.from_lexemes(table))
    swept = ParadigmModel(sweeps=2, adapt=False).fit(table)
    assert adapted.complete_lexemes(table) == swept.complete_lexemes(table)


def test_without_sweeps_a_table_learned_already_changes_nothing() -> None:
    table = [*NOUNS, *HOLES]
    first, second = (ParadigmModel(sweeps=0, adapt=adapt).fit(table) for adapt in (True, False))
    assert first.complete_lexemes(table) == second.complete_lexemes(table)


def test_holes_of_a_lexeme_learned_already_are_guessed() -> None:
    model = ParadigmModel().fit(NOUNS)
    hole = Lexeme("Tag", "Tag", {**NOUNS[0].cells, "N;ACC;SG": ()})
    accusatives = [
        Lexeme(stem, stem, {**noun((stem, "", "", ""), stem).cells, "N;ACC;SG": (stem + "en",)})
        for stem in ("Steg", "Bach")
    ]
    evidence = model.completer([hole, *accusatives]).evidence
    (known,) = (n for n, each in enumerate(evidence.lexemes) if each.get("N;NOM;SG") == ("Tag",))
    assert evidence.guessed(known, "N;ACC;SG")[0].form == "Tagen"


def test_guesses_about_cells_that_the_table_lacks_stay() -> None:
    model = ParadigmModel().fit([*NOUNS, noun(("Steg", "", "Stege", ""), "Steg")])
    before = model.evidence.guessed(len(NOUNS), "N;DAT;PL")
    assert before[0].form == "Stegen"
    few = Lexeme("Steg", "Steg", {"N;NOM;SG": ("Steg",), "N;GEN;SG": ()})
    evidence = model.completer([few]).evidence
    assert evidence.lexemes[-1]["N;NOM;PL"] == ("Stege",)
    assert evidence.guessed(len(NOUNS), "N;DAT;PL") == before
    assert evidence.guessed(len(NOUNS), "N;GEN;SG")[0].form == "Stegs"


def test_train_then_complete_counts_every_cell_once(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["lemma,SG,PL", "Tag,Tag,Tage", "Weg,Weg,Wege", "Frau,Frau,Frauen", "Steg,Steg,"]
    Path("t.csv").write_text("\n".join(rows) + "\n")
    seen: list[Evidence] = []
    candidates = Completer.candidates

    def recorded(self: Completer, *arguments: object) -> object:
        seen.append(self.evidence)
        return candidates(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Completer, "candidates", recorded)
    assert run("train", "t.csv", "-o", "m").exit_code == 0
    for option in (("--model", "m"), ("--train", "t.csv"), ()):
        assert run("complete", "t.csv", "-o", "out.csv", *option).exit_code == 0
        assert Path("out.csv").read_text().splitlines()[-1] == "Steg,Steg,Stege"
        assert len(seen[-1].lexemes) == 4
